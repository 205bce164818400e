//! What was approved, in files of the person's: one for each server.

mod record;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::bounds::Bounds;
use super::drift::Drift;
use super::pinned::Pinned;
use crate::private_store::{Held, Lost, Note, PrivateStore, StoreError};
use crate::spec::{Identity, ServerName};

/// What the files' names begin and end with; between is the server's identity.
const AFFIXES: (&str, &str) = ("pins-", ".json");

/// Keeps what was approved of servers: in a folder of the person's, or in memory.
///
/// The files are kept as those of [`trust::Store`](crate::trust::Store) are, and may be in the same
/// folder: made for the person alone, refused where somebody else could have written them, never taken for
/// empty when they cannot be read. Several processes may use them at once. Which files there are is noted
/// beside them: one that is gone, and was not revoked, is an error and no new beginning.
///
/// Its methods block: a program that has no time to lose calls them where it may block.
#[derive(Debug)]
pub struct Pins {
    place: Place,
    bounds: Bounds,
}

#[derive(Debug)]
enum Place {
    Memory(Mutex<BTreeMap<Identity, Baseline>>),
    Disk(PrivateStore),
}

/// What was approved of one server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Baseline {
    /// Which server.
    pub identity: Identity,
    /// What it was called.
    pub server: ServerName,
    /// When it was approved last, to the second.
    pub approved: SystemTime,
    /// What was approved.
    pub pinned: Arc<Pinned>,
}

/// Which servers are meant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Which {
    /// This one.
    Identity(Identity),
    /// All that had this name.
    Server(ServerName),
}

impl Pins {
    /// Pins in a folder. Nothing is read or made before it is used.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self::new(Place::Disk(PrivateStore::at(folder.into(), "pins")))
    }

    /// Pins that are gone with the program.
    pub fn in_memory() -> Self {
        Self::new(Place::Memory(Mutex::default()))
    }

    fn new(place: Place) -> Self {
        Self {
            place,
            bounds: Bounds::default(),
        }
    }

    /// Sets how much is kept.
    #[must_use]
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// Keeps the notes of which files there should be in a folder of their own, so that it is noticed too
    /// when all of the other folder is gone.
    #[must_use]
    pub fn noted_in(mut self, folder: impl Into<PathBuf>) -> Self {
        if let Place::Disk(vault) = self.place {
            self.place = Place::Disk(vault.noted_in(folder.into(), "pins"));
        }
        self
    }

    /// What was approved of a server; nothing where it was never asked about.
    ///
    /// # Errors
    /// When the file cannot be read, is gone, or is not to be trusted. Then nothing of the server is
    /// approved.
    pub fn baseline(&self, server: &Identity) -> Result<Option<Arc<Pinned>>, StoreError> {
        match self.read(server)? {
            Some(baseline) => Ok(Some(baseline.pinned)),
            None => self.not_lost(server).map(|()| None),
        }
    }

    /// The servers whose files are gone though nobody has revoked them: nothing of them is approved. Files
    /// of a version that took no notes are noted first.
    ///
    /// # Errors
    /// When the files cannot be read or are not to be trusted.
    pub fn lost(&self) -> Result<Vec<Lost>, StoreError> {
        let Place::Disk(vault) = &self.place else {
            return Ok(Vec::new());
        };
        if vault.has_notes()? {
            return vault.lost();
        }
        if !self.identities()?.is_empty() {
            vault.change(self.bounds.lock_wait, |held| {
                for identity in self.identities()? {
                    if let Some(baseline) = self.read(&identity)? {
                        held.note(&file(&identity), note(&baseline))?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(Vec::new())
    }

    fn not_lost(&self, server: &Identity) -> Result<(), StoreError> {
        let Place::Disk(vault) = &self.place else {
            return Ok(());
        };
        match vault.lost_file(&file(server))? {
            Some(lost) => Err(StoreError::Lost {
                lost: Box::new(lost),
            }),
            None => Ok(()),
        }
    }

    /// Approves what a server offers, whatever was approved before.
    ///
    /// # Errors
    /// When the file cannot be written or is not to be trusted. Then nothing has changed.
    pub fn set(
        &self,
        server: &Identity,
        name: &ServerName,
        pinned: Pinned,
    ) -> Result<Arc<Pinned>, StoreError> {
        let pinned = Arc::new(pinned);
        let baseline = baseline(server, name, Arc::clone(&pinned));
        self.change(server, |_| Some(baseline))?;
        Ok(pinned)
    }

    /// Approves what a server offers unless something was approved before, and says what is approved
    /// then: of two processes that begin with a server at once, one is first.
    ///
    /// # Errors
    /// As for [`Pins::set`], and when what was approved is gone: then it is for the person to approve
    /// something with [`Pins::set`].
    pub fn begin(
        &self,
        server: &Identity,
        name: &ServerName,
        pinned: Pinned,
    ) -> Result<Arc<Pinned>, StoreError> {
        self.not_lost(server)?;
        let new = baseline(server, name, Arc::new(pinned));
        let kept = self.change(server, |old| old.or(Some(new)))?;
        // What was just put there cannot be missing.
        Ok(kept.map(|baseline| baseline.pinned).unwrap_or_default())
    }

    /// Waits until a change does not have to wait for another process.
    pub(crate) async fn is_free(&self) {
        if let Place::Disk(vault) = &self.place {
            vault.lock_is_free(self.bounds.lock_wait).await;
        }
    }

    /// Approves these drifts of a server and no other: what was seen in them is what is approved.
    /// Gives what is approved now; nothing where nothing had been, and then nothing is changed.
    ///
    /// # Errors
    /// As for [`Pins::set`].
    pub fn approve<'a>(
        &self,
        server: &Identity,
        drifts: impl IntoIterator<Item = &'a Drift>,
    ) -> Result<Option<Arc<Pinned>>, StoreError> {
        let kept = self.change(server, |old| {
            let old = old?;
            let pinned = Arc::new(old.pinned.accept(drifts));
            Some(baseline(server, &old.server, pinned))
        })?;
        Ok(kept.map(|baseline| baseline.pinned))
    }

    /// Lists what was approved of all servers, by name.
    ///
    /// # Errors
    /// When a file cannot be read or is not to be trusted.
    pub fn list(&self) -> Result<Vec<Baseline>, StoreError> {
        let mut found = Vec::new();
        for identity in self.identities()? {
            found.extend(self.read(&identity)?);
        }
        found.sort_by(|one, other| {
            let key = |baseline: &Baseline| (baseline.server.clone(), baseline.identity);
            key(one).cmp(&key(other))
        });
        Ok(found)
    }

    /// Forgets what was approved, and says of which servers. None is no error.
    ///
    /// # Errors
    /// When a file cannot be read, taken away or trusted.
    pub fn revoke(&self, which: &Which) -> Result<Vec<Baseline>, StoreError> {
        let mut meant = match which {
            Which::Identity(identity) => self.read(identity)?.into_iter().collect(),
            Which::Server(_) => self.list()?,
        };
        if let Which::Server(name) = which {
            meant.retain(|baseline| baseline.server == *name);
        }
        for baseline in &meant {
            self.change(&baseline.identity, |_| None)?;
        }
        self.forget_lost(which)?;
        Ok(meant)
    }

    /// Takes away the notes of what is gone, where it is meant.
    fn forget_lost(&self, which: &Which) -> Result<(), StoreError> {
        let Place::Disk(vault) = &self.place else {
            return Ok(());
        };
        let is_meant = |name: &str, lost: &Lost| match which {
            Which::Identity(identity) => name == file(identity),
            Which::Server(server) => lost.note.servers().iter().any(|of| of == server.as_str()),
        };
        let lost = vault.lost()?.into_iter().filter_map(|lost| {
            let name = lost.path.file_name()?.to_str()?.to_owned();
            is_meant(&name, &lost).then_some(name)
        });
        let lost: Vec<String> = lost.collect();
        if lost.is_empty() {
            return Ok(());
        }
        vault.change(self.bounds.lock_wait, |held| {
            lost.iter().try_for_each(|name| held.forget(name))
        })
    }

    fn identities(&self) -> Result<Vec<Identity>, StoreError> {
        let vault = match &self.place {
            Place::Memory(all) => return Ok(lock(all).keys().copied().collect()),
            Place::Disk(vault) => vault,
        };
        let files = vault.files()?.into_iter();
        let identities = files.filter_map(|name| {
            let name = name.strip_prefix(AFFIXES.0)?.strip_suffix(AFFIXES.1)?;
            name.parse().ok()
        });
        Ok(identities.collect())
    }

    fn read(&self, server: &Identity) -> Result<Option<Baseline>, StoreError> {
        let vault = match &self.place {
            Place::Memory(all) => return Ok(lock(all).get(server).cloned()),
            Place::Disk(vault) => vault,
        };
        let name = file(server);
        let Some(text) = vault.read(&name, self.bounds.file_bytes)? else {
            return Ok(None);
        };
        let read = record::parse(&text, server, &vault.path(&name))?;
        Ok(Some(read))
    }

    /// Puts something in the place of what was approved of a server, and gives what is there then.
    fn change(
        &self,
        server: &Identity,
        change: impl FnOnce(Option<Baseline>) -> Option<Baseline>,
    ) -> Result<Option<Baseline>, StoreError> {
        match &self.place {
            Place::Memory(all) => {
                let mut all = lock(all);
                let new = change(all.get(server).cloned());
                match new.clone() {
                    Some(new) => {
                        self.check_room(all.contains_key(server), || Ok(all.len()))?;
                        all.insert(*server, new);
                    }
                    None => drop(all.remove(server)),
                }
                Ok(new)
            }
            Place::Disk(vault) => vault.change(self.bounds.lock_wait, |held| {
                let old = self.read(server)?;
                let new = change(old.clone());
                if new != old {
                    self.write(held, server, (old.is_some(), new.as_ref()))?;
                }
                Ok(new)
            }),
        }
    }

    fn write(
        &self,
        held: &Held<'_>,
        server: &Identity,
        (was_there, new): (bool, Option<&Baseline>),
    ) -> Result<(), StoreError> {
        let Some(new) = new else {
            // First the note: a crash in between must not look like a loss.
            held.forget(&file(server))?;
            return held.remove(&file(server));
        };
        self.check_room(was_there, || Ok(self.identities()?.len()))?;
        let text = record::write(new);
        held.replace(&file(server), text.as_bytes(), self.bounds.file_bytes)?;
        held.note(&file(server), note(new))
    }

    fn check_room(
        &self,
        was_there: bool,
        count: impl FnOnce() -> Result<usize, StoreError>,
    ) -> Result<(), StoreError> {
        let most = self.bounds.servers;
        match was_there || count()? < most {
            true => Ok(()),
            false => Err(StoreError::Full { most }),
        }
    }
}

fn baseline(server: &Identity, name: &ServerName, pinned: Arc<Pinned>) -> Baseline {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = since.unwrap_or_default().as_secs();
    Baseline {
        identity: *server,
        server: name.clone(),
        approved: UNIX_EPOCH + Duration::from_secs(seconds),
        pinned,
    }
}

fn note(baseline: &Baseline) -> Note {
    Note::of(baseline.pinned.len(), [baseline.server.as_str()])
}

fn file(server: &Identity) -> String {
    let (before, after) = AFFIXES;
    format!("{before}{server}{after}")
}

/// A panic of another thread cannot have left half a change.
fn lock<T>(all: &Mutex<T>) -> MutexGuard<'_, T> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}
