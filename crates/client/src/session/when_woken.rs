//! A future that is polled only when it was woken.
//!
//! The reading task waits for its next bytes and for three events that are rare. Without this, every
//! wait for bytes would poll all three; with it, they are polled once, and then only after one of
//! them has woken the task.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Polls a future the first time, and after that only when the future itself has woken the task.
pub(super) struct WhenWoken<F> {
    future: F,
    flag: Arc<Flag>,
    /// The waker that the future gets: it sets the flag and wakes the task.
    waker: Waker,
}

struct Flag {
    is_woken: AtomicBool,
    /// The task to wake.
    task: Mutex<Option<Waker>>,
}

impl Flag {
    fn task(&self) -> MutexGuard<'_, Option<Waker>> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        // The flag before the task, which looks at it as soon as it runs.
        self.is_woken.store(true, Ordering::Release);
        // Not under the lock: a runtime may poll at once.
        let task = self.task().clone();
        if let Some(task) = task {
            task.wake();
        }
    }
}

impl<F: Future + Unpin> WhenWoken<F> {
    pub(super) fn new(future: F) -> Self {
        let flag = Arc::new(Flag {
            is_woken: AtomicBool::new(true),
            task: Mutex::new(None),
        });
        Self {
            future,
            waker: Waker::from(Arc::clone(&flag)),
            flag,
        }
    }
}

impl<F: Future + Unpin> Future for WhenWoken<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // The task before the flag: a wake-up after the look at the flag then reaches this task.
        {
            let mut task = self.flag.task();
            if !task
                .as_ref()
                .is_some_and(|known| known.will_wake(cx.waker()))
            {
                *task = Some(cx.waker().clone());
            }
        }
        if !self.flag.is_woken.swap(false, Ordering::Acquire) {
            return Poll::Pending;
        }
        let Self { future, waker, .. } = &mut *self;
        Pin::new(future).poll(&mut Context::from_waker(waker))
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::AtomicUsize;

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_future_is_polled_once_and_then_when_it_calls() {
        let (call, called) = oneshot::channel::<u8>();
        let polls = AtomicUsize::new(0);
        let mut called = pin!(called);
        let counted = std::future::poll_fn(|cx| {
            polls.fetch_add(1, Ordering::Relaxed);
            called.as_mut().poll(cx)
        });
        let mut waiting = WhenWoken::new(counted);
        for _ in 0..10 {
            // Something else wakes the task each time.
            tokio::select! {
                biased;
                _ = &mut waiting => unreachable!("it was not called"),
                () = tokio::task::yield_now() => {}
            }
        }
        assert_eq!(polls.load(Ordering::Relaxed), 1);
        let calling = tokio::spawn(async move { call.send(7) });
        assert_eq!(waiting.await, Ok(7));
        calling.await.unwrap().unwrap();
        assert_eq!(polls.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn a_future_that_moves_to_another_task_wakes_that_one() {
        let (call, called) = oneshot::channel::<u8>();
        let mut waiting = WhenWoken::new(called);
        tokio::select! {
            biased;
            _ = &mut waiting => unreachable!("it was not called"),
            () = tokio::task::yield_now() => {}
        }
        let elsewhere = tokio::spawn(waiting);
        tokio::task::yield_now().await;
        call.send(7).unwrap();
        assert_eq!(elsewhere.await.unwrap(), Ok(7));
    }
}
