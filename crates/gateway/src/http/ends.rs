//! The end of what clients left open, once their credentials do not count any more.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustc_hash::FxHashSet;

use super::modern::ModernClients;
use super::sessions::Sessions;
use crate::validity::Validity;

/// Waits for the end of each credential that clients came with.
pub(super) struct Ends {
    sessions: Weak<Sessions>,
    modern: Weak<ModernClients>,
    /// The validities that a task waits for.
    watched: Arc<Mutex<FxHashSet<u64>>>,
}

impl Ends {
    pub(super) fn new(sessions: &Arc<Sessions>, modern: &Arc<ModernClients>) -> Self {
        Self {
            sessions: Arc::downgrade(sessions),
            modern: Arc::downgrade(modern),
            watched: Arc::default(),
        }
    }

    /// Ends the sessions and clients of a credential when it ends. One task waits for each.
    pub(super) fn watch(&self, validity: &Validity) {
        let Some(end) = validity.end_of() else { return };
        let id = validity.id();
        let is_new = self
            .watched
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id);
        if !is_new {
            return;
        }
        let (sessions, modern) = (self.sessions.clone(), self.modern.clone());
        let watched = Arc::clone(&self.watched);
        // It ends with the last holder of the validity at the latest, so that no task is left.
        tokio::spawn(async move {
            end.wait().await;
            watched
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .remove(&id);
            if let Some(sessions) = sessions.upgrade() {
                sessions.end_invalid();
            }
            if let Some(modern) = modern.upgrade() {
                modern.end_invalid();
            }
        });
    }
}
