//! What is behind a link: mostly a process.

use std::fmt;
use std::sync::Arc;

use switchboard_core::environment::NetworkVariables;
use switchboard_process::{Cleanup, CleanupEar, Exit, Process, StderrEar};

/// What is behind a link.
#[derive(Clone)]
pub struct Peer(Option<Arc<Process>>);

impl Peer {
    pub(crate) fn without_process() -> Self {
        Self(None)
    }

    pub(crate) fn of(process: Process) -> Self {
        Self(Some(Arc::new(process)))
    }

    /// The process id, where there is a process.
    pub fn pid(&self) -> Option<u32> {
        self.0.as_ref().map(|process| process.pid())
    }

    /// The first and the last lines that the process wrote to stderr; a line such as
    /// `... 120 lines ...` stands for those between them that were not kept.
    pub fn stderr(&self) -> Vec<String> {
        let process = self.0.as_ref();
        process.map(|process| process.stderr()).unwrap_or_default()
    }

    /// The certificate and proxy variables that the process was started with.
    pub fn network_variables(&self) -> NetworkVariables {
        let process = self.0.as_ref();
        process
            .map(|process| process.network_variables().clone())
            .unwrap_or_default()
    }

    /// Notes that the process has written something.
    pub(crate) fn note_write(&self) {
        if let Some(process) = &self.0 {
            process.note_write();
        }
    }

    /// Waits until the process has written its first byte, to stdout or stderr. Where there is no
    /// process, nothing has to start, and nothing is waited for.
    pub(crate) async fn has_written(&self) {
        if let Some(process) = &self.0 {
            process.has_written().await;
        }
    }

    /// Calls back with each line that the process writes to stderr.
    #[doc(hidden)]
    pub fn hear_stderr(&self, ear: StderrEar) {
        if let Some(process) = &self.0 {
            process.hear_stderr(ear);
        }
    }

    /// How the process ended, once it has.
    ///
    /// Of a server whose keeper was lost, this is how the keeper ended.
    pub fn exit(&self) -> Option<Exit> {
        self.0.as_ref()?.exit()
    }

    /// What had to be done after the process, once it has ended; mostly nothing.
    pub fn cleanup(&self) -> Option<Cleanup> {
        self.0.as_ref()?.cleanup()
    }

    /// Calls back if something has to be done after the process.
    #[doc(hidden)]
    pub fn hear_cleanup(&self, ear: CleanupEar) {
        if let Some(process) = &self.0 {
            process.hear_cleanup(ear);
        }
    }

    /// Whether there is a process at all.
    pub fn is_process(&self) -> bool {
        self.0.is_some()
    }

    /// Waits until the process has ended and its stderr was read; for ever where there is none.
    pub async fn ended(&self) -> Exit {
        match &self.0 {
            Some(process) => process.ended().await,
            None => std::future::pending().await,
        }
    }

    /// Asks a process that was never of use to end: it is waited for as briefly as
    /// [`Limits::end_after_failure`](switchboard_core::limits::Limits::end_after_failure) says.
    pub(crate) fn give_up(&self) {
        if let Some(process) = &self.0 {
            process.give_up();
        }
    }

    /// Asks the process to end: it is terminated and killed if closing its stdin is not enough.
    pub(crate) fn end(&self) {
        if let Some(process) = &self.0 {
            process.end();
        }
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer")
            .field("pid", &self.pid())
            .field("exit", &self.exit())
            .finish()
    }
}
