//! A cache of the protocol era that each server spoke, kept from one run to the next.
//!
//! It saves the probe with servers of the legacy era, which costs seconds if the server does not
//! answer it, and it keeps the era of a server stable on a busy machine. An entry is only a hint: a
//! wrong one is noticed and corrected while connecting. A file that is missing, broken or not to be
//! trusted counts as empty.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use switchboard_wire::Era;

use crate::private_store::{
    self, Note, ONLY, Records, StoreError, StoreLimits, document, to_seconds,
};
use crate::spec::Identity;

const VERSION: u64 = 1;

/// Limits of the era cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct EraLimits {
    /// Time for which an era is remembered; afterwards the server is probed again.
    pub expiry: Duration,
    /// Servers that are remembered; of more, those that were found out first are forgotten.
    pub servers: usize,
    /// Longest file that is read or written.
    pub file_bytes: usize,
    /// Longest wait for another process that writes the file.
    pub lock_wait: Duration,
}

impl Default for EraLimits {
    fn default() -> Self {
        Self {
            expiry: Duration::from_secs(7 * 24 * 3600),
            servers: 512,
            file_bytes: 256 * 1024,
            lock_wait: Duration::from_millis(100),
        }
    }
}

/// A cache of the era that each server spoke: in a folder of the person's, or as long as the
/// program runs.
///
/// Nothing is read before the first server is connected to, and nothing written before
/// [`Host::save_eras`](super::Host::save_eras). Clones share the entries.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct Eras(Arc<ErasInner>);

#[derive(Debug)]
struct ErasInner {
    folder: Option<PathBuf>,
    file: Records<Servers>,
    limits: EraLimits,
    // Only what was written is forgotten: a change made meanwhile stays for the next time.
    known: Mutex<KnownEras>,
}

#[derive(Debug, Default)]
struct KnownEras {
    is_read: bool,
    servers: Servers,
    /// Changes since the file was last written; `None` removes the entry.
    changed: BTreeMap<Identity, Option<Found>>,
}

/// The entries of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Servers(BTreeMap<Identity, Found>);

/// The era of a server, and the time at which it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Found {
    era: EraName,
    /// In seconds. It stays while the hint is used, so that a server is asked again in the end.
    found: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EraName {
    Legacy,
    Modern,
}

#[derive(Serialize, Deserialize)]
struct ErasDocument {
    version: u64,
    servers: BTreeMap<String, Found>,
}

impl Eras {
    /// Remembers in a folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self::new(Some(folder.into()), EraLimits::default())
    }

    /// Remembers as long as the program runs.
    pub fn in_memory() -> Self {
        Self::new(None, EraLimits::default())
    }

    fn new(folder: Option<PathBuf>, limits: EraLimits) -> Self {
        let file = match &folder {
            Some(folder) => Records::at(folder, "eras"),
            None => Records::in_memory("eras"),
        };
        let store = StoreLimits {
            records: limits.servers,
            file_bytes: limits.file_bytes,
            lock_wait: limits.lock_wait,
        };
        Self(Arc::new(ErasInner {
            folder,
            file: file.with_limits(store),
            limits,
            known: Mutex::default(),
        }))
    }

    /// Returns an empty cache of the same folder with other limits.
    #[must_use]
    pub fn limits(self, limits: EraLimits) -> Self {
        Self::new(self.0.folder.clone(), limits)
    }

    /// The era that a server spoke, if that was found out lately.
    pub fn recall(&self, server: &Identity) -> Option<Era> {
        self.recall_at(server, now())
    }

    fn recall_at(&self, server: &Identity, now: u64) -> Option<Era> {
        let known = self.lock();
        let found = known.servers.0.get(server)?;
        self.is_fresh(found, now).then(|| found.era())
    }

    /// Notes the era that a server was found to speak.
    pub(super) fn note(&self, server: &Identity, era: Era) {
        self.note_at(server, era, now());
    }

    fn note_at(&self, server: &Identity, era: Era, now: u64) {
        let mut known = self.lock();
        // An entry that is still right keeps its age, so that the server is probed again in the
        // end.
        let is_known = known
            .servers
            .0
            .get(server)
            .is_some_and(|found| found.era() == era && self.is_fresh(found, now));
        if !is_known {
            let found = Found::new(era, now);
            known.servers.0.insert(*server, found);
            known.changed.insert(*server, Some(found));
        }
    }

    /// Forgets the era of a server, because the handshake failed with it.
    pub(super) fn forget(&self, server: &Identity) {
        let mut known = self.lock();
        if known.servers.0.remove(server).is_some() {
            known.changed.insert(*server, None);
        }
    }

    /// Writes changes to the file. It blocks; without changes, the file is not touched.
    ///
    /// # Errors
    /// Fails if the file cannot be written or is not to be trusted. The next call tries again.
    pub fn save(&self) -> Result<(), StoreError> {
        // Copied, and the lock released: writing the file may wait for another process.
        let changed = self.lock().changed.clone();
        if changed.is_empty() {
            return Ok(());
        }
        let now = now();
        self.0.file.change(ONLY, |servers| {
            // Another process may have written meanwhile.
            let Servers(mut servers) = servers.unwrap_or_default();
            for (server, found) in &changed {
                match found {
                    Some(found) => drop(servers.insert(*server, *found)),
                    None => drop(servers.remove(server)),
                }
            }
            // Expired entries go first, then the oldest, until the bound holds.
            servers.retain(|_, found| self.is_fresh(found, now));
            while servers.len() > self.0.limits.servers {
                let oldest = servers.iter().min_by_key(|(_, found)| found.found);
                let Some(oldest) = oldest.map(|(server, _)| *server) else {
                    break;
                };
                servers.remove(&oldest);
            }
            Some(Servers(servers))
        })?;
        let mut known = self.lock();
        known
            .changed
            .retain(|server, found| changed.get(server) != Some(found));
        Ok(())
    }

    /// Locks the entries, and reads the file the first time.
    fn lock(&self) -> MutexGuard<'_, KnownEras> {
        let known = self.0.known.lock();
        let mut known = known.unwrap_or_else(PoisonError::into_inner);
        if !known.is_read {
            // A cache: a file that cannot be read is as good as none.
            known.servers = self.0.file.read(ONLY).ok().flatten().unwrap_or_default();
        }
        known.is_read = true;
        known
    }

    /// Returns true if the entry is not expired. A time in the future counts as expired: the clock
    /// was wrong.
    fn is_fresh(&self, found: &Found, now: u64) -> bool {
        // An entry from the future (the clock was set back) counts as expired.
        let age = now.checked_sub(found.found);
        age.is_some_and(|age| age < self.0.limits.expiry.as_secs())
    }
}

impl Default for Eras {
    fn default() -> Self {
        Self::in_memory()
    }
}

impl Found {
    fn new(era: Era, found: u64) -> Self {
        let era = match era {
            Era::Legacy => EraName::Legacy,
            Era::Modern => EraName::Modern,
        };
        Self { era, found }
    }

    fn era(&self) -> Era {
        match self.era {
            EraName::Legacy => Era::Legacy,
            EraName::Modern => Era::Modern,
        }
    }
}

fn now() -> u64 {
    to_seconds(SystemTime::now())
}

impl private_store::Document for Servers {
    const IS_CACHE: bool = true;

    fn write(&self) -> String {
        let servers = self.0.iter();
        document::write(&ErasDocument {
            version: VERSION,
            servers: servers
                .map(|(server, found)| (server.to_string(), *found))
                .collect(),
        })
    }

    fn parse(text: &[u8], _: &str, path: &Path, _: &StoreLimits) -> Result<Self, StoreError> {
        let document: ErasDocument = document::parse(text, path, VERSION)?;
        let servers = document.servers.into_iter();
        let servers = servers.filter_map(|(server, found)| Some((server.parse().ok()?, found)));
        Ok(Self(servers.collect()))
    }

    fn note(&self) -> Note {
        Note::of(self.0.len(), [])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 24 * 3600;

    fn server(number: u8) -> Identity {
        Identity::new([number; 32])
    }

    #[test]
    fn an_era_is_remembered_for_a_week() {
        let eras = Eras::in_memory();
        eras.note_at(&server(1), Era::Legacy, 1000);
        assert_eq!(eras.recall_at(&server(1), 1000), Some(Era::Legacy));
        let last = 1000 + 7 * DAY - 1;
        assert_eq!(eras.recall_at(&server(1), last), Some(Era::Legacy));
        assert_eq!(eras.recall_at(&server(1), last + 1), None);
        assert_eq!(eras.recall_at(&server(2), 1000), None);
        // A clock that was wrong is no reason to remember for years.
        assert_eq!(eras.recall_at(&server(1), 999), None);
    }

    #[test]
    fn using_an_era_does_not_make_it_last() {
        let eras = Eras::in_memory();
        eras.note_at(&server(1), Era::Legacy, 1000);
        eras.note_at(&server(1), Era::Legacy, 1000 + 6 * DAY);
        assert_eq!(eras.recall_at(&server(1), 1000 + 7 * DAY), None);
        eras.note_at(&server(1), Era::Legacy, 1000 + 7 * DAY);
        let later = 1000 + 13 * DAY;
        assert_eq!(eras.recall_at(&server(1), later), Some(Era::Legacy));
    }

    #[test]
    fn another_era_takes_the_place_of_the_first_and_a_failure_forgets() {
        let eras = Eras::in_memory();
        eras.note(&server(1), Era::Legacy);
        eras.note(&server(1), Era::Modern);
        assert_eq!(eras.recall(&server(1)), Some(Era::Modern));
        eras.forget(&server(1));
        assert_eq!(eras.recall(&server(1)), None);
    }

    #[test]
    fn a_later_run_knows_what_earlier_ones_wrote_and_no_more_than_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let at = || Eras::at(folder.path().join("eras"));
        let (first, second) = (at(), at());
        first.note(&server(1), Era::Legacy);
        second.note(&server(2), Era::Modern);
        first.save().unwrap();
        second.save().unwrap();
        let third = at();
        assert_eq!(third.recall(&server(1)), Some(Era::Legacy));
        assert_eq!(third.recall(&server(2)), Some(Era::Modern));
        third.forget(&server(1));
        third.save().unwrap();
        assert_eq!(at().recall(&server(1)), None);
        let most = EraLimits {
            servers: 1,
            ..EraLimits::default()
        };
        let small = at().limits(most);
        small.note(&server(3), Era::Legacy);
        small.save().unwrap();
        let kept = [2, 3].map(|number| at().recall(&server(number)).is_some());
        assert_eq!(kept.iter().filter(|kept| **kept).count(), 1);
    }

    #[test]
    fn a_broken_file_is_one_without_hints_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = || Eras::at(folder.path().join("eras"));
        let eras = at();
        eras.note(&server(1), Era::Legacy);
        eras.save().unwrap();
        std::fs::write(
            folder.path().join("eras").join("eras.json"),
            "{\"version\": 1",
        )
        .unwrap();
        let eras = at();
        assert_eq!(eras.recall(&server(1)), None);
        eras.note(&server(1), Era::Modern);
        eras.save().unwrap();
        assert_eq!(at().recall(&server(1)), Some(Era::Modern));
    }
}
