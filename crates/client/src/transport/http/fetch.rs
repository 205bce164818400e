//! One HTTP request and its response, behind a small trait: the seam to the HTTP client.

use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use reqwest::header::HeaderMap;
use reqwest::{Method, Url};

use super::dial::{DialError, find};
use crate::transport::{FaultKind, Sent};

/// An HTTP request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// A response whose body is still to be read.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Box<dyn Body>,
}

impl Response {
    /// A header as text; `None` if it is missing or not text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// A body that arrives in pieces.
pub(crate) trait Body: Send {
    /// Returns the next piece; `None` at the end. Cancel safe.
    fn chunk(&mut self) -> Chunk<'_>;
}

pub(crate) type Chunk<'a> =
    Pin<Box<dyn Future<Output = Result<Option<Bytes>, Failed>> + Send + 'a>>;
pub(crate) type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Response, Failed>> + Send + 'a>>;

/// The reason that there is no response.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) kind: FaultKind,
    pub(crate) sent: Sent,
}

/// Makes requests. Follows no redirects, decodes no encodings, repeats nothing.
pub(crate) trait Fetch: Send + Sync {
    /// Makes one request. Dropping the future closes its connection.
    fn fetch(&self, request: Request) -> Fetching<'_>;
}

impl Fetch for reqwest::Client {
    fn fetch(&self, request: Request) -> Fetching<'_> {
        // Assembled by hand: the client's builder would insert each header again.
        let mut whole = reqwest::Request::new(request.method, request.url);
        *whole.headers_mut() = request.headers;
        if !request.body.is_empty() {
            *whole.body_mut() = Some(request.body.into());
        }
        let answering = self.execute(whole);
        Box::pin(async move {
            let mut answer = answering.await.map_err(|error| failed(&error))?;
            Ok(Response {
                status: answer.status().as_u16(),
                headers: std::mem::take(answer.headers_mut()),
                body: Box::new(answer),
            })
        })
    }
}

impl Body for reqwest::Response {
    fn chunk(&mut self) -> Chunk<'_> {
        Box::pin(async move {
            let chunk = reqwest::Response::chunk(self).await;
            chunk.map_err(|error| failed(&error))
        })
    }
}

/// Classifies an error of the client.
fn failed(error: &reqwest::Error) -> Failed {
    let what = innermost(error);
    if !error.is_connect() {
        return Failed {
            kind: FaultKind::Interrupted { what },
            // A request that could not even be built has not left.
            sent: if error.is_builder() {
                Sent::Never
            } else {
                Sent::Maybe
            },
        };
    }
    let kind = if let Some(dial) = DialError::within(error) {
        match dial {
            DialError::Forbidden(forbidden) => FaultKind::Forbidden {
                what: forbidden.to_string(),
            },
            DialError::NoAddress { .. } | DialError::Lookup { .. } => FaultKind::Resolve { what },
        }
    } else if find::<rustls::Error>(error).is_some() {
        FaultKind::Tls { what }
    } else {
        FaultKind::Connect { what }
    };
    Failed {
        kind,
        sent: Sent::Never,
    }
}

/// The message of the innermost cause.
fn innermost(error: &dyn StdError) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
