//! A connection of a command to the daemon.

use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::timeout;

use super::socket;
use crate::message::{self, Request, Stopped, Welcome};
use crate::{DaemonError, DaemonStatus, Place, VERSION};

/// Time for an answer that needs no server.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time for a daemon to end: all its servers end meanwhile.
const TO_STOP: Duration = Duration::from_secs(30);

/// A connection to the daemon, which has said its version.
#[derive(Debug)]
pub struct Contact {
    stream: UnixStream,
    version: String,
}

impl Contact {
    /// Connects to the daemon of a place; `None` if none runs.
    ///
    /// # Errors
    /// Fails if other users could use the place, or if the daemon does not answer as one.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection.
    pub async fn open(place: &Place) -> Result<Option<Self>, DaemonError> {
        let Some(mut stream) = socket::connect(place).await? else {
            return Ok(None);
        };
        let welcome = timeout(PATIENCE, message::receive(&mut stream)).await;
        let Welcome { switchboard } = welcome.map_err(|_| DaemonError::Silent)??;
        Ok(Some(Self {
            stream,
            version: switchboard,
        }))
    }

    /// The version of the daemon.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns true if the daemon has the version of this program.
    pub fn is_same_version(&self) -> bool {
        self.version == VERSION
    }

    /// Asks for the state of the daemon.
    ///
    /// # Errors
    /// Fails if the daemon does not answer.
    pub async fn status(mut self) -> Result<DaemonStatus, DaemonError> {
        self.ask(&Request::Status, PATIENCE).await
    }

    /// Stops the daemon, and waits until it has ended its servers.
    ///
    /// # Errors
    /// Fails if the daemon does not say that it has stopped.
    pub async fn stop(mut self) -> Result<(), DaemonError> {
        let stopped: Stopped = self.ask(&Request::Stop, TO_STOP).await?;
        if stopped.stopped {
            Ok(())
        } else {
            Err(DaemonError::Protocol("it refuses to stop".to_owned()))
        }
    }

    async fn ask<A: serde::de::DeserializeOwned>(
        &mut self,
        request: &Request,
        patience: Duration,
    ) -> Result<A, DaemonError> {
        let answer = async {
            message::send(&mut self.stream, request).await?;
            message::receive(&mut self.stream).await
        };
        let answer = timeout(patience, answer).await;
        answer.map_err(|_| DaemonError::Silent)?
    }
}
