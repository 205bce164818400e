//! Providers of models.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::choice::ModelScores;
use super::model::{ModelAnswer, ModelRequest};

/// The future of a model's answer.
#[doc(hidden)]
pub type Completing<'a> =
    Pin<Box<dyn Future<Output = Result<ModelAnswer, ProviderError>> + Send + 'a>>;

/// Provides one model or several.
pub trait Provider: Send + Sync {
    /// Returns the name that the user knows it by.
    fn name(&self) -> &str;

    /// Returns its models; the first one is the default.
    fn models(&self) -> &[String];

    /// Returns `true` if its models may be given tools.
    fn takes_tools(&self) -> bool {
        false
    }

    /// Returns the maximum length of an answer in tokens, if the user has set one.
    fn max_tokens(&self) -> Option<u64> {
        None
    }

    /// Returns the strengths of one of its models, if the user has rated it. A server's priorities
    /// choose by them.
    fn scores(&self, model: &str) -> Option<ModelScores> {
        let _ = model;
        None
    }

    /// Sends one request to a model. Dropping the future cancels it.
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> Completing<'a>;
}

impl<P: Provider + ?Sized> Provider for Arc<P> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn models(&self) -> &[String] {
        (**self).models()
    }

    fn takes_tools(&self) -> bool {
        (**self).takes_tools()
    }

    fn max_tokens(&self) -> Option<u64> {
        (**self).max_tokens()
    }

    fn scores(&self, model: &str) -> Option<ModelScores> {
        (**self).scores(model)
    }

    fn complete<'a>(&'a self, request: &'a ModelRequest) -> Completing<'a> {
        (**self).complete(request)
    }
}

/// The reason why a model did not answer. It contains none of the user's keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The request contains something that the provider does not support.
    #[error("{0}")]
    Unsupported(String),
    /// The provider rejected the user's key.
    #[error("the provider does not take the key ({status}): {said}")]
    Key {
        /// The status.
        status: u16,
        /// The provider's message.
        said: String,
    },
    /// The provider is overloaded, or the user's quota is used up.
    #[error("the provider has no time ({status}): {said}")]
    Busy {
        /// The status.
        status: u16,
        /// The provider's message.
        said: String,
        /// The time to wait before the next request.
        retry_after: Option<Duration>,
    },
    /// The provider answered with some other error.
    #[error("the provider answered with status {status}: {said}")]
    Status {
        /// The status.
        status: u16,
        /// The provider's message.
        said: String,
    },
    /// The provider's response is not a valid answer.
    #[error("the provider's answer cannot be read: {0}")]
    Unreadable(String),
    /// The provider was not reached.
    #[error("the provider was not reached: {0}")]
    Unreachable(String),
    /// It took too long.
    #[error("the provider did not answer within {} s", .0.as_secs())]
    TooLate(Duration),
}

impl ProviderError {
    /// Returns the message for the server. It quotes nothing of the provider, whose messages are for the
    /// user only.
    pub fn for_server(&self) -> String {
        match self {
            Self::Unsupported(what) => what.clone(),
            Self::Busy { .. } => "the model has no time now".to_owned(),
            Self::TooLate(_) => "the model did not answer in time".to_owned(),
            Self::Unreachable(_) => "the model is not reached".to_owned(),
            Self::Key { .. } | Self::Status { .. } | Self::Unreadable(_) => {
                "the model could not be asked".to_owned()
            }
        }
    }
}
