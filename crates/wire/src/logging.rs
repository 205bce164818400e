//! What servers log.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Empty, FromRaw, Misfit, Raw};

/// How bad a log message is, mildest first, as in RFC 5424.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// For those who look for a fault.
    Debug,
    /// As it should be.
    Info,
    /// As it should be, but worth a look.
    Notice,
    /// It may go wrong.
    Warning,
    /// Something went wrong.
    Error,
    /// A part does not work.
    Critical,
    /// Somebody must act now.
    Alert,
    /// Nothing works.
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

/// Says that a text names no log level.
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

/// From which level on to log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetLevelParams {
    /// The mildest level to send.
    pub level: LogLevel,
}

method! {
    /// Legacy: says from which level on a server logs.
    SetLevel = "logging/setLevel", SetLevelParams => Empty
}

wire_object! {
    /// Something that a server logged.
    pub struct LoggingMessageParams {
        /// How bad it is.
        level: [copy LogLevel] = "level",
        /// Which part of the server says so.
        logger: [opt str] = "logger",
        /// What it says: often a string, but any value.
        data: [of Raw] = "data",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

notice! {
    /// A server logs something.
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
