//! What a server over HTTP is asked to be.

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use super::server::Server;
use crate::Options;
use crate::chaos::Flag;
use crate::issuer::Issuer;

/// The transports that a server over HTTP can speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transport {
    /// Streamable HTTP, in both eras, at `/mcp`.
    #[default]
    Streamable,
    /// The older HTTP+SSE of 2024-11-05: a stream at `/sse`, messages to `/messages`.
    Sse,
}

impl Transport {
    /// Returns the path that clients are given.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Streamable => "/mcp",
            Self::Sse => "/sse",
        }
    }
}

/// How requests are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answers {
    /// As JSON where the answer is all there is to say, as a stream where something comes before it.
    #[default]
    Auto,
    /// As JSON, always; progress is left out.
    Json,
    /// As a stream of events, always; errors that have a status of their own stay JSON.
    Sse,
}

/// A server over HTTP before it runs.
///
/// On 127.0.0.1 and a port that is free, unless something else is said.
#[derive(Debug, Clone)]
pub struct Http {
    pub(super) options: Options,
    pub(super) host: IpAddr,
    pub(super) port: u16,
    pub(super) transport: Transport,
    pub(super) answers: Answers,
    pub(super) stateless: bool,
    pub(super) recorded: usize,
    pub(super) issuer: Option<Issuer>,
}

/// How many requests are remembered unless something else is said.
const RECORDED: usize = 10_000;

impl Http {
    /// A server that offers what the options say; their faults are its faults.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            transport: Transport::default(),
            answers: Answers::default(),
            stateless: false,
            recorded: RECORDED,
            issuer: None,
        }
    }

    /// Listens on this address.
    #[must_use]
    pub fn host(self, host: IpAddr) -> Self {
        Self { host, ..self }
    }

    /// Listens on this port; 0 picks one that is free.
    #[must_use]
    pub fn port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// Speaks this transport.
    #[must_use]
    pub fn transport(self, transport: Transport) -> Self {
        Self { transport, ..self }
    }

    /// Answers requests in this way.
    #[must_use]
    pub fn answers(self, answers: Answers) -> Self {
        Self { answers, ..self }
    }

    /// Gives out no session ids, and forgets each legacy client between its requests.
    #[must_use]
    pub fn stateless(self) -> Self {
        Self {
            stateless: true,
            ..self
        }
    }

    /// Remembers the last `count` requests, in place of the last 10,000.
    #[must_use]
    pub fn record(self, count: usize) -> Self {
        Self {
            recorded: count,
            ..self
        }
    }

    /// Lets in only requests with a token of this issuer, which is served beside the server.
    #[must_use]
    pub fn oauth(self, issuer: Issuer) -> Self {
        Self {
            issuer: Some(issuer),
            ..self
        }
    }

    /// Whether a fault, or an issuer with a port of its own, sends clients to another origin.
    pub(super) fn needs_other_origin(&self) -> bool {
        let flags = [Flag::RedirectOtherOrigin, Flag::EndpointOtherOrigin];
        let mut chaos = self.options.chaos.iter();
        let issuer = self.issuer.as_ref();
        chaos.any(|chaos| flags.contains(&chaos.flag()))
            || issuer.is_some_and(|issuer| issuer.options().elsewhere)
    }

    /// Starts the server in the tokio runtime of the caller.
    ///
    /// # Errors
    /// Fails when the address cannot be listened on, or a fault is asked for that HTTP does not have.
    pub async fn serve(self) -> io::Result<Server> {
        Server::start(self).await
    }
}

impl Default for Http {
    fn default() -> Self {
        Self::new(Options::default())
    }
}
