//! Why a text is no lock.

/// Why a text is no lock.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LockError {
    /// It was written by a newer version.
    #[error("it has format {version}, which this version does not know; update it, or lock again")]
    Newer {
        /// The format that it has.
        version: u64,
    },
    /// It is no lock, or was edited to be none.
    #[error("line {line}, column {column}: {why}")]
    Broken {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong there.
        why: String,
    },
    /// It is larger than any lock.
    #[error("it is larger than {most_bytes} bytes")]
    TooLarge {
        /// How large it may be.
        most_bytes: usize,
    },
}
