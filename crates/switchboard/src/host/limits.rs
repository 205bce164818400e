//! The bounds of a host.

use std::time::Duration;

use crate::schema;

/// What bounds a host beside what bounds its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostLimits {
    /// Events that are kept for a slow reader.
    pub events: usize,
    /// What servers say beside answers that is kept for a slow reader: lines and messages.
    pub logs: usize,
    /// Longest text of one of these that is kept; a longer one is cut, and its whole length told.
    pub log_bytes: usize,
    /// How long a list must have been quiet before it is read again.
    pub quiet: Duration,
    /// The longest that a list which never is quiet is waited for.
    pub unrest: Duration,
    /// How often in a row lists that change again within that time are read at once; from then on
    /// there is that time between two readings.
    pub rushes: u32,
    /// How long to wait before a subscription that ended is opened anew; doubled each time.
    pub relisten: Duration,
    /// The longest such wait.
    pub relisten_most: Duration,
    /// Resources of one server that are watched; further ones are refused.
    pub watches: usize,
    /// Addresses that have changed and are kept for somebody who watches and is slow; of further ones
    /// only their number is.
    pub updates: usize,
    /// Bytes of these addresses.
    pub update_bytes: usize,
    /// What an argument may become: so many values are kept.
    pub completions: usize,
    /// How long a list is kept where `cache_tools_list` is on and the server does not say.
    pub list_age: Duration,
    /// Changes that one event names.
    pub changes: usize,
    /// What bounds the checks of arguments and results.
    pub schema: schema::Bounds,
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
            changes: 64,
            schema: schema::Bounds::default(),
        }
    }
}
