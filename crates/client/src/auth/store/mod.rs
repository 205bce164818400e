//! Token stores.
//!
//! A [`TokenStore`] keeps one [`CredentialSet`] and hands out locks. To renew a token, a process
//! takes the lock of its key, reads the set again, and renews only if the token is still the one
//! that failed. [`MemoryStore`] ends with the process; [`SealedFile`] keeps the set in one
//! encrypted file that several processes share.

mod document;
#[cfg(feature = "keyring")]
mod keyring;
mod memory;
mod sealed;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub(crate) use document::{Binding, PendingLogin, StoredEndpoint};
pub use document::{Credential, CredentialKey, CredentialSet};
#[cfg(feature = "keyring")]
pub use keyring::KeyringKey;
pub use memory::MemoryStore;
pub use sealed::{KeyFile, KeySource, SealedFile};

use super::fetch::Endpoint;
use crate::auth_error::TokenStoreError;

/// An operation of a store.
pub type Storing<'a, T> = Pin<Box<dyn Future<Output = Result<T, TokenStoreError>> + Send + 'a>>;

/// A change of a set of credentials.
pub type Change = Box<dyn FnOnce(&mut CredentialSet) + Send>;

/// The exclusive right to renew one token, until the value is dropped.
pub struct RenewalLock(#[allow(dead_code, reason = "held for its drop")] Box<dyn Send>);

impl RenewalLock {
    /// Wraps a value that releases the lock when it is dropped.
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
/// Implement it for a store of your own, with [`CredentialSet::to_json`] and
/// [`CredentialSet::from_json`] as the format. A store that several processes use must make
/// `change` and `lock` exclusive between them.
pub trait TokenStore: Send + Sync {
    /// Reads all credentials.
    fn read(&self) -> Storing<'_, Arc<CredentialSet>>;

    /// Reads, changes and writes the credentials, exclusively.
    fn change(&self, change: Change) -> Storing<'_, ()>;

    /// Waits for the lock of a key, for at most `patience`.
    fn lock<'a>(&'a self, key: &'a CredentialKey, patience: Duration) -> Storing<'a, RenewalLock>;

    /// Describes the store to people.
    fn describe(&self) -> String;
}

/// Converts an endpoint to its stored form.
pub(crate) fn document_endpoint(endpoint: &Endpoint) -> StoredEndpoint {
    StoredEndpoint::of(endpoint)
}

/// A missing endpoint, to which nothing can be sent.
pub(crate) fn no_endpoint() -> StoredEndpoint {
    StoredEndpoint::none()
}

/// Changes the contents of a store, and returns the result of the change.
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
