//! Edits of `mcp.json` files, and servers written out as their entries.
//!
//! [`apply`] changes a text and nothing of it but what the [`Change`] is about: comments, order, keys
//! that nobody here knows, indentation and line ends stay as they are, to the byte. It works by
//! cutting out and putting in, never by printing a whole document anew. [`edit()`] does the same
//! to a file, one writer at a time, and replaces it in one step: whoever reads it, and
//! whatever fails midway, finds the old text or the new one. [`entry`] and [`document`] write
//! a [`ServerSpec`](switchboard_core::spec::ServerSpec) the way config files have it.
//!
//! All of it blocks; in async code it belongs on a thread for blocking work.

mod add;
mod apply;
mod change;
mod document;
mod error;
mod file;
mod layout;
mod lock;
mod remove;
mod render;
mod replace;
mod syntax;
#[cfg(test)]
mod tests;
mod toggle;
mod write;

pub use apply::apply;
pub use change::Change;
pub use error::EditError;
pub use file::{Access, Bounds, Edited, edit};
pub use write::{Secrets, WriteError, Written, document, entry};
