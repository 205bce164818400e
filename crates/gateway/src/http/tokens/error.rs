//! The errors of the store of named tokens.

use std::io;
use std::path::PathBuf;

use switchboard::private_store::StoreError;

/// The reason that named tokens cannot be read or changed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NamedTokenError {
    /// The name cannot be one of a token.
    #[error(
        "{name:?} cannot be the name of a token: use 1 to 64 letters, digits, `-`, `_` and `.`"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// There is a token of this name.
    #[error("there is a token called {name} already")]
    Taken {
        /// The name.
        name: String,
    },
    /// There is no token of this name.
    #[error("there is no token called {name}")]
    Unknown {
        /// The name.
        name: String,
        /// The names of the tokens that there are.
        known: Vec<String>,
    },
    /// The token would have expired already.
    #[error("the token would have expired already")]
    Expired,
    /// The maximum number of tokens is reached.
    #[error("there are {most} tokens already: revoke those that are not needed any more")]
    Full {
        /// The maximum.
        most: usize,
    },
    /// Another user could have written the file.
    #[error("{path} is not safe to keep tokens in: {why}", path = path.display())]
    Unsafe {
        /// The file or folder.
        path: PathBuf,
        /// The reason, and advice.
        why: String,
        /// A shell command that fixes it, if one does.
        fix: Option<String>,
    },
    /// The file was not written by this version of the program.
    #[error("the tokens in {path} cannot be read: {why}", path = path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The file could not be read or written.
    #[error("cannot {what} {path}: {source}", path = path.display())]
    Io {
        /// The operation.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        #[source]
        source: io::Error,
    },
    /// The system has no random numbers, or the store cannot be used for another reason.
    #[error("{why}")]
    Other {
        /// The reason.
        why: String,
    },
}

impl From<StoreError> for NamedTokenError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Io { what, path, source } => Self::Io { what, path, source },
            StoreError::Unsafe { path, why, fix } => Self::Unsafe { path, why, fix },
            StoreError::Broken { path, why } => Self::Broken { path, why },
            StoreError::Newer { path, version } => Self::Broken {
                path,
                why: format!("it has format {version}, which this version does not know"),
            },
            StoreError::Locked { path } => Self::Other {
                why: format!(
                    "another process is writing tokens: {} stayed locked",
                    path.display()
                ),
            },
            other => Self::Other {
                why: other.to_string(),
            },
        }
    }
}
