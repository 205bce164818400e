//! The options of a daemon.

use std::path::PathBuf;
use std::time::Duration;

use switchboard_core::limits::Limits;
use switchboard_process::leftovers::Ledger;

/// Options of a [`Daemon`](crate::Daemon).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DaemonOptions {
    /// Time after which a server that no command uses is ended.
    pub idle: Duration,
    /// Most servers that run at a time. Commands start further ones themselves.
    pub servers: usize,
    /// Most servers of one description that wait for commands.
    pub idle_servers: usize,
    /// Most connections of commands at a time; further ones wait.
    pub connections: usize,
    /// Time for calls in flight when the daemon stops.
    pub drain: Duration,
    /// A program whose `main` can act as a keeper, so that no server outlives the daemon.
    pub keeper: Option<PathBuf>,
    /// The ledger of running servers.
    pub ledger: Option<Ledger>,
    /// The limits of each server's process.
    pub limits: Limits,
}

impl Default for DaemonOptions {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(10 * 60),
            servers: 128,
            idle_servers: 4,
            connections: 256,
            drain: Duration::from_secs(10),
            keeper: None,
            ledger: None,
            limits: Limits::default(),
        }
    }
}
