//! The setting that chooses the protocol era for a server.

use std::fmt;
use std::str::FromStr;

/// The protocol era to use with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Protocol {
    /// Detect the era while connecting.
    #[default]
    Auto,
    /// Use the handshake of 2025-11-25 and before, without probing.
    Legacy,
    /// Use 2026-07-28 only.
    Modern,
}

/// A text that is not a protocol setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown protocol {0:?}: expected \"auto\", \"legacy\" or \"2026-07-28\"")]
pub struct ParseProtocolError(String);

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Legacy => "legacy",
            Self::Modern => "2026-07-28",
        })
    }
}

impl FromStr for Protocol {
    type Err = ParseProtocolError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "legacy" => Ok(Self::Legacy),
            "2026-07-28" => Ok(Self::Modern),
            _ => Err(ParseProtocolError(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_print_and_parse() {
        for protocol in [Protocol::Auto, Protocol::Legacy, Protocol::Modern] {
            assert_eq!(protocol.to_string().parse(), Ok(protocol));
        }
        assert!("2025-11-25".parse::<Protocol>().is_err());
    }
}
