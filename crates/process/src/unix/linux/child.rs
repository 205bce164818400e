//! A child process that is identified by a pidfd, which becomes readable when it ends.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, pidfd_open,
    waitid,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::super::group::Group;
use super::kept::{Kept, Starting, is_ready, no_keeper};
use crate::instance::linux::Stat;
use crate::orphans;
use crate::{Cleanup, Exit};

/// A child that has not been reaped yet: until then, its number cannot be reused.
///
/// Dropping it kills its group and reaps it.
pub(super) struct Leader {
    pid: Pid,
    group: Group,
    fetched: bool,
    /// The host's side of a keeper; `None` without a keeper, or after the cleanup.
    kept: Option<Kept>,
}

impl Leader {
    pub(super) fn of(pid: libc::pid_t) -> io::Result<Self> {
        let pid = number(pid)?;
        Ok(Self {
            pid,
            group: Group::led_by(Some(pid)),
            fetched: false,
            kept: None,
        })
    }

    /// Creates a leader that is a keeper, with our ends of the pipes to it.
    pub(super) fn of_keeper(pid: libc::pid_t, kept: Kept) -> io::Result<Self> {
        let pid = number(pid)?;
        Ok(Self {
            pid,
            group: Group::of_keeper(pid),
            fetched: false,
            kept: Some(kept),
        })
    }

    pub(super) fn force_kill(&self) {
        self.group.force_kill();
    }

    /// Records that there is nothing left to reap.
    fn forget(&mut self) {
        self.fetched = true;
        orphans::forget(self.pid);
    }
}

fn number(pid: libc::pid_t) -> io::Result<Pid> {
    Pid::from_raw(pid).ok_or_else(|| io::Error::other("a child without a number"))
}

impl Drop for Leader {
    fn drop(&mut self) {
        if self.fetched {
            // Dropped between reaping and cleanup.
            if let Some(kept) = self.kept.take() {
                run_on_thread(move || kept.clean_up_unheard());
            }
            return;
        }
        // A session leader cannot leave its group, so this kills it too.
        self.group.end();
        let kept = self.kept.take();
        let leader = self.pid;
        let pid = WaitId::Pid(leader);
        let at_once = waitid(pid.clone(), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        let is_fetched = matches!(at_once, Ok(Some(_)));
        if is_fetched {
            orphans::forget(leader);
            if kept.is_none() {
                return;
            }
        }
        let fetch = move || {
            if !is_fetched {
                if let Some(kept) = &kept {
                    wait_or_kill(leader, kept.patience());
                }
                while let Err(Errno::INTR) = waitid(pid.clone(), WaitIdOptions::EXITED) {}
                orphans::forget(leader);
            }
            if let Some(kept) = kept {
                kept.clean_up_unheard();
            }
        };
        run_on_thread(fetch);
    }
}

/// Runs work on a separate thread. A killed process is gone soon but not at once, and not at all while
/// the system hangs on its behalf; a thread can wait for that, `drop` cannot. If no thread can be
/// started, the zombie stays until the host ends.
fn run_on_thread(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().name("fetch-child".to_owned());
    thread.spawn(work).ok();
}

/// Waits for a keeper to kill its server, and kills the keeper if it takes too long.
fn wait_or_kill(keeper: Pid, patience: Duration) {
    let deadline = Instant::now() + patience;
    let is_gone = pidfd_open(keeper, PidfdFlags::empty())
        .is_ok_and(|pidfd| is_ready(pidfd.as_fd(), deadline));
    if !is_gone {
        // It has not been reaped, so the number is still its own.
        kill_process_group(keeper, Signal::KILL).ok();
    }
}

/// A child process, perhaps behind a keeper.
pub(crate) struct SpawnedChild {
    leader: Leader,
    /// The leader itself, or the server that the keeper has started.
    server: Pid,
    pidfd: AsyncFd<OwnedFd>,
    exit: Option<Exit>,
    /// A keeper that has not reported the start yet.
    starting: Option<Starting>,
}

impl SpawnedChild {
    #[allow(unsafe_code)]
    pub(super) fn of(leader: Leader) -> io::Result<Self> {
        let pidfd = pidfd_open(leader.pid, PidfdFlags::empty())?;
        // SAFETY: the file is open, and owned by the registration until that is gone.
        let pidfd = unsafe { AsyncFd::register_with_interest(pidfd, Interest::READABLE) }?;
        Ok(Self {
            server: leader.pid,
            leader,
            pidfd,
            exit: None,
            starting: None,
        })
    }

    /// Creates a child for a keeper that is about to start the server.
    pub(super) fn of_keeper(leader: Leader, starting: Starting) -> io::Result<Self> {
        Ok(Self {
            starting: Some(starting),
            ..Self::of(leader)?
        })
    }

    pub(in super::super) async fn has_started(&mut self) -> io::Result<()> {
        let Some(starting) = self.starting.take() else {
            return Ok(());
        };
        match starting.wait_for_report().await? {
            Some(server) => {
                self.server = server;
                if let Some(kept) = &mut self.leader.kept {
                    let pid = server.as_raw_nonzero().get().unsigned_abs();
                    // A server that has ended already cannot be identified.
                    kept.server = Stat::of(pid).map(|stat| (pid, stat.ticks));
                }
                Ok(())
            }
            None => {
                // Not a keeper, so it does not react to a keeper's signals.
                self.force_kill();
                Err(no_keeper(starting.keeper()))
            }
        }
    }

    pub(in super::super) fn pid(&self) -> u32 {
        self.server.as_raw_nonzero().get().unsigned_abs()
    }

    pub(in super::super) async fn wait(&mut self) -> io::Result<Exit> {
        if let Some(exit) = self.exit {
            return Ok(exit);
        }
        loop {
            let mut ready = self.pidfd.readable().await?;
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
            // Look without reaping: until it is reaped, its number cannot mean another group.
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
            // A failure means that other code in the host has reaped it, or that the host has disabled
            // zombies.
            self.leader.forget();
            let exit = fetched?.map_or(Exit::Unknown, |status| exit_of(&status));
            self.exit = Some(exit);
            return Ok(exit);
        }
    }

    /// Ends the processes that a keeper has left; returns a report if there were any.
    ///
    /// Call this after waiting for the process.
    pub(in super::super) async fn clean_up(&mut self) -> Option<Cleanup> {
        let kept = self.leader.kept.take()?;
        kept.clean_up(self.exit.unwrap_or(Exit::Unknown)).await
    }

    pub(in super::super) fn terminate(&self) {
        self.leader.group.terminate();
    }

    pub(in super::super) fn start_kill(&mut self) {
        self.leader.group.kill();
    }

    pub(in super::super) fn force_kill(&mut self) {
        self.leader.force_kill();
    }
}

fn exit_of(status: &WaitIdStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}
