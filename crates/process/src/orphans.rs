//! Ends the processes of servers whose keeper is gone, in place of the keeper.
//!
//! A server can kill its keeper, because both have the same user. The server's processes then get a new
//! parent: this process if it adopts orphans, and init otherwise. This process recognises its orphans
//! among its children: they are in another session, and the library has not started them. It also finds
//! processes in the server's session, and in its control group if there is one.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid,
};

use super::cgroup;
use super::instance::linux::Stat;

/// The wait after each round of kills.
pub(crate) const ROUND: Duration = Duration::from_millis(5);

/// The children of this process.
struct Children {
    /// True if this process adopts orphans among its descendants.
    adopts: bool,
    /// True if a keeper has ended without its last report.
    is_keeper_lost: bool,
    /// Process ids that the library has started and not reaped yet.
    started: BTreeSet<u32>,
    /// Orphans that do not belong to any server, with their start times.
    spared: BTreeSet<(u32, u64)>,
}

static CHILDREN: Mutex<Children> = Mutex::new(Children {
    adopts: false,
    is_keeper_lost: false,
    started: BTreeSet::new(),
    spared: BTreeSet::new(),
});

fn children() -> MutexGuard<'static, Children> {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes this process adopt orphans among its descendants.
#[allow(unsafe_code)]
pub(crate) fn adopt() {
    // SAFETY: only makes this process the one that adopts orphans among its descendants.
    let refused = unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    children().adopts = refused == 0;
    // Children from before `exec` do not belong to any server.
    if has_children() {
        spare();
    }
}

/// Records that a keeper has ended without its last report, so that its server may have left processes.
pub(crate) fn note_lost_keeper() {
    children().is_keeper_lost = true;
}

/// Starts a child and records its process id.
///
/// Holds the lock meanwhile, so that a concurrent sweep does not mistake the new child for an orphan.
pub(crate) fn record_start(
    start: impl FnOnce() -> io::Result<libc::pid_t>,
) -> io::Result<libc::pid_t> {
    let all = children();
    // Without adoption there is no sweep, and a program on a file system that hangs must not block the
    // start of others: so do not hold the lock then.
    let held = all.adopts.then_some(all);
    let pid = start()?;
    let mut all = held.unwrap_or_else(children);
    all.started.extend(u32::try_from(pid));
    Ok(pid)
}

/// Forgets a child that was reaped.
pub(crate) fn forget(pid: Pid) {
    let pid = pid.as_raw_nonzero().get().unsigned_abs();
    children().started.remove(&pid);
}

/// Excludes all current orphans from being killed.
///
/// Does nothing while a keeper is dead but not noticed yet, because some may belong to its server.
pub(crate) fn spare() {
    let mut children = children();
    let is_dead = |pid: &u32| Stat::of(*pid).is_none();
    if !children.adopts || children.started.iter().any(is_dead) {
        return;
    }
    let (all, here) = (processes(), Here::now());
    let orphans = all
        .iter()
        .filter(|(pid, (stat, _))| here.is_orphan(**pid, stat, &children))
        .map(|(pid, (stat, _))| (*pid, stat.ticks));
    let orphans: Vec<(u32, u64)> = orphans.collect();
    // Forget the spared processes that are gone.
    children
        .spared
        .retain(|(pid, ticks)| all.get(pid).is_some_and(|(stat, _)| stat.ticks == *ticks));
    children.spared.extend(orphans);
}

/// Kills the orphans of all servers; returns those that still run when the time is up.
///
/// Does so only if a keeper is lost, or dead and not noticed yet. Otherwise no orphan belongs to a
/// server, and other orphans (a browser's helpers, for example) are not ours to kill.
pub(crate) fn end_all(within: Duration) -> Vec<u32> {
    let is_needed = {
        let children = children();
        let is_dead = |pid: &u32| Stat::of(*pid).is_none();
        children.adopts && (children.is_keeper_lost || children.started.iter().any(is_dead))
    };
    if !is_needed || !has_children() {
        return Vec::new();
    }
    Sweep::default().until(Instant::now() + within)
}

/// Returns true if this process has any children, without reading all of `/proc`.
fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, options), Err(Errno::CHILD))
}

/// The identity of this process.
struct Here {
    pid: u32,
    session: Option<u32>,
}

impl Here {
    fn now() -> Self {
        let pid = std::process::id();
        // Not `rustix::process::getsid`: it panics if the kernel returns 0, the number of all sessions
        // outside of this PID namespace, and ours may be one of them (in a container, for example).
        let session = Stat::of(pid).map(|stat| stat.session);
        Self { pid, session }
    }

    /// Returns true if a process is our child only because its parent has died.
    fn is_orphan(&self, pid: u32, stat: &Stat, children: &Children) -> bool {
        stat.parent == self.pid
            && Some(stat.session) != self.session
            && !children.started.contains(&pid)
            && !children.spared.contains(&(pid, stat.ticks))
    }
}

/// A search for the remaining processes of a server, and the kills so far.
#[derive(Default)]
pub(crate) struct Sweep {
    /// The server's first process, and its start time.
    server: Option<(u32, u64)>,
    /// The folder of its control group.
    cgroup: Option<PathBuf>,
    killed: BTreeSet<(u32, u64)>,
}

impl Sweep {
    /// Creates a search for a server, by its first process and its control group.
    pub(crate) fn of(server: Option<(u32, u64)>, cgroup: Option<PathBuf>) -> Self {
        Self {
            server,
            cgroup,
            killed: BTreeSet::new(),
        }
    }

    /// The number of processes killed so far.
    pub(crate) fn killed(&self) -> usize {
        self.killed.len()
    }

    /// Kills in rounds until no process is left or the deadline has passed; returns those that are left.
    pub(crate) fn until(&mut self, deadline: Instant) -> Vec<u32> {
        loop {
            let is_over = Instant::now() >= deadline;
            let left = self.round(!is_over);
            if left.is_empty() || is_over {
                return left;
            }
            std::thread::sleep(ROUND);
        }
    }

    /// Searches once, kills the processes found, and reaps zombies; returns the processes found.
    pub(crate) fn round(&mut self, kills: bool) -> Vec<u32> {
        let here = Here::now();
        let (all, mut found) = {
            let children = children();
            let all = processes();
            let found = self.roots(&all, &here, &children);
            (all, found)
        };
        // Add descendants: a process whose parent was found belongs to the server too.
        loop {
            let more = all.iter().filter(|(pid, (stat, _))| {
                !found.contains(*pid) && found.contains(&stat.parent) && **pid != here.pid
            });
            let more: Vec<u32> = more.map(|(pid, _)| *pid).collect();
            if more.is_empty() {
                break;
            }
            found.extend(more);
        }
        let mut left = Vec::new();
        for pid in found {
            match all.get(&pid) {
                Some((stat, true)) if stat.parent == here.pid => fetch(pid),
                Some((stat, false)) => {
                    left.push(pid);
                    if kills && kill(pid, stat.ticks) {
                        self.killed.insert((pid, stat.ticks));
                    }
                }
                _ => {}
            }
        }
        // The group last, so that the kills above can be counted. It also hits processes just born.
        if let Some(cgroup) = self.cgroup.as_deref().filter(|_| kills) {
            cgroup::kill(cgroup);
        }
        left
    }

    fn roots(&self, all: &Processes, here: &Here, children: &Children) -> BTreeSet<u32> {
        let cgroup = self.cgroup.as_deref();
        let mut found = cgroup.map(cgroup::members).unwrap_or_default();
        let leader = self.server.and_then(|(pid, _)| all.get(&pid));
        for (pid, (stat, _)) in all {
            let is_orphan = children.adopts && here.is_orphan(*pid, stat, children);
            let is_of_session = self.server.is_some_and(|(session, ticks)| {
                // While any process is in a session, its number is not reused.
                let is_same = leader.is_none_or(|(leader, _)| leader.ticks == ticks);
                is_same && stat.session == session && stat.ticks >= ticks
            });
            if is_orphan || is_of_session {
                found.insert(*pid);
            }
        }
        found.remove(&here.pid);
        found
    }
}

type Processes = BTreeMap<u32, (Stat, bool)>;

/// All processes; the flag is true for zombies.
fn processes() -> Processes {
    let pids = Stat::numbers().into_iter();
    pids.filter_map(|pid| Some((pid, Stat::look(pid)?)))
        .collect()
}

/// Kills a process if it is still the one that was seen.
fn kill(pid: u32, ticks: u64) -> bool {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let process = number.and_then(|number| pidfd_open(number, PidfdFlags::empty()).ok());
    // From here on the descriptor means one process, so check the start time only now.
    process.is_some_and(|process| {
        Stat::of(pid).is_some_and(|stat| stat.ticks == ticks)
            && pidfd_send_signal(&process, Signal::KILL).is_ok()
    })
}

/// Reaps a dead orphan, which nothing else does.
fn fetch(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        // A failure means that it was reaped already.
        waitid(WaitId::Pid(pid), options).ok();
    }
}
