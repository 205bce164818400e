//! The real binary at a terminal, with servers that others wrote and that talk back: they ask, log, tell of
//! progress and of changes.
//!
//! `cargo xtask check` installs them; without them, these tests fail.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests say what they expect by failing"
)]

mod everything;
#[path = "../gateway/front.rs"]
#[allow(dead_code, reason = "it is shared")]
mod front;
mod gateway;
#[path = "../cli/home.rs"]
#[allow(dead_code, reason = "it is shared")]
mod home;
mod installs;
mod logins;
mod modern;
#[path = "../cli/prompt.rs"]
#[allow(dead_code, reason = "it is shared")]
mod prompt;
#[path = "../cli/pty.rs"]
#[allow(dead_code, reason = "it is shared")]
mod pty;
#[path = "../cli/run.rs"]
#[allow(dead_code, reason = "it is shared")]
mod run;
mod schemas {
    /// Shapes are held against their schemas by the tests in `tests/cli`.
    pub(crate) fn check(_: &[&str], _: &crate::run::Run) {}
}
#[path = "../cli/serving.rs"]
mod serving;
mod stage;
