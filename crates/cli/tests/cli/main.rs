//! The real binary, against the bundled server and against servers that misbehave.

// Helpers of tests may fail like tests.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod arguments;
mod calls;
mod failures;
mod hostile;
mod lists;
mod run;
mod script;
#[cfg(unix)]
mod signals;
mod usage;
