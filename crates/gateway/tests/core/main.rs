//! The core of the gateway through an in-memory stream, in front of servers in the same process.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::field_reassign_with_default,
    reason = "a failure here is a failed test"
)]

mod support;

mod calls;
mod cancel;
mod changes;
mod ends;
mod failures;
mod handshake;
mod limits;
mod lists;
mod notices;
mod questions;
mod strict;
