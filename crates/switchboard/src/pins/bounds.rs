//! How much is kept and shown.

/// The bounds of what is kept of a server and of what is shown of a drift.
///
/// Hashes are over the whole whatever these are: a change is seen even where it cannot be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// The most bytes of one definition that are kept to be shown later.
    pub definition_bytes: usize,
    /// The most bytes of all definitions of a server that are kept to be shown later.
    pub server_bytes: usize,
    /// The most lines of a diff that are shown.
    pub diff_lines: usize,
    /// The most lines of each side, between what is alike before and behind, that are held against each
    /// other; with more, all of one side are shown as gone and all of the other as new.
    pub compared_lines: usize,
    /// The lines around a change that are shown with it.
    pub context_lines: usize,
    /// The most bytes of one line that are shown.
    pub line_bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            definition_bytes: 64 * 1024,
            server_bytes: 4 * 1024 * 1024,
            diff_lines: 120,
            compared_lines: 1000,
            context_lines: 2,
            line_bytes: 400,
        }
    }
}
