//! The messages that both sides exchange.
//!
//! The daemon begins with a [`Welcome`]; the command answers with one [`Request`]. `Welcome`, and the requests
//! `status` and `stop`, stay the same in all versions, so that a program of any version can replace a daemon.

use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::DaemonError;
use crate::frame::{self, Frame};

/// The first message of the daemon.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Welcome {
    /// The version of the daemon.
    pub(crate) switchboard: String,
}

/// The request of a command.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "request")]
pub(crate) enum Request {
    /// Answered with [`crate::DaemonStatus`].
    Status,
    /// Answered with [`Stopped`] when everything has ended.
    Stop,
}

/// The daemon has ended its servers, and another one can start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Stopped {
    pub(crate) stopped: bool,
}

/// Sends a message.
///
/// # Errors
/// Fails if the connection is lost.
pub(crate) async fn send(
    to: &mut (impl AsyncWrite + Unpin),
    message: &impl Serialize,
) -> Result<(), DaemonError> {
    let text = serde_json::to_vec(message).map_err(io::Error::from);
    let frame = Frame::Message(text.map_err(DaemonError::Lost)?);
    frame::write(to, &frame).await.map_err(DaemonError::Lost)
}

/// Receives a message.
///
/// # Errors
/// Fails if the connection is lost, or with what is not such a message.
pub(crate) async fn receive<M: DeserializeOwned>(
    from: &mut (impl AsyncRead + Unpin),
) -> Result<M, DaemonError> {
    let frame = frame::read(from).await.map_err(|error| {
        if error.kind() == io::ErrorKind::InvalidData {
            DaemonError::Protocol(error.to_string())
        } else {
            DaemonError::Lost(error)
        }
    })?;
    let ended = || DaemonError::Lost(io::ErrorKind::UnexpectedEof.into());
    let Frame::Message(text) = frame.ok_or_else(ended)?;
    // The text of the error has no part of the message, which may have secrets.
    serde_json::from_slice(&text).map_err(|error| {
        let why = format!("a message has an error in column {}", error.column());
        DaemonError::Protocol(why)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn requests_keep_their_form() {
        for (request, text) in [
            (Request::Status, r#"{"request":"status"}"#),
            (Request::Stop, r#"{"request":"stop"}"#),
        ] {
            assert_eq!(serde_json::to_string(&request).unwrap(), text);
            let mut sent = Vec::new();
            send(&mut sent, &request).await.unwrap();
            let read: Request = receive(&mut sent.as_slice()).await.unwrap();
            assert_eq!(read, request);
        }
    }

    #[tokio::test]
    async fn an_error_shows_nothing_of_the_message() {
        let mut sent = Vec::new();
        send(&mut sent, &"secret").await.unwrap();
        let error = receive::<Request>(&mut sent.as_slice()).await.unwrap_err();
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    }
}
