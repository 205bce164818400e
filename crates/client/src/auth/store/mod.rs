//! Where tokens are kept.
//!
//! A [`TokenStore`] keeps one [`CredentialSet`] and hands out locks. Whoever renews a token takes the lock of its key,
//! reads the set again, and renews only if the token is still the one that failed. [`MemoryStore`] forgets everything
//! with the process; [`SealedFile`] keeps the set in one encrypted file that several processes share.

mod document;
mod memory;
mod sealed;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub(crate) use document::{Binding, PendingLogin, StoredEndpoint};
pub use document::{Credential, CredentialKey, CredentialSet};
pub use memory::MemoryStore;
pub use sealed::{KeyFile, KeySource, SealedFile};

use super::error::TokenStoreError;
use super::fetch::Endpoint;

/// Something that a store does.
pub type Storing<'a, T> = Pin<Box<dyn Future<Output = Result<T, TokenStoreError>> + Send + 'a>>;

/// A change of a set of credentials.
pub type Change = Box<dyn FnOnce(&mut CredentialSet) + Send>;

/// The right to renew one token, until the value is dropped.
pub struct RenewalLock(#[allow(dead_code, reason = "held for its drop")] Box<dyn Send>);

impl RenewalLock {
    /// Wraps what releases the lock when it is dropped.
    pub fn new(held: impl Send + 'static) -> Self {
        Self(Box::new(held))
    }
}

impl fmt::Debug for RenewalLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RenewalLock")
    }
}

/// Keeps credentials.
///
/// Implement it to keep them in a store of your own: [`CredentialSet::to_json`] and [`CredentialSet::from_json`] are
/// its form. A store that several processes use has to exclude them from each other in `change` and `lock`.
pub trait TokenStore: Send + Sync {
    /// Reads everything that is kept.
    fn read(&self) -> Storing<'_, Arc<CredentialSet>>;

    /// Reads, changes and writes what is kept, while nothing else does.
    fn change(&self, change: Change) -> Storing<'_, ()>;

    /// Waits at most so long for the right to renew the token of a key.
    fn lock<'a>(&'a self, key: &'a CredentialKey, patience: Duration) -> Storing<'a, RenewalLock>;

    /// Names the store for people.
    fn describe(&self) -> String;
}

/// An endpoint as it is stored.
pub(crate) fn document_endpoint(endpoint: &Endpoint) -> StoredEndpoint {
    StoredEndpoint::of(endpoint)
}

/// No endpoint: nothing can be sent to it.
pub(crate) fn no_endpoint() -> StoredEndpoint {
    StoredEndpoint::none()
}

/// Changes what a store keeps, and gives what the change gives.
pub(crate) async fn change<T: Send + 'static>(
    store: &dyn TokenStore,
    change: impl FnOnce(&mut CredentialSet) -> T + Send + 'static,
) -> Result<T, TokenStoreError> {
    let slot: Arc<Mutex<Option<T>>> = Arc::default();
    let result = Arc::clone(&slot);
    let work: Change = Box::new(move |set| {
        let made = change(set);
        *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(made);
    });
    store.change(work).await?;
    let made = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    made.ok_or_else(|| TokenStoreError::File("the store did not make the change".to_owned()))
}
