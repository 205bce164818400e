//! Watches the clocks of all calls with one timer.
//!
//! A call costs no timer of its own: the one timer stands at the earliest end there is. An answer
//! does not move it, so that an idle connection wakes once, and then no more.

use std::sync::Arc;

use tokio::time::{Instant, sleep_until};

use super::engine::Engine;

/// Fails calls whose time has run out, until the connection is over.
pub(crate) async fn watch(engine: Arc<Engine>) {
    loop {
        let now = Instant::now();
        let (late, next) = engine.table().ran_out(now);
        for (id, waiting) in late {
            engine.time_out(&id, waiting, now);
        }
        let wait = async {
            match next {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = wait => {}
            () = engine.clocks.notified() => {}
            () = engine.stop.cancelled() => return,
        }
    }
}
