//! Questions: of the host to the person who operates it, and of servers to a person, a model, or about
//! our folders.
//!
//! An [`Operator`] answers for the person, [`Sample`] for a model, [`Roots`] for our folders. Nothing is
//! declared to a server that is not answered. Both eras come through one seam, [`Respond`](crate::session::Respond):
//! those who answer do not know which it is. Servers are named as the person has named them.

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
    Answers, BadLink, Bounds, Choice, Field, Form, Kind, Link, Misread, Problem, TextFormat,
    Warning,
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

/// An answer being made.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, Refusal>> + Send + 'a>>;

/// Lets a model answer.
pub trait Sample: Send + Sync {
    /// Whether the model may be given tools of the server's.
    fn takes_tools(&self) -> bool {
        false
    }

    /// Answers a question of a server. Dropping the future takes the question back.
    fn sample<'a>(
        &'a self,
        server: &'a ServerName,
        question: &'a CreateMessageParams,
    ) -> Answering<'a, CreateMessageResult>;
}

/// The handlers of what servers ask. Without one, nothing is declared and nothing is answered.
#[derive(Clone, Default)]
pub struct Handlers {
    /// Answers for the person.
    pub operator: Option<SharedOperator>,
    /// Lets a model answer, to the servers that may ask it.
    pub sample: Option<Arc<dyn Sample>>,
    /// Tells which folders are ours.
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
