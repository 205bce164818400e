//! What servers ask of us while they work: a person, a model, or which folders are ours.
//!
//! A program has a handler for each kind that it answers ([`Elicit`], [`Sample`], [`Roots`]), and nothing is
//! declared to a server that has none. Both eras come through one seam, [`Respond`](crate::session::Respond):
//! a handler does not know which it is. Servers are named as the person has named them.

mod elicit;
mod responder;
mod roots;
pub mod sampling;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use switchboard_wire::{CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult};

pub use elicit::{
    Answers, BadLink, Bounds, Choice, Decline, Field, Form, Kind, Link, Misread, Problem,
    TextFormat, Warning,
};
pub use responder::Responder;
pub use roots::Roots;

use crate::session::Refusal;
use crate::spec::ServerName;

/// An answer being made.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, Refusal>> + Send + 'a>>;

/// Lets a person answer.
pub trait Elicit: Send + Sync {
    /// Whether a person can be sent to an address as well as be given a form.
    fn takes_urls(&self) -> bool {
        false
    }

    /// What questions are held to; those that go over it are refused.
    fn bounds(&self) -> Bounds {
        Bounds::default()
    }

    /// Answers a question of a server: one whose [`Form`] can be read and asks for no secret, or whose [`Link`] is
    /// one that a person may be sent to. Dropping the future takes the question back.
    fn elicit<'a>(
        &'a self,
        server: &'a ServerName,
        question: &'a ElicitParams,
    ) -> Answering<'a, ElicitResult>;

    /// Waits until the person says that they have done what a server sent them to an address for, and gives whether
    /// to go on. By itself it waits for ever: the server says when it is done, or time runs out.
    fn finished<'a>(
        &'a self,
        _server: &'a ServerName,
        _question: &'a ElicitParams,
    ) -> Answering<'a, bool> {
        Box::pin(std::future::pending())
    }

    /// Is told that what a server sent the person to an address for is done.
    fn completed(&self, _server: &ServerName, _elicitation: &str) {}

    /// Is told of a question that was answered without it, and why: it asked for a secret, or made no sense. Of
    /// servers that ask a lot of these it is told now and then, see [`Bounds::refusals`].
    fn refused(&self, _server: &ServerName, _why: &str) {}
}

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

/// Who answers what servers ask. Without a handler, nothing is declared and nothing is answered.
#[derive(Clone, Default)]
pub struct Handlers {
    /// Lets a person answer.
    pub elicit: Option<Arc<dyn Elicit>>,
    /// Lets a model answer, to the servers that may ask it.
    pub sample: Option<Arc<dyn Sample>>,
    /// Tells which folders are ours.
    pub roots: Option<Roots>,
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers")
            .field("elicit", &self.elicit.is_some())
            .field("sample", &self.sample.is_some())
            .field("roots", &self.roots)
            .finish()
    }
}
