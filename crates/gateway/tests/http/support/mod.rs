//! A gateway in front of servers in memory, and a client that sends exactly what a test says.

mod ask;
mod connection;
mod front;

pub(crate) use ask::{Ask, MODERN, modern_meta};
pub(crate) use connection::{Answer, Connection};
pub(crate) use front::{Front, TOKEN, front, front_with, options};

use std::time::Duration;

/// Longest wait for anything that should happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Waits for something that should happen.
pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(done) => done,
        Err(_) => panic!("waited too long for {what}"),
    }
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    within(what, async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}
