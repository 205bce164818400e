//! Servers that are processes: how they are started, kept, ended, and found again. The examples as programs.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::field_reassign_with_default,
    reason = "a failure here is a failed test"
)]

mod example_programs;
#[cfg(target_os = "linux")]
mod host_new_server;
#[cfg(target_os = "linux")]
mod host_processes;
#[cfg(target_os = "linux")]
mod host_reconcile;
#[cfg(target_os = "linux")]
mod host_starts;
#[path = "../host_support/mod.rs"]
mod host_support;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod keeper_process;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod leftovers;
#[cfg(unix)]
mod stdio_end;
#[cfg(target_os = "linux")]
mod stdio_inherit;
#[cfg(target_os = "linux")]
mod stdio_killed;
#[cfg(unix)]
mod stdio_start;
#[path = "../support/mod.rs"]
mod support;
