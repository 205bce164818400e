//! Which folders are ours to work in.

use std::sync::{Arc, Mutex, PoisonError};

use switchboard_protocol::Root;

/// The folders that servers are told of. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Roots(Arc<Mutex<Vec<Root>>>);

impl Roots {
    /// What servers are told now.
    pub fn list(&self) -> Vec<Root> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
