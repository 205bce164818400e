//! How far a call has come.

use switchboard_wire::ProgressParams;
use tokio::sync::watch;

/// How far a call has come.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How far; it only grows.
    pub progress: f64,
    /// Of how much, if the server knows.
    pub total: Option<f64>,
    /// The server's words; cut where they are longer than
    /// [`Limits::progress_bytes`](switchboard_core::limits::Limits::progress_bytes).
    pub message: Option<String>,
}

impl Progress {
    /// What a report says, with at most that many bytes of its words.
    pub(crate) fn of(params: &ProgressParams, most: usize) -> Self {
        let kept = |words: &str| {
            let mut ends = (0..=most.min(words.len())).rev();
            let end = ends.find(|end| words.is_char_boundary(*end))?;
            words.get(..end).map(str::to_owned)
        };
        Self {
            progress: params.progress(),
            total: params.total(),
            message: params.message().and_then(kept),
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
