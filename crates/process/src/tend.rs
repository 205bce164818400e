//! Starts a process and sees it to its end.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use switchboard_core::environment::NetworkVariables;
use switchboard_core::limits::Limits;
use switchboard_core::secret::Secret;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::inspect;
use super::leftovers::{Entry, Recording};
use super::platform::{self, Child};
use super::stderr::StderrTail;
use crate::process::{CleanupEars, End, Process};
use crate::{BoxRead, BoxWrite, Exit, StartError};

/// What is to be started, and within which bounds.
pub struct Start {
    /// The program, by its absolute path.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// All variables that it gets.
    pub variables: BTreeMap<String, Secret<String>>,
    /// Those of the variables that are about certificates and proxies, by name.
    pub network: NetworkVariables,
    /// The folder that it is started in.
    pub cwd: Option<PathBuf>,
    /// How long each step of its end may take, and how much of its stderr is kept.
    pub limits: Limits,
    /// A program that can be a keeper.
    #[cfg_attr(
        not(all(target_os = "linux", target_env = "gnu")),
        allow(dead_code, reason = "there are no keepers there")
    )]
    pub keeper: Option<PathBuf>,
    /// What the server is to be written down as.
    pub record: Option<Recording>,
}

/// How long a process may take to be gone after it was killed. Only a keeper takes any time: it
/// kills others first, for as long as it may, and one that is killed itself cannot.
pub(crate) fn after_kill(sweep: Duration) -> Duration {
    sweep.saturating_add(Duration::from_secs(1))
}

/// A process that runs, and its standard streams.
pub struct Running {
    /// The process.
    pub process: Process,
    /// What it writes to stdout.
    pub reader: BoxRead,
    /// Its stdin.
    pub writer: BoxWrite,
}

/// A process that was just started; dropping it kills its group.
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) reader: BoxRead,
    pub(crate) writer: BoxWrite,
    pub(crate) stderr: BoxRead,
}

/// Starts the process, with a task that reads its stderr and one that sees it to its end.
///
/// On the caller's thread: where many servers are started at once, handing each to a thread of its
/// own takes longer than loading the programs.
///
/// Cancel safe: what was started is killed.
pub async fn start(start: &Start) -> Result<Running, StartError> {
    let started = async {
        let mut started = platform::spawn(start)?;
        started.child.has_started().await?;
        Ok(started)
    };
    match started.await {
        Ok(started) => Ok(tend(started, start)),
        Err(source) => Err(StartError::Spawn {
            path: start.program.clone(),
            file: inspect::look_at(&start.program),
            source,
        }),
    }
}

fn tend(started: Started, start: &Start) -> Running {
    let limits = &start.limits;
    let Started {
        child,
        reader,
        writer,
        stderr: pipe,
    } = started;
    let stderr = StderrTail::new(limits);
    let wrote = CancellationToken::new();
    let drained = tokio::spawn(stderr.clone().drain(pipe, wrote.clone()));
    let (ended, watching) = watch::channel(None);
    let cleanup_ears = CleanupEars::default();
    let end = CancellationToken::new();
    let pid = child.pid();
    let record = start.record.as_ref();
    let hurry = Arc::<AtomicBool>::default();
    let tending = Tending {
        child,
        entry: record.and_then(|record| record.of_process(pid)),
        record: start.record.clone(),
        cleanup_ears: cleanup_ears.clone(),
        after_kill: after_kill(limits.end_after_kill),
        after_close: limits.end_after_close,
        after_term: limits.end_after_term,
        after_failure: limits.end_after_failure,
        hurry: Arc::clone(&hurry),
        drain: limits.drain,
    };
    let asked = end.clone();
    // The task ends with the process, at the latest two waits after `end`; dropped with its
    // runtime before that, it kills the group.
    drop(tokio::spawn(async move {
        let end = tending.until_the_end(&asked, drained).await;
        // Nobody left to tell is fine: the process is gone either way.
        ended.send(Some(end)).ok();
    }));
    let process = Process {
        pid,
        ended: watching,
        stderr,
        end,
        wrote,
        network: start.network.clone(),
        hurry,
        cleanup_ears,
    };
    Running {
        process,
        reader,
        writer,
    }
}

struct Tending {
    child: Child,
    /// After the child, which is killed when it is dropped.
    entry: Option<Entry>,
    record: Option<Recording>,
    cleanup_ears: CleanupEars,
    after_kill: Duration,
    after_close: Duration,
    after_term: Duration,
    /// How long it takes for each where nobody wants to wait.
    after_failure: Duration,
    hurry: Arc<AtomicBool>,
    drain: Duration,
}

impl Tending {
    async fn until_the_end(
        mut self,
        asked: &CancellationToken,
        mut drained: tokio::task::JoinHandle<()>,
    ) -> End {
        let exit = tokio::select! {
            exit = self.child.wait() => exit,
            () = asked.cancelled() => self.shut_down().await,
        };
        // Before the server is crossed out: what is left is written down in its place.
        let cleanup = self.child.clean_up().await;
        if let Some(cleanup) = &cleanup {
            for pid in &cleanup.left {
                self.record.iter().for_each(|record| record.of_left(*pid));
            }
            self.cleanup_ears.hear(cleanup);
        }
        drop(self.entry.take());
        // A process that left the group may hold stderr open: it is not waited for.
        if timeout(self.drain, &mut drained).await.is_err() {
            drained.abort();
        }
        // The system may have nothing to say, as when the host fetches all children itself.
        End {
            exit: exit.unwrap_or(Exit::Unknown),
            cleanup,
        }
    }

    fn patience(&self, usual: Duration) -> Duration {
        match self.hurry.load(Ordering::Acquire) {
            true => usual.min(self.after_failure),
            false => usual,
        }
    }

    /// Ends the process as the specification orders: its stdin is closed by now; wait, terminate,
    /// wait, kill.
    async fn shut_down(&mut self) -> io::Result<Exit> {
        self.child.note_descendants();
        if let Ok(exit) = timeout(self.patience(self.after_close), self.child.wait()).await {
            return exit;
        }
        self.child.note_descendants();
        self.child.terminate();
        if let Ok(exit) = timeout(self.patience(self.after_term), self.child.wait()).await {
            return exit;
        }
        self.child.note_descendants();
        self.child.start_kill();
        if let Ok(exit) = timeout(self.after_kill, self.child.wait()).await {
            return exit;
        }
        self.child.force_kill();
        self.child.wait().await
    }
}
