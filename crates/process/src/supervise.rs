//! Starts a process and supervises it until its end.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use switchboard_core::environment::NetworkVariables;
use switchboard_core::limits::Limits;
use switchboard_core::secret::Secret;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::inspect;
use super::leftovers::{LedgerEntry, Recording};
use super::platform::{self, Child};
use super::stderr::StderrTail;
use crate::process::{CleanupListeners, End, Process};
use crate::{BoxRead, BoxWrite, Exit, StartError};

/// The program to start, and its limits.
pub struct Start {
    /// The program, by its absolute path.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// All variables that it receives.
    pub variables: BTreeMap<String, Secret<String>>,
    /// The names of those variables that concern certificates and proxies.
    pub network: NetworkVariables,
    /// Its working folder.
    pub cwd: Option<PathBuf>,
    /// Time limits for each step of its end, and limits for its stderr.
    pub limits: Limits,
    /// A program that can act as a keeper.
    #[cfg_attr(
        not(all(target_os = "linux", target_env = "gnu")),
        allow(dead_code, reason = "there are no keepers there")
    )]
    pub keeper: Option<PathBuf>,
    /// The details to record in the ledger.
    pub record: Option<Recording>,
}

/// The time for a process to disappear after it was killed. Only a keeper takes time: it kills the
/// server's processes first, which it could not do if it were killed itself.
pub(crate) fn after_kill(sweep: Duration) -> Duration {
    sweep.saturating_add(Duration::from_secs(1))
}

/// A running process, and its standard streams.
pub struct Running {
    /// The process.
    pub process: Process,
    /// Its stdout.
    pub reader: BoxRead,
    /// Its stdin.
    pub writer: BoxWrite,
    /// The first number that no request to it has had as its id.
    pub first_id: i64,
}

/// A process that was just started; dropping it kills its group.
pub(crate) struct StartedProcess {
    pub(crate) child: Child,
    pub(crate) reader: BoxRead,
    pub(crate) writer: BoxWrite,
    pub(crate) stderr: BoxRead,
}

/// Starts the process, with a task that reads its stderr and one that supervises it until its end.
///
/// Runs on the caller's thread: if many servers are started at once, handing each to a thread takes
/// longer than loading the programs.
///
/// # Cancel safety
/// Dropping the future kills the process.
pub async fn start(start: &Start) -> Result<Running, StartError> {
    let started = async {
        let mut started = platform::spawn(start)?;
        started.child.has_started().await?;
        Ok(started)
    };
    match started.await {
        Ok(started) => Ok(supervise(started, start)),
        Err(source) => Err(StartError::Spawn {
            path: start.program.clone(),
            file: inspect::look_at(&start.program),
            source,
        }),
    }
}

/// Spawns the tasks that read stderr and supervise the process, and returns its handle.
fn supervise(started: StartedProcess, start: &Start) -> Running {
    let limits = &start.limits;
    let StartedProcess {
        child,
        reader,
        writer,
        stderr: pipe,
    } = started;
    let stderr = StderrTail::new(limits);
    let wrote = CancellationToken::new();
    let drained = tokio::spawn(stderr.clone().drain(pipe, wrote.clone()));
    let (ended, watching) = watch::channel(None);
    let cleanup_listeners = CleanupListeners::default();
    let end = CancellationToken::new();
    let pid = child.pid();
    let record = start.record.as_ref();
    let hurry = CancellationToken::new();
    let supervisor = Supervisor {
        child,
        entry: record.and_then(|record| record.of_process(pid)),
        record: start.record.clone(),
        cleanup_listeners: cleanup_listeners.clone(),
        after_kill: after_kill(limits.end_after_kill),
        after_close: limits.end_after_close,
        after_term: limits.end_after_term,
        after_failure: limits.end_after_failure,
        hurry: hurry.clone(),
        drain: limits.drain,
    };
    let asked = end.clone();
    // The task ends with the process, at most two waits after `end`. If the runtime drops it before
    // that, it kills the group.
    drop(tokio::spawn(async move {
        let end = supervisor.run(&asked, drained).await;
        // It does not matter if all receivers are gone: so is the process.
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
        cleanup_listeners,
    };
    Running {
        process,
        reader,
        writer,
        first_id: 1,
    }
}

/// The state of the task that supervises a process.
struct Supervisor {
    child: Child,
    /// Declared after the child, so that the child is killed before its entry is removed.
    entry: Option<LedgerEntry>,
    record: Option<Recording>,
    cleanup_listeners: CleanupListeners,
    after_kill: Duration,
    after_close: Duration,
    after_term: Duration,
    /// The limit for each step if the process should be ended quickly.
    after_failure: Duration,
    hurry: CancellationToken,
    drain: Duration,
}

impl Supervisor {
    async fn run(
        mut self,
        asked: &CancellationToken,
        mut drained: tokio::task::JoinHandle<()>,
    ) -> End {
        let exit = tokio::select! {
            exit = self.child.wait() => exit,
            () = asked.cancelled() => self.shut_down().await,
        };
        // Clean up before the entry is removed, so that remaining processes are recorded in its place.
        let cleanup = self.child.clean_up().await;
        if let Some(cleanup) = &cleanup {
            for pid in &cleanup.left {
                self.record.iter().for_each(|record| record.of_left(*pid));
            }
            self.cleanup_listeners.notify(cleanup);
        }
        drop(self.entry.take());
        // A process that left the group may hold stderr open: do not wait for it forever.
        if timeout(self.drain, &mut drained).await.is_err() {
            drained.abort();
        }
        // The status is unknown if, for example, the host reaps all children itself.
        End {
            exit: exit.unwrap_or(Exit::Unknown),
            cleanup,
        }
    }

    /// Waits for the end, at most that long, and shorter from when there is a hurry.
    async fn wait(&mut self, usual: Duration) -> Option<io::Result<Exit>> {
        let (hurry, short) = (self.hurry.clone(), usual.min(self.after_failure));
        let hurried = async {
            hurry.cancelled().await;
            sleep(short).await;
        };
        tokio::select! {
            biased;
            exit = self.child.wait() => Some(exit),
            () = sleep(usual) => None,
            () = hurried => None,
        }
    }

    /// Ends the process in the order of the specification: its stdin is closed by now; wait, terminate,
    /// wait, kill.
    async fn shut_down(&mut self) -> io::Result<Exit> {
        self.child.note_descendants();
        if let Some(exit) = self.wait(self.after_close).await {
            return exit;
        }
        self.child.note_descendants();
        self.child.terminate();
        if let Some(exit) = self.wait(self.after_term).await {
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
