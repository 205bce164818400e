//! Edits `mcp.json` files, and writes servers as entries.
//!
//! [`apply`] changes a text and nothing in it but the target of the [`Change`]: comments, order, unknown
//! keys, indentation and line ends stay as they are, byte for byte. It cuts and inserts, and never prints
//! the whole document. [`edit()`] does the same to a file, with one writer at a time, and replaces it
//! atomically: at any time the file contains the old text or the new one. [`entry`] and [`document`]
//! write a [`ServerSpec`](switchboard_core::spec::ServerSpec) in the form of config files.
//!
//! All of it blocks; async code should run it on a thread for blocking work.

mod add;
mod apply;
mod change;
mod document;
mod error;
mod file;
pub(crate) mod held;
mod layout;
mod lock;
pub(crate) mod member;
mod remove;
mod render;
mod replace;
mod syntax;
#[cfg(test)]
mod tests;
mod toggle;
pub(crate) mod toml;

pub use apply::apply;
pub use change::Change;
pub use error::EditError;
pub use file::{Access, EditLimits, Edited, edit};
pub use switchboard_core::spec::write::{Secrets, WriteError, Written, document, entry};
