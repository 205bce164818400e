//! The server as clients see it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    reason = "a failure here is a failed test"
)]

#[cfg(feature = "http")]
mod http;
mod server;
