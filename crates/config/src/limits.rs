//! The limits of config files.

use std::time::Duration;

/// The limits of config files.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConfigLimits {
    /// Longest config file, and longest file that a placeholder may name, in bytes.
    pub(super) file_bytes: usize,
    /// Deepest nesting of objects and lists.
    pub(super) depth: usize,
    /// Problems of one file that are reported one by one; the others are only counted.
    pub(super) problems: usize,
    /// Servers in one file.
    pub(super) servers: usize,
    /// Values in the `defaults` of a file: each server gets a copy.
    pub(super) defaults: usize,
    /// Longest duration in a field.
    pub(super) duration: Duration,
    /// Longest duration that a bare number may mean without a warning.
    pub(super) plain_seconds: Duration,
    /// Characters of a line that an excerpt shows.
    pub(super) excerpt_chars: usize,
    /// Characters of a name or a key that a message shows.
    pub(super) name_chars: usize,
}

/// The longest duration in a field, in milliseconds: 30 days.
pub(super) const LONGEST_MS: u64 = 30 * 24 * 3_600_000;

/// The limits in use; they are not configurable.
pub(super) const LIMITS: ConfigLimits = ConfigLimits {
    file_bytes: 1024 * 1024,
    depth: 64,
    problems: 200,
    servers: 1000,
    defaults: 256,
    duration: Duration::from_millis(LONGEST_MS),
    plain_seconds: Duration::from_secs(3600),
    excerpt_chars: 100,
    name_chars: 64,
};
