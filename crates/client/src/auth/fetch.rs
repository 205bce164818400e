//! The seam to HTTP: requests of the authorization flow, with their addresses checked by the guard.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use switchboard_core::secret::{SafeUrl, Secret};
use switchboard_core::spec::AddressRange;
use url::Url;

use crate::auth_error::{AuthError, Purpose};
use crate::transport::guard::{self, Forbidden, Origin, Reach};

/// Maximum number of redirects of one request.
const REDIRECTS: usize = 5;
/// Maximum length of an address in a document.
const URL_BYTES: usize = 8 * 1024;

/// A request being made.
pub type AuthFetching<'a> =
    Pin<Box<dyn Future<Output = Result<AuthResponse, AuthFetchError>> + Send + 'a>>;

/// Makes the requests of the authorization flow.
///
/// [`HttpAuthFetch`](crate::transport::HttpAuthFetch) is the implementation for production. An
/// implementation sends exactly what it is given: no cookies, no configured headers, and it follows
/// no redirects.
pub trait AuthFetch: Send + Sync {
    /// Makes one request. Dropping the future closes its connection.
    fn fetch(&self, request: AuthRequest) -> AuthFetching<'_>;

    /// Addresses that the person allowed besides the permitted ones.
    fn allowed(&self) -> &[AddressRange] {
        &[]
    }
}

/// One request of the authorization flow.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AuthRequest {
    /// The purpose.
    pub purpose: Purpose,
    /// The address.
    pub url: SafeUrl,
    /// The party that named the address.
    pub reach: Reach,
    /// The body and its type; a GET without one.
    pub body: Option<AuthBody>,
    /// Headers, besides those of the transfer.
    pub headers: Vec<(&'static str, Secret<String>)>,
    /// Maximum length of the answer.
    pub limit_bytes: usize,
    /// Maximum time, including the answer.
    pub timeout: Duration,
}

/// The body of a request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AuthBody {
    /// The content type.
    pub content_type: &'static str,
    /// The body.
    pub content: Secret<Vec<u8>>,
}

/// An answer, whatever its status.
#[derive(Clone)]
#[non_exhaustive]
pub struct AuthResponse {
    /// The status.
    pub status: u16,
    /// Headers by names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, within the limit.
    pub body: Secret<Vec<u8>>,
}

impl AuthResponse {
    /// Creates an answer.
    pub fn new(status: u16, headers: Vec<(String, String)>, body: Vec<u8>) -> Self {
        Self {
            status,
            headers,
            body: Secret::new(body),
        }
    }

    /// The first header of that name, in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| value.as_str())
    }

    pub(crate) fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }
}

impl fmt::Debug for AuthResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthResponse")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

/// The reason that there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthFetchError {
    /// The address may not be connected to.
    #[error("{0}")]
    Forbidden(String),
    /// No byte of the request left.
    #[error("{0}")]
    NotSent(String),
    /// The request left, and may have been processed.
    #[error("{0}")]
    Interrupted(String),
    /// The answer took too long.
    #[error("it took longer than {} s", .0.as_secs())]
    TimedOut(Duration),
    /// The answer is longer than the limit.
    #[error("the answer is longer than {limit_bytes} bytes")]
    TooLarge {
        /// The limit.
        limit_bytes: usize,
    },
}

/// An address of an authorization server, and the party that named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) url: SafeUrl,
    pub(crate) reach: Reach,
}

impl Endpoint {
    /// Parses an address from a document or a setting.
    ///
    /// # Errors
    /// Fails when it may not be used.
    pub(crate) fn parse(
        purpose: Purpose,
        text: &str,
        reach: impl FnOnce(&Url) -> Reach,
        allowed: &[AddressRange],
    ) -> Result<Self, AuthError> {
        let refuse = |why: String| AuthError::Forbidden {
            purpose,
            url: String::new(),
            why,
        };
        if text.len() > URL_BYTES {
            let why = format!("its address is longer than {URL_BYTES} bytes");
            return Err(refuse(why));
        }
        let url = Url::parse(text).map_err(|_| refuse("its address is not a URL".to_owned()))?;
        let reach = reach(&url);
        check(purpose, &url, reach, allowed)?;
        Ok(Self {
            url: SafeUrl::from(url),
            reach,
        })
    }
}

/// Checks an address before it is used: encrypted unless it is on this machine, and permitted by
/// the guard.
///
/// # Errors
/// Fails when it may not be used.
pub(crate) fn check(
    purpose: Purpose,
    url: &Url,
    reach: Reach,
    allowed: &[AddressRange],
) -> Result<Origin, AuthError> {
    let refuse = |why: Forbidden| AuthError::Forbidden {
        purpose,
        url: SafeUrl::from(url.clone()).to_string(),
        why: why.to_string(),
    };
    // The guard's rules first, then the two stricter ones of OAuth.
    let origin = guard::check_url_allowing(url, reach, allowed).map_err(refuse)?;
    // Other names are checked when they are resolved; loopback is known without that.
    if reach == Reach::Server && origin.is_loopback() {
        return Err(AuthError::Forbidden {
            purpose,
            url: SafeUrl::from(url.clone()).to_string(),
            why: "a server that is elsewhere names this machine".to_owned(),
        });
    }
    // The person may configure a server without TLS in their own network, but codes and tokens are
    // never sent that way.
    if !origin.is_tls() && !origin.is_loopback() {
        let host = origin.host();
        return Err(refuse(Forbidden::Insecure { host }));
    }
    Ok(origin)
}

/// Sends a request after checking its address. A GET follows redirects within its origin.
///
/// # Errors
/// Fails when the address may not be used, or there is no answer.
pub(crate) async fn send(
    fetch: &dyn AuthFetch,
    mut request: AuthRequest,
) -> Result<AuthResponse, AuthError> {
    for _ in 0..=REDIRECTS {
        let (purpose, url) = (request.purpose, request.url.clone());
        // Checked for every hop: a redirect could lead to a forbidden address.
        check(purpose, url.expose(), request.reach, fetch.allowed())?;
        let is_get = request.body.is_none();
        let again = request.clone();
        let answer = fetch.fetch(request).await;
        let answer = answer.map_err(|error| failed(purpose, &url, &error))?;
        if !matches!(answer.status, 300..=399) {
            return Ok(answer);
        }
        let elsewhere = |why: String| AuthError::Forbidden {
            purpose,
            url: url.to_string(),
            why,
        };
        if !is_get || !matches!(answer.status, 301 | 302 | 307 | 308) {
            // A request with a body carries secrets: only the metadata may decide where it goes.
            let why = format!("it answers with status {}, a redirect", answer.status);
            return Err(elsewhere(why));
        }
        let location = answer.header("location").unwrap_or_default();
        let next = guard::same_origin(url.expose(), location);
        request = AuthRequest {
            url: SafeUrl::from(next.map_err(|why| elsewhere(why.to_string()))?),
            ..again
        };
    }
    Err(AuthError::Forbidden {
        purpose: request.purpose,
        url: request.url.to_string(),
        why: format!("more than {REDIRECTS} redirects"),
    })
}

/// A document that an issuer publishes, such as its metadata or its keys.
#[derive(Debug, Clone, Copy)]
pub struct PublishedDocument<'a> {
    /// The purpose.
    pub purpose: Purpose,
    /// The address.
    pub url: &'a str,
    /// The address of the document that named this one; `None` if the person did.
    pub named_by: Option<&'a str>,
    /// Maximum length.
    pub limit_bytes: usize,
    /// Maximum time for one request.
    pub timeout: Duration,
}

/// Gets a document that an issuer publishes. Its address has to be encrypted or on this machine; one that another
/// document named has to be at the origin of that, or a public one.
///
/// # Errors
/// Fails when the address may not be used, when there is no answer, or when it is not a success.
pub async fn fetch_published(
    fetch: &dyn AuthFetch,
    document: PublishedDocument<'_>,
) -> Result<Vec<u8>, AuthError> {
    let PublishedDocument {
        purpose,
        url,
        named_by,
        limit_bytes,
        timeout,
    } = document;
    let named = |url: &Url| match named_by {
        None => Reach::Person,
        Some(by) => {
            let origin = Url::parse(by).ok().and_then(|by| Origin::of(&by).ok());
            origin.map_or(Reach::Server, |origin| origin.reach(url))
        }
    };
    let endpoint = Endpoint::parse(purpose, url, named, fetch.allowed())?;
    let request = AuthRequest {
        purpose,
        url: endpoint.url,
        reach: endpoint.reach,
        body: None,
        headers: vec![("accept", Secret::new("application/json".to_owned()))],
        limit_bytes,
        timeout,
    };
    let answer = send(fetch, request).await?;
    if answer.is_success() {
        return Ok(answer.body.expose().clone());
    }
    Err(AuthError::Metadata {
        purpose,
        url: url.to_owned(),
        problem: format!("it answers with status {}", answer.status),
    })
}

fn failed(purpose: Purpose, url: &SafeUrl, error: &AuthFetchError) -> AuthError {
    let (url, why) = (url.to_string(), error.to_string());
    match error {
        AuthFetchError::Forbidden(_) => AuthError::Forbidden { purpose, url, why },
        AuthFetchError::TooLarge { .. } => AuthError::Metadata {
            purpose,
            url,
            problem: why,
        },
        AuthFetchError::NotSent(_) => AuthError::Unreachable {
            purpose,
            url,
            why,
            maybe_processed: false,
        },
        AuthFetchError::Interrupted(_) | AuthFetchError::TimedOut(_) => AuthError::Unreachable {
            purpose,
            url,
            why,
            maybe_processed: true,
        },
    }
}
