//! What servers log, told beside what is done with them.

use std::pin::pin;

use serde::Serialize;
use switchboard::host::{Host, Log, Logs};
use switchboard::protocol::{LogLevel, Raw};
use switchboard::text::{sanitise_line, write_json_safe};
use switchboard::transport::Watched;

use crate::commands::logs::{Document, document, line};
use crate::hosting::Hosting;
use crate::screen::talk;
use crate::secrets::redact_json;

/// Tells on stderr what servers log, beside what is done with them.
pub(crate) struct Telling<'a> {
    logs: Option<Logs>,
    hosting: &'a Hosting<'a>,
}

impl<'a> Telling<'a> {
    /// Begins to listen, where somebody wants to know: before anybody connects.
    pub(crate) fn begin(hosting: &'a Hosting<'a>) -> Self {
        let logs = hosting.log_level.map(|_| hosting.host.logs());
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
        while let Some(log) = self.logs.as_mut().and_then(Logs::next_now) {
            self.tell(&log);
        }
        done
    }

    fn tell(&self, log: &Watched<Log>) {
        let (screen, level) = (self.hosting.screen, self.hosting.log_level);
        let log = match log {
            Watched::Item(log) => log,
            Watched::Missed(missed) => {
                screen.warn(&format!(
                    "{missed} log lines came too fast, and are not shown"
                ));
                return;
            }
        };
        if log.said.level().is_none_or(|said| Some(said) < level) {
            return;
        }
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

/// The next thing that is logged; never, where nobody listens or nothing more comes.
async fn next(logs: Option<&mut Logs>) -> Option<Watched<Log>> {
    match logs {
        Some(logs) => logs.next().await,
        None => None,
    }
}

/// What servers log, for the file of `--events`.
pub(crate) struct Recorded {
    logs: Logs,
    host: Host,
    level: LogLevel,
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
        let level = hosting.log_level?;
        let (logs, host) = (hosting.host.logs(), hosting.host.clone());
        Some(Self { logs, host, level })
    }

    /// The next line.
    pub(crate) async fn next(recorded: Option<&mut Self>) -> Option<String> {
        let recorded = recorded?;
        loop {
            let log = recorded.logs.next().await?;
            if let Some(line) = recorded.line(&log) {
                return Some(line);
            }
        }
    }

    /// The next line that is there already.
    pub(crate) fn next_now(&mut self) -> Option<String> {
        loop {
            let log = self.logs.next_now()?;
            if let Some(line) = self.line(&log) {
                return Some(line);
            }
        }
    }

    fn line(&self, log: &Watched<Log>) -> Option<String> {
        let log = match log {
            Watched::Missed(missed) => {
                return Some(format!("{{\"event\":\"lagged\",\"missed\":{missed}}}"));
            }
            Watched::Item(log) => log,
        };
        log.said.level().filter(|said| *said >= self.level)?;
        let event = "logged";
        let log = document(log);
        let line = Raw::of(&Logged { event, log }).ok()?;
        let line = redact_json(&self.host.secrets(), &line);
        Some(write_json_safe(&line).into_owned())
    }
}
