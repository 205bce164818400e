//! The handle of a server's process.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use switchboard_core::environment::NetworkVariables;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::stderr::{OpenStderrListener, StderrListener, StderrTail};
use crate::{Cleanup, Exit};

/// The exit status of a process, and the cleanup after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) exit: Exit,
    pub(crate) cleanup: Option<Cleanup>,
}

/// A callback for a cleanup after a server, called before its exit is reported. Must not block.
pub type CleanupListener = Box<dyn Fn(&Cleanup) + Send + Sync>;

/// The callbacks for a cleanup.
#[derive(Clone, Default)]
pub(crate) struct CleanupListeners(Arc<Mutex<Vec<CleanupListener>>>);

impl CleanupListeners {
    pub(crate) fn notify(&self, cleanup: &Cleanup) {
        let listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.iter().for_each(|listener| listener(cleanup));
    }
}

/// The handle of a started process. Dropping it asks the process to end.
pub struct Process {
    pub(crate) pid: u32,
    pub(crate) ended: watch::Receiver<Option<End>>,
    pub(crate) stderr: StderrTail,
    pub(crate) end: CancellationToken,
    /// Cancelled at the first byte that the process writes to stdout or stderr.
    pub(crate) wrote: CancellationToken,
    pub(crate) network: NetworkVariables,
    /// Cancelled if the process has nothing to finish and should be ended quickly.
    pub(crate) hurry: CancellationToken,
    pub(crate) cleanup_listeners: CleanupListeners,
}

impl Process {
    /// The process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The first and the last lines of its stderr; a line such as `... 120 lines ...` replaces those in
    /// between that were dropped.
    pub fn stderr(&self) -> Vec<String> {
        self.stderr.lines()
    }

    /// The certificate and proxy variables that it was started with.
    pub fn network_variables(&self) -> &NetworkVariables {
        &self.network
    }

    /// Records that it has written to stdout.
    pub fn note_write(&self) {
        self.wrote.cancel();
    }

    /// Waits until it has written its first byte, to stdout or stderr.
    pub async fn has_written(&self) {
        self.wrote.cancelled().await;
    }

    /// Registers a callback for each line of its stderr.
    pub fn on_stderr(&self, listener: StderrListener) {
        self.stderr.listen(listener);
    }

    /// Registers a callback for a line of its stderr that has not ended, such as a prompt: it gets the line so far,
    /// each time that it grows.
    pub fn on_open_stderr(&self, listener: OpenStderrListener) {
        self.stderr.listen_to_open(listener);
    }

    /// Its exit status, once it has ended.
    ///
    /// If its keeper was lost, this is the keeper's exit status.
    pub fn exit(&self) -> Option<Exit> {
        self.ended.borrow().as_ref().map(|end| end.exit)
    }

    /// The cleanup after it, once it has ended; mostly `None`.
    pub fn cleanup(&self) -> Option<Cleanup> {
        self.ended.borrow().as_ref()?.cleanup.clone()
    }

    /// Registers a callback for a cleanup after it.
    pub fn on_cleanup(&self, listener: CleanupListener) {
        let listeners = self.cleanup_listeners.0.lock();
        listeners
            .unwrap_or_else(PoisonError::into_inner)
            .push(listener);
    }

    /// Waits until it has ended and its stderr has been read.
    pub async fn ended(&self) -> Exit {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(end) => end.as_ref().map_or(Exit::Unknown, |end| end.exit),
            // The supervising task is gone, and dropping it has killed the process.
            Err(_) => Exit::Unknown,
        }
    }

    /// Waits until it has ended, without its handle.
    pub fn watch_end(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut ended = self.ended.clone();
        async move {
            ended.wait_for(Option::is_some).await.ok();
        }
    }

    /// Asks it to end quickly, because it was never used: each step waits at most
    /// [`Limits::end_after_failure`](switchboard_core::limits::Limits::end_after_failure).
    pub fn give_up(&self) {
        self.hurry.cancel();
        self.end.cancel();
    }

    /// Asks it to end: it is terminated and killed if closing its stdin is not enough.
    pub fn end(&self) {
        self.end.cancel();
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process")
            .field("pid", &self.pid)
            .field("exit", &self.exit())
            .finish_non_exhaustive()
    }
}

/// Asks the process to end, because without its handle it cannot be used.
impl Drop for Process {
    fn drop(&mut self) {
        self.end.cancel();
    }
}
