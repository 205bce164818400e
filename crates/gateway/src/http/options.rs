//! The options of a gateway over HTTP.

use std::path::PathBuf;
use std::sync::Arc;

use switchboard::policy::Caller;

use super::auth::{Authenticate, Token};
use super::oauth::OAuth;
use super::tokens::LiveTokens;
use crate::caller::{ClientIdentity, DEFAULT_AGENT};
use crate::error::GatewayError;

/// The way that clients show who they are.
#[derive(Clone)]
#[non_exhaustive]
pub enum HttpAuth {
    /// One token for all clients, in `Authorization: Bearer`. All of them are the identity of the options.
    Token(Token),
    /// Named tokens in `Authorization: Bearer`. Each stands for an agent of its own name. As long as the policy
    /// says nothing of that, it acts as the identity of the options within the grants of the token; without
    /// grants it may use nothing.
    Named(Arc<LiveTokens>),
    /// Tokens that an issuer makes for this gateway. Each stands for the agent that the rules of the issuer
    /// name. As long as the policy says nothing of that, it acts as the identity of the options within the
    /// grants of the rule; without grants it may use nothing.
    OAuth(Arc<OAuth>),
    /// Any of these. What none of them accepts is refused as the last one does.
    Any(Vec<Self>),
    /// No credential at all. A listener off loopback is refused.
    None,
    /// A rule of the program's own.
    Custom(Arc<dyn Authenticate>),
}

impl HttpAuth {
    /// Returns true if clients need no credential.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::None => true,
            Self::Any(all) => all.iter().any(Self::is_open),
            Self::Token(_) | Self::Named(_) | Self::OAuth(_) | Self::Custom(_) => false,
        }
    }

    /// The resource server, if tokens of an issuer are taken.
    pub(super) fn oauth(&self) -> Option<&OAuth> {
        match self {
            Self::OAuth(oauth) => Some(oauth),
            Self::Any(all) => all.iter().find_map(Self::oauth),
            Self::None | Self::Token(_) | Self::Named(_) | Self::Custom(_) => None,
        }
    }
}

/// The files of a TLS certificate.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate chain in PEM, the server's own first.
    pub certificates: PathBuf,
    /// The private key in PEM.
    pub key: PathBuf,
}

/// Options of a gateway over HTTP.
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The way that clients show who they are. Over a Unix socket the kernel says it.
    pub auth: HttpAuth,
    /// The client that one is who has the token, needs none, or comes over the Unix socket.
    pub identity: ClientIdentity,
    /// Further values of `Host` that are served, with or without a port.
    pub allow_hosts: Vec<String>,
    /// Origins of web pages that may use the gateway: `https://app.example`.
    pub allow_origins: Vec<String>,
    /// The URL that clients reach the gateway by. Its host and origin are allowed.
    pub public_url: Option<String>,
    /// The certificate, for TLS.
    pub tls: Option<TlsFiles>,
    /// Says that a proxy in front ends TLS, so that plain HTTP may be served off loopback. Nothing that the
    /// proxy adds to a request is trusted.
    pub behind_proxy: bool,
    /// Serves the transport of 2024-11-05 too, at `/sse` and `/messages`.
    pub legacy_sse: bool,
}

impl HttpOptions {
    /// Options with the usual agent as the identity.
    ///
    /// # Errors
    /// Never, as long as the name of the usual agent is one.
    pub fn new(auth: HttpAuth) -> Result<Self, GatewayError> {
        let caller = Caller::agent(DEFAULT_AGENT).map_err(|bad| GatewayError::Option {
            option: "identity",
            why: bad.to_string(),
        })?;
        Ok(Self::with_identity(auth, ClientIdentity::local(caller)))
    }

    /// Options with an identity for clients that have the token, need none, or come over the Unix socket.
    pub fn with_identity(auth: HttpAuth, identity: ClientIdentity) -> Self {
        Self {
            auth,
            identity,
            allow_hosts: Vec::new(),
            allow_origins: Vec::new(),
            public_url: None,
            tls: None,
            behind_proxy: false,
            legacy_sse: false,
        }
    }
}
