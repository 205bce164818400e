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
}
