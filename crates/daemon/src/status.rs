//! What a daemon says about itself.

use serde::{Deserialize, Serialize};

/// The state of a running daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DaemonStatus {
    /// The process id.
    pub pid: u32,
    /// The version.
    pub version: String,
    /// The start, in seconds since 1970.
    pub started: u64,
    /// The servers that run, in the order of their starts.
    #[serde(default)]
    pub servers: Vec<ServerStatus>,
}

/// A server that a daemon runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ServerStatus {
    /// Its name in the config.
    pub name: String,
    /// The program of its command.
    pub command: String,
    /// The folder that it was started in.
    pub folder: String,
    /// Its process id.
    pub pid: u32,
    /// Its start, in seconds since 1970.
    pub started: u64,
    /// A command uses it now.
    pub in_use: bool,
    /// How many commands have used it.
    pub uses: u64,
}
