//! Systems without a daemon.

use std::convert::Infallible;

use switchboard_process::{Launch, Launching, Start};

use crate::{DaemonError, DaemonOptions, DaemonStatus, Notice, Place};

/// A daemon. There is none on this system.
#[derive(Debug)]
pub struct Daemon(Infallible);

impl Daemon {
    /// Fails: see [`DaemonError::Unsupported`].
    ///
    /// # Errors
    /// Always.
    pub fn bind(_place: &Place, _options: DaemonOptions) -> Result<Self, DaemonError> {
        Err(DaemonError::Unsupported)
    }

    /// Serves until `stop` is done.
    pub async fn serve(self, _stop: impl Future<Output = ()>) {
        match self.0 {}
    }
}

/// A connection to the daemon. There is none on this system.
#[derive(Debug)]
pub struct Contact(Infallible);

impl Contact {
    /// Fails: see [`DaemonError::Unsupported`].
    ///
    /// # Errors
    /// Always.
    pub async fn open(_place: &Place) -> Result<Option<Self>, DaemonError> {
        Err(DaemonError::Unsupported)
    }

    /// The version of the daemon.
    pub fn version(&self) -> &str {
        match self.0 {}
    }

    /// Returns true if the daemon has the version of this program.
    pub fn is_same_version(&self) -> bool {
        match self.0 {}
    }

    /// Asks for the state of the daemon.
    ///
    /// # Errors
    /// Never returns.
    pub async fn status(self) -> Result<DaemonStatus, DaemonError> {
        match self.0 {}
    }

    /// Stops the daemon.
    ///
    /// # Errors
    /// Never returns.
    pub async fn stop(self) -> Result<(), DaemonError> {
        match self.0 {}
    }
}

/// Starts servers in a daemon. There is none on this system.
#[derive(Debug)]
pub struct DaemonLauncher(());

impl DaemonLauncher {
    /// Starts no servers: see [`DaemonError::Unsupported`].
    pub fn new(_place: Place, _context: String, _notice: Notice) -> Self {
        Self(())
    }

    /// Changes nothing.
    #[must_use]
    pub fn sets_level(self, _sets_level: bool) -> Self {
        self
    }
}

impl Launch for DaemonLauncher {
    fn launch<'a>(&'a self, _start: &'a Start) -> Launching<'a> {
        Box::pin(std::future::ready(None))
    }
}
