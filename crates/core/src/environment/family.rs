//! The two kinds of systems, as far as names are concerned.

/// Whose rules names of programs and variables follow.
///
/// A value and no `cfg`, so that the rules of each are tested on the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Case counts, and a program has no ending.
    Unix,
    /// Case does not count, and `PATHEXT` says which endings programs have.
    Windows,
}

impl Family {
    /// The one that this program was compiled for.
    pub const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else {
        Self::Unix
    };
}
