//! What is behind a link: mostly a process.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::stdio::{NetworkVariables, StderrEar, StderrTail};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// It returned this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// The system could not say.
    Unknown,
}

impl Exit {
    /// Whether it ended as a program that is content does.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => match signal_name(*signal) {
                Some(name) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
            Self::Unknown => f.write_str("an unknown exit status"),
        }
    }
}

/// The names of the signals whose numbers are the same on every system we run on.
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return None,
    })
}

/// What had to be done after a server whose keeper did not end all of it.
///
/// See [`keeper`](crate::keeper).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cleanup {
    /// How the keeper ended, if it did before its work was done: somebody has killed it.
    pub keeper_lost: Option<Exit>,
    /// How many processes the host has ended in its place.
    pub ended: usize,
    /// The process ids of those that still ran when
    /// [`Limits::end_after_kill`](crate::limits::Limits::end_after_kill) was over.
    pub left: Vec<u32>,
}

impl fmt::Display for Cleanup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.keeper_lost {
            Some(exit) => write!(f, "the server's keeper was lost ({exit})")?,
            None => f.write_str("the server's keeper could not end all its processes")?,
        }
        match self.ended {
            0 => {}
            1 => f.write_str("; 1 process was ended in its place")?,
            ended => write!(f, "; {ended} processes were ended in its place")?,
        }
        if !self.left.is_empty() {
            let left: Vec<String> = self.left.iter().map(u32::to_string).collect();
            write!(f, "; still running: {}", left.join(", "))?;
        }
        Ok(())
    }
}

/// How a process ended, and what had to be done after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) exit: Exit,
    pub(crate) cleanup: Option<Cleanup>,
}

/// Called when something had to be done after a server, before its end is known. Must not wait.
pub(crate) type CleanupEar = Box<dyn Fn(&Cleanup) + Send + Sync>;

/// Those who want to know what had to be done after a server.
#[derive(Clone, Default)]
pub(crate) struct CleanupEars(Arc<Mutex<Vec<CleanupEar>>>);

impl CleanupEars {
    pub(super) fn hear(&self, cleanup: &Cleanup) {
        let ears = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ears.iter().for_each(|ear| ear(cleanup));
    }
}

/// What is behind a link.
#[derive(Clone)]
pub struct Peer(Option<Arc<Process>>);

pub(crate) struct Process {
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

impl Peer {
    pub(crate) fn without_process() -> Self {
        Self(None)
    }

    pub(crate) fn of(process: Process) -> Self {
        Self(Some(Arc::new(process)))
    }

    /// The process id, where there is a process.
    pub fn pid(&self) -> Option<u32> {
        self.0.as_ref().map(|process| process.pid)
    }

    /// The first and the last lines that the process wrote to stderr; a line such as
    /// `... 120 lines ...` stands for those between them that were not kept.
    pub fn stderr(&self) -> Vec<String> {
        self.0
            .as_ref()
            .map(|process| process.stderr.lines())
            .unwrap_or_default()
    }

    /// The certificate and proxy variables that the process was started with.
    pub fn network_variables(&self) -> NetworkVariables {
        let process = self.0.as_ref();
        process
            .map(|process| process.network.clone())
            .unwrap_or_default()
    }

    /// Notes that the process has written something.
    pub(crate) fn note_write(&self) {
        if let Some(process) = &self.0 {
            process.wrote.cancel();
        }
    }

    /// Waits until the process has written its first byte, to stdout or stderr. Where there is no
    /// process, nothing has to start, and nothing is waited for.
    pub(crate) async fn has_written(&self) {
        if let Some(process) = &self.0 {
            process.wrote.cancelled().await;
        }
    }

    /// Tells somebody of each line that the process writes to stderr.
    pub(crate) fn hear_stderr(&self, ear: StderrEar) {
        if let Some(process) = &self.0 {
            process.stderr.hear(ear);
        }
    }

    /// How the process ended, once it has.
    ///
    /// Of a server whose keeper was lost, this is how the keeper ended.
    pub fn exit(&self) -> Option<Exit> {
        let ended = self.0.as_ref()?.ended.borrow();
        ended.as_ref().map(|end| end.exit)
    }

    /// What had to be done after the process, once it has ended; mostly nothing.
    pub fn cleanup(&self) -> Option<Cleanup> {
        let ended = self.0.as_ref()?.ended.borrow();
        ended.as_ref()?.cleanup.clone()
    }

    /// Calls back if something has to be done after the process.
    pub(crate) fn hear_cleanup(&self, ear: CleanupEar) {
        if let Some(process) = &self.0 {
            let ears = process.cleanup_ears.0.lock();
            ears.unwrap_or_else(PoisonError::into_inner).push(ear);
        }
    }

    /// Whether there is a process at all.
    pub fn is_process(&self) -> bool {
        self.0.is_some()
    }

    /// Waits until the process has ended and its stderr was read; for ever where there is none.
    pub async fn ended(&self) -> Exit {
        let Some(process) = &self.0 else {
            return std::future::pending().await;
        };
        let mut ended = process.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(end) => end.as_ref().map_or(Exit::Unknown, |end| end.exit),
            // The task that tends the process is gone, and its end kills the process.
            Err(_) => Exit::Unknown,
        }
    }

    /// Asks a process that was never of use to end: it is waited for as briefly as
    /// [`Limits::end_after_failure`](crate::limits::Limits::end_after_failure) says.
    pub(crate) fn give_up(&self) {
        if let Some(process) = &self.0 {
            process.hurry.store(true, Ordering::Release);
            process.end.cancel();
        }
    }

    /// Asks the process to end: it is terminated and killed if closing its stdin is not enough.
    pub(crate) fn end(&self) {
        if let Some(process) = &self.0 {
            process.end.cancel();
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

/// Nobody holds the peer any more: nobody can use it, so it ends.
impl Drop for Process {
    fn drop(&mut self) {
        self.end.cancel();
    }
}
