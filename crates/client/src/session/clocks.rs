//! One timer for the deadlines of all calls.
//!
//! A call has no timer of its own: the one timer is set to the earliest deadline in the table. An
//! answer does not move it, so an idle connection wakes once more and then sleeps.
//!
//! Before a call fails, the reading task reads what has arrived. A host that was suspended (Ctrl-Z
//! and `fg`, a frozen container) finds its deadlines passed and the answers already in the pipe.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::engine::Engine;
use crate::transport::{turn, turns};

/// Maximum time that reading may delay a timeout, so that a server that never stops writing cannot
/// prevent one.
const LONGEST_READ: Duration = Duration::from_millis(100);

/// Fails calls whose deadline has passed, until the connection closes.
pub(crate) async fn watch(engine: Arc<Engine>) {
    loop {
        let now = Instant::now();
        // Read first, take off the table second: an answer that is already in the pipe beats its
        // deadline.
        if engine.table().has_expired(now) {
            tokio::select! {
                () = read_what_has_come(&engine) => {}
                () = engine.stop.cancelled() => return,
            }
        }
        let (late, next) = engine.table().take_expired(now);
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

/// Waits until the reading task has read everything that had arrived, for at most [`LONGEST_READ`].
async fn read_what_has_come(engine: &Engine) {
    if engine.driver.is_some() {
        return turns().await;
    }
    turn().await;
    timeout(LONGEST_READ, engine.reader.has_read_all())
        .await
        .ok();
}

/// Messages between the reading task and the other tasks of a connection.
///
/// Write failures and "have you read everything?" share one channel, which the reading task polls
/// anyway, so that neither costs an extra wake-up.
pub(crate) struct ReaderMailbox {
    told: watch::Sender<ReaderState>,
    /// The highest value of [`ReaderState::asked`] that has been answered.
    answered: watch::Sender<u64>,
}

#[derive(Default)]
struct ReaderState {
    /// The write error, once writing has failed.
    write_failure: Option<String>,
    /// The number of times that a task asked for everything to be read.
    asked: u64,
}

impl Default for ReaderMailbox {
    fn default() -> Self {
        Self {
            told: watch::Sender::default(),
            answered: watch::Sender::new(0),
        }
    }
}

impl ReaderMailbox {
    /// Reports to the reading task that writing has failed.
    pub(crate) fn write_failed(&self, why: String) {
        self.told.send_modify(|told| told.write_failure = Some(why));
    }

    /// Waits for a write failure. Polled by the reading task alone, and only when nothing is left
    /// to read: reaching this point answers all pending questions of [`Reader::has_read_all`].
    pub(crate) async fn write_failure(&self) -> String {
        let mut told = self.told.subscribe();
        let failed = told.wait_for(|told| {
            self.answered.send_if_modified(|answered| {
                let is_new = *answered != told.asked;
                *answered = told.asked;
                is_new
            });
            told.write_failure.is_some()
        });
        let failed = failed.await.ok();
        failed
            .and_then(|told| told.write_failure.clone())
            .unwrap_or_default()
    }

    /// Waits until the reading task has read everything that was there when this was called.
    async fn has_read_all(&self) {
        let mut answered = self.answered.subscribe();
        let mut question = 0;
        self.told.send_modify(|told| {
            told.asked += 1;
            question = told.asked;
        });
        answered.wait_for(|last| *last >= question).await.ok();
    }
}
