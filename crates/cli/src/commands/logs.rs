//! `switchboard logs`: follows log messages and stderr of servers, on stdout, until the time is up or the
//! last server is gone.

use std::pin::pin;
use std::time::Duration;

use serde::Serialize;
use switchboard::ErrorKind;
use switchboard::events::{Event, Events};
use switchboard::host::{Log, Logs as HostLogs, Said, State, Status};
use switchboard::protocol::{LogLevel, Raw};
use switchboard::spec::ServerName;
use switchboard::text::sanitise_line;
use switchboard::transport::Watched;
use switchboard_console::board;
use tokio::sync::broadcast::error::RecvError;

use super::listing::connect_with_login;
use crate::args::Logs;
use crate::exit::Exit;
use crate::hosting::Hosting;
use crate::login::explained;
use crate::output::{self, Stream};
use crate::report::{Failure, Report};
use crate::screen::unless_gone;
use crate::timestamp;

/// Shows log messages and stderr of servers until the time is up or no server is connected.
pub(crate) async fn run_on(args: &Logs, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    if hosting.is_agent() {
        let report = Report::new(Exit::Denied, "denied", "agents may not read server logs");
        return Err(report.hint("leave --as out"));
    }
    let one = hosting.one(args.server.as_deref());
    // Subscribe before connecting, so that messages during startup are included.
    let (mut logs, mut events) = (hosting.host.logs(), hosting.host.events());
    let shown = LogPrinter {
        one,
        level: args.level,
        hosting,
    };
    let mut begin = pin!(begin(one, args.level, hosting));
    let mut end = pin!(wait(args.time, hosting));
    // `None` until connecting is done: before that no server can be missed.
    let mut live: Option<Vec<ServerName>> = None;
    let exit = loop {
        // Not biased: a server that logs without pause must not starve the other branches.
        tokio::select! {
            log = next_readable(&mut logs) => match log? {
                Some(log) if shown.show(&log)? => continue,
                // The reader of the output is gone, or the host has shut down.
                _ => return Ok(Exit::Ok),
            },
            begun = &mut begin, if live.is_none() => match begun {
                Ok(begun) => live = Some(begun),
                Err(report) => break Err(report),
            },
            gone = next_gone(&mut events) => {
                if let Some((server, reason)) = gone {
                    hosting.screen.warn(&format!("{server}: {reason}"));
                }
            }
            () = &mut end => break Ok(Exit::Ok),
        }
        // Checked after every event: the last server may just have ended.
        if let Some(live) = &live
            && !live.iter().any(|server| is_live(server, hosting))
        {
            let title = "all servers have disconnected";
            break Err(Report::new(Exit::Died, "closed", title));
        }
    };
    // Drain the messages that arrived before the end.
    while let Some(log) = logs.next_now() {
        if !shown.show(&log)? {
            break;
        }
    }
    exit
}

/// Returns the next message once the previous output has been read: messages that arrive too fast for the
/// reader are dropped and counted. Returns `None` if the reader is gone or the host has shut down.
async fn next_readable(logs: &mut HostLogs) -> Result<Option<Watched<Log>>, Failure> {
    match output::flush().await {
        Ok(()) => Ok(logs.next().await),
        gone => unless_gone(gone).map(|()| None),
    }
}

/// Connects, sets the log level, and returns the connected servers.
async fn begin(
    one: Option<&str>,
    level: Option<LogLevel>,
    hosting: &Hosting<'_>,
) -> Result<Vec<ServerName>, Failure> {
    let host = &hosting.host;
    if let Some(level) = level {
        // A server of 2026-07-28 logs only in responses; here these are to the list requests.
        hosting.want_logs(one, level)?;
    }
    let statuses = connect_with_login(one, hosting).await?;
    hosting.learn();
    let is_ready = |status: &&Status| matches!(status.state, State::Connected);
    let live = statuses.iter().filter(is_ready);
    let live: Vec<ServerName> = live.map(|status| status.name.clone()).collect();
    for status in &statuses {
        if let Some(error) = status.error() {
            let title = explained(error).title;
            hosting.screen.warn(&format!("{}: {title}", status.name));
        }
    }
    // If nothing connected, fail with the errors instead of waiting for logs that cannot come.
    if live.is_empty()
        && let Some(error) = statuses.iter().find_map(Status::error)
    {
        let mut report = Failure::from(error.clone());
        report.exit = Exit::of_all(statuses.iter().filter_map(Status::error));
        return Err(report);
    }
    if statuses.iter().all(Status::is_disabled) {
        let title = if host.servers().is_empty() {
            "there are no servers"
        } else {
            "no server is enabled"
        };
        return Err(Report::new(Exit::Configuration, "configuration", title));
    }
    // Legacy servers take the level as a request, once connected.
    for server in &live {
        let Some(level) = level else {
            break;
        };
        match host.set_log_level(server.as_str(), level).await {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotOffered => hosting.screen.warn(&format!(
                "{server}: it does not send log messages; its stderr is shown"
            )),
            Err(error) => hosting
                .screen
                .warn(&format!("{server}: the level could not be set: {error}")),
        }
    }
    Ok(live)
}

/// Returns true if the server is connected.
fn is_live(server: &ServerName, hosting: &Hosting<'_>) -> bool {
    let status = hosting.host.server(server.as_str());
    status.is_ok_and(|status| matches!(status.state, State::Connected))
}

/// Waits for the next server that disconnects. Returns `None` if events were missed.
async fn next_gone(events: &mut Events) -> Option<(ServerName, String)> {
    loop {
        match events.recv().await {
            Ok(Event::Disconnected { server, reason }) => return Some((server, reason)),
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => return None,
            Err(RecvError::Closed) => return std::future::pending().await,
        }
    }
}

/// Waits until the time of a command is up. The time that the person takes to log in does not count.
pub(super) async fn wait(time: Option<Duration>, hosting: &Hosting<'_>) {
    let Some(mut left) = time else {
        return std::future::pending().await;
    };
    while !left.is_zero() {
        let before = hosting.login_time.total();
        tokio::time::sleep(left).await;
        left = hosting.login_time.total().saturating_sub(before);
    }
}

/// Filter and output of log messages.
struct LogPrinter<'a> {
    one: Option<&'a str>,
    level: Option<LogLevel>,
    hosting: &'a Hosting<'a>,
}

impl LogPrinter<'_> {
    /// Shows a message if it passes the filter. Returns false once the reader of the output is gone.
    fn show(&self, log: &Watched<Log>) -> Result<bool, Failure> {
        let screen = self.hosting.screen;
        let log = match log {
            Watched::Item(log) => log,
            Watched::Missed(missed) if screen.is_json() => {
                return print(&format!("{{\"missed\":{missed}}}\n"));
            }
            Watched::Missed(missed) => {
                screen.warn(&format!("{missed} lines were dropped: they came too fast"));
                return Ok(true);
            }
        };
        // Filtered here and not by the host: --level also filters servers that ignore it.
        if !self.is_wanted(log) {
            return Ok(true);
        }
        if screen.is_json() {
            return print(&screen.json_line(&document(log))?);
        }
        let line = line(log, self.one.is_none());
        print(&format!("{}\n", sanitise_line(&screen.redact(&line))))
    }

    fn is_wanted(&self, log: &Log) -> bool {
        let is_at_level = match (self.level, log.said.level()) {
            (Some(wanted), Some(level)) => level >= wanted,
            _ => true,
        };
        let is_log = !matches!(log.said, Said::Announced { .. });
        is_log && is_at_level && self.one.is_none_or(|one| log.server.as_str() == one)
    }
}

/// Formats a message as one line, which is not yet safe for a terminal.
pub(crate) fn line(log: &Log, names_server: bool) -> String {
    let mut line = if names_server {
        format!("{}: ", log.server)
    } else {
        String::new()
    };
    match &log.said {
        Said::Message {
            level,
            logger,
            data,
        } => {
            line.push_str(level.map_or("log", LogLevel::as_str));
            line.extend(logger.iter().map(|logger| format!(" {logger}")));
            let text = serde_json::from_str::<String>(data.as_str());
            let text = text.unwrap_or_else(|_| data.as_str().to_owned());
            line.push_str(&format!(": {text}"));
        }
        Said::Stderr(text) => line.push_str(&format!("stderr: {text}")),
        _ => {}
    }
    if let Some(bytes) = log.cut_from {
        line.push_str(&format!(" (cut: {bytes} bytes in all)"));
    }
    line
}

/// The document of one line of `logs --json`.
#[derive(Serialize)]
pub(crate) struct LogDocument<'a> {
    time: String,
    server: &'a str,
    stream: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logger: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Raw>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_from: Option<usize>,
}

/// Describes a line or message for `--json`, with its time and where it came from.
pub(crate) fn document(log: &Log) -> LogDocument<'_> {
    let mut document = LogDocument {
        time: timestamp::utc_millis(log.at),
        server: log.server.as_str(),
        stream: "log",
        level: log.said.level().map(LogLevel::as_str),
        logger: None,
        data: None,
        text: None,
        cut_from: log.cut_from,
    };
    match &log.said {
        Said::Stderr(text) => {
            document.stream = "stderr";
            document.text = Some(text);
        }
        Said::Message { logger, data, .. } => {
            document.logger = logger.as_deref();
            document.data = Some(data);
        }
        _ => {}
    }
    document
}

/// Prints a line. Returns false once the reader of the output is gone.
pub(super) fn print(line: &str) -> Result<bool, Failure> {
    let written = board::around(|| output::write(Stream::Out, line.as_bytes()));
    let is_read = written.is_ok();
    unless_gone(written).map(|()| is_read)
}
