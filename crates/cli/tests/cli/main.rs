//! The real binary, against the bundled server and against servers that misbehave.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests say what they expect by failing"
)]

mod arguments;
mod calls;
mod failures;
mod hostile;
#[cfg(target_os = "linux")]
mod leftovers;
mod lists;
mod run;
mod script;
#[cfg(unix)]
mod signals;
mod usage;
