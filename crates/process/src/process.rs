//! A server's process, from its start to its end.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use switchboard_core::environment::NetworkVariables;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::stderr::{StderrEar, StderrTail};
use crate::{Cleanup, Exit};

/// How a process ended, and what had to be done after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) exit: Exit,
    pub(crate) cleanup: Option<Cleanup>,
}

/// Called when something had to be done after a server, before its end is known. Must not wait.
pub type CleanupEar = Box<dyn Fn(&Cleanup) + Send + Sync>;

/// Those who want to know what had to be done after a server.
#[derive(Clone, Default)]
pub(crate) struct CleanupEars(Arc<Mutex<Vec<CleanupEar>>>);

impl CleanupEars {
    pub(crate) fn hear(&self, cleanup: &Cleanup) {
        let ears = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ears.iter().for_each(|ear| ear(cleanup));
    }
}

/// A process that was started. It is asked to end when this is dropped.
pub struct Process {
    pub(crate) pid: u32,
    pub(crate) ended: watch::Receiver<Option<End>>,
    pub(crate) stderr: StderrTail,
    pub(crate) end: CancellationToken,
    /// Cancelled at the first byte that the process writes to stdout or stderr.
    pub(crate) wrote: CancellationToken,
    pub(crate) network: NetworkVariables,
    /// Whether nobody is to wait for it long: it has nothing to finish.
    pub(crate) hurry: Arc<AtomicBool>,
    pub(crate) cleanup_ears: CleanupEars,
}

impl Process {
    /// The process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The first and the last lines that it wrote to stderr; a line such as `... 120 lines ...` stands for
    /// those between them that were not kept.
    pub fn stderr(&self) -> Vec<String> {
        self.stderr.lines()
    }

    /// The certificate and proxy variables that it was started with.
    pub fn network_variables(&self) -> &NetworkVariables {
        &self.network
    }

    /// Notes that it has written something to stdout.
    pub fn note_write(&self) {
        self.wrote.cancel();
    }

    /// Waits until it has written its first byte, to stdout or stderr.
    pub async fn has_written(&self) {
        self.wrote.cancelled().await;
    }

    /// Calls back with each line that it writes to stderr.
    pub fn hear_stderr(&self, ear: StderrEar) {
        self.stderr.hear(ear);
    }

    /// How it ended, once it has.
    ///
    /// Of a server whose keeper was lost, this is how the keeper ended.
    pub fn exit(&self) -> Option<Exit> {
        self.ended.borrow().as_ref().map(|end| end.exit)
    }

    /// What had to be done after it, once it has ended; mostly nothing.
    pub fn cleanup(&self) -> Option<Cleanup> {
        self.ended.borrow().as_ref()?.cleanup.clone()
    }

    /// Calls back if something has to be done after it.
    pub fn hear_cleanup(&self, ear: CleanupEar) {
        let ears = self.cleanup_ears.0.lock();
        ears.unwrap_or_else(PoisonError::into_inner).push(ear);
    }

    /// Waits until it has ended and its stderr was read.
    pub async fn ended(&self) -> Exit {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(end) => end.as_ref().map_or(Exit::Unknown, |end| end.exit),
            // The task that tends the process is gone, and its end kills the process.
            Err(_) => Exit::Unknown,
        }
    }

    /// Asks it to end without waiting for it longer than
    /// [`Limits::end_after_failure`](switchboard_core::limits::Limits::end_after_failure): it was never of use.
    pub fn give_up(&self) {
        self.hurry.store(true, Ordering::Release);
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

/// Nobody holds it any more, so nobody can use it.
impl Drop for Process {
    fn drop(&mut self) {
        self.end.cancel();
    }
}
