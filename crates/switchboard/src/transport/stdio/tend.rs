//! Starts a process and sees it to its end.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::Stdio as Io;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::platform::{self, Group, Streams};
use super::stderr::StderrTail;
use crate::limits::Limits;
use crate::secret::Secret;
use crate::transport::peer::Process;
use crate::transport::{ConnectError, Exit, Link, Peer};

pub(super) struct Start {
    pub(super) program: PathBuf,
    pub(super) args: Vec<String>,
    pub(super) variables: BTreeMap<String, Secret<String>>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) limits: Limits,
}

/// A process that was just started; dropping it kills its group.
struct Started {
    child: Child,
    group: Group,
    streams: Streams,
}

/// Starts the process, with a task that reads its stderr and one that sees it to its end.
pub(super) async fn start(start: Start) -> Result<Link, ConnectError> {
    let program = start.program.clone();
    let failed = |source| ConnectError::Spawn {
        path: program,
        source,
    };
    let limits = start.limits.clone();
    // Starting a program waits until the system has loaded it: not on a thread that serves others.
    let started = tokio::task::spawn_blocking(move || spawn(&start)).await;
    match started.unwrap_or_else(|gone| Err(io::Error::other(gone))) {
        Ok(started) => tend(started, &limits).map_err(failed),
        Err(error) => Err(failed(error)),
    }
}

fn spawn(start: &Start) -> io::Result<Started> {
    let mut command = Command::new(&start.program);
    command.args(&start.args).env_clear().kill_on_drop(true);
    command.envs(
        start
            .variables
            .iter()
            .map(|(name, value)| (name, value.expose())),
    );
    if let Some(folder) = &start.cwd {
        command.current_dir(folder);
    }
    command.stderr(Io::piped());
    let streams = platform::prepare(&mut command)?;
    // The command holds the child's ends of the pipes, and is dropped when this returns: while it
    // lives, the pipes never end.
    let child = command.spawn()?;
    Ok(Started {
        group: Group::of(&child),
        child,
        streams,
    })
}

fn tend(started: Started, limits: &Limits) -> io::Result<Link> {
    let Started {
        mut child,
        group,
        streams,
    } = started;
    let (reader, writer) = streams.of(&mut child)?;
    let stderr = StderrTail::new(limits);
    let drained = child
        .stderr
        .take()
        .map(|pipe| tokio::spawn(stderr.clone().drain(pipe)));
    let (ended, watching) = watch::channel(None);
    let end = CancellationToken::new();
    let pid = child.id().unwrap_or_default();
    let tending = Tending {
        child,
        group,
        after_close: limits.end_after_close,
        after_term: limits.end_after_term,
        drain: limits.drain,
    };
    let asked = end.clone();
    // The task ends with the process, at the latest two waits after `end`; dropped with its
    // runtime before that, it kills the group.
    drop(tokio::spawn(async move {
        let exit = tending.until_the_end(&asked, drained).await;
        // Nobody left to tell is fine: the process is gone either way.
        ended.send(Some(exit)).ok();
    }));
    let peer = Peer::of(Process {
        pid,
        ended: watching,
        stderr,
        end,
    });
    Ok(Link {
        reader,
        writer,
        peer,
    })
}

struct Tending {
    child: Child,
    group: Group,
    after_close: Duration,
    after_term: Duration,
    drain: Duration,
}

impl Tending {
    async fn until_the_end(
        mut self,
        asked: &CancellationToken,
        drained: Option<tokio::task::JoinHandle<()>>,
    ) -> Exit {
        let exit = tokio::select! {
            status = self.child.wait() => exit_of(status),
            () = asked.cancelled() => self.shut_down().await,
        };
        // The leader is gone; what it left behind in its group goes too.
        self.group.kill();
        if let Some(mut drained) = drained {
            // A process that left the group may hold stderr open: it is not waited for.
            if timeout(self.drain, &mut drained).await.is_err() {
                drained.abort();
            }
        }
        exit
    }

    /// Ends the process as the specification orders: its stdin is closed by now; wait, terminate,
    /// wait, kill.
    async fn shut_down(&mut self) -> Exit {
        if let Ok(status) = timeout(self.after_close, self.child.wait()).await {
            return exit_of(status);
        }
        self.group.terminate();
        if let Ok(status) = timeout(self.after_term, self.child.wait()).await {
            return exit_of(status);
        }
        self.group.kill();
        // An error means that it is gone already.
        self.child.start_kill().ok();
        exit_of(self.child.wait().await)
    }
}

fn exit_of(status: io::Result<std::process::ExitStatus>) -> Exit {
    status.map_or(Exit::Unknown, platform::exit_of)
}
