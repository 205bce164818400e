//! Starts a process and sees it to its end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio as Io;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::platform::{self, Group};
use super::stderr::StderrTail;
use crate::limits::Limits;
use crate::secret::Secret;
use crate::transport::peer::Process;
use crate::transport::{ConnectError, Exit, Link, Peer};

pub(super) struct Start<'a> {
    pub(super) program: PathBuf,
    pub(super) args: &'a [String],
    pub(super) variables: BTreeMap<String, Secret<String>>,
    pub(super) cwd: Option<&'a Path>,
    pub(super) limits: &'a Limits,
}

/// Starts the process, with a task that reads its stderr and one that sees it to its end.
pub(super) fn start(start: &Start<'_>) -> Result<Link, ConnectError> {
    let failed = |source| ConnectError::Spawn {
        path: start.program.clone(),
        source,
    };
    let mut command = Command::new(&start.program);
    command.args(start.args).env_clear().kill_on_drop(true);
    command.envs(
        start
            .variables
            .iter()
            .map(|(name, value)| (name, value.expose())),
    );
    if let Some(folder) = start.cwd {
        command.current_dir(folder);
    }
    command.stderr(Io::piped());
    let streams = platform::prepare(&mut command).map_err(failed)?;
    let mut child = command.spawn().map_err(failed)?;
    // The command holds the child's ends of the pipes: while it does, the pipes never end.
    drop(command);
    let group = Group::of(&child);
    let (reader, writer) = streams.of(&mut child).map_err(failed)?;

    let stderr = StderrTail::new(start.limits);
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
        after_close: start.limits.end_after_close,
        after_term: start.limits.end_after_term,
        drain: start.limits.drain,
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

fn exit_of(status: std::io::Result<std::process::ExitStatus>) -> Exit {
    status.map_or(Exit::Unknown, platform::exit_of)
}
