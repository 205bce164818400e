//! Watches the clocks of all calls with one timer.
//!
//! A call costs no timer of its own: the one timer stands at the earliest end there is. An answer
//! does not move it, so that an idle connection wakes once, and then no more.
//!
//! Before a clock counts as run out, everything that has come is read: a host that was stopped for a
//! while (Ctrl-Z and `fg`, a frozen container) finds its clocks run out and the answers in the pipe.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::engine::Engine;
use crate::transport::{turn, turns};

/// The longest that reading may hold up a clock: a server that never stops talking is not waited for.
const LONGEST_READ: Duration = Duration::from_millis(100);

/// Fails calls whose time has run out, until the connection is over.
pub(crate) async fn watch(engine: Arc<Engine>) {
    loop {
        let now = Instant::now();
        if engine.table().is_any_late(now) {
            tokio::select! {
                () = read_what_has_come(&engine) => {}
                () = engine.stop.cancelled() => return,
            }
        }
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

/// Waits until what has come by now is read, for as long as that may take.
async fn read_what_has_come(engine: &Engine) {
    if engine.driver.is_some() {
        return turns().await;
    }
    turn().await;
    timeout(LONGEST_READ, engine.reader.has_read_all())
        .await
        .ok();
}

/// What the reading task is told by others, and what it tells them.
///
/// Both of its duties share one channel, which it waits on anyway: a message costs nothing more.
pub(crate) struct Reader {
    told: watch::Sender<Told>,
    /// The last question of [`Told::asked`] that is answered.
    answered: watch::Sender<u64>,
}

#[derive(Default)]
struct Told {
    /// Why writing failed, once it has.
    write_failure: Option<String>,
    /// How often somebody wanted to know when everything is read.
    asked: u64,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            told: watch::Sender::default(),
            answered: watch::Sender::new(0),
        }
    }
}

impl Reader {
    /// Tells the reading task that nothing can be written any more.
    pub(crate) fn write_failed(&self, why: String) {
        self.told.send_modify(|told| told.write_failure = Some(why));
    }

    /// Waits for why writing failed. To be polled by the reading task alone, after there was nothing to read:
    /// that is what everybody learns who asks whether everything is read.
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

    /// Waits until the reading task has read everything that was there.
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
