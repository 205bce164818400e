//! Where what goes over the wire is read.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use switchboard_core::secret::Redactor;
use switchboard_core::spec::ServerName;

use super::ring::Ring;

/// What comes next for somebody who watches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Watched<T> {
    /// What happened.
    Item(T),
    /// So many are gone, because they were read too slowly.
    Missed(u64),
}

/// Which way a message went.
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
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
            Self::Stderr => "stderr",
        }
    }

    /// A sign for it, two characters wide.
    pub fn arrow(self) -> &'static str {
        match self {
            Self::Sent => "->",
            Self::Received => "<-",
            Self::Stderr => "!!",
        }
    }
}

/// What HTTP adds to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OverHttp {
    /// The method of the request that it is, or belongs to.
    pub method: &'static str,
    /// The status, for what came back.
    pub status: Option<u16>,
}

impl OverHttp {
    #[cfg(feature = "http")]
    pub(crate) fn new(method: &'static str, status: Option<u16>) -> Self {
        Self { method, status }
    }
}

/// Something that went over the wire.
///
/// Over HTTP a body is one message, and so is each event of a stream; a stream is also told of when it
/// begins, with no text. Headers and URLs are never told.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// When it went.
    pub at: SystemTime,
    /// The server.
    pub server: ServerName,
    /// Which way it went.
    pub way: Way,
    /// What it says, without known secrets; its beginning where it was cut. What was not UTF-8 is
    /// replaced.
    pub text: String,
    /// How many bytes it was, where it was cut.
    pub cut_from: Option<usize>,
    /// What HTTP adds to it.
    pub http: Option<OverHttp>,
}

/// A message as it went, with what must not be shown of it.
pub(super) struct Noted {
    pub(super) at: SystemTime,
    pub(super) server: ServerName,
    pub(super) way: Way,
    pub(super) kept: Vec<u8>,
    pub(super) whole: usize,
    pub(super) http: Option<OverHttp>,
    pub(super) secrets: Arc<Redactor>,
}

/// Where what goes over the wire is read: see [`Tap`](super::Tap). When it is dropped, taps tell nobody.
pub struct Wire {
    ring: Arc<Ring<Noted>>,
    text_bytes: usize,
}

impl Wire {
    pub(super) fn new(ring: Arc<Ring<Noted>>, text_bytes: usize) -> Self {
        Self { ring, text_bytes }
    }

    /// What went over next; nothing once all taps and what they were put on are gone.
    ///
    /// Cancel safe.
    pub async fn next(&mut self) -> Option<Watched<Message>> {
        let next = self.ring.next().await?;
        Some(self.shown(next))
    }

    /// What went over next, if it has by now.
    pub fn next_now(&mut self) -> Option<Watched<Message>> {
        let next = self.ring.take()?;
        Some(self.shown(next))
    }

    /// Makes a message one that can be shown. That takes the time of whoever reads, and not of the
    /// connection.
    fn shown(&self, noted: Watched<Noted>) -> Watched<Message> {
        let noted = match noted {
            Watched::Item(noted) => noted,
            Watched::Missed(messages) => return Watched::Missed(messages),
        };
        let text = String::from_utf8_lossy(&noted.kept);
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

/// The last place at or before `at` where a character ends.
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
