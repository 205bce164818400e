//! The reader of a tap: messages as they went over the wire.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use switchboard_core::secret::Redactor;
use switchboard_core::spec::ServerName;

use super::ring::Ring;

/// An item of a bounded stream, or a gap in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Watched<T> {
    /// An item.
    Item(T),
    /// This many items were dropped, because they were read too slowly.
    Missed(u64),
}

/// The direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Way {
    /// To the server.
    Sent,
    /// From the server.
    Received,
    /// From the server's stderr, a line of it.
    Stderr,
}

impl Way {
    /// The name of the direction.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
            Self::Stderr => "stderr",
        }
    }

    /// A two-character arrow for the direction.
    pub fn arrow(self) -> &'static str {
        match self {
            Self::Sent => "->",
            Self::Received => "<-",
            Self::Stderr => "!!",
        }
    }
}

/// The HTTP part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OverHttp {
    /// The HTTP method of its request.
    pub method: &'static str,
    /// The HTTP status, for received messages.
    pub status: Option<u16>,
}

impl OverHttp {
    #[cfg(feature = "http")]
    pub(crate) fn new(method: &'static str, status: Option<u16>) -> Self {
        Self { method, status }
    }
}

/// A message that went over the wire.
///
/// Over HTTP a body is one message, and so is each event of a stream; the start of a stream is
/// reported as a message without text. Headers and URLs are never reported.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// The time at which it went.
    pub at: SystemTime,
    /// The server.
    pub server: ServerName,
    /// The direction.
    pub way: Way,
    /// The text without known secrets; only its start if it was cut. Bytes that are not UTF-8 are
    /// replaced.
    pub text: String,
    /// The full length in bytes, if it was cut.
    pub cut_from: Option<usize>,
    /// The HTTP part.
    pub http: Option<OverHttp>,
}

/// A message as it went, with the secrets to be redacted.
pub(super) struct Noted {
    pub(super) at: SystemTime,
    pub(super) server: ServerName,
    pub(super) way: Way,
    pub(super) kept: Vec<u8>,
    pub(super) whole: usize,
    pub(super) http: Option<OverHttp>,
    pub(super) secrets: Arc<Redactor>,
}

/// The reader of a [`Tap`](super::Tap). Dropping it makes the tap discard everything.
pub struct Wire {
    ring: Arc<Ring<Noted>>,
    text_bytes: usize,
}

impl Wire {
    pub(super) fn new(ring: Arc<Ring<Noted>>, text_bytes: usize) -> Self {
        Self { ring, text_bytes }
    }

    /// Waits for the next message; `None` once the tap and all transports it was put on are gone.
    ///
    /// # Cancel safety
    /// Cancel safe: a message is taken only when the future resolves.
    pub async fn next(&mut self) -> Option<Watched<Message>> {
        let next = self.ring.next().await?;
        Some(self.redact(next))
    }

    /// Returns the next message, if there is one now.
    pub fn next_now(&mut self) -> Option<Watched<Message>> {
        let next = self.ring.take()?;
        Some(self.redact(next))
    }

    /// Redacts and cuts a message. This happens on the reader's time, not on that of the
    /// connection.
    fn redact(&self, noted: Watched<Noted>) -> Watched<Message> {
        let noted = match noted {
            Watched::Item(noted) => noted,
            Watched::Missed(messages) => return Watched::Missed(messages),
        };
        let text = String::from_utf8_lossy(&noted.kept);
        // Redact before cutting: a secret cut in half would not be recognised.
        let mut text = noted.secrets.redact(&text).into_owned();
        let is_cut = noted.whole > self.text_bytes.min(noted.kept.len());
        if is_cut {
            text.truncate(boundary(&text, self.text_bytes));
        }
        Watched::Item(Message {
            at: noted.at,
            server: noted.server,
            way: noted.way,
            text,
            cut_from: is_cut.then_some(noted.whole),
            http: noted.http,
        })
    }
}

/// The last character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.ring.leave();
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").finish_non_exhaustive()
    }
}
