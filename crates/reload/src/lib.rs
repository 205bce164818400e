//! Config files and approvals that change while a host runs.
//!
//! [`FileWatch`] says that one of some files may have changed, also where it is replaced by renaming, comes
//! into being later or is reached through links. A [`Reloader`] waits for that, reads the config files
//! again and hands them to [`Host::reconcile`](switchboard::Host::reconcile); a file that cannot be read
//! leaves the host as it is. Nothing is polled, and nothing runs while no file changes.

mod places;
mod reloader;
mod watch;

pub use reloader::{Reload, Reloader};
pub use watch::{FileWatch, WatchError};

#[cfg(test)]
mod tests;
