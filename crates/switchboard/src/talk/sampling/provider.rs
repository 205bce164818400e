//! Whoever has a model.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::model::{ModelAnswer, ModelRequest};

/// An answer that a model is making.
pub type Completing<'a> =
    Pin<Box<dyn Future<Output = Result<ModelAnswer, ProviderError>> + Send + 'a>>;

/// Has one model or several, and asks them.
pub trait Provider: Send + Sync {
    /// What the person calls it.
    fn name(&self) -> &str;

    /// Its models, the one that is asked unless a server wishes for another first.
    fn models(&self) -> &[String];

    /// Whether its models may be given tools.
    fn takes_tools(&self) -> bool {
        false
    }

    /// The longest answer that it is to give, in tokens, where the person says.
    fn max_tokens(&self) -> Option<u64> {
        None
    }

    /// Asks a model once. Dropping the future gives the request up.
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

    fn complete<'a>(&'a self, request: &'a ModelRequest) -> Completing<'a> {
        (**self).complete(request)
    }
}

/// Why a model did not answer. No key of the person's is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The request has something in it that the provider has no way to take.
    #[error("{0}")]
    Unsupported(String),
    /// The provider does not take the person's key.
    #[error("the provider does not take the key ({status}): {said}")]
    Key {
        /// The status.
        status: u16,
        /// What it said.
        said: String,
    },
    /// The provider has no time, or the person's share is used up.
    #[error("the provider has no time ({status}): {said}")]
    Busy {
        /// The status.
        status: u16,
        /// What it said.
        said: String,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// The provider answered with some other error.
    #[error("the provider answered with status {status}: {said}")]
    Status {
        /// The status.
        status: u16,
        /// What it said.
        said: String,
    },
    /// The provider answered with something that is no answer.
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
    /// What a server may know of it: nothing that the provider said, which is between it and the person.
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
