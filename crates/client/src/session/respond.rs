//! What happens when a server asks us something.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use switchboard_wire::{ClientCapabilities, ElicitParams, InputRequest, Raw, RpcError, code};

/// What a server is told of the name of what it asked for.
const METHOD_BYTES: usize = 128;

/// An answer being made.
pub type Responding<'a> = Pin<Box<dyn Future<Output = Result<Raw, Refusal>> + Send + 'a>>;

/// Answers what a server asks: a question to the person, a completion, the folders it may use.
///
/// Both eras come through here: requests of a legacy server, and the questions in a modern
/// server's `input_required`.
pub trait Respond: Send + Sync {
    /// What is declared to servers. Declare exactly what [`Respond::respond`] answers.
    fn capabilities(&self) -> ClientCapabilities;

    /// Answers one request with the JSON of its result. The calls in flight stand still meanwhile.
    ///
    /// Dropping the future withdraws the question: the connection closed, or the server took it
    /// back.
    fn respond<'a>(&'a self, request: &'a InputRequest) -> Responding<'a>;

    /// Waits until the person has done what a server sent them to an address for, before a call that the server
    /// refused until then is made again; gives whether to make it. By itself it waits for ever, and what counts is
    /// that the server says so, or that the time for it is over.
    fn finished<'a>(
        &'a self,
        _question: &'a ElicitParams,
    ) -> Pin<Box<dyn Future<Output = Result<bool, Refusal>> + Send + 'a>> {
        Box::pin(std::future::pending())
    }

    /// Is told that what a server sent the person to an address for is done, by the id of that question.
    /// It must not wait.
    fn completed(&self, _elicitation: &str) {}
}

/// Why a request of a server is not answered.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// Nobody here answers such requests.
    NotAvailable,
    /// The person said no.
    ByThePerson,
    /// The request itself is wrong, for this reason.
    Invalid(String),
    /// Whoever should answer could not, for this reason, which the server is told.
    Failed(String),
}

impl fmt::Display for Refusal {
    /// Goes on after what was asked for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAvailable => f.write_str("which is not available here"),
            Self::ByThePerson => f.write_str("and the person said no"),
            Self::Invalid(why) => write!(f, "which is refused: {why}"),
            Self::Failed(why) => write!(f, "which could not be answered: {why}"),
        }
    }
}

impl Refusal {
    /// The error that a legacy server gets.
    pub(crate) fn to_rpc(&self, method: &str) -> RpcError {
        match self {
            Self::NotAvailable => {
                // A name may be as long as a message, and would come back with every answer.
                let method = switchboard_core::text::excerpt(method, METHOD_BYTES);
                let why = format!("{method} is not available here");
                RpcError::new(code::METHOD_NOT_FOUND, &why)
            }
            Self::ByThePerson => RpcError::new(code::USER_REJECTED, "the person said no"),
            Self::Invalid(why) => RpcError::new(code::INVALID_PARAMS, why),
            Self::Failed(why) => RpcError::new(code::INTERNAL_ERROR, why),
        }
    }
}

/// Refuses everything and declares nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct RefuseAll;

impl Respond for RefuseAll {
    fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities::default()
    }

    fn respond<'a>(&'a self, _request: &'a InputRequest) -> Responding<'a> {
        Box::pin(std::future::ready(Err(Refusal::NotAvailable)))
    }
}
