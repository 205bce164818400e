//! The wire as it is, for people who debug servers.
//!
//! A [`Tap`] is put on transports, and a [`Wire`] is where what goes over them is read: every line of
//! a stream, every body and every event over HTTP, every line of stderr, in the order in which it
//! went, without the secrets that are known. Where there is no tap nothing is copied and nothing is asked: a
//! link is wrapped when it is made, or it is not.
//!
//! Whoever reads slowly delays nobody. The oldest messages are dropped for newer ones, and counted.

mod line;
mod ring;
mod streams;
mod wire;

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use switchboard_core::secret::Redactor;
use switchboard_core::spec::ServerName;

pub use wire::{Message, OverHttp, Watched, Way, Wire};

use ring::Ring;
use streams::{TappedRead, TappedWrite};
use wire::Noted;

use super::{Connect, Connector, Ends, Link, Stderr};

/// A secret that begins before the end of what is shown is found if it ends within so many bytes.
const SLACK: usize = 4 * 1024;

/// What bounds a tap.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TapBounds {
    /// Messages that are kept for a slow reader; the oldest are dropped first, and counted.
    pub messages: usize,
    /// Bytes of messages that are kept for a slow reader.
    pub bytes: usize,
    /// Longest text of a message that is shown; a longer one is cut, and its whole length told.
    pub text_bytes: usize,
}

impl Default for TapBounds {
    fn default() -> Self {
        Self {
            messages: 16 * 1024,
            bytes: 32 * 1024 * 1024,
            text_bytes: 64 * 1024,
        }
    }
}

/// Is put on transports, and tells a [`Wire`] what goes over them. Clones tell the same.
#[derive(Clone)]
pub struct Tap(Arc<End>);

/// The end of a tap that is written to; when it is dropped, there is nothing more to read.
struct End {
    ring: Arc<Ring<Noted>>,
    text_bytes: usize,
}

impl Drop for End {
    fn drop(&mut self) {
        self.ring.close();
    }
}

impl Tap {
    /// A tap, and where to read what it finds.
    ///
    /// ```
    /// use switchboard_client::transport::{Tap, TapBounds, Watched};
    ///
    /// # async fn example() {
    /// let (tap, mut wire) = Tap::new(&TapBounds::default());
    /// // The host takes it: `Host::builder().tap(&tap)`.
    /// drop(tap);
    /// while let Some(passed) = wire.next().await {
    ///     match passed {
    ///         Watched::Item(message) => println!("{} {}", message.way.arrow(), message.text),
    ///         Watched::Missed(messages) => println!("{messages} missed"),
    ///     }
    /// }
    /// # }
    /// ```
    pub fn new(bounds: &TapBounds) -> (Self, Wire) {
        let TapBounds {
            messages,
            bytes,
            text_bytes,
        } = *bounds;
        let ring = Arc::new(Ring::new(messages, bytes));
        let wire = Wire::new(Arc::clone(&ring), text_bytes);
        (Self(Arc::new(End { ring, text_bytes })), wire)
    }

    /// Puts the tap on a transport, whose server is called `server` in what is told. `secrets` are
    /// taken out of it.
    pub fn on(
        &self,
        server: &ServerName,
        connect: impl Connect + 'static,
        secrets: Redactor,
    ) -> impl Connect + 'static {
        let spot = self.spot(server, &Arc::new(secrets));
        Connector::new(Arc::new(connect)).map_link(move |link| spot.clone().tap(link))
    }

    /// The place of one server at the tap.
    #[doc(hidden)]
    pub fn spot(&self, server: &ServerName, secrets: &Arc<Redactor>) -> Spot {
        Spot {
            tap: self.clone(),
            server: server.clone(),
            secrets: Arc::clone(secrets),
        }
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tap").finish_non_exhaustive()
    }
}

/// The place of one server at a tap.
#[derive(Clone)]
pub struct Spot {
    tap: Tap,
    server: ServerName,
    secrets: Arc<Redactor>,
}

impl Spot {
    /// Has everything told that goes over a link.
    pub fn tap(self, mut link: Link) -> Link {
        let heard = self.clone();
        link.peer.hear_stderr(Arc::new(move |said| match said {
            Stderr::Line { text, bytes } => {
                heard.note(Way::Stderr, text.as_bytes(), bytes, None);
            }
            Stderr::Missed(lines) => heard.tap.0.ring.miss(lines),
        }));
        link.ends = match link.ends {
            Ends::Streams { reader, writer } => {
                let order = Arc::default();
                Ends::Streams {
                    writer: Box::new(TappedWrite::new(writer, self.clone(), &order)),
                    reader: Box::new(TappedRead::new(reader, self, &order)),
                }
            }
            Ends::Exchange(mut exchange) => {
                exchange.tap(self);
                Ends::Exchange(exchange)
            }
        };
        link
    }

    /// How much of a message is kept at most.
    pub(crate) fn most(&self) -> usize {
        self.tap.0.text_bytes.saturating_add(SLACK)
    }

    /// Tells of a message, of which `kept` is the beginning.
    pub(crate) fn note(&self, way: Way, kept: &[u8], whole: usize, http: Option<OverHttp>) {
        let kept = kept.get(..self.most().min(kept.len())).unwrap_or_default();
        let noted = Noted {
            at: SystemTime::now(),
            server: self.server.clone(),
            way,
            kept: kept.to_vec(),
            whole,
            http,
            secrets: Arc::clone(&self.secrets),
        };
        self.tap.0.ring.push(noted, kept.len());
    }
}
