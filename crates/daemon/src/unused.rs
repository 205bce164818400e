//! The reasons that a daemon which runs is not used.

use crate::DaemonError;

/// The reason that a daemon which runs is not used.
#[derive(Debug)]
#[non_exhaustive]
pub enum Unused {
    /// It has another version, this one.
    Version(String),
    /// It cannot be talked to.
    Failed(DaemonError),
}

/// Takes the reason that a daemon which runs is not used.
pub type Notice = Box<dyn FnOnce(&Unused) + Send>;
