//! One request over HTTP and its answer, behind a small trait.

use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use reqwest::header::HeaderMap;
use reqwest::{Method, Url};

use super::dial::{DialError, find};
use crate::transport::{FaultKind, Sent};

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// An answer whose body is still to come.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Box<dyn Body>,
}

impl Response {
    /// A header as text; nothing where it is not there or is no text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// A body that comes in pieces.
pub(crate) trait Body: Send {
    /// The next piece; `None` at the end. Dropping the future loses nothing.
    fn chunk(&mut self) -> Chunk<'_>;
}

pub(crate) type Chunk<'a> =
    Pin<Box<dyn Future<Output = Result<Option<Bytes>, Failed>> + Send + 'a>>;
pub(crate) type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Response, Failed>> + Send + 'a>>;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) kind: FaultKind,
    pub(crate) sent: Sent,
}

/// Makes requests. Follows no redirect, decodes nothing, asks nobody else.
pub(crate) trait Fetch: Send + Sync {
    /// Makes one request. Dropping the future closes its connection.
    fn fetch(&self, request: Request) -> Fetching<'_>;
}

impl Fetch for reqwest::Client {
    fn fetch(&self, request: Request) -> Fetching<'_> {
        // Put together by hand: the client's own builder would insert each header anew.
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

/// What an error of the client's means.
fn failed(error: &reqwest::Error) -> Failed {
    let what = innermost(error);
    if !error.is_connect() {
        return Failed {
            kind: FaultKind::Interrupted { what },
            sent: match error.is_builder() {
                true => Sent::Never,
                false => Sent::Maybe,
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

/// The words of the cause behind all others.
fn innermost(error: &dyn StdError) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
