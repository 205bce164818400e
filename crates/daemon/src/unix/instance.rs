//! One running server.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use switchboard_core::environment::NetworkVariables;
use switchboard_core::secret::Secret;
use switchboard_core::spec::ServerName;
use switchboard_process::leftovers::Recording;
use switchboard_process::{BoxRead, BoxWrite, Process, Running, Start, start};
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

use super::head::{Head, Kind};
use super::lines::{Lines, Piece};
use super::past::Past;
use super::stderr::StderrQueue;
use crate::message::ServerStart;
use crate::{DaemonOptions, ServerStatus};

/// Time for a server to take a line that the daemon itself sends.
const PATIENCE: Duration = Duration::from_secs(1);

/// A server with all that belongs to it. Dropping it ends the process.
pub(super) struct Instance {
    pub(super) number: u64,
    pub(super) start: Arc<ServerStart>,
    pub(super) process: Process,
    pub(super) output: Lines<BoxRead>,
    /// `None` once it was closed.
    pub(super) input: Option<BoxWrite>,
    pub(super) stderr: Arc<StderrQueue>,
    pub(super) past: Past,
    /// The first number that no request has had as its id.
    pub(super) next_id: i64,
    pub(super) uses: u64,
    started: u64,
}

/// The time in seconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| time.as_secs())
}

impl Instance {
    /// Starts a server; `None` if it cannot be started.
    pub(super) async fn start(
        number: u64,
        wanted: Arc<ServerStart>,
        options: &DaemonOptions,
    ) -> Option<Self> {
        let record = options.ledger.as_ref().and_then(|ledger| {
            Some(Recording {
                ledger: ledger.clone(),
                server: ServerName::parse(&wanted.name).ok()?,
                command: wanted.command.clone(),
            })
        });
        let variables = wanted.variables.iter();
        let variables = variables.map(|(name, value)| (name.clone(), Secret::new(value.clone())));
        let process_start = Start {
            program: wanted.program.clone(),
            args: wanted.args.clone(),
            variables: variables.collect(),
            // Those are for diagnoses, which the command makes itself.
            network: NetworkVariables::default(),
            cwd: Some(wanted.folder.clone()),
            limits: options.limits.clone(),
            keeper: options.keeper.clone(),
            record,
        };
        let Running {
            process,
            reader,
            writer,
            first_id,
        } = start(&process_start).await.ok()?;
        Some(Self {
            number,
            start: wanted,
            stderr: StderrQueue::of(&process),
            process,
            output: Lines::new(reader),
            input: Some(writer),
            past: Past::default(),
            next_id: first_id,
            uses: 0,
            started: now(),
        })
    }

    pub(super) fn status(&self, in_use: bool) -> ServerStatus {
        ServerStatus {
            name: self.start.name.clone(),
            command: self.start.command.clone(),
            folder: self.start.folder.display().to_string(),
            pid: self.process.pid(),
            started: self.started,
            in_use,
            uses: self.uses,
        }
    }

    /// Reads a line that the server writes while no command uses it, and returns the answer that it gets, if any:
    /// without a command there is no one to ask. `None` if the server is of no use any more. Cancel safe.
    pub(super) async fn next_unused(&mut self) -> Option<Option<String>> {
        let piece = tokio::select! {
            piece = self.output.next() => piece,
            _ = self.process.ended() => return None,
        };
        // These are not read, and they must not gather.
        drop(self.stderr.take());
        let Ok(Some(Piece::Line(line))) = piece else {
            return None;
        };
        let Some(head) = Head::read(&line) else {
            return Some(None);
        };
        Some(match head.kind() {
            Kind::Request => Some(answer_unused(&head)),
            Kind::Answer => {
                self.past.stale.remove(head.id());
                None
            }
            Kind::Notification => None,
        })
    }

    /// Sends a line. Returns false if the server does not take it.
    pub(super) async fn send(&mut self, line: &str) -> bool {
        let Some(input) = &mut self.input else {
            return false;
        };
        let sent = timeout(PATIENCE, input.write_all(line.as_bytes())).await;
        matches!(sent, Ok(Ok(())))
    }

    /// Ends the server, and waits until it has ended.
    pub(super) async fn end(mut self) {
        // First stdin, as the specification says; its output is read until then.
        self.input = None;
        self.process.end();
        let Self {
            process,
            mut output,
            ..
        } = self;
        let reading = async {
            while let Ok(Some(_)) = output.next().await {}
            std::future::pending::<()>().await;
        };
        tokio::select! {
            _ = process.ended() => {}
            () = reading => {}
        }
    }
}

/// The answer to a request of a server that no command uses.
pub(super) fn answer_unused(head: &Head<'_>) -> String {
    let id = head.id();
    match head.method.as_deref() {
        Some("ping") => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n"),
        _ => format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32603,\"message\":\"no client is there\"}}}}\n"
        ),
    }
}
