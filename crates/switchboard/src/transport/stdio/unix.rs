//! What is particular to Unix about child processes.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};

use crate::transport::{BoxRead, BoxWrite, Exit};

/// Our ends of the pipes to the child.
pub(super) struct Streams {
    from_child: OwnedFd,
    to_child: OwnedFd,
}

/// Gives the command its pipes, a session of its own, and no other file.
pub(super) fn prepare(command: &mut Command) -> io::Result<Streams> {
    let (stdin, to_child) = io::pipe()?;
    let (from_child, stdout) = io::pipe()?;
    widen(&from_child);
    command.stdin(stdin).stdout(stdout);
    own_session(command);
    Ok(Streams {
        from_child: from_child.into(),
        to_child: to_child.into(),
    })
}

/// Lets a large answer through in fewer turns between the two processes.
///
/// Not as wide as it goes: what one user's pipes may take in all is shared by all programs.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn widen(pipe: &io::PipeReader) {
    const WIDE: usize = 256 * 1024;
    // A refusal leaves the pipe as it was, which is wide enough to work.
    rustix::pipe::fcntl_setpipe_size(pipe, WIDE).ok();
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn widen(_pipe: &io::PipeReader) {}

impl Streams {
    pub(super) fn of(self, _child: &mut Child) -> io::Result<(BoxRead, BoxWrite)> {
        let reader = pipe::Receiver::from_owned_fd(self.from_child)?;
        let writer = pipe::Sender::from_owned_fd(self.to_child)?;
        Ok((Box::new(reader), Box::new(writer)))
    }
}

/// Makes the child the leader of a session without a terminal, with only fds 0 to 2.
#[allow(unsafe_code)]
fn own_session(command: &mut Command) {
    // SAFETY: the closure runs between fork and exec and makes only system calls that are
    // async-signal-safe; it allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()?;
            keep_standard_streams_only();
            Ok(())
        });
    }
}

/// Marks every file above stderr to be closed when the program starts.
///
/// Marking and not closing: the standard library waits on one of them to learn whether the
/// program could be started.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[allow(unsafe_code)]
fn keep_standard_streams_only() {
    // SAFETY: close_range with CLOSE_RANGE_CLOEXEC only sets flags on files of this process.
    let marked = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3_u32,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    if marked != 0 {
        mark_one_by_one();
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn keep_standard_streams_only() {
    mark_one_by_one();
}

/// The same for systems without `close_range`.
#[allow(unsafe_code)]
fn mark_one_by_one() {
    // A bound keeps the time between fork and exec short where the limit is "unlimited".
    const MOST: libc::c_long = 65_536;
    // SAFETY: sysconf and fcntl are plain system calls; an fd that is not open is an error that
    // changes nothing.
    unsafe {
        let most = libc::sysconf(libc::_SC_OPEN_MAX).clamp(256, MOST);
        let most = i32::try_from(most).unwrap_or(256);
        for fd in 3..most {
            let flags = libc::fcntl(fd, libc::F_GETFD);
            if flags >= 0 {
                libc::fcntl(fd, libc::F_SETFD, flags | libc::FD_CLOEXEC);
            }
        }
    }
}

/// The process group that a child leads.
pub(super) struct Group(Option<Pid>);

impl Group {
    pub(super) fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }

    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Kills whoever is left in the group; it is not signalled again.
    pub(super) fn kill(&mut self) {
        self.signal(Signal::KILL);
        // Once its leader was waited for, the number may come to mean another group.
        self.0 = None;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // The only failure there is: nobody is left.
            kill_process_group(group, signal).ok();
        }
    }
}

/// The runtime ended before the process did.
impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

pub(super) fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}

/// The files that a command may mean: itself.
pub(super) fn candidates(file: PathBuf) -> Vec<PathBuf> {
    vec![file]
}

/// Whether a file may be run; `None` when there is no such file.
pub(super) fn may_run(file: &Path) -> Option<bool> {
    let metadata = std::fs::metadata(file).ok()?;
    metadata
        .is_file()
        .then(|| metadata.permissions().mode() & 0o111 != 0)
}
