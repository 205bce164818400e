//! Tests that count, close or kill what this whole process has.
//!
//! Each runs in a process of its own, one after the other: see [`support::alone`].

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failure here is a failed test"
)]

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod endure_cycles;
#[cfg(target_os = "linux")]
mod endure_killed;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod keeper_leaks;
#[cfg(target_os = "linux")]
mod stdio_closed;
#[cfg(target_os = "linux")]
mod stdio_leaks;
#[path = "../support/mod.rs"]
mod support;
