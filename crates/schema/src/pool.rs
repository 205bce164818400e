//! The pool for expensive checks.

use std::time::Instant;

use tokio::sync::Semaphore;

use super::{Reason, SchemaLimits, Verdict};

/// The total number of permits. A check takes a part of them according to its own limits, so that
/// checkers with different limits share one pool.
const SHARES: u32 = 840;

/// One pool for the process: with one for each of a hundred servers there would be no limit.
static TURNS: Semaphore = Semaphore::const_new(SHARES as usize);

/// Runs a check on a thread of the runtime, when its turn comes.
///
/// The check knows its deadline and stops on its own, so neither a dropped future nor the end of the
/// runtime leaves a thread running forever.
pub(super) async fn run(
    limits: &SchemaLimits,
    check: impl FnOnce(Instant) -> Verdict + Send + 'static,
) -> Verdict {
    run_in(&TURNS, limits, check).await
}

async fn run_in(
    turns: &'static Semaphore,
    limits: &SchemaLimits,
    check: impl FnOnce(Instant) -> Verdict + Send + 'static,
) -> Verdict {
    // The clock starts before the wait, so that a queue cannot extend the deadline.
    let until = Instant::now() + limits.time;
    let share = u32::try_from(limits.pool.max(1)).map_or(1, |pool| (SHARES / pool).max(1));
    let turn = tokio::time::timeout(limits.time, turns.acquire_many(share)).await;
    let Ok(Ok(turn)) = turn else {
        return Verdict::NotChecked(Reason::Busy);
    };
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Verdict::NotChecked(Reason::Busy);
    }
    // The permits move into the job: they stay taken until the thread is really free.
    let job = tokio::task::spawn_blocking(move || {
        let verdict = check(until);
        drop(turn);
        verdict
    });
    match tokio::time::timeout(left, job).await {
        Ok(Ok(verdict)) => verdict,
        // Out of time, or the runtime is shutting down.
        Ok(Err(_)) | Err(_) => Verdict::NotChecked(Reason::TooExpensive),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    static OF_THIS_TEST: Semaphore = Semaphore::const_new(SHARES as usize);

    #[tokio::test]
    async fn so_many_checks_run_at_once_and_the_next_one_waits_its_time() {
        let two = SchemaLimits {
            pool: 2,
            time: Duration::from_secs(60),
            ..SchemaLimits::default()
        };
        let hurried = SchemaLimits {
            time: Duration::from_millis(10),
            ..two.clone()
        };
        let mut running = Vec::new();
        for _ in 0..two.pool {
            let (end, ended) = mpsc::channel::<()>();
            let (begin, begun) = tokio::sync::oneshot::channel();
            let limits = two.clone();
            let check = tokio::spawn(async move {
                run_in(&OF_THIS_TEST, &limits, move |_| {
                    begin.send(()).unwrap();
                    // Until the other end is dropped.
                    ended.recv().unwrap_err();
                    Verdict::Fits
                })
                .await
            });
            begun.await.unwrap();
            running.push((end, check));
        }
        let third = run_in(&OF_THIS_TEST, &hurried, |_| Verdict::Fits).await;
        assert_eq!(third, Verdict::NotChecked(Reason::Busy));
        let (end, check) = running.pop().unwrap();
        drop(end);
        assert_eq!(check.await.unwrap(), Verdict::Fits);
        let fourth = run_in(&OF_THIS_TEST, &two, |_| Verdict::Fits).await;
        assert_eq!(fourth, Verdict::Fits);
    }
}
