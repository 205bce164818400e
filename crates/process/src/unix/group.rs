//! The process group that a child leads.

#[cfg(target_os = "macos")]
use super::macos::Descendants;
use rustix::process::{Pid, Signal, kill_process_group};

/// A group that may be signalled, until its leader was fetched; dropped before, it is killed.
pub(super) struct Group {
    leader: Option<Pid>,
    kind: Kind,
    /// Those that may have left.
    #[cfg(target_os = "macos")]
    descendants: Descendants,
}

#[derive(Clone, Copy)]
enum Kind {
    /// The server and those of its children that have stayed.
    Server,
    /// A keeper and nobody else. It kills the server when it is told so, and could not if it were
    /// killed itself.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    Keeper,
}

impl Group {
    pub(super) fn led_by(leader: Option<Pid>) -> Self {
        Self {
            leader,
            kind: Kind::Server,
            #[cfg(target_os = "macos")]
            descendants: Descendants::default(),
        }
    }

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    pub(super) fn of_keeper(keeper: Pid) -> Self {
        Self {
            leader: Some(keeper),
            kind: Kind::Keeper,
        }
    }

    /// Looks who is below the leader while that can be seen, to reach also those who leave.
    ///
    /// Elsewhere than on macOS, that is what keepers are for.
    pub(super) fn note_descendants(&mut self) {
        #[cfg(target_os = "macos")]
        if let Some(leader) = self.leader {
            self.descendants.look(leader);
        }
    }

    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
        // Somebody may have stopped the keeper. A server that was stopped stays so until it is
        // killed: whoever stopped it, a person at a debugger maybe, did not ask us.
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        if matches!(self.kind, Kind::Keeper) {
            self.signal(Signal::CONT);
        }
    }

    pub(super) fn kill(&self) {
        match self.kind {
            Kind::Server => self.force_kill(),
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            Kind::Keeper => {
                self.signal(Signal::QUIT);
                // Somebody may have stopped it.
                self.signal(Signal::CONT);
            }
        }
    }

    /// Kills the group, though a keeper could not end its server any more.
    pub(super) fn force_kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Kills whoever is left in the group; it is not signalled again.
    ///
    /// Once its leader was waited for, the number may come to mean another group.
    pub(super) fn end(&mut self) {
        self.kill();
        self.leader = None;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.leader {
            // The only failure there is: nobody is left.
            kill_process_group(group, signal).ok();
            #[cfg(target_os = "macos")]
            self.descendants.signal(signal);
        }
    }
}

/// The runtime ended before the process did.
impl Drop for Group {
    fn drop(&mut self) {
        self.note_descendants();
        self.kill();
    }
}
