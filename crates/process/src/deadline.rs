//! Timeouts that first read the input that has already arrived.
//!
//! A process that was stopped (Ctrl-Z and `fg`, SIGSTOP, a frozen container) continues with expired timers and with
//! unread input in its pipes and sockets. The runtime sees the timers first, because Linux ends the `epoll_wait` of a
//! stopped process with EINTR and without events. So before a timeout fires, the runtime gets a few turns to poll its
//! input. Only a timeout that is about to fire pays for it.

use std::pin::pin;
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::time::{sleep, timeout};

/// The turns that an HTTP answer needs from the socket to its caller: the connection's task, TLS, the body, the
/// caller, and as many again to spare.
const TURNS: usize = 8;

/// The length of one turn on a multi-threaded runtime, where another thread may be polling.
const THREADED_TURN: Duration = Duration::from_millis(1);

/// Gives the runtime one turn: it polls its pipes and sockets, and tasks that this wakes run before the current one.
pub async fn turn() {
    // A task that yields is resumed after the runtime has polled.
    tokio::task::yield_now().await;
    if Handle::current().runtime_flavor() != RuntimeFlavor::CurrentThread {
        // Another thread may be in the middle of polling, so a yield guarantees nothing. A timer set now fires after
        // one more poll.
        sleep(THREADED_TURN).await;
    }
}

/// Gives the runtime as many turns as an answer needs from the socket to its caller.
pub async fn turns() {
    for _ in 0..TURNS {
        turn().await;
    }
}

/// The error of a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLate;

/// Waits for `work` until `time` has passed, and then as long as it takes to read input that arrived by then.
///
/// # Errors
/// Fails if `work` is still not done.
pub async fn within<T>(time: Duration, work: impl Future<Output = T>) -> Result<T, TooLate> {
    let mut work = pin!(work);
    if let Ok(done) = timeout(time, &mut work).await {
        return Ok(done);
    }
    tokio::select! {
        biased;
        done = &mut work => Ok(done),
        () = turns() => Err(TooLate),
    }
}
