//! `--trace`: the messages on the wire, one line each.

use std::path::Path;

use serde::Serialize;
use switchboard::protocol::Raw;
use switchboard::text::{sanitise_line, write_json_safe};
use switchboard::transport::{Message, Tap, TapLimits, Watched, Wire};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::blocking::Sink;
use crate::output;
use crate::report::{Failure, Report};
use crate::screen::talk;
use crate::timestamp;

/// The stream of messages, and its output.
pub(crate) struct Trace {
    wire: Wire,
    out: Out,
}

enum Out {
    /// JSON lines.
    File(Sink),
    /// Text for people.
    Stderr,
}

/// A trace that is being written by a background task.
pub(crate) struct TraceWriter(oneshot::Sender<()>, JoinHandle<()>);

/// Opens the file of `--trace`; creates it readable by its owner alone. `-` is stderr. Returns `None` without
/// `--trace`.
///
/// # Errors
/// Returns a usage error if it cannot be written to.
pub(crate) fn open(file: Option<&Path>) -> Result<Option<(Tap, Trace)>, Failure> {
    let Some(path) = file else {
        return Ok(None);
    };
    let out = if path.as_os_str() == "-" {
        Out::Stderr
    } else {
        Out::File(create(path)?)
    };
    // The tap is bounded: a slow file drops messages and counts them, it does not slow the session.
    let (tap, wire) = Tap::new(&TapLimits::default());
    Ok(Some((tap, Trace { wire, out })))
}

fn create(path: &Path) -> Result<Sink, Failure> {
    Sink::open(path).map_err(|error| {
        Report::usage("--trace: the file cannot be written")
            .fact("file", path.display().to_string())
            .fact("the system says", error.to_string())
    })
}

impl Trace {
    /// Starts the task that writes.
    pub(crate) fn begin(mut self) -> TraceWriter {
        let (stop, mut stopped) = oneshot::channel();
        let writing = tokio::spawn(async move {
            loop {
                tokio::select! {
                    passed = self.wire.next() => match passed {
                        Some(passed) => self.out.write(&passed).await,
                        None => return,
                    },
                    _ = &mut stopped => break,
                }
            }
            // Write the messages that arrived before the stop.
            while let Some(passed) = self.wire.next_now() {
                self.out.write(&passed).await;
            }
        });
        TraceWriter(stop, writing)
    }
}

impl TraceWriter {
    /// Writes the rest, and waits for the task.
    pub(crate) async fn end(self) {
        self.0.send(()).ok();
        self.1.await.ok();
    }
}

impl Out {
    /// Writes a line, after waiting for the reader of the previous one.
    async fn write(&mut self, passed: &Watched<Message>) {
        match self {
            Self::File(file) => file.add(json(passed)).await,
            Self::Stderr => {
                output::drain().await;
                talk(&format!("{}\n", text(passed)));
            }
        }
    }
}

/// A line in JSON; absent members are left out.
#[derive(Serialize)]
struct TraceLine<'a> {
    time: String,
    server: &'a str,
    direction: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Raw>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_from: Option<usize>,
}

fn json(passed: &Watched<Message>) -> String {
    let message = match passed {
        Watched::Item(message) => message,
        Watched::Missed(messages) => return format!("{{\"missed\":{messages}}}"),
    };
    let parsed = parse_message(message);
    let text = Some(message.text.as_str()).filter(|_| parsed.is_none());
    let line = TraceLine {
        time: timestamp::utc_millis(message.at),
        server: message.server.as_str(),
        direction: message.way.as_str(),
        method: message.http.map(|http| http.method),
        status: message.http.and_then(|http| http.status),
        message: parsed,
        text: text.filter(|text| !text.is_empty() || message.http.is_none()),
        cut_from: message.cut_from,
    };
    // Every field has a JSON form.
    let line = serde_json::to_string(&line).unwrap_or_default();
    write_json_safe(&line).into_owned()
}

/// Parses a message as JSON on one line; `None` if it is not JSON or was cut.
fn parse_message(message: &Message) -> Option<Raw> {
    let is_whole = message.cut_from.is_none();
    if !is_whole || !message.text.starts_with(['{', '[']) {
        return None;
    }
    // Valid JSON has line breaks only between tokens.
    Raw::parse(&message.text.replace(['\n', '\r'], " ")).ok()
}

fn text(passed: &Watched<Message>) -> String {
    let message = match passed {
        Watched::Item(message) => message,
        Watched::Missed(messages) => {
            return format!("{messages} messages are missing from the trace");
        }
    };
    let time = timestamp::utc_millis(message.at);
    // Only the time of day: the date is of little use on a screen.
    let time = time.get(11..23).unwrap_or_default();
    let mut line = format!("{time} {} {}", message.server, message.way.arrow());
    if let Some(http) = message.http {
        line.push_str(&format!(" {}", http.method));
        if let Some(status) = http.status {
            line.push_str(&format!(" {status}"));
        }
    }
    if !message.text.is_empty() {
        line.push_str(&format!(" {}", message.text));
    }
    if let Some(bytes) = message.cut_from {
        line.push_str(&format!(" (cut: {bytes} bytes in all)"));
    }
    sanitise_line(&line).into_owned()
}
