//! Handlers: questions of the host to its user, and requests of servers to the user, to a model, or for
//! our roots.
//!
//! An [`Operator`] answers for the user, [`Sample`] for a model, [`Roots`] for our folders. Only
//! capabilities with a handler are declared to a server. Both protocol eras go through one trait,
//! [`Respond`](crate::session::Respond), so handlers do not depend on the era. Servers have the names
//! that the user gave them.

mod operator;
mod refusals;
mod responder;
mod sampler;
mod screen;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use switchboard_wire::{CreateMessageParams, CreateMessageResult};

#[cfg(feature = "config")]
pub use operator::InputPrompt;
pub use operator::{
    ChangeApproval, ChangeRequest, Decline, ElicitRequest, ElicitSupport, LoginDecision,
    LoginRequest, Operator, SharedOperator, Unasked, Unattended,
};
pub(crate) use operator::{ClosureOperator, boxed};
pub use responder::Responder;
pub use switchboard_questions::Roots;
pub(crate) use switchboard_questions::elicit;
pub use switchboard_questions::elicit::{
    Answers, Choice, ElicitLimits, Field, Form, Kind, Link, Misread, ParseLinkError, Problem,
    TextFormat, Warning,
};

use crate::session::Refusal;
use crate::spec::ServerName;

/// Sampling: requests of servers to the user's model.
///
/// A [`Sampler`](sampling::Sampler) answers sampling requests. It sends them to a model with a
/// [`Provider`](sampling::Provider): `OpenAi` for every API like OpenAI's chat completions, `Anthropic` for
/// Anthropic's messages, or one of the program's own. It enforces limits, and asks an [`Operator`], who sees
/// everything that would be sent.
pub mod sampling {
    #[cfg(feature = "sampling")]
    pub use switchboard_questions::sampling::{Anthropic, ApiError, OpenAi, TokensField};
    pub use switchboard_questions::sampling::{
        Completing, Media, ModelAnswer, ModelRequest, ModelScores, ModelTool, Part, Prompt,
        Provider, ProviderError, Role, SamplingApproval, SamplingLimits, SamplingRequest, Stop,
        ToolUse, Turn,
    };

    pub use super::sampler::Sampler;
}

/// The future of an answer.
#[doc(hidden)]
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, Refusal>> + Send + 'a>>;

/// Answers sampling requests with a model.
pub trait Sample: Send + Sync {
    /// Returns `true` if the model may be given the server's tools.
    fn takes_tools(&self) -> bool {
        false
    }

    /// Answers a sampling request. Dropping the future withdraws it.
    fn sample<'a>(
        &'a self,
        server: &'a ServerName,
        question: &'a CreateMessageParams,
    ) -> Answering<'a, CreateMessageResult>;
}

/// The handlers of server requests. A capability without a handler is not declared, and its requests are
/// refused.
#[derive(Clone, Default)]
#[doc(hidden)]
pub struct Handlers {
    /// Answers for the user.
    pub operator: Option<SharedOperator>,
    /// Answers with a model, for the servers that may use it.
    pub sample: Option<Arc<dyn Sample>>,
    /// Lists our folders.
    pub roots: Option<Roots>,
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers")
            .field("operator", &self.operator.is_some())
            .field("sample", &self.sample.is_some())
            .field("roots", &self.roots)
            .finish()
    }
}
