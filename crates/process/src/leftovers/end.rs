//! Ends the remains of a server, using pidfds and never numbers alone.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use switchboard_core::limits::Limits;

use super::instance::{Instance, linux::Stat};

/// The polling interval.
const A_TURN: Duration = Duration::from_millis(20);

/// Asks a server and its descendants to end, and kills those that remain after `patience`.
pub(super) fn end(server: &Instance, patience: Duration) -> io::Result<bool> {
    let mut tree = Tree::default();
    if !tree.begin(server)? {
        return Ok(true);
    }
    tree.look();
    tree.signal(Signal::TERM)?;
    // A stopped process receives no other signals than this and SIGKILL.
    tree.signal(Signal::CONT)?;
    if tree.is_gone_by(Instant::now() + patience) {
        return Ok(true);
    }
    let deadline = Instant::now() + Limits::default().end_after_kill;
    loop {
        tree.signal(Signal::KILL)?;
        if tree.is_gone_by(deadline.min(Instant::now() + A_TURN)) {
            return Ok(true);
        }
        if Instant::now() >= deadline {
            return Ok(false);
        }
    }
}

/// The processes of a server, by number.
#[derive(Default)]
struct Tree {
    group: u32,
    members: BTreeMap<u32, Member>,
}

struct Member {
    pidfd: OwnedFd,
    ticks: u64,
}

impl Member {
    /// Opens a process that is identified by its start time.
    fn of(pid: u32, ticks: u64) -> io::Result<Option<Self>> {
        let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
            return Ok(None);
        };
        let pidfd = match pidfd_open(number, PidfdFlags::empty()) {
            Ok(pidfd) => pidfd,
            Err(Errno::SRCH) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // Check again after opening: if the start time still matches, the pidfd is the right one.
        let is_same = Stat::of(pid).is_some_and(|stat| stat.ticks == ticks);
        Ok(is_same.then_some(Self { pidfd, ticks }))
    }

    fn has_ended_within(&self, time: Duration) -> bool {
        let mut entry = [PollFd::new(&self.pidfd, PollFlags::IN)];
        let timeout = Timespec {
            // Callers never wait for longer than a turn.
            tv_sec: 0,
            tv_nsec: i64::from(time.subsec_nanos()),
        };
        // A pidfd becomes readable when its process has ended.
        matches!(poll(&mut entry, Some(&timeout)), Ok(ready) if ready > 0)
    }
}

impl Tree {
    /// Opens the server; returns true if it still runs.
    fn begin(&mut self, server: &Instance) -> io::Result<bool> {
        let Some(stat) = Stat::of(server.pid).filter(|_| server.is_running()) else {
            return Ok(false);
        };
        let Some(member) = Member::of(server.pid, stat.ticks)? else {
            return Ok(false);
        };
        self.group = server.pid;
        self.members.insert(server.pid, member);
        Ok(true)
    }

    /// Opens descendants and, while a known process is in it, the members of the group. Until that process
    /// is gone, the number cannot mean another group.
    fn look(&mut self) {
        let all = processes();
        let is_known = |(pid, member): (&u32, &Member)| {
            all.get(pid)
                .filter(|stat| stat.ticks == member.ticks)
                .copied()
        };
        let known: Vec<Stat> = self.members.iter().filter_map(is_known).collect();
        let has_group = known.iter().any(|stat| stat.group == self.group);
        loop {
            let before = self.members.len();
            for (pid, stat) in &all {
                let parent = self.members.get(&stat.parent);
                // The parent must be older than the child and must have been alive in this snapshot.
                let is_below = parent.is_some_and(|parent| {
                    let now = all.get(&stat.parent);
                    now.is_some_and(|now| now.ticks == parent.ticks && parent.ticks <= stat.ticks)
                });
                let is_beside = has_group && stat.group == self.group;
                if (is_below || is_beside) && !self.members.contains_key(pid) {
                    // A failure means that it has ended, or belongs to another user.
                    if let Ok(Some(member)) = Member::of(*pid, stat.ticks) {
                        self.members.insert(*pid, member);
                    }
                }
            }
            if self.members.len() == before {
                return;
            }
        }
    }

    /// Signals all processes, even if a signal to one of them fails.
    fn signal(&self, signal: Signal) -> io::Result<()> {
        let mut sent = Ok(());
        for member in self.members.values() {
            match pidfd_send_signal(&member.pidfd, signal) {
                Ok(()) | Err(Errno::SRCH) => {}
                Err(error) => sent = Err(error.into()),
            }
        }
        sent
    }

    /// Waits until all have ended, including those born meanwhile, or until the deadline.
    fn is_gone_by(&mut self, deadline: Instant) -> bool {
        loop {
            // Look before dropping processes that have ended: they may be the last to identify the group.
            self.look();
            self.members
                .retain(|_, member| !member.has_ended_within(Duration::ZERO));
            let Some(member) = self.members.values().next() else {
                return true;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            // The result is irrelevant: all are checked again.
            member.has_ended_within(left.min(A_TURN));
        }
    }
}

/// All running processes.
fn processes() -> BTreeMap<u32, Stat> {
    let pids = Stat::numbers().into_iter();
    pids.filter_map(|pid| Some((pid, Stat::of(pid)?))).collect()
}
