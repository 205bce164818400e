//! Starts a process with `posix_spawn`.
//!
//! `posix_spawn` shares the host's memory with the child until the program is loaded, while a fork copies
//! the page tables: many servers start sooner, and a large host pays no more than a small one. Some of
//! the functions that we need are newer than the C libraries and kernels that we support, so they are
//! looked up once; without them a process is forked as on any other Unix.
//!
//! One of them closes every file from a number up. Closing the files that are open at some moment
//! instead would miss files that another thread of the host opens in between. So a system without that
//! function, such as musl, forks.

mod actions;
mod attributes;
mod child;
mod kept;
mod strings;

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::OnceLock;

use rustix::process::{PidfdFlags, WaitId, WaitIdOptions, getpid, pidfd_open, waitid};

use self::actions::{Actions, Younger};
use self::attributes::Attributes;
use self::child::Leader;
pub(crate) use self::child::SpawnedChild;
use self::strings::Strings;
use super::pipes::{self, Theirs};
use crate::orphans;
use crate::supervise::Start;

/// Proof that the system has everything we need.
pub(super) struct System {
    younger: Younger,
}

impl System {
    /// Checks once whether the system has everything we need.
    pub(super) fn detect() -> Option<&'static Self> {
        static SYSTEM: OnceLock<Option<System>> = OnceLock::new();
        SYSTEM.get_or_init(Self::probe).as_ref()
    }

    fn probe() -> Option<Self> {
        let younger = Younger::find()?;
        (closes_ranges() && waits_on_pidfds()).then_some(Self { younger })
    }

    /// Starts a process, without searching `PATH` and without a shell for files that are not programs.
    pub(super) fn spawn(&self, start: &Start, streams: Theirs) -> io::Result<SpawnedChild> {
        if let Some(keeper) = &start.keeper {
            return self.spawn_kept(start, keeper, streams);
        }
        let strings = Strings::of(start)?;
        let streams = [streams.stdin, streams.stdout, streams.stderr];
        let [stdin, stdout, stderr] = streams.map(|stream| above(stream, 3));
        let streams = [stdin?, stdout?, stderr?];
        let pid = self.load(&strings, &streams)?;
        let leader = Leader::of(pid)?;
        // The child has its ends of the pipes. Close our copies before opening another file.
        drop(streams);
        SpawnedChild::of(leader)
    }

    /// Loads a program with these files under the numbers from 0 up, and no others.
    #[allow(unsafe_code)]
    fn load(&self, strings: &Strings, files: &[OwnedFd]) -> io::Result<libc::pid_t> {
        let attributes = Attributes::of_a_fresh_process()?;
        let mut actions = Actions::new(&self.younger)?;
        let mut next = 0;
        for file in files {
            actions.duplicate(file.as_fd(), next)?;
            next += 1;
        }
        if let Some(folder) = strings.folder() {
            actions.enter(folder)?;
        }
        // Last: the steps above still need the files.
        actions.close_from(next)?;

        let (args, variables) = (strings.args(), strings.variables());
        orphans::record_start(|| {
            let mut pid = 0;
            // SAFETY: the path is a C string, both lists are C strings that end with a null pointer, and
            // they, the actions and the attributes live until the call returns. The child does not write
            // to any of them.
            let failure = unsafe {
                libc::posix_spawn(
                    &raw mut pid,
                    strings.program().as_ptr(),
                    actions.as_ptr(),
                    attributes.as_ptr(),
                    args.as_ptr(),
                    variables.as_ptr(),
                )
            };
            check(failure).map(|()| pid)
        })
    }
}

/// Returns true if the kernel can close ranges of files (Linux 5.9).
///
/// The C library has a fallback, but that fails if `/proc` is not mounted.
#[allow(unsafe_code)]
fn closes_ranges() -> bool {
    // SAFETY: no file has this number, so none is closed.
    unsafe { libc::syscall(libc::SYS_close_range, u32::MAX, u32::MAX, 0_u32) == 0 }
}

/// Returns true if the kernel can wait for a child through a pidfd (Linux 5.4).
fn waits_on_pidfds() -> bool {
    let Ok(myself) = pidfd_open(getpid(), PidfdFlags::empty()) else {
        return false;
    };
    // We are not our own child, but only a kernel with this feature reports it as ECHILD.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    waitid(WaitId::PidFd(myself.as_fd()), options).err() == Some(rustix::io::Errno::CHILD)
}

/// Moves a file above the numbers that the child's files will have.
///
/// If the host has closed one of its standard streams, a new file may get its number. There it could be
/// overwritten before it is duplicated, or be closed on exec because it is already in place.
fn above(file: OwnedFd, lowest: libc::c_int) -> io::Result<OwnedFd> {
    if file.as_raw_fd() >= lowest {
        return Ok(file);
    }
    Ok(rustix::io::fcntl_dupfd_cloexec(&file, lowest)?)
}

/// Converts the return value of the `posix_spawn` functions to a result.
fn check(failure: libc::c_int) -> io::Result<()> {
    match failure {
        0 => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}
