//! The sessions of legacy clients, by their ids.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::record::Log;
use super::session::Session;

/// All sessions of a server.
pub(super) struct Sessions {
    known: Mutex<HashMap<String, Arc<Session>>>,
    log: Arc<Log>,
    chance: RandomState,
}

impl Sessions {
    pub(super) fn new(log: Arc<Log>) -> Self {
        Self {
            known: Mutex::default(),
            log,
            chance: RandomState::new(),
        }
    }

    /// Stores a session under an id that cannot be guessed.
    pub(super) fn insert(&self, session: Arc<Session>) -> String {
        let mut known = self.lock();
        let number = self.log.counts().borrow().requests;
        let [one, two] =
            ["one", "two"].map(|half| self.chance.hash_one((half, number, known.len())));
        // Visible ASCII is all that an id promises: this one exposes clients that expect a word.
        let id = format!("s{number}.{one:016x}~{two:016x}:!");
        known.insert(id.clone(), session);
        self.log.count(|counts| counts.sessions += 1);
        id
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<Session>> {
        self.lock().get(id).cloned()
    }

    /// Ends a session; returns false if there was none.
    pub(super) fn remove(&self, id: &str) -> bool {
        let removed = self.lock().remove(id);
        if let Some(session) = &removed {
            session.close();
            self.log.count(|counts| counts.sessions -= 1);
        }
        removed.is_some()
    }

    /// Ends all sessions.
    pub(super) fn clear(&self) {
        let ids: Vec<String> = self.lock().keys().cloned().collect();
        for id in ids {
            self.remove(&id);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        // A map is never half changed, so a poisoned lock is fine.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
