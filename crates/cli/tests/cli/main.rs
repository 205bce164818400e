//! The real binary, against the bundled server and against servers that misbehave.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests say what they expect by failing"
)]

mod arguments;
mod calls;
mod canned;
mod failures;
mod hostile;
mod http;
#[cfg(target_os = "linux")]
mod leftovers;
mod lists;
mod run;
mod script;
mod serving;
#[cfg(unix)]
mod signals;
mod usage;
