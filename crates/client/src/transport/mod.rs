//! Transports: connections to a server, and the processes behind them.
//!
//! A transport is a [`Connect`]: it makes a [`Link`], and reconnecting means connecting again. A
//! link owns either two byte streams (stdio, memory) or an exchange (HTTP), and knows the [`Peer`]
//! at the other end. The session interprets the bytes; this module is responsible for ending the
//! peer.
//!
//! - [`Stdio`] starts a child process; `stderr_hints` reads its stderr for known causes of failure.
//! - `Http` and `LegacySse` reach a server by URL, under the rules of `guard`.
//! - [`Memory`] runs a server in this process.
//! - [`Tap`] shows the traffic of any of them.

mod connector;
#[cfg_attr(
    not(feature = "http"),
    allow(dead_code, reason = "only HTTP is like this")
)]
mod exchange;
mod fault;
#[cfg(feature = "http")]
mod http;
mod lines;
mod memory;
mod peer;
#[doc(hidden)]
pub mod stderr_hints;
pub mod stderr_names;
pub mod stderr_words;
mod stdio;
mod tap;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

#[doc(hidden)]
pub use connector::Connector;
pub(crate) use exchange::{Exchange, FailedRequest, Heard, Inlet, Kind, Outgoing};
#[cfg(feature = "http")]
pub(crate) use exchange::{Exchanging, Working};
pub use fault::{Fault, FaultKind, Sent};
#[cfg(feature = "auth")]
pub use http::HttpAuthFetch;
#[cfg(feature = "http")]
pub use http::{
    Header, HeaderError, HeaderOwner, Headers, Http, HttpError, IdRule, LegacySse, Proxy,
    Redirects, Streams, guard, sse,
};
#[cfg(feature = "http")]
#[doc(hidden)]
pub use http::{Post, PostError, Posted};
pub(crate) use lines::KEEP as KEPT_BUFFER_BYTES;
pub use lines::{Frame, LineBuffer};
pub use memory::Memory;
pub use peer::Peer;
pub use stderr_hints::is_fetching;
pub use stdio::Stdio;
pub use switchboard_core::environment::{Environment, NetworkVariables};
pub use switchboard_process::{
    BoxRead, BoxWrite, Cleanup, Exit, ProgramFile, ProgramForm, Search, StartError, keeper,
    leftovers, resolve,
};
#[doc(hidden)]
pub use switchboard_process::{Launch, Launching, Process, RemoteProcess, Running, Start};
#[doc(hidden)]
pub use switchboard_process::{Stderr, installer};
#[doc(hidden)]
pub use switchboard_process::{is_gap, turn, turns, within};
#[doc(hidden)]
pub use tap::Spot;
pub use tap::{Message, OverHttp, Tap, TapLimits, Watched, Way, Wire};

/// A connection being made.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Link, ConnectError>> + Send + 'a>>;

/// Makes connections to one server.
///
/// Implement it to bring a transport of your own: return a [`Link`] over any two byte streams that
/// carry newline-delimited JSON-RPC. The session ends a connection by dropping the link's streams;
/// everything that the transport starts must end with them.
pub trait Connect: Send + Sync {
    /// Makes a new connection.
    ///
    /// # Cancel safety
    /// Dropping the future leaves nothing behind.
    fn connect(&self) -> Connecting<'_>;

    /// Names the server in logs and errors, secrets redacted: `stdio:CMD:ARGS`, `http:URL`.
    fn identity(&self) -> String;

    /// A fallback to reach the same server, for when it refuses this transport.
    fn fallback(&self) -> Option<&dyn Connect> {
        None
    }
}

impl<C: Connect + ?Sized> Connect for &C {
    fn connect(&self) -> Connecting<'_> {
        (**self).connect()
    }

    fn identity(&self) -> String {
        (**self).identity()
    }

    fn fallback(&self) -> Option<&dyn Connect> {
        (**self).fallback()
    }
}

impl<C: Connect + ?Sized> Connect for std::sync::Arc<C> {
    fn connect(&self) -> Connecting<'_> {
        (**self).connect()
    }

    fn identity(&self) -> String {
        (**self).identity()
    }

    fn fallback(&self) -> Option<&dyn Connect> {
        (**self).fallback()
    }
}

/// The reason that no connection was made.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The server's process was not started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// An error of another transport.
    #[error("could not connect")]
    Other {
        /// The reason.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl ConnectError {
    /// Wraps the error of a transport of your own.
    pub fn other(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Other {
            source: source.into(),
        }
    }
}

/// One live connection: its streams or its exchange, and the peer at the other end.
pub struct Link {
    pub(crate) ends: Ends,
    pub(crate) peer: Peer,
    /// The first number that no request over this connection has had as its id.
    pub(crate) first_id: i64,
}

/// The two forms of a link.
pub(crate) enum Ends {
    /// Two byte streams, for all messages.
    Streams { reader: BoxRead, writer: BoxWrite },
    /// One exchange per message.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "only HTTP is like this")
    )]
    Exchange(Box<dyn Exchange>),
}

impl Link {
    /// Creates a link over two byte streams. It ends when both are closed.
    pub fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            ends: Ends::Streams {
                reader: Box::new(reader),
                writer: Box::new(writer),
            },
            peer: Peer::without_process(),
            first_id: 1,
        }
    }

    /// Creates a link with one exchange per message.
    #[cfg(feature = "http")]
    pub(crate) fn of_exchange(exchange: impl Exchange + 'static) -> Self {
        Self {
            ends: Ends::Exchange(Box::new(exchange)),
            peer: Peer::without_process(),
            first_id: 1,
        }
    }

    /// The peer at the other end.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}
