//! The two families of operating systems, as far as names of programs and variables are concerned.

/// The naming rules for programs and variables.
///
/// A value rather than a `cfg`, so that the rules of each family can be tested on the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Names are case-sensitive, and programs need no extension.
    Unix,
    /// Names are case-insensitive, and `PATHEXT` lists the extensions of programs.
    Windows,
}

impl Family {
    /// The family that this program was compiled for.
    pub const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else {
        Self::Unix
    };
}
