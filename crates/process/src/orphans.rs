//! Processes of servers whose keeper is gone, ended by the host in its stead.
//!
//! A server can kill its keeper: both are the same user. What it had started then has a new parent,
//! which is this process if it adopts orphans, and the system's first one if not. This process finds
//! its orphans among its own children: they are in a session that is not its own, and the library
//! has not started them. Besides, it finds who is still in the server's session, and in its control
//! group where there is one.

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

/// How long those that were killed are given before they are looked for again.
pub(crate) const ROUND: Duration = Duration::from_millis(5);

/// What this process knows of its children.
struct Children {
    /// Whether orphans below this process become its children.
    adopts: bool,
    /// Whether a keeper has ended without its last report.
    is_keeper_lost: bool,
    /// Who was started by the library, and not fetched yet.
    started: BTreeSet<u32>,
    /// Orphans that belong to nobody's server, with their start times.
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

/// Has orphans below this process become its children.
#[allow(unsafe_code)]
pub(crate) fn adopt() {
    // SAFETY: changes only who adopts the orphans among our descendants.
    let refused = unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    children().adopts = refused == 0;
    // Whoever was a child before this program began (`exec` keeps them) belongs to no server.
    if has_children() {
        spare();
    }
}

/// Notes that a keeper has ended without its last report, so that its server may have left something.
pub(crate) fn note_lost_keeper() {
    children().is_keeper_lost = true;
}

/// Starts a child and notes its number.
///
/// Nobody looks for orphans meanwhile, and takes a child for one that was not noted yet.
pub(crate) fn noted(start: impl FnOnce() -> io::Result<libc::pid_t>) -> io::Result<libc::pid_t> {
    let all = children();
    // Nobody looks where orphans are not adopted; and a program on a file system that hangs must not hold
    // up the others then.
    let held = all.adopts.then_some(all);
    let pid = start()?;
    let mut all = held.unwrap_or_else(children);
    all.started.extend(u32::try_from(pid));
    Ok(pid)
}

/// Forgets a child that was fetched.
pub(crate) fn forget(pid: Pid) {
    let pid = pid.as_raw_nonzero().get().unsigned_abs();
    children().started.remove(&pid);
}

/// Leaves the orphans that there are alone from now on.
///
/// Not while the keeper of a server is dead and nobody has noticed: some may be that server's.
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
    // Those that are gone need no sparing any more.
    children
        .spared
        .retain(|(pid, ticks)| all.get(pid).is_some_and(|(stat, _)| stat.ticks == *ticks));
    children.spared.extend(orphans);
}

/// Kills the orphans of all servers; says who still runs after that long.
///
/// Only where a keeper is lost, or dead and not looked at yet: else there is nothing of a server's, and other
/// orphans (a browser's helpers, say) are not ours to kill.
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

/// Whether this process has children at all, which takes no look at all processes.
fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, options), Err(Errno::CHILD))
}

/// This process.
struct Here {
    pid: u32,
    session: Option<u32>,
}

impl Here {
    fn now() -> Self {
        let pid = std::process::id();
        // Not `rustix::process::getsid`: it panics where the kernel answers 0, which is the number of every session
        // outside of this PID namespace, and ours may be one of them (in a container, say).
        let session = Stat::of(pid).map(|stat| stat.session);
        Self { pid, session }
    }

    /// Whether a process is our child only because its parent is gone.
    fn is_orphan(&self, pid: u32, stat: &Stat, children: &Children) -> bool {
        stat.parent == self.pid
            && Some(stat.session) != self.session
            && !children.started.contains(&pid)
            && !children.spared.contains(&(pid, stat.ticks))
    }
}

/// What is looked for and killed.
#[derive(Default)]
pub(crate) struct Sweep {
    /// The server's first process, and when it started.
    server: Option<(u32, u64)>,
    /// The folder of its control group.
    cgroup: Option<PathBuf>,
    killed: BTreeSet<(u32, u64)>,
}

impl Sweep {
    /// What is left of a server that is known by its first process and its control group.
    pub(crate) fn of(server: Option<(u32, u64)>, cgroup: Option<PathBuf>) -> Self {
        Self {
            server,
            cgroup,
            killed: BTreeSet::new(),
        }
    }

    /// How many were killed so far.
    pub(crate) fn killed(&self) -> usize {
        self.killed.len()
    }

    /// Kills over and over, until nobody is left or the time is over; says who is left.
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

    /// Looks once, kills who was found, and fetches those that are dead; says who was found.
    pub(crate) fn round(&mut self, kills: bool) -> Vec<u32> {
        let here = Here::now();
        let (all, mut found) = {
            let children = children();
            let all = processes();
            let found = self.roots(&all, &here, &children);
            (all, found)
        };
        // Whoever has a parent among them is one of them.
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
        // Last, so that those who were found can be counted: it also gets who was just born.
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
                // While somebody is in a session, its number is given to no other process.
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

/// All processes, and whether each is dead and not fetched.
fn processes() -> Processes {
    let pids = Stat::numbers().into_iter();
    pids.filter_map(|pid| Some((pid, Stat::look(pid)?)))
        .collect()
}

/// Kills a process if it is still the one that was seen.
fn kill(pid: u32, ticks: u64) -> bool {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let process = number.and_then(|number| pidfd_open(number, PidfdFlags::empty()).ok());
    // From here on the file stands for one process.
    process.is_some_and(|process| {
        Stat::of(pid).is_some_and(|stat| stat.ticks == ticks)
            && pidfd_send_signal(&process, Signal::KILL).is_ok()
    })
}

/// Fetches an orphan that is dead: nobody else does.
fn fetch(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        // One that somebody has fetched needs no fetching.
        waitid(WaitId::Pid(pid), options).ok();
    }
}
