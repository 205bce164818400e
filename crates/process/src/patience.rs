//! Deadlines that do not lose what has already come.
//!
//! A process that was stopped (Ctrl-Z and `fg`, SIGSTOP, a frozen container) goes on with timers that have run out
//! and with input in its pipes and sockets that nobody has read. The runtime sees the timers first: Linux ends the
//! `epoll_wait` of a stopped process with EINTR and without events. So before a deadline fires, the runtime gets
//! turns to look at its input. Only a deadline that is about to fire pays for it.

use std::pin::pin;
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::time::{sleep, timeout};

/// The turns that an HTTP answer takes from a socket to its caller: the connection's task, TLS, the body, the caller,
/// and as many again to spare.
const TURNS: usize = 8;

/// How long one turn lasts where other threads may be the ones that look at the input.
const THREADED_TURN: Duration = Duration::from_millis(1);

/// Gives the runtime one turn: it looks at its pipes and sockets, and the tasks that these wake run before this one.
pub async fn turn() {
    // A task that yields is resumed after the runtime has looked at its input.
    tokio::task::yield_now().await;
    if Handle::current().runtime_flavor() != RuntimeFlavor::CurrentThread {
        // Here another thread may be in the middle of looking, so that a yield says nothing. A timer that is set now
        // fires after somebody has looked once more.
        sleep(THREADED_TURN).await;
    }
}

/// Gives the runtime as many turns as an answer takes from a socket to its caller.
pub async fn turns() {
    for _ in 0..TURNS {
        turn().await;
    }
}

/// The time for something has run out, and it has not come meanwhile either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLate;

/// Waits so long for `work`, and then as long as it takes to read what has come by then.
///
/// # Errors
/// When it is not done even so.
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
