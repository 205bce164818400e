//! Starts a process with fork and exec, and steps of our own in between.
//!
//! This works on every Unix, but its cost grows with the memory of the host, because a fork copies the
//! page tables. With some C libraries, the standard library runs a file that is not a program in a shell.

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::ptr;

use rustix::process::Pid;
use tokio::process::Command;

use super::group::Group;
use super::pipes::Theirs;
use crate::Exit;
use crate::supervise::Start;

pub(crate) struct ForkedChild {
    child: tokio::process::Child,
    group: Group,
    pid: u32,
}

pub(super) fn spawn(start: &Start, streams: Theirs) -> io::Result<ForkedChild> {
    let mut command = Command::new(&start.program);
    command.args(&start.args).env_clear().kill_on_drop(true);
    command.envs(
        start
            .variables
            .iter()
            .map(|(name, value)| (name, value.expose())),
    );
    if let Some(folder) = &start.cwd {
        command.current_dir(folder);
    }
    command
        .stdin(streams.stdin)
        .stdout(streams.stdout)
        .stderr(streams.stderr);
    own_session(&mut command);
    // The command holds the child's ends of the pipes, which never end while it lives. It is dropped
    // when this function returns.
    let child = command.spawn()?;
    let id = child.id();
    let leader = id.and_then(|id| i32::try_from(id).ok());
    Ok(ForkedChild {
        group: Group::led_by(leader.and_then(Pid::from_raw)),
        pid: id.unwrap_or_default(),
        child,
    })
}

impl ForkedChild {
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    pub(super) async fn wait(&mut self) -> io::Result<Exit> {
        let status = self.child.wait().await;
        self.group.end();
        status.map(exit_of)
    }

    pub(super) fn note_descendants(&mut self) {
        self.group.note_descendants();
    }

    pub(super) fn terminate(&self) {
        self.group.terminate();
    }

    pub(super) fn start_kill(&mut self) {
        self.group.kill();
        // An error means that it is gone already.
        self.child.start_kill().ok();
    }

    pub(super) fn force_kill(&mut self) {
        self.start_kill();
    }
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}

/// Makes the child the leader of a session without a terminal, with only fds 0 to 2, and with all signals
/// unblocked and at their defaults.
#[allow(unsafe_code)]
fn own_session(command: &mut Command) {
    // SAFETY: the closure runs between fork and exec and makes only system calls that are
    // async-signal-safe; it allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()?;
            heed_signals();
            keep_standard_streams_only();
            Ok(())
        });
    }
}

/// Resets signals that the host ignores or blocks, because the program would inherit that.
#[allow(unsafe_code)]
fn heed_signals() {
    let mut none = MaybeUninit::uninit();
    // SAFETY: all three are async-signal-safe, and only this process is affected. For signals that
    // cannot be changed, the call fails without effect; the set is written before it is read.
    unsafe {
        for signal in 1..32 {
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
    }
}

/// Marks every file above stderr to be closed when this process starts another program, as those are that the
/// process was started with itself.
///
/// Closing them right away would break the standard library, which uses one of them to learn whether
/// the program could be started.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[allow(unsafe_code)]
pub fn keep_standard_streams_only() {
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

/// Marks every file above stderr to be closed when this process starts another program.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn keep_standard_streams_only() {
    mark_one_by_one();
}

/// Marks files one by one, for systems without `close_range`.
#[allow(unsafe_code)]
fn mark_one_by_one() {
    // A maximum keeps the time between fork and exec short if the limit is "unlimited".
    const MOST: libc::c_long = 65_536;
    // SAFETY: sysconf and fcntl are plain system calls; on an fd that is not open, fcntl fails without
    // effect.
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
