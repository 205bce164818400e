//! Log messages of servers, and the level from which on they are sent.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Empty, FromRaw, Misfit, Raw};

/// The severity of a log message, mildest first, as in RFC 5424.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Details for debugging.
    Debug,
    /// Normal operation.
    Info,
    /// Normal but noteworthy.
    Notice,
    /// A possible problem.
    Warning,
    /// An error.
    Error,
    /// A part of the server does not work.
    Critical,
    /// A person must act now.
    Alert,
    /// The server cannot be used at all.
    Emergency,
}

impl LogLevel {
    /// All levels, mildest first.
    pub const ALL: [LogLevel; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// The level's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A text that is not a log level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownLogLevel(pub String);

impl fmt::Display for UnknownLogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown log level {:?}", self.0)
    }
}

impl std::error::Error for UnknownLogLevel {}

impl FromStr for LogLevel {
    type Err = UnknownLogLevel;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|level| level.as_str() == name)
            .ok_or_else(|| UnknownLogLevel(name.to_owned()))
    }
}

impl FromRaw for LogLevel {
    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        let name = String::from_raw(raw)?;
        name.parse()
            .map_err(|unknown: UnknownLogLevel| Misfit::new(unknown.to_string()))
    }
}

/// Parameters of `logging/setLevel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetLevelParams {
    /// The mildest level to send.
    pub level: LogLevel,
}

method! {
    /// Legacy: sets the level from which on a server sends log messages.
    SetLevel = "logging/setLevel", SetLevelParams => Empty
}

wire_object! {
    /// One log message of a server.
    pub struct LoggingMessageParams {
        /// The severity.
        level: [copy LogLevel] = "level",
        /// The part of the server that logged it.
        logger: [opt str] = "logger",
        /// The message: often a string, but any value is allowed.
        data: [of Raw] = "data",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

notice! {
    /// Delivers a log message.
    LoggingMessage = "notifications/message", LoggingMessageParams
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ordered_and_their_names_parse_back() {
        assert!(LogLevel::ALL.is_sorted());
        for level in LogLevel::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
            assert_eq!(
                serde_json::to_string(&level).unwrap(),
                format!("\"{level}\"")
            );
        }
        assert!("warn".parse::<LogLevel>().is_err());
    }

    #[test]
    fn a_message_may_carry_any_data() {
        let text = r#"{"level":"warning","data":null}"#;
        let message = LoggingMessageParams::from_raw(&Raw::parse(text).unwrap()).unwrap();
        assert_eq!(message.level(), LogLevel::Warning);
        assert_eq!(message.data(), &Raw::null());
    }
}
