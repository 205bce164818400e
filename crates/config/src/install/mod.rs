//! Installs a gateway into the config files of other clients, and takes it out again.
//!
//! A [`Target`] is the file of one client in one scope. An [`Installer`] adds one entry there that starts
//! a gateway over stdio, in the client's own form; comments, order and everything else stay as they are,
//! byte for byte. A second run changes nothing. Before the file is replaced, a private record of the edit
//! is written, so that [`Installer::undo`] restores the exact text. If the file has changed since, only the
//! entry is removed. [`Installer::moving_to`] takes the client's servers along, and an undo brings them back.
//!
//! All of it blocks, and starts nothing.

mod diff;
mod entry;
mod error;
mod installer;
mod moving;
mod outcome;
mod plan;
mod record;
mod target;
#[cfg(test)]
mod tests;
mod text;

pub use error::InstallError;
pub use installer::{GatewayCommand, Installer, Mode};
pub use outcome::{InstallChange, LeftReason, LeftServer, Outcome};
pub use target::{InstallScope, Target};
