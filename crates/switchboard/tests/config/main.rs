//! Config files, of ours and of other clients: how they are read, filled and put together.
//!
//! The files themselves are in the folders beside.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failure here is a failed test"
)]

mod any;
mod broken;
mod clients;
mod docs;
mod expand;
#[cfg(unix)]
mod layers;
