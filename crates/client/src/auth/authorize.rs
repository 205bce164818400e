//! The hook in the HTTP transport: it gives each request its headers, and hears of refusals.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use reqwest::header::HeaderValue;
use switchboard_core::secret::Secret;
use url::Url;

use super::challenge::Challenge;
use super::error::AuthError;

/// Authorizes the requests to one server.
///
/// [`Authorizer`](super::Authorizer) is the implementation for OAuth. The transport asks for every request, so an
/// implementation answers at once where it can. A server with a configured `Authorization` header never asks.
pub trait Authorize: Send + Sync {
    /// Gives the headers of one request.
    fn authorize<'a>(&'a self, request: &RequestTarget<'a>) -> Authorizing<'a>;

    /// Decides what follows a refusal with status 401 or 403.
    fn refused<'a>(&'a self, refusal: Refusal<'a>) -> Deciding<'a>;

    /// Takes a nonce that the server gave with an answer (RFC 9449, 8.2).
    fn note_nonce(&self, nonce: &str) {
        let _ = nonce;
    }

    /// Waits until nothing is under way that must not be broken off, such as renewing a token.
    fn settle(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::ready(()))
    }
}

/// The headers of a request, now or later.
pub enum Authorizing<'a> {
    /// They are known.
    Ready(Result<RequestAuthorization, AuthError>),
    /// They take a request of their own, or a look into the store.
    Later(Pin<Box<dyn Future<Output = Result<RequestAuthorization, AuthError>> + Send + 'a>>),
}

impl fmt::Debug for Authorizing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(ready) => f.debug_tuple("Ready").field(ready).finish(),
            Self::Later(_) => f.write_str("Later"),
        }
    }
}

/// A decision being made.
pub type Deciding<'a> = Pin<Box<dyn Future<Output = Decision> + Send + 'a>>;

/// A request that is about to be sent.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct RequestTarget<'a> {
    /// The method, in upper case.
    pub method: &'a str,
    /// The address.
    pub url: &'a Url,
}

impl<'a> RequestTarget<'a> {
    /// A request of this method to this address.
    pub fn new(method: &'a str, url: &'a Url) -> Self {
        Self { method, url }
    }
}

/// The headers that authorize one request.
#[derive(Clone, Default)]
pub struct RequestAuthorization {
    pub(crate) authorization: Option<HeaderValue>,
    pub(crate) proof: Option<HeaderValue>,
    generation: u64,
}

impl RequestAuthorization {
    /// No header at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// A whole `Authorization` header, such as `Bearer abc`.
    ///
    /// # Errors
    /// Fails when it cannot be sent in a header.
    pub fn header(value: &Secret<String>) -> Result<Self, AuthError> {
        Ok(Self {
            authorization: Some(sensitive(value)?),
            ..Self::default()
        })
    }

    /// Adds a proof that the token is ours (RFC 9449).
    pub(crate) fn with_proof(mut self, proof: &Secret<String>) -> Result<Self, AuthError> {
        self.proof = Some(sensitive(proof)?);
        Ok(self)
    }

    /// Numbers the token, so that a refusal can be told to be about it.
    #[must_use]
    pub fn generation(mut self, generation: u64) -> Self {
        self.generation = generation;
        self
    }

    /// The number of the token.
    pub fn number(&self) -> u64 {
        self.generation
    }

    /// Whether there is a header.
    pub fn is_some(&self) -> bool {
        self.authorization.is_some()
    }

    pub(crate) fn has_proof(&self) -> bool {
        self.proof.is_some()
    }
}

impl fmt::Debug for RequestAuthorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestAuthorization")
            .field("is_some", &self.is_some())
            .field("generation", &self.generation)
            .finish_non_exhaustive()
    }
}

fn sensitive(value: &Secret<String>) -> Result<HeaderValue, AuthError> {
    let value = HeaderValue::from_str(value.expose());
    let mut value = value.map_err(|_| AuthError::Key {
        what: "the token",
        problem: "it cannot be sent in a header".to_owned(),
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// A request that the server refused.
#[derive(Debug)]
#[non_exhaustive]
pub struct Refusal<'a> {
    /// The status, 401 or 403.
    pub status: u16,
    /// What the server demands.
    pub challenges: Vec<Challenge>,
    /// The nonce that the server gave.
    pub nonce: Option<String>,
    /// The headers that were sent.
    pub used: &'a RequestAuthorization,
    /// How often the same request was sent again before for a refusal of this status.
    pub repeated: u32,
}

impl<'a> Refusal<'a> {
    /// A refusal of a request that was sent with these headers.
    pub fn new(status: u16, challenges: Vec<Challenge>, used: &'a RequestAuthorization) -> Self {
        Self {
            status,
            challenges,
            nonce: None,
            used,
            repeated: 0,
        }
    }
}

/// What follows a refusal.
#[derive(Debug)]
pub enum Decision {
    /// The request is sent again, with new headers.
    Retry,
    /// The request fails for this.
    GiveUp(AuthError),
    /// The refusal has nothing to do with authorization of this kind; it stands.
    Pass,
}
