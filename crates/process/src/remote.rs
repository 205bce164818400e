//! A process that another program of the same user runs for this one.

use std::fmt;
use std::pin::Pin;

use switchboard_core::environment::NetworkVariables;
use switchboard_core::limits::Limits;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::process::{CleanupListeners, End};
use crate::stderr::StderrTail;
use crate::{Cleanup, Exit, Process, Running, Start};

/// A process being started by another program; `None` if that cannot start it.
pub type Launching<'a> = Pin<Box<dyn Future<Output = Option<Running>> + Send + 'a>>;

/// Starts processes in place of this program.
pub trait Launch: Send + Sync {
    /// Starts a process. Where it cannot, the process is started directly, so that its error is known.
    ///
    /// # Cancel safety
    /// Dropping the future gives the process back.
    fn launch<'a>(&'a self, start: &'a Start) -> Launching<'a>;
}

/// What becomes known of a process that another program runs.
pub struct RemoteProcess {
    stderr: StderrTail,
    wrote: CancellationToken,
    ended: watch::Sender<Option<End>>,
    end: CancellationToken,
    cleanup_listeners: CleanupListeners,
}

impl Process {
    /// The handle of a process that another program runs, and the way to say what becomes of it. It is not
    /// ended with its handle, but told to by [`RemoteProcess::released`].
    pub fn remote(pid: u32, network: NetworkVariables, limits: &Limits) -> (Self, RemoteProcess) {
        let (ended, watching) = watch::channel(None);
        let remote = RemoteProcess {
            stderr: StderrTail::new(limits),
            wrote: CancellationToken::new(),
            ended,
            end: CancellationToken::new(),
            cleanup_listeners: CleanupListeners::default(),
        };
        let process = Self {
            pid,
            ended: watching,
            stderr: remote.stderr.clone(),
            end: remote.end.clone(),
            wrote: remote.wrote.clone(),
            network,
            hurry: CancellationToken::new(),
            cleanup_listeners: remote.cleanup_listeners.clone(),
        };
        (process, remote)
    }
}

impl fmt::Debug for RemoteProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteProcess")
            .field("stderr", &self.stderr)
            .finish_non_exhaustive()
    }
}

impl RemoteProcess {
    /// It has written something.
    pub fn note_write(&self) {
        self.wrote.cancel();
    }

    /// It has written a line to stderr; `bytes` is the full length of one that was cut.
    pub fn add_stderr(&self, text: &str, bytes: usize) {
        self.stderr.add(text, bytes);
        self.wrote.cancel();
    }

    /// It has begun a line on stderr and not ended it.
    pub fn set_open_stderr(&self, text: &str) {
        self.stderr.set_open(text);
        self.wrote.cancel();
    }

    /// It has ended.
    pub fn set_ended(&self, exit: Exit, cleanup: Option<Cleanup>) {
        if let Some(cleanup) = &cleanup {
            self.cleanup_listeners.notify(cleanup);
        }
        self.ended.send_replace(Some(End { exit, cleanup }));
    }

    /// Waits until this program needs the process no more. Cancel safe.
    pub async fn released(&self) {
        self.end.cancelled().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_said_of_a_remote_process_is_seen_in_its_handle() {
        let limits = Limits::default();
        let (process, remote) = Process::remote(7, NetworkVariables::default(), &limits);
        assert_eq!((process.pid(), process.exit()), (7, None));
        remote.set_open_stderr("la");
        process.has_written().await;
        assert_eq!(process.stderr(), ["la"]);
        remote.add_stderr("late", 4);
        assert_eq!(process.stderr(), ["late"]);
        remote.set_ended(Exit::Code(3), None);
        assert_eq!(process.ended().await, Exit::Code(3));
        drop(process);
        remote.released().await;
    }
}
