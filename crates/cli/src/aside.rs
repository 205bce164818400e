//! Work that may wait, away from the runtime's thread.

use std::future::pending;
use std::panic::resume_unwind;

/// Does something that may wait for a file, a lock or a person on a thread of its own, so that servers are served and
/// signals heard meanwhile. Dropping the future leaves the thread behind: what it does has to be nobody's loss.
pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime ends, and this with it.
            Err(_) => pending().await,
        },
    }
}
