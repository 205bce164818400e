//! Credentials in one encrypted file that several processes share.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::Deserialize;
use serde_json::json;
use switchboard_core::limits::Limits;
use switchboard_core::private_store::{PrivateStore, StoreError};
use switchboard_core::secret::Secret;

use super::{Change, CredentialKey, CredentialSet, RenewalLock, Storing, TokenStore};
use crate::auth::jose::{base64url, fill_random, from_base64url, sha256};
use crate::auth_error::TokenStoreError;

/// The file name.
const FILE: &str = "tokens.json";
/// The name of the file that says that the key is in the system's keyring.
pub(super) const KEYRING_MARK: &str = "tokens.keyring";
/// The version of the file format.
const VERSION: u64 = 1;
/// Authenticated with the sealed content, so that it cannot be used in another context.
const CONTEXT: &[u8] = b"switchboard\x20tokens 1";
/// Length of a key.
const KEY_BYTES: usize = 32;
/// Maximum time that a write waits for another one.
const PATIENCE: Duration = Duration::from_secs(10);
/// Interval between attempts to take a lock that another process holds.
const LOOK: Duration = Duration::from_millis(10);

/// Provides the key that stored tokens are sealed with.
pub trait KeySource: Send + Sync {
    /// Reads the key of 32 bytes, creating it first if there is none. May block.
    ///
    /// # Errors
    /// Fails when it is locked or cannot be read.
    fn key(&self) -> Result<Secret<Vec<u8>>, TokenStoreError>;

    /// Describes the place of the key to people.
    fn describe(&self) -> String;
}

/// A key in a file of its own, which only the person can read.
pub struct KeyFile {
    store: PrivateStore,
}

impl KeyFile {
    /// The file name.
    const FILE: &'static str = "tokens.key";

    /// Uses a key in a folder that only the person can write.
    pub fn at(folder: PathBuf) -> Self {
        Self {
            store: PrivateStore::at(folder, "tokens-key"),
        }
    }

    fn read(&self) -> Result<Option<Secret<Vec<u8>>>, TokenStoreError> {
        const MOST_BYTES: usize = 1024;
        let text = self
            .store
            .read(Self::FILE, MOST_BYTES)
            .map_err(|error| key_failed(&error))?;
        let Some(text) = text.map(Secret::new) else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(text.expose());
        let damaged = || TokenStoreError::Key("the file of the key is damaged".to_owned());
        decoded(&text).map(Some).ok_or_else(damaged)
    }

    /// Tells whether there is such a file, whatever is in it.
    #[cfg(feature = "keyring")]
    pub(super) fn is_there(&self) -> bool {
        std::fs::symlink_metadata(self.store.path(Self::FILE)).is_ok()
    }
}

impl KeySource for KeyFile {
    fn key(&self) -> Result<Secret<Vec<u8>>, TokenStoreError> {
        if let Some(key) = self.read()? {
            return Ok(key);
        }
        // Made before the lock is taken, and thrown away if another process was first.
        let text = encoded(&new_key()?);
        let made = self.store.change(PATIENCE, |held| {
            // Another process may have created one since we looked: its key stays.
            let path = self.store.path(Self::FILE);
            if std::fs::symlink_metadata(path).is_ok() {
                return Ok(());
            }
            held.replace(Self::FILE, text.expose().as_bytes(), text.expose().len())
        });
        made.map_err(|error| key_failed(&error))?;
        let gone = || TokenStoreError::Key("the file of the key is gone".to_owned());
        // Read back, so that all processes use the key that is in the file.
        self.read()?.ok_or_else(gone)
    }

    fn describe(&self) -> String {
        format!("the key file {}", self.store.path(Self::FILE).display())
    }
}

impl fmt::Debug for KeyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyFile").finish_non_exhaustive()
    }
}

/// Makes a key.
pub(super) fn new_key() -> Result<Secret<Vec<u8>>, TokenStoreError> {
    let mut key = vec![0; KEY_BYTES];
    fill_random(&mut key).map_err(|error| TokenStoreError::Key(error.to_string()))?;
    Ok(Secret::new(key))
}

/// A key as it is written.
pub(super) fn encoded(key: &Secret<Vec<u8>>) -> Secret<String> {
    Secret::new(base64url(key.expose()))
}

/// A key that was written, if it is one.
pub(super) fn decoded(text: &str) -> Option<Secret<Vec<u8>>> {
    let key = from_base64url(text.trim()).filter(|key| key.len() == KEY_BYTES);
    key.map(Secret::new)
}

/// Tells whether a folder has sealed tokens.
#[cfg(feature = "keyring")]
pub(super) fn has_tokens(store: &PrivateStore) -> bool {
    std::fs::symlink_metadata(store.path(FILE)).is_ok()
}

/// Keeps credentials in one file, sealed with ChaCha20-Poly1305.
///
/// The file is replaced as a whole, so a reader sees the old set or the new one, and a full disk
/// leaves the old one. Writers take turns, and so do renewals of the same token, in this process
/// and in others.
///
/// ```no_run
/// use std::sync::Arc;
/// use switchboard_client::Limits;
/// use switchboard_client::auth::{KeyFile, SealedFile};
///
/// let folder = std::path::PathBuf::from("/home/me/.local/state/program/tokens");
/// let key = Arc::new(KeyFile::at(folder.clone()));
/// let store = Arc::new(SealedFile::at(folder, key, &Limits::default()));
/// ```
#[derive(Clone)]
pub struct SealedFile {
    inner: Arc<SealedStore>,
}

struct SealedStore {
    store: PrivateStore,
    key: Arc<dyn KeySource>,
    /// The key, once it has been read.
    known_key: Mutex<Option<Secret<Vec<u8>>>>,
    most_bytes: usize,
}

#[derive(Deserialize)]
struct Envelope {
    version: u64,
    nonce: String,
    sealed: String,
}

impl SealedFile {
    /// Creates a store in a folder that only the person can write. Reads and creates nothing yet.
    pub fn at(folder: PathBuf, key: Arc<dyn KeySource>, limits: &Limits) -> Self {
        Self {
            inner: Arc::new(SealedStore {
                store: PrivateStore::at(folder, "tokens"),
                key,
                known_key: Mutex::new(None),
                most_bytes: limits.auth_store_bytes,
            }),
        }
    }

    /// Removes the files of the store and of its key from a folder, also if they cannot be opened. The next login
    /// begins with a new key.
    ///
    /// # Errors
    /// Fails if a file is there and cannot be removed. The others are removed nevertheless.
    pub fn remove(folder: &Path) -> io::Result<()> {
        let mut removed = Ok(());
        for file in [FILE, KeyFile::FILE, KEYRING_MARK] {
            match std::fs::remove_file(folder.join(file)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => removed = Err(error),
                _ => {}
            }
        }
        removed
    }

    /// Runs blocking work off the runtime's threads.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&SealedStore) -> Result<T, TokenStoreError> + Send + 'static,
    ) -> Result<T, TokenStoreError> {
        // Files and keyrings block, so they are used on a thread of their own.
        let inner = Arc::clone(&self.inner);
        let done = tokio::task::spawn_blocking(move || work(&inner)).await;
        done.map_err(|_| TokenStoreError::File("the work on them was stopped".to_owned()))?
    }
}

impl SealedStore {
    fn cipher(&self) -> Result<LessSafeKey, TokenStoreError> {
        let mut known = self
            .known_key
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Kept for the life of the process: a keyring may ask the person each time.
        let key = match known.as_ref() {
            Some(key) => key.clone(),
            None => known.insert(self.key.key()?).clone(),
        };
        let key = UnboundKey::new(&CHACHA20_POLY1305, key.expose());
        let unfit = |_| TokenStoreError::Key("it does not have 32 bytes".to_owned());
        key.map(LessSafeKey::new).map_err(unfit)
    }

    fn read(&self) -> Result<CredentialSet, TokenStoreError> {
        let Some(text) = self
            .store
            .read(FILE, self.most_bytes)
            .map_err(|error| failed(&error))?
        else {
            return Ok(CredentialSet::default());
        };
        let path = || self.store.path(FILE).display().to_string();
        let changed = || TokenStoreError::Sealed { path: path() };
        // The version before the key: a newer format may need another one.
        let envelope: Envelope = serde_json::from_slice(&text).map_err(|_| changed())?;
        if envelope.version != VERSION {
            let problem = format!("{} has a form of a newer version", path());
            return Err(TokenStoreError::File(problem));
        }
        let nonce = STANDARD.decode(&envelope.nonce).map_err(|_| changed())?;
        let nonce = Nonce::try_assume_unique_for_key(&nonce).map_err(|_| changed())?;
        let mut sealed = STANDARD.decode(&envelope.sealed).map_err(|_| changed())?;
        let cipher = self.cipher()?;
        let opened = cipher.open_in_place(nonce, Aad::from(CONTEXT), &mut sealed);
        let opened = Secret::new(opened.map_err(|_| changed())?.to_vec());
        CredentialSet::from_json(opened.expose())
    }

    fn seal(&self, set: &CredentialSet) -> Result<String, TokenStoreError> {
        // Random nonces: the file is written far too rarely for a collision.
        let mut nonce = [0; NONCE_LEN];
        fill_random(&mut nonce).map_err(|error| TokenStoreError::File(error.to_string()))?;
        let mut content = set.to_json().expose().clone().into_bytes();
        let sealed = self.cipher()?.seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(CONTEXT),
            &mut content,
        );
        sealed.map_err(|_| TokenStoreError::File("they cannot be sealed".to_owned()))?;
        let envelope = json!({
            "version": VERSION,
            "nonce": STANDARD.encode(nonce),
            "sealed": STANDARD.encode(content),
        });
        Ok(format!("{envelope}\n"))
    }

    fn change(&self, change: Change) -> Result<(), TokenStoreError> {
        // Read the key before taking the lock: a keyring may be slow.
        self.cipher()?;
        let mut outcome = Ok(());
        // Read, change and write under one lock, or a concurrent change would be lost.
        let written = self.store.change(PATIENCE, |held| {
            let sealed = self.read().and_then(|mut set| {
                change(&mut set);
                self.seal(&set)
            });
            match sealed {
                Ok(text) => held.replace(FILE, text.as_bytes(), self.most_bytes),
                Err(error) => {
                    outcome = Err(error);
                    Ok(())
                }
            }
        });
        written.map_err(|error| failed(&error))?;
        outcome
    }
}

impl TokenStore for SealedFile {
    fn read(&self) -> Storing<'_, Arc<CredentialSet>> {
        Box::pin(self.blocking(|inner| inner.read().map(Arc::new)))
    }

    fn change(&self, change: Change) -> Storing<'_, ()> {
        Box::pin(self.blocking(move |inner| inner.change(change)))
    }

    fn lock<'a>(&'a self, key: &'a CredentialKey, patience: Duration) -> Storing<'a, RenewalLock> {
        let name = lock_name(key);
        Box::pin(async move {
            let start = tokio::time::Instant::now();
            loop {
                let file = name.clone();
                let tried = self.blocking(move |inner| {
                    inner.store.try_hold(&file).map_err(|error| failed(&error))
                });
                if let Some(held) = tried.await? {
                    return Ok(RenewalLock::new(held));
                }
                // Tried at least once, even with no patience at all.
                if start.elapsed() >= patience {
                    return Err(TokenStoreError::Busy);
                }
                tokio::time::sleep(LOOK).await;
            }
        })
    }

    fn describe(&self) -> String {
        let path = self.inner.store.path(FILE);
        format!(
            "{}, sealed with {}",
            path.display(),
            self.inner.key.describe()
        )
    }
}

impl fmt::Debug for SealedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedFile")
            .field("path", &self.inner.store.path(FILE))
            .finish_non_exhaustive()
    }
}

/// The lock file of a key: a digest, because issuers cannot be file names.
fn lock_name(key: &CredentialKey) -> String {
    let whole = [&key.issuer, &key.resource, &key.client_id, &key.profile].map(String::as_str);
    // A hash: issuers and resources are URLs, which are no names for files.
    let digest = base64url(&sha256(whole.join("\0").as_bytes()));
    let short: String = digest.chars().take(22).collect();
    format!("tokens-{short}.lock")
}

fn failed(error: &StoreError) -> TokenStoreError {
    TokenStoreError::File(describe(error))
}

pub(super) fn key_failed(error: &StoreError) -> TokenStoreError {
    TokenStoreError::Key(describe(error))
}

/// Puts an error of the store into words about tokens: its own are about approvals.
fn describe(error: &StoreError) -> String {
    match error {
        StoreError::Io { source, .. } => format!("{error}: {source}"),
        StoreError::Unsafe { path, why, .. } => {
            format!("{} is not safe to keep tokens in: {why}", path.display())
        }
        StoreError::Broken { path, why } => {
            format!(
                "{} cannot be read: {why}; move it away and log in again",
                path.display()
            )
        }
        StoreError::TooLarge { path, most_bytes } => format!(
            "{} would be larger than {most_bytes} bytes: log out of servers that are not used any more",
            path.display()
        ),
        StoreError::Locked { path } => format!(
            "another process is writing tokens: {} stayed locked",
            path.display()
        ),
        StoreError::Newer { .. } => error.to_string(),
        _ => "the file of the tokens is not as it was left".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn errors_of_the_store_speak_of_tokens_and_not_of_approvals() {
        let path = || Path::new("/state/tokens.json").to_owned();
        let errors = [
            StoreError::io("read", &path(), std::io::ErrorKind::PermissionDenied.into()),
            StoreError::Unsafe {
                path: path(),
                why: "others may write it".to_owned(),
                fix: None,
            },
            StoreError::malformed(&path(), "it is not JSON"),
            StoreError::Newer {
                path: path(),
                version: 9,
            },
            StoreError::Full { most: 7 },
            StoreError::TooLarge {
                path: path(),
                most_bytes: 7,
            },
            StoreError::Locked { path: path() },
        ];
        for error in errors {
            for told in [failed(&error), key_failed(&error)] {
                let text = told.to_string();
                assert!(!text.contains("approv"), "{text}");
                assert!(text.contains("token"), "{text}");
            }
        }
    }
}
