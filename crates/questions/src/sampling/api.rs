//! The common part of all model APIs over HTTP.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::choice::ModelScores;
use super::provider::ProviderError;
use switchboard_client::transport::{FaultKind, HttpError, Post, PostError, Posted, Proxy, within};
use switchboard_core::secret::{Redactor, Secret};
use switchboard_core::spec::AddressRange;
use switchboard_core::text::sanitise_line;

/// Maximum time for an answer. Models that think take minutes.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Maximum size of an answer.
const ANSWER_BYTES: usize = 8 << 20;
/// Maximum length of a provider's error message that is kept.
const SAID_CHARS: usize = 300;

/// The reason why an API cannot be used as configured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApiError {
    /// The address cannot be used.
    #[error("the address of the API cannot be used: {0}")]
    Address(HttpError),
    /// The key cannot be sent in a header. It does not say what the key is.
    #[error("the key has characters that no key has")]
    Key,
}

/// A model API: its address and settings.
#[derive(Clone)]
pub(super) struct Api {
    pub(super) name: String,
    pub(super) models: Vec<String>,
    pub(super) scores: BTreeMap<String, ModelScores>,
    pub(super) takes_tools: bool,
    pub(super) max_tokens: Option<u64>,
    pub(super) timeout: Duration,
    pub(super) post: Post,
    secrets: Redactor,
}

impl Api {
    pub(super) fn new(
        name: &str,
        url: &str,
        model: &str,
        allowed: &[AddressRange],
    ) -> Result<Self, ApiError> {
        Ok(Self {
            name: name.to_owned(),
            models: vec![model.to_owned()],
            scores: BTreeMap::new(),
            takes_tools: true,
            max_tokens: None,
            timeout: TIMEOUT,
            post: Post::to(url, allowed).map_err(ApiError::Address)?,
            secrets: Redactor::new(),
        })
    }

    pub(super) fn header(
        &mut self,
        name: &'static str,
        value: &Secret<String>,
    ) -> Result<(), ApiError> {
        self.post.header(name, value).map_err(|_| ApiError::Key)
    }

    /// Registers a key to be redacted from all messages.
    pub(super) fn hide(&mut self, key: &Secret<String>) {
        self.secrets.add(key.expose());
    }

    pub(super) fn add_models(&mut self, models: impl IntoIterator<Item = String>) {
        for model in models {
            if !self.models.contains(&model) {
                self.models.push(model);
            }
        }
    }

    pub(super) fn set_proxy(&mut self, proxy: &Proxy) {
        self.post.set_proxy(proxy);
    }

    /// Posts a request and reads the answer.
    pub(super) async fn ask(&self, body: &Value) -> Result<Value, ProviderError> {
        let body = serde_json::to_vec(body);
        let body = body.map_err(|error| ProviderError::Unsupported(error.to_string()))?;
        // One clock for the whole exchange: connecting, sending, waiting and reading.
        let sent = within(self.timeout, self.post.send(body, ANSWER_BYTES));
        let sent = sent
            .await
            .map_err(|_| ProviderError::TooLate(self.timeout))?;
        let posted = sent.map_err(|error| self.unreached(&error))?;
        // The body of an error is read only for its message.
        if !(200..300).contains(&posted.status) {
            return Err(self.status_error(&posted));
        }
        serde_json::from_slice(&posted.body).map_err(|_| unreadable("it is no JSON"))
    }

    fn unreached(&self, error: &PostError) -> ProviderError {
        let what = match error {
            PostError::Client(error) => error.to_string(),
            PostError::Fault(fault) => match &fault.kind {
                FaultKind::TooLarge { limit_bytes } => {
                    let what = format!("it is longer than {limit_bytes} bytes");
                    return unreadable(&what);
                }
                FaultKind::Resolve { what }
                | FaultKind::Connect { what }
                | FaultKind::Tls { what }
                | FaultKind::Interrupted { what } => format!("{fault} ({what})"),
                _ => fault.to_string(),
            },
        };
        ProviderError::Unreachable(self.safe(&what))
    }

    fn status_error(&self, posted: &Posted) -> ProviderError {
        let (status, said) = (posted.status, self.error_message(&posted.body));
        match status {
            401 | 403 => ProviderError::Key { status, said },
            // 529 is Anthropic's word for "overloaded".
            429 | 503 | 529 => ProviderError::Busy {
                status,
                said,
                retry_after: posted.retry_after,
            },
            _ => ProviderError::Status { status, said },
        }
    }

    /// Returns the message of an error response, or the beginning of its body.
    fn error_message(&self, body: &[u8]) -> String {
        let value: Option<Value> = serde_json::from_slice(body).ok();
        let message = value.as_ref().and_then(|value| {
            let error = value.get("error")?;
            error.get("message").unwrap_or(error).as_str()
        });
        match message {
            Some(message) => self.safe(message),
            None => {
                // Enough bytes for that many characters of any script; `safe` cuts exactly.
                let begin = body.get(..SAID_CHARS * 4).unwrap_or(body);
                self.safe(&String::from_utf8_lossy(begin))
            }
        }
    }

    /// Returns a foreign text without the key, on one line and shortened.
    fn safe(&self, text: &str) -> String {
        // Redacted before it is cut: half of a key would not be recognised.
        let text = self.secrets.redact(text);
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = match line.char_indices().nth(SAID_CHARS) {
            Some((at, _)) => format!("{}...", line.get(..at).unwrap_or_default()),
            None => line,
        };
        sanitise_line(&line).into_owned()
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api")
            .field("name", &self.name)
            .field("url", self.post.url())
            .field("models", &self.models)
            .finish_non_exhaustive()
    }
}

pub(super) fn unreadable(what: &str) -> ProviderError {
    ProviderError::Unreadable(what.to_owned())
}

/// The address of something below a base, whichever way the base ends.
pub(super) fn below(base: &str, path: &str) -> String {
    format!("{}/{path}", base.trim_end_matches('/'))
}

/// Defines the setters and the `Provider` implementation that both APIs share.
macro_rules! api {
    ($kind:ident) => {
        impl $kind {
            /// Sets the name that the user knows it by.
            #[must_use]
            pub fn with_name(mut self, name: &str) -> Self {
                name.clone_into(&mut self.api.name);
                self
            }

            /// Adds models that servers may wish for.
            #[must_use]
            pub fn models(mut self, models: impl IntoIterator<Item = String>) -> Self {
                self.api.add_models(models);
                self
            }

            /// Sets the strengths of a model, which the priorities of servers choose by.
            #[must_use]
            pub fn scores(
                mut self,
                model: impl Into<String>,
                scores: $crate::sampling::ModelScores,
            ) -> Self {
                self.api.scores.insert(model.into(), scores);
                self
            }

            /// Sets whether models are given tools; the default is yes.
            #[must_use]
            pub fn tools(mut self, takes_tools: bool) -> Self {
                self.api.takes_tools = takes_tools;
                self
            }

            /// Sets how long the longest answer may be, in tokens.
            #[must_use]
            pub fn max_tokens(mut self, tokens: u64) -> Self {
                self.api.max_tokens = Some(tokens);
                self
            }

            /// Sets the timeout for an answer; the default is two minutes.
            #[must_use]
            pub fn timeout(mut self, timeout: Duration) -> Self {
                self.api.timeout = timeout;
                self
            }

            /// Sets the proxy; the default is none.
            #[must_use]
            pub fn proxy(mut self, proxy: &Proxy) -> Self {
                self.api.set_proxy(proxy);
                self
            }

            /// Trusts these certificates too: a file's text, in PEM.
            #[must_use]
            pub fn certificates(mut self, pem: &[u8]) -> Self {
                self.api.post.add_certificates(pem);
                self
            }
        }

        impl Provider for $kind {
            fn name(&self) -> &str {
                &self.api.name
            }

            fn models(&self) -> &[String] {
                &self.api.models
            }

            fn scores(&self, model: &str) -> Option<$crate::sampling::ModelScores> {
                self.api.scores.get(model).copied()
            }

            fn takes_tools(&self) -> bool {
                self.api.takes_tools
            }

            fn max_tokens(&self) -> Option<u64> {
                self.api.max_tokens
            }

            fn complete<'a>(&'a self, request: &'a ModelRequest) -> Completing<'a> {
                Box::pin(async move {
                    let body = self.body(request)?;
                    answer(&self.api.ask(&body).await?, request)
                })
            }
        }
    };
}
pub(super) use api;
