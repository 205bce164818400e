//! Records of one kind, in memory or in files of a [`PrivateStore`].
//!
//! [`Records`] is the common base of everything that is remembered: approvals of servers, approvals of
//! tools, pins, eras, completion names. It owns the location of the records, their limits, the lock, and
//! the search for lost files. A [`Document`] defines how the content of one file is written and read; a
//! list of [`Record`]s is such a document.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Held, Lost, Note, PrivateStore, StoreError, document};

/// The format version of lists of records.
const VERSION: u64 = 1;

/// The key of the single file of a store without keys.
pub const ONLY: &str = "";

/// The limits of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreLimits {
    /// The most records.
    pub records: usize,
    /// The most bytes of one file.
    pub file_bytes: usize,
    /// The longest wait for another process that writes.
    pub lock_wait: Duration,
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self {
            records: 4096,
            file_bytes: 16 * 1024 * 1024,
            lock_wait: Duration::from_secs(10),
        }
    }
}

/// The content of one file.
pub trait Document: Clone + PartialEq {
    /// True if nothing depends on the file: its loss is not reported, and an unreadable one is replaced
    /// as if it did not exist.
    const IS_CACHE: bool = false;

    /// Returns true if a file with this key can belong to the store.
    fn has_key(key: &str) -> bool {
        key == ONLY
    }

    /// Returns the text of the file.
    fn write(&self) -> String;

    /// Reads the text of the file `path`, which has this key.
    ///
    /// # Errors
    /// Fails if [`Document::write`] cannot have written it, or if it exceeds the limits.
    fn parse(text: &[u8], key: &str, path: &Path, limits: &StoreLimits)
    -> Result<Self, StoreError>;

    /// Returns a summary of the content, reported if the file is lost.
    fn note(&self) -> Note;

    /// Returns the number of records in it.
    fn count(&self) -> usize {
        1
    }
}

/// Records in memory, or in files of a folder that several processes may use.
///
/// A store named `trust` keeps its records in `trust.json`, or in files `trust-KEY.json` if its
/// documents have keys. Nothing is read or created until it is used. Its methods block, except for
/// [`Records::lock_is_free`].
#[derive(Debug)]
pub struct Records<D> {
    name: &'static str,
    place: Place<D>,
    limits: StoreLimits,
}

#[derive(Debug)]
enum Place<D> {
    Memory(Mutex<BTreeMap<String, D>>),
    Disk(PrivateStore),
}

impl<D: Document> Records<D> {
    /// Creates a store of this name in a folder.
    pub fn at(folder: impl Into<PathBuf>, name: &'static str) -> Self {
        let store = PrivateStore::at(folder.into(), name);
        Self::new(name, Place::Disk(store))
    }

    /// Creates a store that is forgotten when the program ends.
    pub fn in_memory(name: &'static str) -> Self {
        Self::new(name, Place::Memory(Mutex::default()))
    }

    fn new(name: &'static str, place: Place<D>) -> Self {
        Self {
            name,
            place,
            limits: StoreLimits::default(),
        }
    }

    /// Keeps the list of existing files in a separate folder, so that the loss of the whole folder is
    /// noticed too.
    #[must_use]
    pub fn noted_in(mut self, folder: impl Into<PathBuf>) -> Self {
        if let Place::Disk(store) = self.place {
            self.place = Place::Disk(store.noted_in(folder.into(), self.name));
        }
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: StoreLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the limits.
    pub fn limits(&self) -> &StoreLimits {
        &self.limits
    }

    /// Returns the path of the document of a key, if it is on disk.
    pub fn path(&self, key: &str) -> Option<PathBuf> {
        match &self.place {
            Place::Memory(_) => None,
            Place::Disk(store) => Some(store.path(&self.file(key))),
        }
    }

    /// Lists the keys of all documents, in order.
    ///
    /// # Errors
    /// Fails if another user could have written to the folder, or if it cannot be listed.
    pub fn keys(&self) -> Result<Vec<String>, StoreError> {
        let store = match &self.place {
            Place::Memory(all) => return Ok(lock(all).keys().cloned().collect()),
            Place::Disk(store) => store,
        };
        let files = store.files()?.into_iter();
        let keys = files.filter_map(|file| {
            let key = self.key(&file)?;
            D::has_key(key).then(|| key.to_owned())
        });
        Ok(keys.collect())
    }

    /// Reads a document if it exists. No lock is needed, because files are replaced as a whole.
    ///
    /// # Errors
    /// Fails if another user could have written the file, or if it cannot be read.
    pub fn read(&self, key: &str) -> Result<Option<D>, StoreError> {
        let store = match &self.place {
            Place::Memory(all) => return Ok(lock(all).get(key).cloned()),
            Place::Disk(store) => store,
        };
        match self.read_file(store, key) {
            // A cache is made anew: a broken file costs some time, and nothing else.
            Err(_) if D::IS_CACHE => Ok(None),
            read => read,
        }
    }

    fn read_file(&self, store: &PrivateStore, key: &str) -> Result<Option<D>, StoreError> {
        let file = self.file(key);
        match store.read(&file, self.limits.file_bytes)? {
            Some(text) => D::parse(&text, key, &store.path(&file), &self.limits).map(Some),
            None => Ok(None),
        }
    }

    /// Replaces a document by the result of `change`, and returns the new one. Writes nothing if they are
    /// equal.
    ///
    /// # Errors
    /// Fails if the files cannot be read or written, if another user could have written them, or if a
    /// limit would be exceeded. Nothing is changed then.
    pub fn change(
        &self,
        key: &str,
        change: impl FnOnce(Option<D>) -> Option<D>,
    ) -> Result<Option<D>, StoreError> {
        match &self.place {
            Place::Memory(all) => {
                let mut all = lock(all);
                // On a copy, so that a change that does not fit leaves the old record.
                let new = change(all.get(key).cloned());
                match &new {
                    Some(new) => {
                        self.check_room(new, all.contains_key(key), || Ok(all.len()))?;
                        all.insert(key.to_owned(), new.clone());
                    }
                    None => drop(all.remove(key)),
                }
                Ok(new)
            }
            // Read again under the lock: another process may have changed the file since.
            Place::Disk(store) => store.change(self.limits.lock_wait, |held| {
                let old = self.read(key)?;
                let new = change(old.clone());
                // An unchanged file is not written: its time and its owner stay.
                if new != old {
                    self.write(held, key, old.as_ref(), new.as_ref())?;
                }
                Ok(new)
            }),
        }
    }

    fn write(
        &self,
        held: &Held<'_>,
        key: &str,
        old: Option<&D>,
        new: Option<&D>,
    ) -> Result<(), StoreError> {
        let file = self.file(key);
        let Some(new) = new else {
            // Remove the note first: a crash in between must not look like a loss.
            held.forget(&file)?;
            return held.remove(&file);
        };
        self.check_room(new, old.is_some(), || Ok(self.keys()?.len()))?;
        held.replace(&file, new.write().as_bytes(), self.limits.file_bytes)?;
        if D::IS_CACHE {
            return Ok(());
        }
        // Add the note last: a file that is noted and missing did exist.
        held.note(&file, new.note())
    }

    fn check_room(
        &self,
        new: &D,
        was_there: bool,
        files: impl FnOnce() -> Result<usize, StoreError>,
    ) -> Result<(), StoreError> {
        let most = self.limits.records;
        if new.count() > most || (!was_there && files()? >= most) {
            return Err(StoreError::Full { most });
        }
        Ok(())
    }

    /// Waits until a change would not have to wait for another process, without blocking a thread.
    pub async fn lock_is_free(&self) {
        if let Place::Disk(store) = &self.place {
            store.lock_is_free(self.limits.lock_wait).await;
        }
    }

    /// Lists the files that were written and are missing. Files of a version without notes are noted
    /// first.
    ///
    /// # Errors
    /// Fails if the files or notes cannot be read, or if another user could have written them.
    pub fn lost_files(&self) -> Result<Vec<Lost>, StoreError> {
        let Place::Disk(store) = &self.place else {
            return Ok(Vec::new());
        };
        // The usual case: an index is there, and tells which files are missing.
        if store.has_notes()? {
            return store.lost_files();
        }
        // Look before locking: taking the lock would create the folder.
        if self.to_be_noted()?.is_empty() {
            return Ok(Vec::new());
        }
        store.change(self.limits.lock_wait, |held| {
            // Looked up again under the lock: another process may have been faster.
            let documents = self.to_be_noted()?.into_iter();
            let mut documents = documents.map(|(key, document)| (self.file(&key), document.note()));
            documents.try_for_each(|(file, note)| held.note(&file, note))
        })?;
        Ok(Vec::new())
    }

    fn to_be_noted(&self) -> Result<Vec<(String, D)>, StoreError> {
        let mut found = Vec::new();
        for key in self.keys()? {
            if let Some(document) = self.read(&key)?.filter(|document| document.count() > 0) {
                found.push((key, document));
            }
        }
        Ok(found)
    }

    /// Fails if the document of a key was written and is missing.
    ///
    /// # Errors
    /// Fails with [`StoreError::Lost`], or like [`Records::lost_files`].
    pub fn check_not_lost(&self, key: &str) -> Result<(), StoreError> {
        let Place::Disk(store) = &self.place else {
            return Ok(());
        };
        match store.lost_file(&self.file(key))? {
            Some(lost) => Err(StoreError::Lost {
                lost: Box::new(lost),
            }),
            None => Ok(()),
        }
    }

    /// Forgets the lost files for which `is_meant` returns true, given their key and their note.
    ///
    /// # Errors
    /// Fails if the notes cannot be read or written.
    pub fn forget_lost(&self, is_meant: impl Fn(&str, &Note) -> bool) -> Result<(), StoreError> {
        let Place::Disk(store) = &self.place else {
            return Ok(());
        };
        let lost = store.lost_files()?.into_iter().filter_map(|lost| {
            let file = lost.path.file_name()?.to_str()?.to_owned();
            is_meant(self.key(&file)?, &lost.note).then_some(file)
        });
        let lost: Vec<String> = lost.collect();
        if lost.is_empty() {
            return Ok(());
        }
        store.change(self.limits.lock_wait, |held| {
            lost.iter().try_for_each(|file| held.forget(file))
        })
    }

    /// The key of a file, if the file belongs to the store by its name.
    fn key<'f>(&self, file: &'f str) -> Option<&'f str> {
        match file.strip_prefix(self.name)?.strip_suffix(".json")? {
            ONLY => Some(ONLY),
            // `trust-.json` would be read as the key of `trust.json`.
            rest => rest.strip_prefix('-').filter(|key| *key != ONLY),
        }
    }

    fn file(&self, key: &str) -> String {
        match key {
            ONLY => format!("{}.json", self.name),
            key => format!("{}-{key}.json", self.name),
        }
    }
}

/// Ignores poisoning: a document is only ever inserted as a whole, so a panic cannot leave half a change.
fn lock<T>(all: &Mutex<T>) -> MutexGuard<'_, T> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One approval in a list of them.
pub trait Record: Clone + PartialEq {
    /// The form that is written to the file.
    type Written: Serialize + DeserializeOwned;

    /// Returns the form that is written.
    fn to_written(&self) -> Self::Written;

    /// Converts back from the written form.
    ///
    /// # Errors
    /// Fails with the reason if it is not a valid record.
    fn from_written(written: Self::Written) -> Result<Self, String>;

    /// Returns the name of the server that it is about.
    fn server(&self) -> &str;

    /// Returns true if a file cannot contain both.
    fn excludes(&self, _other: &Self) -> bool {
        false
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed<W> {
    version: u64,
    approvals: Vec<W>,
}

impl<T: Record> Document for Vec<T> {
    fn write(&self) -> String {
        document::write(&Listed {
            version: VERSION,
            approvals: self.iter().map(Record::to_written).collect(),
        })
    }

    fn parse(
        text: &[u8],
        _key: &str,
        path: &Path,
        limits: &StoreLimits,
    ) -> Result<Self, StoreError> {
        let broken = |why: String| StoreError::malformed(path, why);
        let listed: Listed<T::Written> = document::parse(text, path, VERSION)?;
        // Check the number before converting any record.
        let most = limits.records;
        if listed.approvals.len() > most {
            return Err(broken(format!("it has more than {most} approvals")));
        }
        let mut records: Self = Self::with_capacity(listed.approvals.len());
        for (at, written) in (1..).zip(listed.approvals) {
            let record =
                T::from_written(written).map_err(|why| broken(format!("approval {at}: {why}")))?;
            if records.iter().any(|other| record.excludes(other)) {
                return Err(broken(format!("approval {at} is there twice")));
            }
            records.push(record);
        }
        Ok(records)
    }

    fn note(&self) -> Note {
        Note::of(self.len(), self.iter().map(Record::server))
    }

    fn count(&self) -> usize {
        self.len()
    }
}

impl<T: Record> Records<Vec<T>> {
    /// Lists all records.
    ///
    /// # Errors
    /// Fails like [`Records::read`].
    pub fn list(&self) -> Result<Vec<T>, StoreError> {
        Ok(self.read(ONLY)?.unwrap_or_default())
    }

    /// Changes the list.
    ///
    /// # Errors
    /// Fails like [`Records::change`].
    pub fn change_list(&self, change: impl FnOnce(&mut Vec<T>)) -> Result<(), StoreError> {
        self.change(ONLY, |old| {
            let mut records = old.unwrap_or_default();
            change(&mut records);
            Some(records)
        })?;
        Ok(())
    }

    /// Removes the records for which `is_meant` returns true, and returns them, perhaps an empty list.
    ///
    /// # Errors
    /// Fails like [`Records::change`].
    pub fn take(&self, is_meant: impl Fn(&T) -> bool) -> Result<Vec<T>, StoreError> {
        // Look before locking: taking the lock would create the folder.
        if !self.list()?.iter().any(&is_meant) {
            return Ok(Vec::new());
        }
        let mut taken = Vec::new();
        self.change_list(|records| {
            taken.extend(records.extract_if(.., |record| is_meant(record)));
        })?;
        Ok(taken)
    }
}

/// Converts a time to seconds since 1970; earlier times become 0.
pub fn to_seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs()
}

/// Converts seconds since 1970 to a time.
///
/// # Errors
/// Fails if the system cannot represent the time.
pub fn from_seconds(seconds: u64) -> Result<SystemTime, String> {
    let time = UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    time.ok_or_else(|| "its time is out of range".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text, which is the whole file.
    #[derive(Debug, Clone, PartialEq)]
    struct Text<const IS_CACHE: bool>(String);

    impl<const IS_CACHE: bool> Document for Text<IS_CACHE> {
        const IS_CACHE: bool = IS_CACHE;

        fn has_key(key: &str) -> bool {
            key.starts_with('k')
        }

        fn write(&self) -> String {
            self.0.clone()
        }

        fn parse(text: &[u8], _: &str, path: &Path, _: &StoreLimits) -> Result<Self, StoreError> {
            match std::str::from_utf8(text) {
                Ok(text) => Ok(Self(text.to_owned())),
                Err(error) => Err(StoreError::malformed(path, error.to_string())),
            }
        }

        fn note(&self) -> Note {
            Note::of(1, ["s"])
        }
    }

    type Kept = Text<false>;

    fn put<const C: bool>(records: &Records<Text<C>>, key: &str) -> Result<(), StoreError> {
        let put = records.change(key, |_| Some(Text(key.to_owned())));
        put.map(drop)
    }

    #[test]
    fn a_store_lists_its_own_files_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let records: Records<Kept> = Records::at(&state, "one");
        let other: Records<Kept> = Records::at(&state, "other");
        for key in ["k1", "k2"] {
            put(&records, key).unwrap();
        }
        put(&other, "k3").unwrap();
        for stranger in [
            "one-x.json",
            "one.json",
            "one-.json",
            "onek.json",
            "one-k4.txt",
        ] {
            std::fs::write(state.join(stranger), "x").unwrap();
        }
        assert_eq!(records.keys().unwrap(), ["k1", "k2"]);
        assert_eq!(records.path("k1"), Some(state.join("one-k1.json")));
        assert_eq!(records.read("k1").unwrap(), Some(Text("k1".to_owned())));
        assert_eq!(records.change("k1", |_| None).unwrap(), None);
        assert_eq!(records.keys().unwrap(), ["k2"]);
        assert_eq!(records.lost_files().unwrap(), []);
    }

    #[test]
    fn a_store_takes_as_many_files_as_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let places: [Records<Kept>; 2] = [Records::in_memory("one"), Records::at(state, "one")];
        for records in places {
            let records = records.with_limits(StoreLimits {
                records: 2,
                file_bytes: 3,
                ..StoreLimits::default()
            });
            put(&records, "k1").unwrap();
            put(&records, "k2").unwrap();
            put(&records, "k2").unwrap();
            let error = put(&records, "k3").unwrap_err();
            assert!(matches!(error, StoreError::Full { most: 2 }), "{error}");
            assert_eq!(records.keys().unwrap(), ["k1", "k2"]);
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error_unless_nothing_depends_on_it() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let kept: Records<Kept> = Records::at(&state, "one");
        let cache: Records<Text<true>> = Records::at(&state, "one");
        put(&kept, "k").unwrap();
        std::fs::write(state.join("one-k.json"), [0xff]).unwrap();
        assert!(kept.read("k").is_err());
        assert!(put(&kept, "k").is_err());
        assert_eq!(cache.read("k").unwrap(), None);
        put(&cache, "k").unwrap();
        assert_eq!(kept.read("k").unwrap(), Some(Text("k".to_owned())));
    }

    #[test]
    fn a_cache_that_is_gone_is_not_missed_and_other_files_are() {
        let folder = tempfile::tempdir().unwrap();
        let cache: Records<Text<true>> = Records::at(folder.path().join("cache"), "one");
        put(&cache, "k").unwrap();
        std::fs::remove_dir_all(folder.path().join("cache")).unwrap();
        assert_eq!(cache.lost_files().unwrap(), []);

        let kept: Records<Kept> = Records::at(folder.path().join("kept"), "one");
        put(&kept, "k").unwrap();
        std::fs::remove_file(folder.path().join("kept/one-k.json")).unwrap();
        assert_eq!(kept.lost_files().unwrap().len(), 1);
        assert!(kept.check_not_lost("k").is_err());
        kept.check_not_lost("k2").unwrap();
        kept.forget_lost(|key, _| key == "k2").unwrap();
        assert_eq!(kept.lost_files().unwrap().len(), 1);
        kept.forget_lost(|key, note| key == "k" && note.servers() == ["s"])
            .unwrap();
        assert_eq!(kept.lost_files().unwrap(), []);
    }

    #[test]
    fn times_are_written_to_the_second() {
        let at = |millis| UNIX_EPOCH + Duration::from_millis(millis);
        assert_eq!(to_seconds(at(1_999)), 1);
        assert_eq!(to_seconds(UNIX_EPOCH - Duration::from_secs(1)), 0);
        assert_eq!(from_seconds(1), Ok(at(1_000)));
        assert!(from_seconds(u64::MAX).is_err());
    }
}
