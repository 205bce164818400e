//! The two kinds of systems, as far as names are concerned.

/// Whose rules names of programs and variables follow.
///
/// A value and no `cfg`, so that the rules of each are tested on the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    #[cfg_attr(windows, allow(dead_code, reason = "the rules of the others"))]
    Unix,
    #[cfg_attr(not(windows), allow(dead_code, reason = "the rules of the others"))]
    Windows,
}

impl Family {
    /// The one that this program was compiled for.
    pub(super) const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else {
        Self::Unix
    };
}
