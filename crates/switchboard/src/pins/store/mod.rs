//! Storage of pins: one file for each server, in the user's own folder.

mod record;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::drift::Drift;
use super::pinned::Pinned;
use crate::private_store::{Lost, Records, StoreError, StoreLimits, to_seconds};
use crate::spec::{Identity, ServerName};

/// Keeps the pins of servers: in the user's own folder, or in memory.
///
/// The files are kept as those of [`trust::Store`](crate::trust::Store) are, and may be in the same
/// folder: only the user can access them, they are refused if another user could have written them, and a
/// file that cannot be read never counts as empty. Several processes may use them at once. An index
/// beside them lists the files: a file that is missing without having been revoked is an error, not a
/// fresh start.
///
/// Its methods block: async code calls them on a thread that may block.
#[derive(Debug)]
pub struct Pins(Records<Baseline>);

/// The approved definitions of one server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct Baseline {
    /// The identity of the server.
    pub identity: Identity,
    /// The name that the server had.
    pub server: ServerName,
    /// The time of the last approval, to the second.
    pub approved: SystemTime,
    /// The approved definitions.
    pub pinned: Arc<Pinned>,
}

/// Selects servers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(hidden)]
pub enum Which {
    /// The server with this identity.
    Identity(Identity),
    /// All servers that had this name.
    Server(ServerName),
}

impl Pins {
    /// Keeps pins in a folder. Nothing is read or created before the first use.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(Records::at(folder, "pins")).limits(Self::default_limits())
    }

    /// Keeps pins in memory, until the program ends.
    pub fn in_memory() -> Self {
        Self(Records::in_memory("pins")).limits(Self::default_limits())
    }

    /// Returns the limits that apply unless [`Pins::limits`] sets others: 1,024 servers, each in a file
    /// of at most 16 MiB.
    pub fn default_limits() -> StoreLimits {
        StoreLimits {
            records: 1024,
            ..StoreLimits::default()
        }
    }

    /// Sets the limits of the store.
    #[must_use]
    pub fn limits(self, limits: StoreLimits) -> Self {
        Self(self.0.with_limits(limits))
    }

    /// Keeps the index of files in a separate folder, so that losing the whole first folder is noticed
    /// too.
    #[must_use]
    pub fn noted_in(self, folder: impl Into<PathBuf>) -> Self {
        Self(self.0.noted_in(folder))
    }

    /// Returns the approved definitions of a server; `None` if it was never approved.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is gone, or is not to be trusted. Then nothing of the server is
    /// approved.
    pub fn baseline(&self, server: &Identity) -> Result<Option<Arc<Pinned>>, StoreError> {
        match self.read(server)? {
            Some(baseline) => Ok(Some(baseline.pinned)),
            None => self.0.check_not_lost(&server.to_string()).map(|()| None),
        }
    }

    /// Returns the servers whose files are gone without having been revoked: nothing of them is approved.
    /// Files from a version that kept no index are added to the index first.
    ///
    /// # Errors
    /// Fails if the files cannot be read or are not to be trusted.
    pub fn lost_files(&self) -> Result<Vec<Lost>, StoreError> {
        self.0.lost_files()
    }

    /// Approves everything that a server offers and replaces its earlier pins.
    ///
    /// # Errors
    /// Fails if the file cannot be written or is not to be trusted. Then nothing has changed.
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

    /// Approves the definitions of a server unless some were approved before, and returns the approved
    /// ones: if two processes start with a server at once, the first one wins.
    ///
    /// # Errors
    /// As for [`Pins::set`]. Also fails if approved definitions were lost: then the user has to approve
    /// the definitions again with [`Pins::set`].
    pub fn begin(
        &self,
        server: &Identity,
        name: &ServerName,
        pinned: Pinned,
    ) -> Result<Arc<Pinned>, StoreError> {
        // Check for a lost file first: it must not be replaced without the user.
        self.0.check_not_lost(&server.to_string())?;
        let new = baseline(server, name, Arc::new(pinned));
        let kept = self.change(server, |old| old.or(Some(new)))?;
        // The record was stored just now, so it cannot be missing.
        Ok(kept.map(|baseline| baseline.pinned).unwrap_or_default())
    }

    /// Waits until a change does not have to wait for another process.
    pub(crate) async fn is_free(&self) {
        self.0.lock_is_free().await;
    }

    /// Approves these drifts of a server and no others, exactly as they were shown. Returns the approved
    /// definitions; `None`, without any change, if the server had none.
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

    /// Lists the approved definitions of all servers, by name.
    ///
    /// # Errors
    /// Fails if a file cannot be read or is not to be trusted.
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

    /// Removes the pins of the selected servers and returns them. It is not an error if there are none.
    ///
    /// # Errors
    /// Fails if a file cannot be read or removed, or is not to be trusted.
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

    /// Replaces the pins of a server and returns the stored ones.
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
