//! A child that is known by a file that stands for it, and becomes readable when it ends.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, WaitIdStatus, pidfd_open, waitid};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::super::group::Group;
use crate::transport::Exit;

/// A child that nobody has fetched yet: until then, its number is its own.
///
/// Dropped, it is killed with its group and fetched.
pub(super) struct Leader {
    pid: Pid,
    group: Group,
    fetched: bool,
}

impl Leader {
    pub(super) fn of(pid: libc::pid_t) -> io::Result<Self> {
        let pid = Pid::from_raw(pid).ok_or_else(|| io::Error::other("a child without a number"))?;
        Ok(Self {
            pid,
            group: Group::led_by(Some(pid)),
            fetched: false,
        })
    }

    /// Notes that there is nothing to fetch any more.
    fn forget(&mut self) {
        self.fetched = true;
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if self.fetched {
            return;
        }
        // A leader of a session cannot leave its group: this reaches it, too.
        self.group.end();
        let pid = WaitId::Pid(self.pid);
        if let Ok(Some(_)) = waitid(pid.clone(), WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            return;
        }
        let fetch = move || {
            while let Err(Errno::INTR) = waitid(pid.clone(), WaitIdOptions::EXITED) {}
        };
        // What was killed is gone soon, but not at once, and not at all while the system hangs on
        // its behalf: a thread can wait for that, whoever drops this cannot. If there is no thread
        // to be had, the entry of the dead process stays until the host ends.
        let thread = std::thread::Builder::new().name("fetch-child".to_owned());
        thread.spawn(fetch).ok();
    }
}

pub(in crate::transport::stdio) struct Child {
    leader: Leader,
    pidfd: AsyncFd<OwnedFd>,
    exit: Option<Exit>,
}

impl Child {
    #[allow(unsafe_code)]
    pub(super) fn of(leader: Leader) -> io::Result<Self> {
        let pidfd = pidfd_open(leader.pid, PidfdFlags::empty())?;
        // SAFETY: the file is open, and owned by what waits on it until that is gone.
        let pidfd = unsafe { AsyncFd::register_with_interest(pidfd, Interest::READABLE) }?;
        Ok(Self {
            leader,
            pidfd,
            exit: None,
        })
    }

    pub(in super::super) fn pid(&self) -> u32 {
        self.leader.pid.as_raw_nonzero().get().unsigned_abs()
    }

    pub(in super::super) async fn wait(&mut self) -> io::Result<Exit> {
        if let Some(exit) = self.exit {
            return Ok(exit);
        }
        loop {
            let mut ready = self.pidfd.readable().await?;
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
            // Looked at and left there: until it is fetched, its number is no other group's.
            let look = WaitId::PidFd(self.pidfd.as_fd());
            match waitid(look, options | WaitIdOptions::NOWAIT) {
                Ok(None) => {
                    ready.clear_ready();
                    continue;
                }
                Err(Errno::INTR) => continue,
                Ok(Some(_)) | Err(_) => {}
            }
            self.leader.group.end();
            let fetched = waitid(WaitId::PidFd(self.pidfd.as_fd()), options);
            // An error is that somebody else in the host has fetched it, or that the host wants
            // its children not to be kept.
            self.leader.forget();
            let exit = fetched?.map_or(Exit::Unknown, |status| exit_of(&status));
            self.exit = Some(exit);
            return Ok(exit);
        }
    }

    pub(in super::super) fn terminate(&self) {
        self.leader.group.terminate();
    }

    pub(in super::super) fn start_kill(&mut self) {
        self.leader.group.kill();
    }
}

fn exit_of(status: &WaitIdStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}
