//! Servers that are reached by URL.
//!
//! [`Http`] speaks streamable HTTP in either era, and falls back to the older transport where a
//! server knows nothing else; [`LegacySse`] begins with the older one. Both send what the person
//! configured to the origin that the person named, and to no other: redirects stay within it, and so
//! does the address that an older server wants its messages posted to.
//!
//! `guard` says where a request may go, `dial` holds every connection to it, `fetch` is the seam to
//! the HTTP client. What each answer means is in `answer`, streams are read by `sse` and `events`.

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
mod listen;
mod mirror;
mod old_sse;
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

pub use headers::{Header, HeaderError, Headers, IdRule, Owner as HeaderOwner};

use client::Client;
use guard::{Forbidden, Reach};
use inner::Inner;
use old_sse::OldSse;
use streamable::Streamable;

use super::{Connect, Connecting, Link};
#[cfg(feature = "auth")]
use crate::auth::Authorize;

/// Whether a server may answer with a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Streams {
    /// It may.
    #[default]
    Welcome,
    /// A stream is an error, and none is asked for.
    Refused,
}

/// Why a server cannot be reached as it is described.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// What is there is no URL.
    #[error("not a URL")]
    Url(#[source] url::ParseError),
    /// Nothing may be sent there.
    #[error("{0}")]
    Forbidden(#[from] Forbidden),
    /// A header cannot be sent.
    #[error("{0}")]
    Header(#[from] HeaderError),
    /// The extra certificates cannot be read, or the client cannot be made.
    #[error("{0}")]
    Client(String),
}

/// Connects to a server at a URL: streamable HTTP in either era, or what came before it.
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

/// Connects to a server that speaks HTTP with Server-Sent Events as 2024-11-05 had it.
#[derive(Clone)]
pub struct LegacySse {
    settings: Settings,
}

#[derive(Clone)]
struct Settings {
    url: SafeUrl,
    headers: Headers,
    id_rule: IdRule,
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
    /// The hook, unless a header is configured that does its work.
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
            /// Adds a header to every request, at the configured origin and nowhere else.
            ///
            /// # Errors
            /// When there are too many.
            pub fn header(mut self, header: Header) -> Result<Self, HttpError> {
                self.change(|settings| settings.headers.push(header.clone()))?;
                Ok(self)
            }

            /// Sets what bounds answers and streams.
            #[must_use]
            pub fn limits(mut self, limits: &Limits) -> Self {
                self.set(|settings| settings.limits = limits.clone());
                self
            }

            /// Sets what a session id may be made of.
            #[must_use]
            pub fn session_ids(mut self, rule: IdRule) -> Self {
                self.set(|settings| settings.id_rule = rule);
                self
            }

            /// Sets by which proxy requests go; by none unless it is said.
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

            /// Has every request authorized, unless an `Authorization` header is configured.
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
    /// A server at that URL. Nothing is sent before it is connected to.
    ///
    /// # Errors
    /// When that is no URL, or one to which nothing may be sent.
    pub fn new(url: &str) -> Result<Self, HttpError> {
        Self::allowing(url, &[])
    }

    /// The same, where the person allows addresses that are refused otherwise: see
    /// [`guard::permit_address`].
    ///
    /// # Errors
    /// When that is no URL, or one to which nothing may be sent.
    pub fn allowing(url: &str, allowed: &[AddressRange]) -> Result<Self, HttpError> {
        let settings = Settings::new(url, allowed)?;
        let older = Some(Box::new(LegacySse {
            settings: settings.clone(),
        }));
        Ok(Self { settings, older })
    }

    /// Sets whether the server may answer with streams. Without them the older transport, which is
    /// made of one, is not tried either.
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
    /// A server at that URL. Nothing is sent before it is connected to.
    ///
    /// # Errors
    /// When that is no URL, or one to which nothing may be sent.
    pub fn new(url: &str) -> Result<Self, HttpError> {
        Self::allowing(url, &[])
    }

    /// The same, where the person allows addresses that are refused otherwise: see
    /// [`guard::permit_address`].
    ///
    /// # Errors
    /// When that is no URL, or one to which nothing may be sent.
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

    fn otherwise(&self) -> Option<&dyn Connect> {
        self.older.as_deref().map(|older| older as &dyn Connect)
    }
}

impl Connect for LegacySse {
    fn connect(&self) -> Connecting<'_> {
        let inner = self.settings.inner();
        Box::pin(async move { Ok(Link::of_exchange(OldSse::new(inner?))) })
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
