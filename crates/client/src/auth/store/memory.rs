//! A store in memory, which ends with the process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Change, CredentialKey, CredentialSet, RenewalLock, Storing, TokenStore};
use crate::auth_error::TokenStoreError;

/// Keeps credentials in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    set: Mutex<Arc<CredentialSet>>,
    locks: Mutex<HashMap<CredentialKey, Arc<tokio::sync::Mutex<()>>>>,
}

impl MemoryStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn set(&self) -> MutexGuard<'_, Arc<CredentialSet>> {
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenStore for MemoryStore {
    fn read(&self) -> Storing<'_, Arc<CredentialSet>> {
        let set = Arc::clone(&self.set());
        Box::pin(std::future::ready(Ok(set)))
    }

    fn change(&self, change: Change) -> Storing<'_, ()> {
        change(Arc::make_mut(&mut self.set()));
        Box::pin(std::future::ready(Ok(())))
    }

    fn lock<'a>(&'a self, key: &'a CredentialKey, patience: Duration) -> Storing<'a, RenewalLock> {
        let lock = {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(locks.entry(key.clone()).or_default())
        };
        Box::pin(async move {
            let held = tokio::time::timeout(patience, lock.lock_owned()).await;
            held.map(RenewalLock::new)
                .map_err(|_| TokenStoreError::Busy)
        })
    }

    fn describe(&self) -> String {
        "memory".to_owned()
    }
}
