//! What was approved, in files of the person's: one for each server.

mod record;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::drift::Drift;
use super::pinned::Pinned;
use crate::private_store::{Lost, Records, StoreError, StoreLimits, to_seconds};
use crate::spec::{Identity, ServerName};

/// Keeps what was approved of servers: in a folder of the person's, or in memory.
///
/// The files are kept as those of [`trust::Store`](crate::trust::Store) are, and may be in the same
/// folder: made for the person alone, refused where somebody else could have written them, never taken for
/// empty when they cannot be read. Several processes may use them at once. Which files there are is noted
/// beside them: one that is gone, and was not revoked, is an error and no new beginning.
///
/// Its methods block: a program that has no time to lose calls them where it may block.
#[derive(Debug)]
pub struct Pins(Records<Baseline>);

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
        Self(Records::at(folder, "pins")).limits(Self::default_limits())
    }

    /// Pins that are gone with the program.
    pub fn in_memory() -> Self {
        Self(Records::in_memory("pins")).limits(Self::default_limits())
    }

    /// How much is kept unless [`Pins::limits`] says otherwise: 1,024 servers, each in a file of at
    /// most 16 MiB.
    pub fn default_limits() -> StoreLimits {
        StoreLimits {
            records: 1024,
            ..StoreLimits::default()
        }
    }

    /// Sets how much is kept.
    #[must_use]
    pub fn limits(self, limits: StoreLimits) -> Self {
        Self(self.0.with_limits(limits))
    }

    /// Keeps the notes of which files there should be in a folder of their own, so that it is noticed too
    /// when all of the other folder is gone.
    #[must_use]
    pub fn noted_in(self, folder: impl Into<PathBuf>) -> Self {
        Self(self.0.noted_in(folder))
    }

    /// What was approved of a server; nothing where it was never asked about.
    ///
    /// # Errors
    /// When the file cannot be read, is gone, or is not to be trusted. Then nothing of the server is
    /// approved.
    pub fn baseline(&self, server: &Identity) -> Result<Option<Arc<Pinned>>, StoreError> {
        match self.read(server)? {
            Some(baseline) => Ok(Some(baseline.pinned)),
            None => self.0.check_not_lost(&server.to_string()).map(|()| None),
        }
    }

    /// The servers whose files are gone though nobody has revoked them: nothing of them is approved. Files
    /// of a version that took no notes are noted first.
    ///
    /// # Errors
    /// When the files cannot be read or are not to be trusted.
    pub fn lost(&self) -> Result<Vec<Lost>, StoreError> {
        self.0.lost_files()
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
        self.0.check_not_lost(&server.to_string())?;
        let new = baseline(server, name, Arc::new(pinned));
        let kept = self.change(server, |old| old.or(Some(new)))?;
        // What was just put there cannot be missing.
        Ok(kept.map(|baseline| baseline.pinned).unwrap_or_default())
    }

    /// Waits until a change does not have to wait for another process.
    pub(crate) async fn is_free(&self) {
        self.0.lock_is_free().await;
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
        for key in self.0.keys()? {
            found.extend(self.0.read(&key)?);
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
        self.0.forget_lost(|key, note| match which {
            Which::Identity(identity) => key == identity.to_string(),
            Which::Server(server) => note.servers().iter().any(|of| of == server.as_str()),
        })?;
        Ok(meant)
    }

    fn read(&self, server: &Identity) -> Result<Option<Baseline>, StoreError> {
        self.0.read(&server.to_string())
    }

    /// Puts something in the place of what was approved of a server, and gives what is there then.
    fn change(
        &self,
        server: &Identity,
        change: impl FnOnce(Option<Baseline>) -> Option<Baseline>,
    ) -> Result<Option<Baseline>, StoreError> {
        self.0.change(&server.to_string(), change)
    }
}

fn baseline(server: &Identity, name: &ServerName, pinned: Arc<Pinned>) -> Baseline {
    Baseline {
        identity: *server,
        server: name.clone(),
        approved: UNIX_EPOCH + Duration::from_secs(to_seconds(SystemTime::now())),
        pinned,
    }
}
