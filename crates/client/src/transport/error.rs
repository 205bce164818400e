//! Why no connection came about.

use switchboard_process::StartError;

/// Why no connection came about.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The server's process was not started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A transport's own reason.
    #[error("could not connect")]
    Other {
        /// The reason.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl ConnectError {
    /// Wraps a reason of a transport of your own.
    pub fn other(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Other {
            source: source.into(),
        }
    }
}
