//! Requests of the authorization flow, made by our HTTP client under the guard's rules.

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use switchboard_core::limits::Budget;
use switchboard_core::spec::AddressRange;

use super::body::{Bounds, whole};
use super::client::{Client, Proxy};
use super::fetch::{Failed, Request};
use super::guard::Reach;
use crate::auth::{AuthFetch, AuthFetchError, AuthFetching, AuthRequest, AuthResponse};
use crate::transport::{FaultKind, Sent};

/// Makes the requests of the authorization flow, with the configured proxy and certificates, but
/// without the headers that are configured for the server.
///
/// Each address is checked when its name is resolved, under the rules for the party that named it
/// (the person or a server).
#[derive(Clone)]
pub struct HttpAuthFetch {
    /// One client for each kind of address, without and with TLS.
    clients: Vec<(Reach, bool, Client)>,
    allowed: Vec<AddressRange>,
}

impl Default for HttpAuthFetch {
    fn default() -> Self {
        Self::new()
    }
}

impl HttpAuthFetch {
    /// Creates a client without a proxy, with the system's certificates.
    pub fn new() -> Self {
        Self::allowing(&[])
    }

    /// Creates a client that may also use addresses which the person allowed.
    pub fn allowing(allowed: &[AddressRange]) -> Self {
        let mut clients = Vec::new();
        // A client for each: the addresses that may be reached are a property of its connector.
        for reach in [Reach::Person, Reach::Server, Reach::LocalServer] {
            for is_plain in [false, true] {
                let client = Client::reaching(reach, is_plain, allowed);
                clients.push((reach, is_plain, client));
            }
        }
        Self {
            clients,
            allowed: allowed.to_vec(),
        }
    }

    /// Sets the proxy.
    #[must_use]
    pub fn proxy(mut self, proxy: &Proxy) -> Self {
        for (_, _, client) in &mut self.clients {
            client.set_proxy(proxy);
        }
        self
    }

    /// Trusts these certificates too: a file's text, in PEM.
    #[must_use]
    pub fn certificates(mut self, pem: &[u8]) -> Self {
        for (_, _, client) in &mut self.clients {
            client.add_certificates(pem);
        }
        self
    }

    async fn send(&self, request: AuthRequest) -> Result<AuthResponse, AuthFetchError> {
        let unsendable = |what: &str| AuthFetchError::NotSent(what.to_owned());
        let url = request.url.expose().clone();
        let is_plain = url.scheme() == "http";
        let mut clients = self.clients.iter();
        let client =
            clients.find(|(reach, plain, _)| *reach == request.reach && *plain == is_plain);
        let (_, _, client) = client.ok_or_else(|| unsendable("no client for such an address"))?;
        let client = client.get();
        let client = client.map_err(|error| AuthFetchError::NotSent(error.to_string()))?;
        let mut headers = HeaderMap::new();
        for (name, value) in &request.headers {
            let value = HeaderValue::from_str(value.expose());
            let mut value = value.map_err(|_| unsendable("a header cannot be sent"))?;
            // Kept out of the debug output and of the compression tables of HTTP/2.
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        let (method, body) = match &request.body {
            Some(body) => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static(body.content_type));
                (Method::POST, Bytes::copy_from_slice(body.content.expose()))
            }
            None => (Method::GET, Bytes::new()),
        };
        let sent = Request {
            method,
            url,
            headers,
            body,
        };
        let mut answer = client.fetch(sent).await.map_err(failed)?;
        let bounds = Bounds {
            limit_bytes: request.limit_bytes,
            budget: &Budget::of_process(),
        };
        let body = whole(&mut *answer.body, &bounds).await.map_err(failed)?;
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = answer.headers.iter();
        let headers = headers.map(|(name, value)| (name.as_str().to_owned(), text(value)));
        Ok(AuthResponse::new(answer.status, headers.collect(), body))
    }
}

impl AuthFetch for HttpAuthFetch {
    fn fetch(&self, request: AuthRequest) -> AuthFetching<'_> {
        Box::pin(async move {
            let longest = request.timeout;
            let answer = tokio::time::timeout(longest, self.send(request)).await;
            answer.unwrap_or(Err(AuthFetchError::TimedOut(longest)))
        })
    }

    fn allowed(&self) -> &[AddressRange] {
        &self.allowed
    }
}

impl std::fmt::Debug for HttpAuthFetch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpAuthFetch").finish_non_exhaustive()
    }
}

fn failed(failed: Failed) -> AuthFetchError {
    match failed.kind {
        FaultKind::Forbidden { what } => AuthFetchError::Forbidden(what),
        FaultKind::TooLarge { limit_bytes } => AuthFetchError::TooLarge { limit_bytes },
        FaultKind::Resolve { what }
        | FaultKind::Connect { what }
        | FaultKind::Tls { what }
        | FaultKind::Interrupted { what } => match failed.sent {
            // The difference matters for tokens: a refresh that was never sent may be repeated.
            Sent::Never => AuthFetchError::NotSent(what),
            Sent::Maybe | Sent::Answered => AuthFetchError::Interrupted(what),
        },
        _ => AuthFetchError::Interrupted("the connection was lost".to_owned()),
    }
}
