//! The tap: a view of the traffic, for debugging servers.
//!
//! A [`Tap`] is put on transports, and a [`Wire`] reads their traffic: every line of a stream,
//! every body and every event over HTTP, every line of stderr, in order and without known secrets.
//! Without a tap there is no overhead: a link is wrapped when it is made, or not at all.
//!
//! A slow reader delays nothing: the oldest messages are dropped for newer ones, and counted.

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

/// A secret that starts within the visible part is recognised if it ends within this many further
/// bytes.
const SLACK: usize = 4 * 1024;

/// The limits of a tap.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TapLimits {
    /// Maximum number of messages kept for a slow reader; the oldest are dropped first, and
    /// counted.
    pub messages: usize,
    /// Maximum bytes of messages kept for a slow reader.
    pub bytes: usize,
    /// Maximum length of a message's text; a longer one is cut, and its full length reported.
    pub text_bytes: usize,
}

impl Default for TapLimits {
    fn default() -> Self {
        Self {
            messages: 16 * 1024,
            bytes: 32 * 1024 * 1024,
            text_bytes: 64 * 1024,
        }
    }
}

/// Observes transports, and reports their traffic to a [`Wire`]. Clones report to the same one.
#[derive(Clone)]
pub struct Tap(Arc<TapSender>);

/// The writing end of a tap; dropping it ends the stream of messages.
struct TapSender {
    ring: Arc<Ring<Noted>>,
    text_bytes: usize,
}

impl Drop for TapSender {
    fn drop(&mut self) {
        self.ring.close();
    }
}

impl Tap {
    /// Creates a tap and the reader of its messages.
    ///
    /// ```
    /// use switchboard_client::transport::{Tap, TapLimits, Watched};
    ///
    /// # async fn example() {
    /// let (tap, mut wire) = Tap::new(&TapLimits::default());
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
    pub fn new(limits: &TapLimits) -> (Self, Wire) {
        let TapLimits {
            messages,
            bytes,
            text_bytes,
        } = *limits;
        let ring = Arc::new(Ring::new(messages, bytes));
        let wire = Wire::new(Arc::clone(&ring), text_bytes);
        (Self(Arc::new(TapSender { ring, text_bytes })), wire)
    }

    /// Puts the tap on a transport, whose server appears as `server` in messages. `secrets` are
    /// redacted.
    pub fn on(
        &self,
        server: &ServerName,
        connect: impl Connect + 'static,
        secrets: Redactor,
    ) -> impl Connect + 'static {
        let spot = self.spot(server, &Arc::new(secrets));
        Connector::new(Arc::new(connect)).map_link(move |link| spot.clone().tap(link))
    }

    /// Returns the part of the tap that belongs to one server.
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

/// The part of a tap that belongs to one server.
#[derive(Clone)]
pub struct Spot {
    tap: Tap,
    server: ServerName,
    secrets: Arc<Redactor>,
}

impl Spot {
    /// Wraps a link so that its traffic is reported.
    pub fn tap(self, mut link: Link) -> Link {
        let heard = self.clone();
        // Stderr first: it may have lines before the first message.
        link.peer.on_stderr(Arc::new(move |said| match said {
            Stderr::Line { text, bytes } => {
                heard.note(Way::Stderr, text.as_bytes(), bytes, None);
            }
            Stderr::Missed(lines) => heard.tap.0.ring.miss(lines),
        }));
        link.ends = match link.ends {
            Ends::Streams { reader, writer } => {
                // Both directions share an order, so that requests are reported before their
                // answers.
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

    /// Maximum part of a message that is kept.
    pub(crate) fn most(&self) -> usize {
        self.tap.0.text_bytes.saturating_add(SLACK)
    }

    /// Reports a message, of which `kept` is the start.
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
