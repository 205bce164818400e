//! HTTP transports: servers that are reached by URL.
//!
//! [`Http`] speaks streamable HTTP in either era, and falls back to HTTP+SSE if a server knows
//! nothing else; [`LegacySse`] begins with the latter. Both send the configured headers to the
//! origin that the person named, and to no other: redirects stay within it, and so does the
//! endpoint that an HTTP+SSE server announces.
//!
//! `streamable` and `legacy_sse` implement the exchanges on top of `inner`, which makes authorized
//! requests. `guard` has the rules for addresses and `dial` enforces them at every connection;
//! `fetch` is the seam to the HTTP client. `answer` classifies responses, `sse` and `events` read
//! streams, `retry` decides about repetitions.

mod answer;
#[cfg(feature = "auth")]
mod auth_fetch;
#[cfg(feature = "auth")]
mod authorized;
mod body;
mod client;
mod dial;
mod events;
mod fetch;
pub mod guard;
mod headers;
mod inner;
mod legacy;
mod legacy_sse;
mod listen;
mod mirror;
mod post;
mod resume;
mod retry;
pub mod sse;
mod streamable;
mod tail;
mod tapped;

use std::fmt;
use std::sync::{Arc, OnceLock};

use switchboard_core::limits::Limits;
use switchboard_core::secret::SafeUrl;
use switchboard_core::spec::AddressRange;

#[cfg(feature = "auth")]
pub use auth_fetch::HttpAuthFetch;
pub use client::Proxy;
pub use post::{Post, PostError, Posted};

pub use headers::{Header, HeaderError, HeaderOwner, Headers, IdRule};

use client::Client;
use guard::{Forbidden, Reach};
use inner::Inner;
use legacy_sse::SseExchange;
use streamable::Streamable;

use super::{Connect, Connecting, Link};
#[cfg(feature = "auth")]
use crate::auth::Authorize;

/// Permits or refuses streams as answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Streams {
    /// Streams are accepted.
    #[default]
    Welcome,
    /// A stream is an error, and none is requested.
    Refused,
}

/// Follows or refuses redirects. One that leaves the origin is always refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Redirects {
    /// A redirect within the origin is followed.
    #[default]
    Follow,
    /// Every redirect is an error.
    Refuse,
}

/// The reason that a server cannot be reached as it is described.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The text is not a URL.
    #[error("not a URL")]
    Url(#[source] url::ParseError),
    /// The address is forbidden.
    #[error("{0}")]
    Forbidden(#[from] Forbidden),
    /// A header cannot be sent.
    #[error("{0}")]
    Header(#[from] HeaderError),
    /// The extra certificates cannot be read, or the client cannot be made.
    #[error("{0}")]
    Client(String),
}

/// Connects to a server at a URL: streamable HTTP in either era, with HTTP+SSE as the fallback.
///
/// ```
/// use switchboard_client::transport::{Header, Http};
///
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Http::new("https://example.com/mcp")?
///     .header(Header::parse("Authorization: Bearer 1234")?)?;
/// # drop(server);
/// # Ok(())
/// # }
/// # example().unwrap();
/// ```
#[derive(Clone)]
pub struct Http {
    settings: Settings,
    older: Option<Box<LegacySse>>,
}

/// Connects to a server that speaks HTTP+SSE, the transport of 2024-11-05.
#[derive(Clone)]
pub struct LegacySse {
    settings: Settings,
}

#[derive(Clone)]
struct Settings {
    url: SafeUrl,
    headers: Headers,
    id_rule: IdRule,
    redirects: Redirects,
    streams: Streams,
    limits: Limits,
    client: Client,
    #[cfg(feature = "auth")]
    authorization: Option<Arc<dyn Authorize>>,
}

impl Settings {
    fn new(url: &str, allowed: &[AddressRange]) -> Result<Self, HttpError> {
        let url = SafeUrl::parse(url).map_err(HttpError::Url)?;
        dial::check_url_allowing(url.expose(), Reach::Person, allowed)?;
        let client = Client::to(url.expose(), allowed);
        Ok(Self {
            url,
            headers: Headers::default(),
            id_rule: IdRule::default(),
            redirects: Redirects::default(),
            streams: Streams::default(),
            limits: Limits::default(),
            client,
            #[cfg(feature = "auth")]
            authorization: None,
        })
    }

    fn inner(&self) -> Result<Arc<Inner>, super::ConnectError> {
        let fetch = self.client.get().map_err(super::ConnectError::other)?;
        Ok(Arc::new(Inner {
            url: self.url.clone(),
            headers: self.headers.clone(),
            id_rule: self.id_rule,
            redirects: self.redirects,
            streams: self.streams,
            limits: self.limits.clone(),
            fetch,
            attempts: self.client.attempts(&self.limits),
            of_message: OnceLock::new(),
            #[cfg(feature = "auth")]
            authorization: self.hook(),
        }))
    }
}

#[cfg(feature = "auth")]
impl Settings {
    /// The authorization hook, unless an `Authorization` header is configured.
    fn hook(&self) -> Option<Arc<dyn Authorize>> {
        let mut headers = self.headers.iter();
        if headers.any(|header| header.name() == "authorization") {
            return None;
        }
        self.authorization.clone()
    }
}

macro_rules! settings {
    ($kind:ident) => {
        impl $kind {
            /// Adds a header to every request, at the configured origin only.
            ///
            /// # Errors
            /// Fails when there are too many.
            pub fn header(mut self, header: Header) -> Result<Self, HttpError> {
                self.change(|settings| settings.headers.push(header.clone()))?;
                Ok(self)
            }

            /// Sets the limits of answers and streams.
            #[must_use]
            pub fn limits(mut self, limits: &Limits) -> Self {
                self.set(|settings| settings.limits = limits.clone());
                self
            }

            /// Sets the characters that a session id may have.
            #[must_use]
            pub fn session_ids(mut self, rule: IdRule) -> Self {
                self.set(|settings| settings.id_rule = rule);
                self
            }

            /// Follows or refuses redirects.
            #[must_use]
            pub fn redirects(mut self, redirects: Redirects) -> Self {
                self.set(|settings| settings.redirects = redirects);
                self
            }

            /// Sets the proxy; without it requests go out directly.
            #[must_use]
            pub fn proxy(mut self, proxy: &Proxy) -> Self {
                self.set(|settings| settings.client.set_proxy(proxy));
                self
            }

            /// Trusts these certificates too: a file's text, in PEM.
            #[must_use]
            pub fn certificates(mut self, pem: &[u8]) -> Self {
                self.set(|settings| settings.client.add_certificates(pem));
                self
            }

            /// Authorizes every request with a hook, unless an `Authorization` header is
            /// configured.
            #[cfg(feature = "auth")]
            #[must_use]
            pub fn authorization(mut self, authorize: Arc<dyn Authorize>) -> Self {
                self.set(|settings| settings.authorization = Some(Arc::clone(&authorize)));
                self
            }

            fn set(&mut self, change: impl Fn(&mut Settings)) {
                let changed: Result<(), std::convert::Infallible> = self.change(|settings| {
                    change(settings);
                    Ok(())
                });
                let Ok(()) = changed;
            }
        }
    };
}

settings!(Http);
settings!(LegacySse);

impl Http {
    /// Creates a transport to that URL. Sends nothing yet.
    ///
    /// # Errors
    /// Fails when it is not a URL, or requests to it are forbidden.
    pub fn new(url: &str) -> Result<Self, HttpError> {
        Self::allowing(url, &[])
    }

    /// Creates a transport that may also use addresses which the person allowed: see
    /// [`guard::permit_address`].
    ///
    /// # Errors
    /// Fails when it is not a URL, or requests to it are forbidden.
    pub fn allowing(url: &str, allowed: &[AddressRange]) -> Result<Self, HttpError> {
        let settings = Settings::new(url, allowed)?;
        let older = Some(Box::new(LegacySse {
            settings: settings.clone(),
        }));
        Ok(Self { settings, older })
    }

    /// Permits or refuses streams as answers. Without streams the HTTP+SSE fallback, which needs
    /// one, is not tried either.
    #[must_use]
    pub fn streams(mut self, streams: Streams) -> Self {
        self.settings.streams = streams;
        if streams == Streams::Refused {
            self.older = None;
        }
        self
    }

    fn change<E>(&mut self, change: impl Fn(&mut Settings) -> Result<(), E>) -> Result<(), E> {
        if let Some(older) = &mut self.older {
            older.change(&change)?;
        }
        change(&mut self.settings)
    }
}

impl LegacySse {
    /// Creates a transport to that URL. Sends nothing yet.
    ///
    /// # Errors
    /// Fails when it is not a URL, or requests to it are forbidden.
    pub fn new(url: &str) -> Result<Self, HttpError> {
        Self::allowing(url, &[])
    }

    /// Creates a transport that may also use addresses which the person allowed: see
    /// [`guard::permit_address`].
    ///
    /// # Errors
    /// Fails when it is not a URL, or requests to it are forbidden.
    pub fn allowing(url: &str, allowed: &[AddressRange]) -> Result<Self, HttpError> {
        Ok(Self {
            settings: Settings::new(url, allowed)?,
        })
    }

    fn change<E>(&mut self, change: impl Fn(&mut Settings) -> Result<(), E>) -> Result<(), E> {
        change(&mut self.settings)
    }
}

impl Connect for Http {
    fn connect(&self) -> Connecting<'_> {
        let inner = self.settings.inner();
        Box::pin(async move { Ok(Link::of_exchange(Streamable::new(inner?))) })
    }

    fn identity(&self) -> String {
        format!("http:{}", self.settings.url)
    }

    fn fallback(&self) -> Option<&dyn Connect> {
        self.older.as_deref().map(|older| older as &dyn Connect)
    }
}

impl Connect for LegacySse {
    fn connect(&self) -> Connecting<'_> {
        let inner = self.settings.inner();
        Box::pin(async move { Ok(Link::of_exchange(SseExchange::new(inner?))) })
    }

    fn identity(&self) -> String {
        format!("sse:{}", self.settings.url)
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(f, "Http")
    }
}

impl fmt::Debug for LegacySse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(f, "LegacySse")
    }
}

impl Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        f.debug_struct(name)
            .field("url", &self.url)
            .field("headers", &self.headers)
            .field("streams", &self.streams)
            .finish_non_exhaustive()
    }
}
