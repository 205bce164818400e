//! Errors of requests and of opening a session.

use std::sync::Arc;
use std::time::Duration;

use switchboard_wire::{Misfit, Raw, RawError, RpcError};

use super::close::CloseReason;
use super::respond::Refusal;
use crate::transport::{ConnectError, Fault, NetworkVariables, Sent};

/// The possible effect of a request that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Not a byte of it reached the server: repeating it is safe.
    NeverSent,
    /// It left, and what became of it is not known: it may have run.
    MaybeProcessed,
    /// The server answered it.
    Answered,
}

/// The two clocks of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The server was silent for too long: no answer and no progress.
    Idle,
    /// The call took too long in total.
    Total,
}

/// The reason that a request has no result.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server answered with an error.
    #[error("the server answered with an error: {0}")]
    Rpc(Box<RpcError>),
    /// Time ran out.
    #[error("no answer to {method} within {after:?}")]
    TimedOut {
        /// The method of the request.
        method: String,
        /// The clock that ran out.
        clock: Clock,
        /// The time that the clock allowed.
        after: Duration,
        /// Tells if the request left.
        delivery: Delivery,
        /// Lines that the server wrote where messages belong, and answers to requests that were not made.
        noise: Vec<String>,
    },
    /// The connection closed first.
    #[error("{reason}")]
    Closed {
        /// The reason of the close.
        reason: Arc<CloseReason>,
        /// Tells if the request left.
        delivery: Delivery,
    },
    /// The exchange with the server brought no answer.
    #[error("{0}")]
    Exchange(Box<Fault>),
    /// The answer was longer than the limit.
    #[error("the answer is longer than the limit of {limit_bytes} bytes")]
    TooLarge {
        /// The limit.
        limit_bytes: usize,
    },
    /// The answer did not fit into the memory budget.
    #[error("there was no room for the answer: more than {limit_bytes} bytes would be held")]
    NoRoom {
        /// The limit: of the connection, or of all that share a budget with it.
        limit_bytes: usize,
    },
    /// The answer was nested deeper than the limit.
    #[error("the answer is nested deeper than the limit of {limit} levels")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// The answer was not a valid message.
    #[error("the answer is malformed: {what}")]
    Malformed {
        /// The problem.
        what: String,
        /// The start of the line.
        excerpt: String,
    },
    /// The result does not fit what the method returns.
    #[error("the result of {method} does not fit: {misfit}")]
    Unfit {
        /// The method of the request.
        method: String,
        /// The place and kind of the mismatch.
        misfit: Misfit,
    },
    /// The parameters have no JSON form.
    #[error("the parameters of {method} cannot be sent")]
    BadParams {
        /// The method of the request.
        method: String,
        /// The cause.
        #[source]
        source: RawError,
    },
    /// The server does not offer this.
    #[error("the server does not offer {what}")]
    NotOffered {
        /// The missing capability.
        what: &'static str,
    },
    /// The server asked for input that the client does not provide.
    #[error("the server asked for {method}, {why}")]
    InputRefused {
        /// The method of the server's request.
        method: String,
        /// The reason of the refusal.
        why: Refusal,
    },
    /// The server asks for input, which the caller relays.
    #[doc(hidden)]
    #[error("{method} needs input first")]
    InputRequired {
        /// The method of the request.
        method: String,
        /// The whole result, as the server sent it.
        raw: Box<Raw>,
    },
    /// The server asked for input again and again.
    #[error("the server asked for input more than {limit} times")]
    TooManyRounds {
        /// The limit.
        limit: usize,
    },
    /// The server asked for too much input at once.
    #[error("the server asked for more than {limit} inputs at once")]
    TooManyQuestions {
        /// The limit.
        limit: usize,
    },
    /// The server ended a subscription with a notification, in place of an answer.
    #[error("the server cancelled {method}")]
    Cancelled {
        /// The method of the request.
        method: String,
    },
    /// The server answered with a task, which was not agreed on.
    #[error("the server answered {method} with a task, which was not agreed on")]
    UnexpectedTask {
        /// The method of the request.
        method: String,
    },
}

impl CallError {
    /// Classifies the error by its possible effect: never sent, maybe processed, answered.
    pub fn delivery(&self) -> Delivery {
        match self {
            Self::TimedOut { delivery, .. } | Self::Closed { delivery, .. } => *delivery,
            Self::Exchange(fault) => match fault.sent {
                Sent::Never => Delivery::NeverSent,
                Sent::Maybe => Delivery::MaybeProcessed,
                Sent::Answered => Delivery::Answered,
            },
            Self::BadParams { .. } | Self::NotOffered { .. } => Delivery::NeverSent,
            Self::TooLarge { .. }
            | Self::NoRoom { .. }
            | Self::Malformed { .. }
            | Self::TooDeep { .. } => Delivery::MaybeProcessed,
            Self::Rpc(_)
            | Self::Unfit { .. }
            | Self::InputRefused { .. }
            | Self::InputRequired { .. }
            | Self::TooManyRounds { .. }
            | Self::TooManyQuestions { .. }
            | Self::Cancelled { .. }
            | Self::UnexpectedTask { .. } => Delivery::Answered,
        }
    }

    /// Marks the error of a repeated request: an earlier attempt reached the server and may have
    /// had an effect, even if this one did not.
    pub(crate) fn sent_before(mut self) -> Self {
        if let Self::TimedOut { delivery, .. } | Self::Closed { delivery, .. } = &mut self {
            *delivery = Delivery::MaybeProcessed;
        }
        if let Self::Exchange(fault) = &mut self {
            fault.sent = Sent::Maybe;
        }
        self
    }

    /// The fault of the HTTP exchange, if there was one.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Exchange(fault) => Some(fault),
            _ => None,
        }
    }

    /// Returns true if a clock ran out.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::TimedOut { .. })
    }

    /// The error that the server answered with.
    pub fn rpc(&self) -> Option<&RpcError> {
        match self {
            Self::Rpc(error) => Some(error),
            _ => None,
        }
    }

    /// The server's questions, as it sent them, if the caller relays them.
    #[doc(hidden)]
    pub fn input_required(&self) -> Option<&Raw> {
        match self {
            Self::InputRequired { raw, .. } => Some(raw),
            _ => None,
        }
    }

    /// The reason that the connection closed, if that is what failed the request.
    pub fn close_reason(&self) -> Option<&CloseReason> {
        match self {
            Self::Closed { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

/// The reason that no session could be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The transport could not connect.
    #[error("could not connect")]
    Connect(#[source] ConnectError),
    /// The two sides have no protocol version in common.
    #[error(
        "no protocol version in common: the server speaks {}, we speak {}",
        theirs.join(", "), ours.join(", ")
    )]
    NoCommonVersion {
        /// The versions that the server named.
        theirs: Vec<String>,
        /// The versions that we would have taken.
        ours: Vec<String>,
    },
    /// The handshake failed.
    #[error("the handshake failed at {stage}")]
    Handshake {
        /// The request that failed.
        stage: &'static str,
        /// The cause.
        #[source]
        error: Box<CallError>,
        /// The close reason of the first connection, if there were two: a server that exits on the
        /// first request is started a second time.
        earlier: Option<Arc<CloseReason>>,
        /// Evidence from outside the protocol: lines of stderr, noise on stdout.
        seen: Box<Seen>,
    },
}

/// Evidence that a server gave outside the protocol.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The first and the last lines of stderr. A line such as `... 120 lines ...` stands for those
    /// in between.
    pub stderr: Vec<String>,
    /// The first lines on stdout that were not messages.
    pub noise: Vec<String>,
    /// The certificate and proxy variables that its process was started with.
    pub network: NetworkVariables,
}
