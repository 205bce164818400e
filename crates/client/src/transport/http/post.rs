//! Requests to an API that is not an MCP server, such as a model's.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use switchboard_core::limits::Budget;
use switchboard_core::secret::{SafeUrl, Secret};
use switchboard_core::spec::AddressRange;

use super::body::{Bounds, whole};
use super::client::{Client, Proxy};
use super::fetch::{Failed, Request};
use super::guard::Reach;
use super::{HttpError, dial, retry};
use crate::transport::Fault;

/// Maximum wait that is accepted from `Retry-After`.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// Posts JSON to a URL that the person wrote. Follows no redirects and never sends twice.
#[derive(Clone)]
pub struct Post {
    url: SafeUrl,
    headers: HeaderMap,
    client: Client,
}

/// A response, whatever its status.
pub struct Posted {
    /// The status.
    pub status: u16,
    /// The wait that the server asks for.
    pub retry_after: Option<Duration>,
    /// The body, within the limit.
    pub body: Vec<u8>,
}

impl Post {
    /// Creates requests to that URL. Sends nothing yet.
    ///
    /// # Errors
    /// Fails when it is not a URL, or requests to it are forbidden.
    pub fn to(url: &str, allowed: &[AddressRange]) -> Result<Self, HttpError> {
        let url = SafeUrl::parse(url).map_err(HttpError::Url)?;
        dial::check_url_allowing(url.expose(), Reach::Person, allowed)?;
        let client = Client::to(url.expose(), allowed);
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(Self {
            url,
            headers,
            client,
        })
    }

    /// Adds a sensitive header.
    ///
    /// # Errors
    /// Fails when the value is not a valid header value; the error does not show it.
    pub fn header(
        &mut self,
        name: &'static str,
        value: &Secret<String>,
    ) -> Result<(), &'static str> {
        let wrong = "a header has a value that cannot be sent";
        let mut value = HeaderValue::from_str(value.expose()).map_err(|_| wrong)?;
        value.set_sensitive(true);
        self.headers.insert(HeaderName::from_static(name), value);
        Ok(())
    }

    /// Sends through a proxy.
    pub fn set_proxy(&mut self, proxy: &Proxy) {
        self.client.set_proxy(proxy);
    }

    /// Trusts these certificates as well, in PEM.
    pub fn add_certificates(&mut self, pem: &[u8]) {
        self.client.add_certificates(pem);
    }

    /// The address, secrets redacted.
    pub fn url(&self) -> &SafeUrl {
        &self.url
    }

    /// Posts a body and reads the whole response, up to `limit_bytes`.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection; the server may have processed the request.
    ///
    /// # Errors
    /// Fails when there is no response, or it is too long.
    pub async fn send(&self, body: Vec<u8>, limit_bytes: usize) -> Result<Posted, PostError> {
        let fetch = self.client.get().map_err(PostError::Client)?;
        let request = Request {
            method: Method::POST,
            url: self.url.expose().clone(),
            headers: self.headers.clone(),
            body: Bytes::from(body),
        };
        let fault = |failed: Failed| {
            PostError::Fault(Fault {
                kind: failed.kind,
                sent: failed.sent,
                url: self.url.to_string(),
            })
        };
        let mut answer = fetch.fetch(request).await.map_err(fault)?;
        let wait = answer.header("retry-after");
        let retry_after =
            wait.and_then(|wait| retry::retry_after(wait, SystemTime::now(), LONGEST_WAIT));
        let bounds = Bounds {
            limit_bytes,
            budget: &Budget::of_process(),
        };
        let body = whole(&mut *answer.body, &bounds).await.map_err(fault)?;
        Ok(Posted {
            status: answer.status,
            retry_after,
            body,
        })
    }
}

/// The reason that there is no response.
#[derive(Debug)]
pub enum PostError {
    /// The client could not be created.
    Client(HttpError),
    /// The exchange failed.
    Fault(Fault),
}
