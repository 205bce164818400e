//! Server log messages at or above a level, shown on stderr or written to the events file while a command
//! runs.

use std::pin::pin;

use serde::Serialize;
use switchboard::host::{Host, Log, Logs};
use switchboard::protocol::{LogLevel, Raw};
use switchboard::text::{sanitise_line, write_json_safe};
use switchboard::transport::Watched;

use crate::commands::logs::{LogDocument, document, line};
use crate::hosting::Hosting;
use crate::journal::lagged;
use crate::output;
use crate::screen::talk;
use switchboard_terminal::json::redact_json;

/// Log messages of all servers, filtered by level. Lines that servers write to stderr are not included.
pub(crate) struct LogStream {
    logs: Logs,
    level: LogLevel,
}

impl LogStream {
    /// Subscribes to messages logged from now on.
    pub(crate) fn subscribe(host: &Host, level: LogLevel) -> Self {
        let logs = host.logs();
        Self { logs, level }
    }

    /// Returns the next message, or `None` once the host has shut down.
    pub(crate) async fn next(&mut self) -> Option<Watched<Log>> {
        loop {
            let log = self.logs.next().await?;
            if self.is_at_level(&log) {
                return Some(log);
            }
        }
    }

    /// Returns the next message that has arrived already.
    fn next_now(&mut self) -> Option<Watched<Log>> {
        loop {
            let log = self.logs.next_now()?;
            if self.is_at_level(&log) {
                return Some(log);
            }
        }
    }

    fn is_at_level(&self, log: &Watched<Log>) -> bool {
        match log {
            Watched::Missed(_) => true,
            Watched::Item(log) => log.said.level().is_some_and(|level| level >= self.level),
        }
    }
}

/// Shows log messages on stderr while a command runs.
pub(crate) struct StderrLogs<'a> {
    logs: Option<LogStream>,
    hosting: &'a Hosting<'a>,
}

impl<'a> StderrLogs<'a> {
    /// Subscribes if `--log-level` is given. Called before servers are connected, so that no message is
    /// missed.
    pub(crate) fn begin(hosting: &'a Hosting<'a>) -> Self {
        let logs = hosting
            .log_level
            .map(|level| LogStream::subscribe(&hosting.host, level));
        Self { logs, hosting }
    }

    /// Runs `work`, and shows log messages meanwhile.
    pub(crate) async fn during<T>(mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let done = loop {
            tokio::select! {
                // Biased: a server that logs without end must not delay the result.
                biased;
                done = &mut work => break done,
                Some(log) = next(self.logs.as_mut()) => self.show(&log),
            }
        };
        while let Some(log) = self.logs.as_mut().and_then(LogStream::next_now) {
            self.show(&log);
        }
        done
    }

    fn show(&self, log: &Watched<Log>) {
        let screen = self.hosting.screen;
        let log = match log {
            Watched::Item(log) => log,
            Watched::Missed(missed) => {
                screen.warn(&format!(
                    "{missed} log lines were dropped: they came too fast"
                ));
                return;
            }
        };
        self.hosting.learn();
        if screen.is_json() {
            talk(&screen.json_line(&document(log)).unwrap_or_default());
        } else {
            let line = line(log, true);
            talk(&format!("{}\n", sanitise_line(&screen.redact(&line))));
        }
    }
}

/// Returns the next message once the previous output has been read, or `None` without `--log-level`.
async fn next(logs: Option<&mut LogStream>) -> Option<Watched<Log>> {
    let logs = logs?;
    // Write errors of results are reported elsewhere.
    output::drain().await;
    logs.next().await
}

/// Log messages for the file of `--events`.
pub(crate) struct EventLogs {
    logs: LogStream,
    host: Host,
}

/// A line in that file: the document of `logs --json` as an event.
#[derive(Serialize)]
struct Logged<'a> {
    event: &'static str,
    #[serde(flatten)]
    log: LogDocument<'a>,
}

impl EventLogs {
    /// Subscribes if `--log-level` is given.
    pub(crate) fn subscribe(hosting: &Hosting<'_>) -> Option<Self> {
        let host = hosting.host.clone();
        let logs = LogStream::subscribe(&host, hosting.log_level?);
        Some(Self { logs, host })
    }

    /// Returns the next line.
    pub(crate) async fn next(recorded: Option<&mut Self>) -> Option<String> {
        let recorded = recorded?;
        let log = recorded.logs.next().await?;
        Some(recorded.line(&log))
    }

    /// Returns the next line that has arrived already.
    pub(crate) fn next_now(&mut self) -> Option<String> {
        let log = self.logs.next_now()?;
        Some(self.line(&log))
    }

    fn line(&self, log: &Watched<Log>) -> String {
        let log = match log {
            Watched::Missed(missed) => return lagged(*missed),
            Watched::Item(log) => document(log),
        };
        let event = "logged";
        // Every message has a JSON form; if not, it counts as missed.
        let Ok(line) = Raw::of(&Logged { event, log }) else {
            return lagged(1);
        };
        let line = redact_json(&self.host.secrets(), &line);
        write_json_safe(&line).into_owned()
    }
}
