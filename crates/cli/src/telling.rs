//! What servers log, told beside what is done with them.

use std::pin::pin;

use serde::Serialize;
use switchboard::host::{Host, Log, Logs};
use switchboard::protocol::{LogLevel, Raw};
use switchboard::text::{sanitise_line, write_json_safe};
use switchboard::transport::Watched;

use crate::commands::logs::{Document, document, line};
use crate::hosting::Hosting;
use crate::journal::lagged;
use crate::output;
use crate::screen::talk;
use crate::secrets::redact_json;

/// What servers log from a level on, without what they write to stderr.
pub(crate) struct Loud {
    logs: Logs,
    level: LogLevel,
}

impl Loud {
    /// What is logged from now on.
    pub(crate) fn of(host: &Host, level: LogLevel) -> Self {
        let logs = host.logs();
        Self { logs, level }
    }

    /// The next thing that is logged; nothing where no more comes.
    pub(crate) async fn next(&mut self) -> Option<Watched<Log>> {
        loop {
            let log = self.logs.next().await?;
            if self.is_loud(&log) {
                return Some(log);
            }
        }
    }

    /// The next thing that is there already.
    fn next_now(&mut self) -> Option<Watched<Log>> {
        loop {
            let log = self.logs.next_now()?;
            if self.is_loud(&log) {
                return Some(log);
            }
        }
    }

    fn is_loud(&self, log: &Watched<Log>) -> bool {
        match log {
            Watched::Missed(_) => true,
            Watched::Item(log) => log.said.level().is_some_and(|level| level >= self.level),
        }
    }
}

/// Tells on stderr what servers log, beside what is done with them.
pub(crate) struct Telling<'a> {
    logs: Option<Loud>,
    hosting: &'a Hosting<'a>,
}

impl<'a> Telling<'a> {
    /// Begins to listen, where somebody wants to know: before anybody connects.
    pub(crate) fn begin(hosting: &'a Hosting<'a>) -> Self {
        let logs = hosting
            .log_level
            .map(|level| Loud::of(&hosting.host, level));
        Self { logs, hosting }
    }

    /// Tells it while something is done.
    pub(crate) async fn during<T>(mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let done = loop {
            tokio::select! {
                // What a server logs for ever does not keep its answer.
                biased;
                done = &mut work => break done,
                Some(log) = next(self.logs.as_mut()) => self.tell(&log),
            }
        };
        while let Some(log) = self.logs.as_mut().and_then(Loud::next_now) {
            self.tell(&log);
        }
        done
    }

    fn tell(&self, log: &Watched<Log>) {
        let screen = self.hosting.screen;
        let log = match log {
            Watched::Item(log) => log,
            Watched::Missed(missed) => {
                screen.warn(&format!(
                    "{missed} log lines came too fast, and are not shown"
                ));
                return;
            }
        };
        self.hosting.learn();
        match screen.is_json() {
            true => talk(&screen.json_line(&document(log)).unwrap_or_default()),
            false => {
                let line = line(log, true);
                talk(&format!("{}\n", sanitise_line(&screen.redact(&line))));
            }
        }
    }
}

/// The next thing that is logged, once what was told before it is read; nothing where nobody listens.
async fn next(logs: Option<&mut Loud>) -> Option<Watched<Log>> {
    let logs = logs?;
    // Whether results could be written is for others to report.
    output::written().await;
    logs.next().await
}

/// What servers log, for the file of `--events`.
pub(crate) struct Recorded {
    logs: Loud,
    host: Host,
}

/// A line of it: that of `logs --json`, as an event.
#[derive(Serialize)]
struct Logged<'a> {
    event: &'static str,
    #[serde(flatten)]
    log: Document<'a>,
}

impl Recorded {
    /// What is logged from now on, where it is to be shown.
    pub(crate) fn of(hosting: &Hosting<'_>) -> Option<Self> {
        let host = hosting.host.clone();
        let logs = Loud::of(&host, hosting.log_level?);
        Some(Self { logs, host })
    }

    /// The next line.
    pub(crate) async fn next(recorded: Option<&mut Self>) -> Option<String> {
        let recorded = recorded?;
        let log = recorded.logs.next().await?;
        Some(recorded.line(&log))
    }

    /// The next line that is there already.
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
        // It always has a JSON form; otherwise it is missed.
        let Ok(line) = Raw::of(&Logged { event, log }) else {
            return lagged(1);
        };
        let line = redact_json(&self.host.secrets(), &line);
        write_json_safe(&line).into_owned()
    }
}
