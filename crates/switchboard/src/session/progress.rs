//! How far a call has come.

use switchboard_protocol::ProgressParams;
use tokio::sync::watch;

/// How far a call has come.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How far; it only grows.
    pub progress: f64,
    /// Of how much, if the server knows.
    pub total: Option<f64>,
    /// The server's words.
    pub message: Option<String>,
}

impl From<&ProgressParams> for Progress {
    fn from(params: &ProgressParams) -> Self {
        Self {
            progress: params.progress(),
            total: params.total(),
            message: params.message().map(str::to_owned),
        }
    }
}

/// A place where the latest progress of a call is seen.
pub type ProgressWatch = watch::Receiver<Option<Progress>>;

/// The two ends of a place for progress: one goes into [`CallOptions`], the other is watched.
///
/// [`CallOptions`]: super::CallOptions
pub fn progress() -> (watch::Sender<Option<Progress>>, ProgressWatch) {
    watch::channel(None)
}
