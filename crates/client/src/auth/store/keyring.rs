//! The key of stored tokens in the system's keyring, or in a file where the keyring does not work.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

#[cfg(target_os = "macos")]
use apple_native_keyring_store::keychain as system;
#[cfg(all(unix, not(target_os = "macos")))]
use dbus_secret_service_keyring_store as system;
use keyring_core::api::CredentialStoreApi as _;
use switchboard_core::limits::Limits;
use switchboard_core::private_store::PrivateStore;
use switchboard_core::secret::Secret;
#[cfg(windows)]
use windows_native_keyring_store as system;

use super::sealed::{self, KeyFile, KeySource};
use crate::auth_error::TokenStoreError;

/// The name of the program in the keyring.
const SERVICE: &str = "switchboard";
/// The name of the key in the keyring.
const ACCOUNT: &str = "key of stored tokens";
/// The file that says that the key is in the keyring.
const MARK: &str = sealed::KEYRING_MARK;
/// The content of that file.
const MARK_TEXT: &[u8] = b"the key of the stored tokens is in the keyring of the system\n";
/// The longest wait for another process that decides where the key goes.
const PATIENCE: Duration = Duration::from_secs(10);

/// The key of stored tokens in the system's keyring; in a [`KeyFile`] where the keyring does not work.
///
/// The place is chosen once, when the first key is made, and a file in the folder says which it is. From then on the
/// key is looked for there alone: a keyring that does not answer is [`TokenStoreError::Locked`], never a reason to
/// begin anew. The keyring is asked on a thread of its own, and given up after [`Limits::auth_keyring`].
///
/// ```no_run
/// use std::sync::Arc;
/// use switchboard_client::Limits;
/// use switchboard_client::auth::{KeyringKey, SealedFile};
///
/// let folder = std::path::PathBuf::from("/home/me/.local/state/program/tokens");
/// let key = KeyringKey::at(folder.clone(), &Limits::default())
///     .on_fallback(|why| eprintln!("the key of stored tokens is in a file: {why}"));
/// let store = Arc::new(SealedFile::at(folder, Arc::new(key), &Limits::default()));
/// ```
pub struct KeyringKey {
    store: PrivateStore,
    file: KeyFile,
    keyring: Option<Arc<dyn Keyring>>,
    patience: Duration,
    on_fallback: Option<Fallback>,
}

/// Hears that a key was put into a file, and why.
type Fallback = Box<dyn Fn(&str) + Send + Sync>;

/// Gets the key from a keyring.
type KeyringWork = fn(&dyn Keyring) -> Result<Secret<Vec<u8>>, KeyringFault>;

/// A keyring, as far as it is needed.
trait Keyring: Send + Sync {
    /// Reads the entry, if there is one.
    fn read(&self) -> Result<Option<Secret<String>>, KeyringFault>;

    /// Writes the entry.
    fn write(&self, text: &Secret<String>) -> Result<(), KeyringFault>;
}

/// The reason why a keyring gives no key.
#[derive(Debug, Clone, PartialEq, Eq)]
enum KeyringFault {
    /// It is there, and does not open.
    Locked(String),
    /// It is not there, or does not work.
    Unusable(String),
}

impl KeyringFault {
    fn why(&self) -> &str {
        match self {
            Self::Locked(why) | Self::Unusable(why) => why,
        }
    }
}

impl From<KeyringFault> for TokenStoreError {
    fn from(fault: KeyringFault) -> Self {
        // The key was put there: a keyring that cannot be asked now has it still.
        Self::Locked(fault.why().to_owned())
    }
}

impl KeyringKey {
    /// A key for the tokens in a folder that only the person can write.
    pub fn at(folder: PathBuf, limits: &Limits) -> Self {
        Self::with(folder, limits, Some(Arc::new(SystemKeyring)))
    }

    fn with(folder: PathBuf, limits: &Limits, keyring: Option<Arc<dyn Keyring>>) -> Self {
        Self {
            store: PrivateStore::at(folder.clone(), "tokens-place"),
            file: KeyFile::at(folder),
            keyring,
            patience: limits.auth_keyring,
            on_fallback: None,
        }
    }

    /// Never asks the keyring: a new key goes into a file, and one that is in the keyring is out of reach.
    #[must_use]
    pub fn without_keyring(mut self) -> Self {
        self.keyring = None;
        self
    }

    /// Calls this when a new key goes into a file because the keyring does not work, with the reason.
    #[must_use]
    pub fn on_fallback(mut self, heard: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.on_fallback = Some(Box::new(heard));
        self
    }

    /// The place of the key, if there is one.
    fn place(&self) -> Result<Option<KeyPlace>, TokenStoreError> {
        if self.file.is_there() {
            return Ok(Some(KeyPlace::File));
        }
        let mark = self.store.read(MARK, MARK_TEXT.len());
        let mark = mark.map_err(|error| sealed::key_failed(&error))?;
        Ok(mark.map(|_| KeyPlace::Keyring))
    }

    /// Decides where a new key goes, and makes it.
    fn make(&self) -> Result<Secret<Vec<u8>>, TokenStoreError> {
        let Some(keyring) = &self.keyring else {
            return self.file.key();
        };
        let mut made = None;
        let decided = self.store.change(PATIENCE, |held| {
            // Another process may have decided while we waited.
            if !matches!(self.place(), Ok(None)) {
                return Ok(());
            }
            match self.ask(keyring, obtain) {
                Ok(key) => {
                    held.replace(MARK, MARK_TEXT, MARK_TEXT.len())?;
                    made = Some(Ok(key));
                }
                Err(fault) => {
                    made = Some(self.file.key());
                    if let Some(heard) = &self.on_fallback {
                        heard(fault.why());
                    }
                }
            }
            Ok(())
        });
        decided.map_err(|error| sealed::key_failed(&error))?;
        match made {
            Some(made) => made,
            None => self.read_key(),
        }
    }

    /// Reads the key from where it was put.
    fn read_key(&self) -> Result<Secret<Vec<u8>>, TokenStoreError> {
        match (self.place()?, &self.keyring) {
            (Some(KeyPlace::File) | None, _) => self.file.key(),
            (Some(KeyPlace::Keyring), None) => {
                let why = "it is in the keyring of the system, which is not to be asked";
                Err(TokenStoreError::Locked(why.to_owned()))
            }
            (Some(KeyPlace::Keyring), Some(keyring)) => {
                // An entry that is gone is made anew only where nothing is sealed with it.
                let work = if sealed::has_tokens(&self.store) {
                    read
                } else {
                    obtain
                };
                Ok(self.ask(keyring, work)?)
            }
        }
    }

    /// Asks the keyring on a thread of its own, which is left behind where it does not come back.
    fn ask(
        &self,
        keyring: &Arc<dyn Keyring>,
        work: KeyringWork,
    ) -> Result<Secret<Vec<u8>>, KeyringFault> {
        let (send, answer) = mpsc::sync_channel(1);
        let keyring = Arc::clone(keyring);
        let thread = std::thread::Builder::new().name("keyring".to_owned());
        let started = thread.spawn(move || {
            // Nothing is lost where the answer comes too late.
            drop(send.send(work(&*keyring)));
        });
        if let Err(error) = started {
            return Err(KeyringFault::Unusable(error.to_string()));
        }
        match answer.recv_timeout(self.patience) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => Err(KeyringFault::Locked(format!(
                "the keyring did not answer within {:?}",
                self.patience
            ))),
            Err(RecvTimeoutError::Disconnected) => {
                let why = "the keyring could not be asked".to_owned();
                Err(KeyringFault::Unusable(why))
            }
        }
    }
}

/// The place of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyPlace {
    Keyring,
    File,
}

impl KeySource for KeyringKey {
    fn key(&self) -> Result<Secret<Vec<u8>>, TokenStoreError> {
        match self.place()? {
            Some(_) => self.read_key(),
            None => self.make(),
        }
    }

    fn describe(&self) -> String {
        match self.place() {
            Ok(Some(KeyPlace::Keyring)) => "a key in the keyring of the system".to_owned(),
            Ok(Some(KeyPlace::File)) => self.file.describe(),
            _ => "a key that is not made yet".to_owned(),
        }
    }
}

impl fmt::Debug for KeyringKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyringKey").finish_non_exhaustive()
    }
}

/// Reads the key.
fn read(keyring: &dyn Keyring) -> Result<Secret<Vec<u8>>, KeyringFault> {
    let gone = || KeyringFault::Unusable("the keyring does not have it any more".to_owned());
    decoded(&keyring.read()?.ok_or_else(gone)?)
}

/// Reads the key; makes it first where there is none.
fn obtain(keyring: &dyn Keyring) -> Result<Secret<Vec<u8>>, KeyringFault> {
    if let Some(text) = keyring.read()? {
        return decoded(&text);
    }
    let key = sealed::new_key().map_err(|error| KeyringFault::Unusable(error.to_string()))?;
    keyring.write(&sealed::encoded(&key))?;
    // What comes back counts: some keyrings accept what they do not keep.
    read(keyring)
}

fn decoded(text: &Secret<String>) -> Result<Secret<Vec<u8>>, KeyringFault> {
    let damaged = || KeyringFault::Unusable("the keyring has something else there".to_owned());
    sealed::decoded(text.expose()).ok_or_else(damaged)
}

/// The keyring of the system: the Secret Service, the keychain, or the credential manager.
struct SystemKeyring;

impl SystemKeyring {
    fn entry() -> Result<keyring_core::Entry, KeyringFault> {
        let store = system::Store::new().map_err(|error| {
            let why = format!("there is no keyring: {error}");
            KeyringFault::Unusable(why)
        })?;
        let entry = store.build(SERVICE, ACCOUNT, None);
        entry.map_err(|error| fault(&error))
    }
}

impl Keyring for SystemKeyring {
    fn read(&self) -> Result<Option<Secret<String>>, KeyringFault> {
        match Self::entry()?.get_password() {
            Ok(text) => Ok(Some(Secret::new(text))),
            Err(keyring_core::Error::NoEntry) => Ok(None),
            Err(error) => Err(fault(&error)),
        }
    }

    fn write(&self, text: &Secret<String>) -> Result<(), KeyringFault> {
        let written = Self::entry()?.set_password(text.expose());
        written.map_err(|error| fault(&error))
    }
}

fn fault(error: &keyring_core::Error) -> KeyringFault {
    match error {
        keyring_core::Error::NoStorageAccess(_) => KeyringFault::Locked(error.to_string()),
        // It would quote what was stored.
        keyring_core::Error::BadEncoding(_) | keyring_core::Error::BadDataFormat(..) => {
            KeyringFault::Unusable("the keyring has something else there".to_owned())
        }
        _ => KeyringFault::Unusable(error.to_string()),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::sync::{Condvar, Mutex};

    use super::*;

    /// A keyring of a test.
    #[derive(Default)]
    struct Ring {
        entry: Mutex<Option<String>>,
        fault: Mutex<Option<KeyringFault>>,
        /// Nothing is answered until this is opened, if it is there.
        held: Option<Arc<(Mutex<bool>, Condvar)>>,
    }

    impl Ring {
        fn check(&self) -> Result<(), KeyringFault> {
            if let Some(held) = &self.held {
                let open = held.0.lock().expect("a lock");
                drop(held.1.wait_while(open, |open| !*open).expect("a lock"));
            }
            self.fault
                .lock()
                .expect("a lock")
                .clone()
                .map_or(Ok(()), Err)
        }
    }

    impl Keyring for Ring {
        fn read(&self) -> Result<Option<Secret<String>>, KeyringFault> {
            self.check()?;
            let entry = self.entry.lock().expect("a lock").clone();
            Ok(entry.map(Secret::new))
        }

        fn write(&self, text: &Secret<String>) -> Result<(), KeyringFault> {
            self.check()?;
            *self.entry.lock().expect("a lock") = Some(text.expose().clone());
            Ok(())
        }
    }

    fn limits() -> Limits {
        let mut limits = Limits::default();
        limits.auth_keyring = Duration::from_millis(20);
        limits
    }

    fn key_of(folder: &Path, ring: &Arc<Ring>) -> KeyringKey {
        let ring: Arc<dyn Keyring> = Arc::clone(ring) as _;
        let mut limits = limits();
        limits.auth_keyring = Duration::from_secs(30);
        KeyringKey::with(folder.to_owned(), &limits, Some(ring))
    }

    fn seal(folder: &Path) {
        let path = folder.join("tokens.json");
        std::fs::write(&path, "{}").expect("a file");
        let mode = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(&path, mode).expect("a mode");
    }

    #[test]
    fn a_key_is_made_once_and_is_in_the_keyring_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("auth");
        let ring = Arc::new(Ring::default());
        let made = key_of(&folder, &ring).key().expect("a key");
        assert_eq!(made.expose().len(), 32);
        let again = key_of(&folder, &ring);
        assert_eq!(again.key().expect("the key").expose(), made.expose());
        assert_eq!(again.describe(), "a key in the keyring of the system");
        assert!(!folder.join("tokens.key").exists());
    }

    #[test]
    fn without_a_keyring_the_key_is_in_a_file_and_that_is_said_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("auth");
        let ring = Arc::new(Ring::default());
        *ring.fault.lock().expect("a lock") = Some(KeyringFault::Unusable("no bus".to_owned()));
        let said: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = |said: &Arc<Mutex<Vec<String>>>| {
            let said = Arc::clone(said);
            move |why: &str| said.lock().expect("a lock").push(why.to_owned())
        };
        let key = key_of(&folder, &ring).on_fallback(heard(&said));
        let made = key.key().expect("a key");
        // It stays there, also once there is a keyring: the tokens are sealed with it.
        *ring.fault.lock().expect("a lock") = None;
        let again = key_of(&folder, &ring).on_fallback(heard(&said));
        assert_eq!(again.key().expect("the key").expose(), made.expose());
        assert_eq!(*said.lock().expect("a lock"), ["no bus"]);
        assert!(again.describe().starts_with("the key file "));
        let mode = std::fs::metadata(folder.join("tokens.key")).expect("a file");
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_keyring_that_does_not_answer_has_the_tokens_locked() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("auth");
        let ring = Arc::new(Ring::default());
        key_of(&folder, &ring).key().expect("a key");
        seal(&folder);
        let held = Arc::new((Mutex::new(false), Condvar::new()));
        let silent = Ring {
            held: Some(Arc::clone(&held)),
            ..Ring::default()
        };
        let key = KeyringKey::with(folder.clone(), &limits(), Some(Arc::new(silent)));
        let error = key.key().expect_err("no key");
        let TokenStoreError::Locked(why) = error else {
            panic!("{error:?}");
        };
        assert_eq!(why, "the keyring did not answer within 20ms");
        assert!(!folder.join("tokens.key").exists());
        // The thread that asks ends, too.
        *held.0.lock().expect("a lock") = true;
        held.1.notify_all();
    }

    #[test]
    fn a_key_that_is_gone_is_not_replaced_while_tokens_are_sealed_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("auth");
        let ring = Arc::new(Ring::default());
        let first = key_of(&folder, &ring).key().expect("a key");
        *ring.entry.lock().expect("a lock") = None;
        seal(&folder);
        let error = key_of(&folder, &ring).key().expect_err("no key");
        let why = "the keyring does not have it any more".to_owned();
        assert_eq!(error, TokenStoreError::Locked(why));
        std::fs::remove_file(folder.join("tokens.json")).expect("a file");
        let second = key_of(&folder, &ring).key().expect("a key");
        assert_ne!(first.expose(), second.expose());
    }

    #[test]
    fn a_keyring_that_is_not_to_be_asked_is_not_asked() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("auth");
        let ring = Arc::new(Ring::default());
        let off = key_of(&folder, &ring).without_keyring();
        off.key().expect("a key in a file");
        assert!(ring.entry.lock().expect("a lock").is_none());
        let elsewhere = folder.with_file_name("elsewhere");
        key_of(&elsewhere, &ring).key().expect("a key");
        let off = key_of(&elsewhere, &ring).without_keyring();
        assert!(matches!(off.key(), Err(TokenStoreError::Locked(_))));
    }
}
