//! Log messages to clients that want them.

use serde_json::{Map, Value, json};
use switchboard_wire::LogLevel;

use super::era::Context;
use super::failure::{Failure, string};
use super::wire::Sink;
use crate::tools::{Outcome, whole_number};

/// The default level for a legacy client, which is up to the server.
pub(crate) const UNASKED: LogLevel = LogLevel::Info;

/// Reads the level in a request.
pub(crate) fn level(params: &Map<String, Value>, name: &str) -> Result<LogLevel, Failure> {
    let level = string(params, name)?;
    level_named(level).ok_or_else(|| Failure::invalid_params(format!("unknown level {level}")))
}

fn level_named(name: &str) -> Option<LogLevel> {
    LogLevel::ALL
        .into_iter()
        .find(|level| level.as_str() == name)
}

/// Logs a text, if the client wants it. In the modern era it belongs to a request, and so does
/// `client`.
pub(crate) async fn log(context: Context, client: &Sink, level: LogLevel, text: &str) {
    if context.logs(level) {
        let params = json!({"level": level.as_str(), "logger": "test-server", "data": text});
        client.notify("notifications/message", Some(&params)).await;
    }
}

/// The arguments of a call of `log`.
pub(crate) struct Logged {
    level: LogLevel,
    text: String,
    count: u32,
}

impl Logged {
    /// Reads arguments that fit the tool's schema, with its defaults.
    pub(crate) fn new(arguments: &Map<String, Value>) -> Self {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        Self {
            level: text("level")
                .and_then(level_named)
                .unwrap_or(LogLevel::Info),
            text: text("text").unwrap_or("a message").to_owned(),
            count: whole_number(arguments, "count").unwrap_or(1),
        }
    }

    /// Logs it as often as requested.
    pub(crate) async fn run(self, context: Context, client: &Sink) -> Outcome {
        for number in 1..=self.count {
            let text = match self.count {
                1 => self.text.clone(),
                _ => format!("{} ({number})", self.text),
            };
            log(context, client, self.level, &text).await;
        }
        let wanted = if context.logs(self.level) {
            self.count
        } else {
            0
        };
        Outcome::text(format!("logged {wanted} of {}", self.count))
    }
}
