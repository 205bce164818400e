//! The process group that a child leads.

use rustix::process::{Pid, Signal, kill_process_group};

/// A group that may be signalled, until its leader was fetched; dropped before, it is killed.
pub(super) struct Group(Option<Pid>);

impl Group {
    pub(super) fn led_by(leader: Option<Pid>) -> Self {
        Self(leader)
    }

    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Kills whoever is left in the group; it is not signalled again.
    ///
    /// Once its leader was waited for, the number may come to mean another group.
    pub(super) fn end(&mut self) {
        self.kill();
        self.0 = None;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // The only failure there is: nobody is left.
            kill_process_group(group, signal).ok();
        }
    }
}

/// The runtime ended before the process did.
impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
