//! The rules that the architecture test holds, as pure functions over names and texts.
//!
//! - [`crates`]: which crate may depend on which;
//! - [`files`]: what no file of the workspace may look like;
//! - [`wording`]: words that no screen and no page uses.
//!
//! `tests/project/architecture.rs` applies them to the workspace. They are functions of their own so that
//! their tests can show them sources that break the rules.

pub mod crates;
pub mod files;
pub mod wording;
