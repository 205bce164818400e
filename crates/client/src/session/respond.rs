//! The handler of a server's requests: [`Respond`], implemented by the program.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use switchboard_wire::{ClientCapabilities, ElicitParams, InputRequest, Raw, RpcError, code};

/// Maximum length of a method name that is repeated in an error to the server.
const METHOD_BYTES: usize = 128;

/// An answer being made.
pub type Responding<'a> = Pin<Box<dyn Future<Output = Result<Raw, Refusal>> + Send + 'a>>;

/// Answers what a server asks: a question to the person, a completion, the folders it may use.
///
/// Both eras come through here: requests of a legacy server, and the questions in a modern
/// server's `input_required`.
pub trait Respond: Send + Sync {
    /// The capabilities that are declared to servers. Declare exactly those that
    /// [`Respond::respond`] answers.
    fn capabilities(&self) -> ClientCapabilities;

    /// Answers one request with the JSON of its result. The clocks of calls in flight stand still
    /// meanwhile.
    ///
    /// # Cancel safety
    /// The future is dropped when the connection closes or the server cancels its request.
    fn respond<'a>(&'a self, request: &'a InputRequest) -> Responding<'a>;

    /// Waits until the person has finished at the address that a server sent them to, and returns
    /// whether to repeat the refused call. The default waits for ever; then the server's
    /// notification or the time limit decides.
    fn finished<'a>(
        &'a self,
        _question: &'a ElicitParams,
    ) -> Pin<Box<dyn Future<Output = Result<bool, Refusal>> + Send + 'a>> {
        Box::pin(std::future::pending())
    }

    /// Notes a question of a legacy server, before it is known which handler gets it. Returns true if this
    /// one answers it even if it belongs to a call that has a handler of its own. Must not block.
    #[doc(hidden)]
    fn claims(&self, _request: &InputRequest) -> bool {
        false
    }

    /// Notes that the server has reported an elicitation by URL as complete. Must not block.
    fn completed(&self, _elicitation: &str) {}
}

/// The reason that a request of a server is not answered.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// Such requests are not supported here.
    NotAvailable,
    /// The person said no.
    ByThePerson,
    /// The request itself is wrong, for this reason.
    Invalid(String),
    /// The handler failed, for this reason, which is sent to the server.
    Failed(String),
}

impl fmt::Display for Refusal {
    /// Continues a sentence that names the request.
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
    /// Converts the refusal to the error that a legacy server gets.
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
