//! The configuration of a server over HTTP.

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
    /// The path of the server's URL.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Streamable => "/mcp",
            Self::Sse => "/sse",
        }
    }
}

/// The form of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answers {
    /// JSON if the answer is all there is, a stream if other messages come before it.
    #[default]
    Auto,
    /// Always JSON; progress is left out.
    Json,
    /// Always an event stream, except for errors with an HTTP status of their own.
    Sse,
}

/// A server over HTTP that is not running yet.
///
/// By default it listens on 127.0.0.1 and a free port.
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

/// Default number of requests that are remembered.
const RECORDED: usize = 10_000;

impl Http {
    /// Creates a server with these options, including their faults.
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

    /// Sets the address to listen on.
    #[must_use]
    pub fn host(self, host: IpAddr) -> Self {
        Self { host, ..self }
    }

    /// Sets the port to listen on; 0 picks a free one.
    #[must_use]
    pub fn port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// Sets the transport.
    #[must_use]
    pub fn transport(self, transport: Transport) -> Self {
        Self { transport, ..self }
    }

    /// Sets the form of answers.
    #[must_use]
    pub fn answers(self, answers: Answers) -> Self {
        Self { answers, ..self }
    }

    /// Gives out no session ids, so legacy clients are forgotten between requests.
    #[must_use]
    pub fn stateless(self) -> Self {
        Self {
            stateless: true,
            ..self
        }
    }

    /// Remembers the last `count` requests, instead of the last 10,000.
    #[must_use]
    pub fn record(self, count: usize) -> Self {
        Self {
            recorded: count,
            ..self
        }
    }

    /// Requires a token of this issuer, which is served beside the server.
    #[must_use]
    pub fn oauth(self, issuer: Issuer) -> Self {
        Self {
            issuer: Some(issuer),
            ..self
        }
    }

    /// Returns true if a fault, or an issuer with a port of its own, sends clients to another
    /// origin.
    pub(super) fn needs_other_origin(&self) -> bool {
        let flags = [Flag::RedirectOtherOrigin, Flag::EndpointOtherOrigin];
        let mut chaos = self.options.chaos.iter();
        let issuer = self.issuer.as_ref();
        chaos.any(|chaos| flags.contains(&chaos.flag()))
            || issuer.is_some_and(|issuer| issuer.options().elsewhere)
    }

    /// Starts the server in the tokio runtime of the caller.
    ///
    /// # Cancel safety
    /// Dropping the future starts nothing.
    ///
    /// # Errors
    /// Fails when the address cannot be listened on, or with a fault that HTTP does not have.
    pub async fn serve(self) -> io::Result<Server> {
        Server::start(self).await
    }
}

impl Default for Http {
    fn default() -> Self {
        Self::new(Options::default())
    }
}
