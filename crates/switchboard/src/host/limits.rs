//! The limits of a host.

use std::time::Duration;

use crate::schema;

/// Limits of a host, besides those of its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostLimits {
    /// Events that are kept for a slow reader.
    pub events: usize,
    /// Lines of stderr and messages that are kept for a slow reader of [`Logs`](super::Logs).
    pub logs: usize,
    /// Longest text of one of these that is kept; a longer one is cut, and its full length
    /// reported.
    pub log_bytes: usize,
    /// Time without a change notification before a list is read again.
    pub quiet: Duration,
    /// Longest delay before a list that keeps changing is read again.
    pub unrest: Duration,
    /// Number of times in a row that lists which change again within that time are read at once;
    /// afterwards readings are at least that time apart.
    pub rushes: u32,
    /// Delay before a subscription that ended is opened again; doubled each time.
    pub relisten: Duration,
    /// The longest such delay.
    pub relisten_most: Duration,
    /// Resources of one server that are watched; further ones are refused.
    pub watches: usize,
    /// Changed addresses that are kept for a slow watcher; further ones are only counted.
    pub updates: usize,
    /// Bytes of these addresses.
    pub update_bytes: usize,
    /// Values that are kept of one completion.
    pub completions: usize,
    /// Time for which a list is kept if `cache_tools_list` is on and the server sends no lifetime.
    pub list_age: Duration,
    /// Connections of single clients of a gateway, of all of them together.
    #[doc(hidden)]
    pub client_connections: usize,
    /// Time that calls in flight have to finish on a connection whose server was changed or taken out of
    /// the config files while the host runs.
    pub drain: Duration,
    /// Changes that one event names.
    pub changes: usize,
    /// Bytes of resources without a size that [`View::context`](super::View::context) may read and leave
    /// out because they do not fit.
    pub unused_context_bytes: u64,
    /// Limits of the validation of arguments and results.
    pub schema: schema::SchemaLimits,
}

impl Default for HostLimits {
    fn default() -> Self {
        Self {
            events: 1024,
            logs: 1024,
            log_bytes: 16 * 1024,
            quiet: Duration::from_millis(50),
            unrest: Duration::from_secs(1),
            rushes: 5,
            relisten: Duration::from_secs(1),
            relisten_most: Duration::from_secs(60),
            watches: 1024,
            updates: 64,
            update_bytes: 64 * 1024,
            // 2026-07-28 completion: at most this many are sent.
            completions: 100,
            list_age: Duration::from_secs(300),
            client_connections: 512,
            // As long as a call may take.
            drain: Duration::from_secs(600),
            changes: 64,
            unused_context_bytes: 1024 * 1024,
            schema: schema::SchemaLimits::default(),
        }
    }
}
