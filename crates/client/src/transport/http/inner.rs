//! State that all exchanges of one connection share: URL, headers, limits, client, authorization.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use switchboard_core::limits::{Budget, Limits};
use switchboard_core::secret::SafeUrl;
use switchboard_wire::{Discover, Initialize, Method as _, Version};
use tokio::time::Instant;

use super::body::Bounds;
use super::fetch::{Failed, Fetch, Request, Response};
use super::guard;
use super::headers::{Headers, IdRule};
use super::retry::{self, Attempts, Backoff, Failure};
use crate::transport::{FailedRequest, Fault, FaultKind, Sent};

pub(crate) const BOTH: &str = "application/json, text/event-stream";
pub(crate) const STREAM: &str = "text/event-stream";

/// The shared state of one HTTP connection. Every request goes out through [`Inner::fetch`], which
/// authorizes it and follows redirects within the origin.
pub(crate) struct Inner {
    pub(crate) url: SafeUrl,
    pub(crate) headers: Headers,
    pub(crate) id_rule: IdRule,
    pub(crate) redirects: super::Redirects,
    pub(crate) streams: super::Streams,
    pub(crate) limits: Limits,
    pub(crate) fetch: Arc<dyn Fetch>,
    /// The counter of recent attempts, shared with other connections to the URL.
    pub(crate) attempts: Arc<Mutex<Attempts>>,
    /// The headers of a POST with a message, built once.
    pub(crate) of_message: OnceLock<HeaderMap>,
    /// Authorizes every request.
    #[cfg(feature = "auth")]
    pub(crate) authorization: Option<Arc<dyn crate::auth::Authorize>>,
}

impl Inner {
    /// The headers of every request: those of the person, and `Accept`.
    pub(crate) fn headers(&self, accept: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(16);
        self.headers.append_to(&mut headers);
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        headers
    }

    /// The headers of a POST with a message.
    pub(crate) fn headers_of_message(&self) -> HeaderMap {
        let made = self.of_message.get_or_init(|| {
            let mut headers = self.headers(BOTH);
            let json = HeaderValue::from_static("application/json");
            headers.insert(CONTENT_TYPE, json);
            headers
        });
        made.clone()
    }

    /// Makes a request, authorizes it, and follows redirects within the origin.
    ///
    /// `request` builds the request again for each URL, so that the nearly all requests without a
    /// redirect are not copied.
    pub(crate) async fn fetch(
        &self,
        url: &Url,
        request: impl Fn(Url) -> Request,
    ) -> Result<Response, Fault> {
        let mut at = Cow::Borrowed(url);
        let mut hops = 0;
        #[cfg(feature = "auth")]
        let mut authorized = super::authorized::Authorized::default();
        loop {
            let mut outgoing = request(Url::clone(&at));
            self.headers.replace_in(&mut outgoing.headers);
            #[cfg(feature = "auth")]
            let outgoing = match &self.authorization {
                // For each hop anew: a DPoP proof is made for one URL.
                Some(hook) => authorized.prepare(self, &**hook, outgoing).await?,
                None => outgoing,
            };
            let response = self.fetch.fetch(outgoing).await;
            let response = response.map_err(|failed| self.fault(failed))?;
            #[cfg(feature = "auth")]
            let response = match &self.authorization {
                Some(hook) => match authorized.review(self, &**hook, response).await? {
                    Some(response) => response,
                    None => continue,
                },
                None => response,
            };
            // The hook before redirects: a 401 is an answer of this hop.
            if !matches!(response.status, 300..=399) {
                return Ok(response);
            }
            let status = response.status;
            let location = response.headers.get(LOCATION);
            let location = location
                .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
                .unwrap_or_default();
            let target = match self.redirects {
                super::Redirects::Follow => {
                    let target = guard::redirect(&at, status, &location, hops);
                    target.map_err(|why| why.to_string())
                }
                super::Redirects::Refuse => Err("redirects are not followed here".to_owned()),
            };
            at = match target {
                Ok(url) => Cow::Owned(url),
                Err(what) => {
                    return Err(self.fault(Failed {
                        kind: FaultKind::Redirect {
                            status,
                            location,
                            what,
                        },
                        sent: Sent::Answered,
                    }));
                }
            };
            hops += 1;
        }
    }

    pub(crate) fn fault(&self, failed: Failed) -> Fault {
        Fault {
            kind: failed.kind,
            sent: failed.sent,
            url: self.url.to_string(),
        }
    }

    /// The fault of an answer that cannot be used.
    pub(crate) fn answer_fault(&self, kind: FaultKind) -> Fault {
        self.fault(Failed {
            kind,
            sent: Sent::Answered,
        })
    }

    /// The limits of an answer.
    pub(crate) fn bounds<'a>(&self, budget: &'a Budget) -> Bounds<'a> {
        Bounds {
            limit_bytes: self.limits.message_bytes,
            budget,
        }
    }

    pub(crate) fn url(&self) -> &Url {
        self.url.expose()
    }

    /// Waits for authorization work that must not be interrupted, such as a token renewal.
    pub(crate) async fn settle(&self) {
        #[cfg(feature = "auth")]
        if let Some(hook) = &self.authorization {
            hook.settle().await;
        }
    }

    /// Waits until the rate limit permits another attempt.
    pub(crate) async fn attempt(&self) {
        let returned = self.attempts().returned();
        loop {
            // Subscribe before asking, so that an attempt given back in between is not missed.
            let notified = returned.notified();
            let taken = self.attempts().take(Instant::now());
            match taken {
                Ok(()) => return,
                // Woken or timed out: ask again.
                Err(wait) => drop(tokio::time::timeout(wait, notified).await),
            }
        }
    }

    /// Counts an attempt that is made in any case.
    pub(crate) fn note_attempt(&self) {
        // Over the limit it is not counted; those that wait go on waiting.
        self.attempts().take(Instant::now()).ok();
    }

    /// Gives successful attempts back: the limit is about failing ones.
    pub(crate) fn give_back_attempts(&self, attempts: usize) {
        if attempts > 0 {
            self.attempts().give_back(attempts);
        }
    }

    fn attempts(&self) -> MutexGuard<'_, Attempts> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The wait before a request is sent again; `None` if it must not be.
    pub(crate) fn wait_before(&self, repeat: &FailedRequest<'_>) -> Option<Duration> {
        let (failure, asked) = match &repeat.fault.kind {
            FaultKind::Status {
                status,
                retry_after,
                ..
            } => {
                let status = Failure::Status {
                    status: *status,
                    retry_after: retry_after.is_some(),
                };
                (status, *retry_after)
            }
            // An unknown host name will still be unknown in a second; a server that restarts will
            // be back.
            FaultKind::Connect { .. } | FaultKind::Interrupted { .. } => (Failure::Lost, None),
            // A stream that ended too early counts as lost. An empty answer is an answer.
            FaultKind::NoAnswer { .. } if repeat.fault.sent != Sent::Answered => {
                (Failure::Lost, None)
            }
            _ => return None,
        };
        // A caller that connects wants to know at once that the server is down; wait only if the
        // server says when to come back. After the handshake a lost server may be restarting.
        if matches!(repeat.method, Discover::NAME | Initialize::NAME) && asked.is_none() {
            return None;
        }
        let sent = repeat.fault.sent;
        let may = retry::repeatable(repeat.method, failure, repeat.idempotent, sent);
        if may != retry::Repeat::AfterWait {
            return None;
        }
        let wait = Backoff::from(&self.limits).wait(
            repeat.made,
            asked,
            switchboard_core::limits::dice(),
        )?;
        // Over the limit of attempts: leave the server alone.
        self.attempts().take(Instant::now()).ok()?;
        Some(wait)
    }
}

/// Sets the negotiated version, which every request since 2025-06-18 carries.
pub(crate) fn set_version(headers: &mut HeaderMap, version: Option<Version>) {
    if let Some(version @ (Version::V2025_06_18 | Version::V2025_11_25)) = version {
        set_own(headers, "mcp-protocol-version", version.as_str());
    }
}

/// Sets one of our headers, if the value is valid. The name is in lower case.
pub(crate) fn set_own(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(HeaderName::from_static(name), value);
    }
}

/// Sets a header, if name and value are valid.
pub(crate) fn set(headers: &mut HeaderMap, name: &str, value: &str) {
    let name = HeaderName::from_bytes(name.as_bytes());
    if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
        headers.insert(name, value);
    }
}
