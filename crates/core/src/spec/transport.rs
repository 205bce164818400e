//! The kinds of transport.

use std::fmt;
use std::str::FromStr;

/// The transport of a server.
///
/// Parsing ignores case; `streamable-http`, `streamable_http`, `streamableHttp` and `remote` are other
/// names of `http`, and `local` is another name of `stdio`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransportKind {
    /// A child process.
    Stdio,
    /// Streamable HTTP, with a fallback to the older transport for servers that lack it.
    Http,
    /// HTTP with Server-Sent Events, as in 2024-11-05.
    Sse,
}

impl fmt::Display for TransportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        })
    }
}

/// A text that is not a transport.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no transport: there are stdio, http (or streamable-http) and sse")]
pub struct ParseTransportKindError(String);

impl FromStr for TransportKind {
    type Err = ParseTransportKindError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.to_ascii_lowercase().as_str() {
            "stdio" | "local" => Ok(Self::Stdio),
            "http" | "streamable-http" | "streamable_http" | "streamablehttp" | "remote" => {
                Ok(Self::Http)
            }
            "sse" => Ok(Self::Sse),
            _ => Err(ParseTransportKindError(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_whatever_their_case() {
        for kind in [
            TransportKind::Stdio,
            TransportKind::Http,
            TransportKind::Sse,
        ] {
            let name = kind.to_string();
            assert_eq!(name.parse(), Ok(kind));
            assert_eq!(name.to_uppercase().parse(), Ok(kind));
        }
        for name in [
            "streamable-http",
            "Streamable-HTTP",
            "streamable_http",
            "streamableHttp",
            "remote",
        ] {
            assert_eq!(name.parse(), Ok(TransportKind::Http));
        }
        assert_eq!("local".parse(), Ok(TransportKind::Stdio));
        let unknown = "websocket".parse::<TransportKind>().unwrap_err();
        assert!(unknown.to_string().contains("\"websocket\""));
    }
}
