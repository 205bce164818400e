//! The hook of the HTTP transport: adds headers to each request, and decides about refusals.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use reqwest::header::HeaderValue;
use switchboard_core::secret::Secret;
use url::Url;

use super::challenge::Challenge;
use crate::auth_error::AuthError;

/// Authorizes the requests to one server.
///
/// [`Authorizer`](super::Authorizer) is the implementation for OAuth. The transport asks for every
/// request, so an implementation should answer at once where it can. It does not ask for a server
/// with a configured `Authorization` header.
pub trait Authorize: Send + Sync {
    /// Returns the headers of one request.
    fn authorize<'a>(&'a self, request: &RequestTarget<'a>) -> Authorizing<'a>;

    /// Decides how to proceed after a refusal with status 401 or 403.
    fn on_refusal<'a>(&'a self, refusal: RequestRefusal<'a>) -> Deciding<'a>;

    /// Takes a nonce that came with an answer (RFC 9449, 8.2).
    fn note_nonce(&self, nonce: &str) {
        let _ = nonce;
    }

    /// Waits for work that must not be interrupted, such as renewing a token.
    fn settle(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::ready(()))
    }
}

/// The headers of a request, now or later.
pub enum Authorizing<'a> {
    /// Known without waiting.
    Ready(Result<RequestAuthorization, AuthError>),
    /// Needs a request or a look into the store first.
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
    /// Creates a target from a method and an address.
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
    /// No headers.
    pub fn none() -> Self {
        Self::default()
    }

    /// Creates an `Authorization` header from its whole value, such as `Bearer abc`.
    ///
    /// # Errors
    /// Fails when it cannot be sent in a header.
    pub fn header(value: &Secret<String>) -> Result<Self, AuthError> {
        Ok(Self {
            authorization: Some(sensitive(value)?),
            ..Self::default()
        })
    }

    /// Adds a DPoP proof (RFC 9449).
    pub(crate) fn with_proof(mut self, proof: &Secret<String>) -> Result<Self, AuthError> {
        self.proof = Some(sensitive(proof)?);
        Ok(self)
    }

    /// Sets the number of the token, so that a refusal can be matched to it.
    #[must_use]
    pub fn generation(mut self, generation: u64) -> Self {
        self.generation = generation;
        self
    }

    /// The number of the token.
    pub fn number(&self) -> u64 {
        self.generation
    }

    /// Returns true if there is a header.
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
pub struct RequestRefusal<'a> {
    /// The status, 401 or 403.
    pub status: u16,
    /// The challenges of the server.
    pub challenges: Vec<Challenge>,
    /// The nonce that the server gave.
    pub nonce: Option<String>,
    /// The headers that were sent.
    pub used: &'a RequestAuthorization,
    /// The number of repetitions of this request after refusals with this status.
    pub repeated: u32,
}

impl<'a> RequestRefusal<'a> {
    /// Creates a refusal of a request that was sent with these headers.
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

/// The reaction to a refusal.
#[derive(Debug)]
pub enum Decision {
    /// Send the request again, with new headers.
    Retry,
    /// Fail the request with this error.
    GiveUp(AuthError),
    /// Leave the refusal as it is: it is not about this kind of authorization.
    Pass,
}
