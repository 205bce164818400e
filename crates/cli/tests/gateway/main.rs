//! `switchboard serve` before the bundled server, as processes.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "tests say what they expect by failing"
)]

mod front;
mod shapes;
mod wire;
