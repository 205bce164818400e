//! The other end of a link: a process, or nothing that we own.

use std::fmt;
use std::sync::Arc;

use switchboard_core::environment::NetworkVariables;
use switchboard_process::{Cleanup, CleanupListener, Exit, Process, StderrListener};

/// The other end of a link.
///
/// Over stdio this is the server's process, whose stderr, exit status and cleanup it gives access
/// to. Other links have no process, and all of these are empty.
#[derive(Clone)]
pub struct Peer(Option<Arc<Process>>);

impl Peer {
    pub(crate) fn without_process() -> Self {
        Self(None)
    }

    pub(crate) fn of(process: Process) -> Self {
        Self(Some(Arc::new(process)))
    }

    /// The process id, if there is a process.
    pub fn pid(&self) -> Option<u32> {
        self.0.as_ref().map(|process| process.pid())
    }

    /// The first and the last lines that the process wrote to stderr. A line such as `... 120 lines
    /// ...` stands for those in between.
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

    /// Waits until the process has written its first byte, to stdout or stderr. Returns at once
    /// without a process, where nothing has to start.
    pub(crate) async fn has_written(&self) {
        if let Some(process) = &self.0 {
            process.has_written().await;
        }
    }

    /// Calls back with each line that the process writes to stderr.
    #[doc(hidden)]
    pub fn on_stderr(&self, ear: StderrListener) {
        if let Some(process) = &self.0 {
            process.on_stderr(ear);
        }
    }

    /// The exit status of the process, once it has ended.
    ///
    /// If the keeper of the process was lost, this is the exit status of the keeper.
    pub fn exit(&self) -> Option<Exit> {
        self.0.as_ref()?.exit()
    }

    /// The cleanup that was needed after the process had ended; usually `None`.
    pub fn cleanup(&self) -> Option<Cleanup> {
        self.0.as_ref()?.cleanup()
    }

    /// Calls back if a cleanup is needed after the process.
    #[doc(hidden)]
    pub fn on_cleanup(&self, ear: CleanupListener) {
        if let Some(process) = &self.0 {
            process.on_cleanup(ear);
        }
    }

    /// Returns true if there is a process.
    pub fn is_process(&self) -> bool {
        self.0.is_some()
    }

    /// Waits until the process has ended and its stderr was read; waits for ever without a process.
    /// Cancel safe.
    pub async fn ended(&self) -> Exit {
        match &self.0 {
            Some(process) => process.ended().await,
            None => std::future::pending().await,
        }
    }

    /// Asks a process that was never used to end, with the short patience of
    /// [`Limits::end_after_failure`](switchboard_core::limits::Limits::end_after_failure).
    pub(crate) fn give_up(&self) {
        if let Some(process) = &self.0 {
            process.give_up();
        }
    }

    /// Asks the process to end: terminates and then kills it if closing its stdin is not enough.
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
