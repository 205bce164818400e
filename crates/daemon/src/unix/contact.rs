//! A connection of a command to the daemon.

use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

use super::socket;
use crate::frame::Frames;
use crate::message::{self, Request, Stopped, Welcome};
use crate::{DaemonError, DaemonStatus, Place, VERSION};

/// Time for an answer that needs no server.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time for a daemon to end: all its servers end meanwhile.
const TO_STOP: Duration = Duration::from_secs(30);

/// A connection to the daemon, which has said its version.
#[derive(Debug)]
pub struct Contact {
    frames: Frames<OwnedReadHalf>,
    socket: OwnedWriteHalf,
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
        let Some(stream) = socket::connect(place).await? else {
            return Ok(None);
        };
        let (reader, socket) = stream.into_split();
        let mut frames = Frames::new(reader);
        let welcome = timeout(PATIENCE, message::receive(&mut frames)).await;
        let Welcome { switchboard } = welcome.map_err(|_| DaemonError::Silent)??;
        Ok(Some(Self {
            frames,
            socket,
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
        let answer = timeout(PATIENCE, self.ask(&Request::Status)).await;
        answer.map_err(|_| DaemonError::Silent)?
    }

    /// Stops the daemon, and waits until it has ended its servers.
    ///
    /// # Errors
    /// Fails if the daemon does not say that it has stopped.
    pub async fn stop(mut self) -> Result<(), DaemonError> {
        let answer = timeout(TO_STOP, self.ask(&Request::Stop)).await;
        let stopped: Stopped = answer.map_err(|_| DaemonError::Silent)??;
        if stopped.stopped {
            Ok(())
        } else {
            Err(DaemonError::Protocol("it refuses to stop".to_owned()))
        }
    }

    /// Sends a request, and receives its answer.
    pub(super) async fn ask<A: DeserializeOwned>(
        &mut self,
        request: &Request,
    ) -> Result<A, DaemonError> {
        message::send(&mut self.socket, request).await?;
        message::receive(&mut self.frames).await
    }

    /// The connection, for what follows an answer.
    pub(super) fn into_parts(self) -> (Frames<OwnedReadHalf>, OwnedWriteHalf) {
        (self.frames, self.socket)
    }
}
