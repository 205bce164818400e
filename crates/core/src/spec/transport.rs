//! The kinds of transport.

use std::fmt;
use std::str::FromStr;

/// The transport of a server.
///
/// Each kind prints its name and is parsed from it, ignoring case. `streamable_http` and `streamableHttp` are
/// other names of `streamable-http`, `remote` of `http`, and `local` of `stdio`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransportKind {
    /// A child process.
    Stdio,
    /// HTTP: streamable if the server streams, with a fallback to the older transport for servers that lack
    /// it.
    Http,
    /// Streamable HTTP by its own name. A server is reached as with [`TransportKind::Http`].
    StreamableHttp,
    /// HTTP with Server-Sent Events, as in 2024-11-05.
    Sse,
}

impl fmt::Display for TransportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::StreamableHttp => "streamable-http",
            Self::Sse => "sse",
        })
    }
}

/// A text that is not a transport.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no transport: there are stdio, http, streamable-http and sse")]
pub struct ParseTransportKindError(String);

impl FromStr for TransportKind {
    type Err = ParseTransportKindError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.to_ascii_lowercase().as_str() {
            "stdio" | "local" => Ok(Self::Stdio),
            "http" | "remote" => Ok(Self::Http),
            "streamable-http" | "streamable_http" | "streamablehttp" => Ok(Self::StreamableHttp),
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
        for (kind, name) in [
            (TransportKind::Stdio, "stdio"),
            (TransportKind::Http, "http"),
            (TransportKind::StreamableHttp, "streamable-http"),
            (TransportKind::Sse, "sse"),
        ] {
            assert_eq!(kind.to_string(), name);
            assert_eq!(name.parse(), Ok(kind));
            assert_eq!(name.to_uppercase().parse(), Ok(kind));
        }
        for name in [
            "streamable-http",
            "Streamable-HTTP",
            "streamable_http",
            "streamableHttp",
        ] {
            assert_eq!(name.parse(), Ok(TransportKind::StreamableHttp));
        }
        assert_eq!("remote".parse(), Ok(TransportKind::Http));
        assert_eq!("local".parse(), Ok(TransportKind::Stdio));
        let unknown = "websocket".parse::<TransportKind>().unwrap_err();
        assert!(unknown.to_string().contains("\"websocket\""));
    }
}
