//! Ends what is left of a server, by files that stand for processes and never by numbers alone.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use switchboard_core::limits::Limits;

use super::instance::{Instance, linux::Stat};

/// How long to wait before the processes are looked at again.
const A_TURN: Duration = Duration::from_millis(20);

/// Asks a server and what it has started to end, and kills who has not after `patience`.
pub(super) fn end(server: &Instance, patience: Duration) -> io::Result<bool> {
    let mut tree = Tree::default();
    if !tree.begin(server)? {
        return Ok(true);
    }
    tree.look();
    tree.signal(Signal::TERM)?;
    // A stopped process hears nothing but this and its end.
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

/// The processes that belong to a server, by number.
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
    /// Takes hold of a process that is known by when it started.
    fn of(pid: u32, ticks: u64) -> io::Result<Option<Self>> {
        let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
            return Ok(None);
        };
        let pidfd = match pidfd_open(number, PidfdFlags::empty()) {
            Ok(pidfd) => pidfd,
            Err(Errno::SRCH) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // Looked at once more: who has the number now and started then had it in between, too.
        let is_same = Stat::of(pid).is_some_and(|stat| stat.ticks == ticks);
        Ok(is_same.then_some(Self { pidfd, ticks }))
    }

    fn has_ended_within(&self, time: Duration) -> bool {
        let mut entry = [PollFd::new(&self.pidfd, PollFlags::IN)];
        let timeout = Timespec {
            // Never longer than a turn.
            tv_sec: 0,
            tv_nsec: i64::from(time.subsec_nanos()),
        };
        // The file can be read once its process has ended.
        matches!(poll(&mut entry, Some(&timeout)), Ok(ready) if ready > 0)
    }
}

impl Tree {
    /// Takes hold of the server; says whether it still runs.
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

    /// Takes hold of descendants, and of the group while somebody is in it who is known: until that
    /// one is gone, the number means no other group.
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
                // A parent that is older than its child, and was alive when both were looked at.
                let is_below = parent.is_some_and(|parent| {
                    let now = all.get(&stat.parent);
                    now.is_some_and(|now| now.ticks == parent.ticks && parent.ticks <= stat.ticks)
                });
                let is_beside = has_group && stat.group == self.group;
                if (is_below || is_beside) && !self.members.contains_key(pid) {
                    // One that cannot be held has ended, or is somebody else's to end.
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

    /// Signals all, whether or not one of them refuses.
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

    /// Waits until all have ended, those that they start meanwhile included, or time is up.
    fn is_gone_by(&mut self, deadline: Instant) -> bool {
        loop {
            // Before those who have ended are let go: they may be all that holds the group.
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
            // Whatever comes of it, all are looked at again.
            member.has_ended_within(left.min(A_TURN));
        }
    }
}

/// All processes that run.
fn processes() -> BTreeMap<u32, Stat> {
    let pids = Stat::numbers().into_iter();
    pids.filter_map(|pid| Some((pid, Stat::of(pid)?))).collect()
}
