//! Floods, soaks and large matrices, which take long and want the machine to themselves.
//!
//! What they measure is measured in processes that they start, so that they can share this one.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failure here is a failed test"
)]

#[cfg(target_os = "linux")]
mod endure_floods;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod endure_idle;
#[cfg(target_os = "linux")]
mod gateway_load;
#[cfg(target_os = "linux")]
mod http_floods;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod keeper_matrix;
#[cfg(unix)]
mod login_processes;
#[cfg(unix)]
mod session_soak;
#[path = "../support/mod.rs"]
mod support;
#[cfg(target_os = "linux")]
mod talk_floods;
