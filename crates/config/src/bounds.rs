//! What a config file is held to.

use std::time::Duration;

/// What a config file is held to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// The longest file that is read, and the longest that a placeholder may name.
    pub(super) file_bytes: usize,
    /// The deepest nesting of objects and lists.
    pub(super) depth: usize,
    /// The problems of one file that are told one by one; of the others only the number is.
    pub(super) problems: usize,
    /// The servers of one file.
    pub(super) servers: usize,
    /// The values that a file may give to all its servers: each of them gets a copy.
    pub(super) defaults: usize,
    /// The longest time that a field may ask for.
    pub(super) duration: Duration,
    /// The longest time that a bare number is taken for without a question.
    pub(super) plain_seconds: Duration,
    /// The characters of a line that an excerpt shows.
    pub(super) excerpt_chars: usize,
    /// The characters of a name or a key that a message shows.
    pub(super) name_chars: usize,
}

/// The only bounds there are.
pub(super) const BOUNDS: Bounds = Bounds {
    file_bytes: 1024 * 1024,
    depth: 64,
    problems: 200,
    servers: 1000,
    defaults: 256,
    duration: Duration::from_secs(30 * 24 * 3600),
    plain_seconds: Duration::from_secs(3600),
    excerpt_chars: 100,
    name_chars: 64,
};
