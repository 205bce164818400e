//! The process group that a child leads.

#[cfg(target_os = "macos")]
use super::macos::Descendants;
use rustix::process::{Pid, Signal, kill_process_group};

/// A group that may be signalled until its leader is reaped; dropping it before kills the group.
pub(super) struct Group {
    leader: Option<Pid>,
    kind: GroupKind,
    /// Descendants that may have left the group.
    #[cfg(target_os = "macos")]
    descendants: Descendants,
}

#[derive(Clone, Copy)]
enum GroupKind {
    /// The server and those of its descendants that have stayed in the group.
    Server,
    /// A keeper alone. It kills the server when asked to, and could not do so if it were killed itself.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    Keeper,
}

impl Group {
    pub(super) fn led_by(leader: Option<Pid>) -> Self {
        Self {
            leader,
            kind: GroupKind::Server,
            #[cfg(target_os = "macos")]
            descendants: Descendants::default(),
        }
    }

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    pub(super) fn of_keeper(keeper: Pid) -> Self {
        Self {
            leader: Some(keeper),
            kind: GroupKind::Keeper,
        }
    }

    /// Looks for descendants of the leader while they can be found, to signal also those that leave.
    ///
    /// Only macOS needs it; elsewhere keepers do this.
    pub(super) fn note_descendants(&mut self) {
        #[cfg(target_os = "macos")]
        if let Some(leader) = self.leader {
            self.descendants.look(leader);
        }
    }

    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
        // The keeper may have been stopped. A stopped server stays stopped until it is killed: perhaps a
        // person is debugging it.
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        if matches!(self.kind, GroupKind::Keeper) {
            self.signal(Signal::CONT);
        }
    }

    pub(super) fn kill(&self) {
        match self.kind {
            GroupKind::Server => self.force_kill(),
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            GroupKind::Keeper => {
                self.signal(Signal::QUIT);
                // The keeper may have been stopped.
                self.signal(Signal::CONT);
            }
        }
    }

    /// Kills the group, even a keeper, which then cannot end its server any more.
    pub(super) fn force_kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Kills the rest of the group; it is not signalled again.
    ///
    /// Once its leader has been reaped, the number may mean another group.
    pub(super) fn end(&mut self) {
        self.kill();
        self.leader = None;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.leader {
            // The only failure: the group is empty.
            kill_process_group(group, signal).ok();
            #[cfg(target_os = "macos")]
            self.descendants.signal(signal);
        }
    }
}

/// Kills the group if the runtime ends before the process.
impl Drop for Group {
    fn drop(&mut self) {
        self.note_descendants();
        self.kill();
    }
}
