//! Handlers: questions of the host to its user, and requests of servers to the user, to a model, or for
//! our roots.
//!
//! An [`Operator`] answers for the user, [`Sample`] for a model, [`Roots`] for our folders. Only
//! capabilities with a handler are declared to a server. Both protocol eras go through one trait,
//! [`Respond`](crate::session::Respond), so handlers do not depend on the era. Servers have the names
//! that the user gave them.

mod elicit;
mod operator;
mod responder;
mod roots;
pub mod sampling;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use switchboard_wire::{CreateMessageParams, CreateMessageResult};

pub use elicit::{
    Answers, Choice, ElicitLimits, Field, Form, Kind, Link, Misread, ParseLinkError, Problem,
    TextFormat, Warning,
};
#[cfg(feature = "config")]
pub use operator::InputPrompt;
pub use operator::{
    ChangeApproval, ChangeRequest, Decline, ElicitRequest, ElicitSupport, LoginDecision,
    LoginRequest, Operator, SharedOperator, Unasked, Unattended,
};
pub(crate) use operator::{ClosureOperator, boxed};
pub use responder::Responder;
pub use roots::Roots;

use crate::session::Refusal;
use crate::spec::ServerName;

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
