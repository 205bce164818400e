//! The messages that both sides exchange.
//!
//! The daemon begins with a [`Welcome`]; the command answers with one [`Request`]. `Welcome`, and the requests
//! `status` and `stop`, stay the same in all versions, so that a program of any version can replace a daemon.
//!
//! After a `start` that succeeded, the command sends bytes for the server's stdin, and the daemon bytes of its
//! stdout and an [`Event`] for everything else. The command ends its use by closing its side.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;

use bytes::BytesMut;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use switchboard_process::{Cleanup, Exit};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use crate::DaemonError;
use crate::frame::{self, Frame, Frames};

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
    /// Answered with [`Started`].
    Start(ServerStart),
}

/// The server that a command needs. Two that are equal are the same server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerStart {
    /// The name of the server in the config, for people.
    pub(crate) name: String,
    /// The command as the config has it, for people.
    pub(crate) command: String,
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    /// All variables that it gets. Their values are secrets.
    pub(crate) variables: BTreeMap<String, String>,
    /// The folder that it is started in.
    pub(crate) folder: PathBuf,
    /// What else makes servers different: two with another context share nothing.
    pub(crate) context: String,
    /// The command sets the level of the server's log messages, as all do that say so here.
    pub(crate) sets_level: bool,
}

/// Shows no secrets.
impl fmt::Debug for ServerStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerStart")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The answer to a request to start a server.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "started")]
pub(crate) enum Started {
    /// The server runs.
    Yes {
        pid: u32,
        /// The first number that no request to it has had as its id.
        first_id: i64,
        /// It has run before.
        is_warm: bool,
    },
    /// It cannot be started here. A command that starts it directly learns why.
    No,
}

/// What happens to the server of a command.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub(crate) enum Event {
    /// A line on stderr; `bytes` is its full length if it was cut.
    Stderr { text: String, bytes: usize },
    /// A line on stderr that has not ended, as far as it is written.
    OpenStderr { text: String },
    /// It has closed its stdout.
    OutputEnd,
    /// It has ended.
    Ended {
        exit: ExitStatus,
        cleanup: Option<CleanupReport>,
    },
    /// The command has given it back.
    Released,
}

/// An [`Exit`] in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ExitStatus {
    Code(i32),
    Signal(i32),
    Unknown,
}

impl From<Exit> for ExitStatus {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Code(code) => Self::Code(code),
            Exit::Signal(signal) => Self::Signal(signal),
            _ => Self::Unknown,
        }
    }
}

impl From<ExitStatus> for Exit {
    fn from(exit: ExitStatus) -> Self {
        match exit {
            ExitStatus::Code(code) => Self::Code(code),
            ExitStatus::Signal(signal) => Self::Signal(signal),
            ExitStatus::Unknown => Self::Unknown,
        }
    }
}

/// A [`Cleanup`] in a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CleanupReport {
    keeper_lost: Option<ExitStatus>,
    ended: usize,
    left: Vec<u32>,
}

impl From<Cleanup> for CleanupReport {
    fn from(cleanup: Cleanup) -> Self {
        Self {
            keeper_lost: cleanup.keeper_lost.map(ExitStatus::from),
            ended: cleanup.ended,
            left: cleanup.left,
        }
    }
}

impl From<CleanupReport> for Cleanup {
    fn from(report: CleanupReport) -> Self {
        Self {
            keeper_lost: report.keeper_lost.map(Exit::from),
            ended: report.ended,
            left: report.left,
        }
    }
}

/// The daemon has ended its servers, and another one can start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Stopped {
    pub(crate) stopped: bool,
}

/// Appends a message to what is to be written.
///
/// # Errors
/// Fails if it is too long.
pub(crate) fn put(to: &mut BytesMut, message: &impl Serialize) -> io::Result<()> {
    frame::put_message(to, &serde_json::to_vec(message)?)
}

/// Sends a message.
///
/// # Errors
/// Fails if the connection is lost.
pub(crate) async fn send(
    to: &mut (impl AsyncWrite + Unpin),
    message: &impl Serialize,
) -> Result<(), DaemonError> {
    let mut bytes = BytesMut::new();
    put(&mut bytes, message).map_err(DaemonError::Lost)?;
    to.write_all(&bytes).await.map_err(DaemonError::Lost)
}

/// Receives a message.
///
/// # Errors
/// Fails if the connection is lost, or with what is not such a message.
pub(crate) async fn receive<M: DeserializeOwned>(
    from: &mut Frames<impl AsyncRead + Unpin>,
) -> Result<M, DaemonError> {
    let frame = from.next().await.map_err(|error| {
        if error.kind() == io::ErrorKind::InvalidData {
            DaemonError::Protocol(error.to_string())
        } else {
            DaemonError::Lost(error)
        }
    })?;
    match frame {
        Some(Frame::Message(text)) => parse(&text),
        Some(Frame::Bytes(_)) => Err(DaemonError::Protocol("bytes came too early".to_owned())),
        None => Err(DaemonError::Lost(io::ErrorKind::UnexpectedEof.into())),
    }
}

/// Reads the text of a message.
///
/// # Errors
/// Fails with what is not such a message.
pub(crate) fn parse<M: DeserializeOwned>(text: &[u8]) -> Result<M, DaemonError> {
    // The text of the error has no part of the message, which may have secrets.
    serde_json::from_slice(text).map_err(|error| {
        let why = format!("a message has an error in column {}", error.column());
        DaemonError::Protocol(why)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn requests_that_all_versions_have_keep_their_form() {
        for (request, text) in [
            (Request::Status, r#"{"request":"status"}"#),
            (Request::Stop, r#"{"request":"stop"}"#),
        ] {
            assert_eq!(serde_json::to_string(&request).unwrap(), text);
            let mut sent = Vec::new();
            send(&mut sent, &request).await.unwrap();
            let read: Request = receive(&mut Frames::new(sent.as_slice())).await.unwrap();
            assert_eq!(read, request);
        }
        let welcome = Welcome {
            switchboard: "1.2.3".to_owned(),
        };
        let text = serde_json::to_string(&welcome).unwrap();
        assert_eq!(text, r#"{"switchboard":"1.2.3"}"#);
        let stopped = serde_json::to_string(&Stopped { stopped: true }).unwrap();
        assert_eq!(stopped, r#"{"stopped":true}"#);
    }

    #[tokio::test]
    async fn an_error_shows_nothing_of_the_message() {
        let mut sent = Vec::new();
        send(&mut sent, &"secret").await.unwrap();
        let mut frames = Frames::new(sent.as_slice());
        let error = receive::<Request>(&mut frames).await.unwrap_err();
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    }

    #[test]
    fn the_form_for_a_debugger_has_no_secrets() {
        let start = ServerStart {
            name: "time".to_owned(),
            command: "uvx".to_owned(),
            program: PathBuf::from("/bin/uvx"),
            args: vec!["--token=secret".to_owned()],
            variables: [("TOKEN".to_owned(), "secret".to_owned())].into(),
            folder: PathBuf::from("/"),
            context: String::new(),
            sets_level: false,
        };
        assert!(!format!("{start:?}").contains("secret"), "{start:?}");
    }

    #[test]
    fn exits_and_cleanups_are_the_same_on_both_sides() {
        for exit in [Exit::Code(3), Exit::Signal(9), Exit::Unknown] {
            assert_eq!(Exit::from(ExitStatus::from(exit)), exit);
        }
        let cleanup = Cleanup {
            keeper_lost: Some(Exit::Signal(9)),
            ended: 2,
            left: vec![7],
        };
        let report = CleanupReport::from(cleanup.clone());
        assert_eq!(Cleanup::from(report), cleanup);
    }
}
