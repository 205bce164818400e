//! Errors of the gateway itself.

/// The reason that a gateway cannot be made or cannot serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// A profile names something that cannot be.
    #[error("profile {name:?}: {why}")]
    Profile {
        /// The profile.
        name: String,
        /// The reason.
        why: String,
    },
    /// An option that cannot be used.
    #[error("{option}: {why}")]
    Option {
        /// The option.
        option: &'static str,
        /// The reason.
        why: String,
    },
    /// Reading from or writing to a client failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
