//! The part of the host that a client addresses.

use std::sync::Arc;

use switchboard::ServerName;

/// The part of the host that a client addresses, by the path that it uses.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    /// Everything that the caller may see (`/mcp`).
    All,
    /// A profile of the config file (`/mcp/p/NAME`).
    Profile(Arc<str>),
    /// One server, with its own names (`/mcp/s/SERVER`). Nothing is renamed or rewritten.
    Server(ServerName),
}
