//! The part of the host that a client addresses.

use std::fmt;
use std::sync::Arc;

use switchboard::ServerName;

/// The part of the host that a client addresses, by the path that it uses.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Everything that the caller may see (`/mcp`).
    All,
    /// A profile of the config file (`/mcp/p/NAME`).
    Profile(Arc<str>),
    /// One server, with its own names (`/mcp/s/SERVER`). Nothing is renamed or rewritten.
    Server(ServerName),
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "all servers",
            Self::Profile(name) => name,
            Self::Server(name) => name.as_str(),
        })
    }
}
