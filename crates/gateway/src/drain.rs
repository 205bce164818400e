//! The end of a gateway in good order: no new requests, those in flight finish, subscriptions end.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// The requests of all clients, and whether there may be more.
#[derive(Default)]
pub(crate) struct Drain {
    requests: TaskTracker,
    begun: CancellationToken,
    over: CancellationToken,
}

impl Drain {
    /// Begins a request, which is in flight until the token is dropped; `None` if there are to be no more.
    pub(crate) fn begin(&self) -> Option<TaskTrackerToken> {
        // The token before the look: a drain that begins in between waits for this request too.
        let token = self.requests.token();
        (!self.begun.is_cancelled()).then_some(token)
    }

    /// Waits until no more requests are taken.
    pub(crate) async fn begun(&self) {
        self.begun.cancelled().await;
    }

    /// Waits until the time for requests in flight is over.
    pub(crate) async fn over(&self) {
        self.over.cancelled().await;
    }

    /// Takes no more requests, and waits for those in flight at most that long. Returns false if some did
    /// not finish.
    pub(crate) async fn run(&self, time: Duration) -> bool {
        // No new requests before the wait: otherwise it might never end.
        self.begun.cancel();
        // A tracker that is not closed never finishes waiting.
        self.requests.close();
        let finished = tokio::time::timeout(time, self.requests.wait()).await;
        // Over in any case: streams end even if some requests did not finish.
        self.over.cancel();
        finished.is_ok()
    }
}
