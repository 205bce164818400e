//! What can become of a request, and of opening a session.

use std::sync::Arc;
use std::time::Duration;

use switchboard_wire::{Misfit, RawError, RpcError};

use super::close::CloseReason;
use super::respond::Refusal;
use crate::transport::{ConnectError, Fault, NetworkVariables, Sent};

/// Whether a request may have had an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Not a byte of it reached the server: repeating it is safe.
    NeverSent,
    /// It left, and what became of it is not known: it may have run.
    MaybeProcessed,
    /// The server answered it.
    Answered,
}

/// Which clock ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// Nothing was heard for too long.
    Idle,
    /// It took too long in all.
    Total,
}

/// Why a request has no result.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server answered with an error.
    #[error("the server answered with an error: {0}")]
    Rpc(Box<RpcError>),
    /// Time ran out.
    #[error("no answer to {method} within {after:?}")]
    TimedOut {
        /// What was asked.
        method: String,
        /// Which clock ran out.
        clock: Clock,
        /// After how long.
        after: Duration,
        /// Whether the request left.
        delivery: Delivery,
    },
    /// The connection closed first.
    #[error("{reason}")]
    Closed {
        /// Why it closed.
        reason: Arc<CloseReason>,
        /// Whether the request left.
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
    /// The answer came while too much else was waiting to be taken.
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
    /// The answer was no valid message.
    #[error("the answer is malformed: {what}")]
    Malformed {
        /// What is wrong with it.
        what: String,
        /// How the line begins.
        excerpt: String,
    },
    /// The result does not fit what the method returns.
    #[error("the result of {method} does not fit: {misfit}")]
    Unfit {
        /// What was asked.
        method: String,
        /// Where and how it does not fit.
        misfit: Misfit,
    },
    /// The parameters have no JSON form.
    #[error("the parameters of {method} cannot be sent")]
    BadParams {
        /// What was to be asked.
        method: String,
        /// Why not.
        #[source]
        source: RawError,
    },
    /// The server does not offer this.
    #[error("the server does not offer {what}")]
    NotOffered {
        /// What it does not offer.
        what: &'static str,
    },
    /// The server asked for input that nobody here gives.
    #[error("the server asked for {method}, {why}")]
    InputRefused {
        /// What it asked for.
        method: String,
        /// Why nobody gives it.
        why: Refusal,
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
        /// What was asked.
        method: String,
    },
    /// The server answered with a task, which was not agreed on.
    #[error("the server answered {method} with a task, which was not agreed on")]
    UnexpectedTask {
        /// What was asked.
        method: String,
    },
}

impl CallError {
    /// Whether the request may have had an effect.
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
            | Self::TooManyRounds { .. }
            | Self::TooManyQuestions { .. }
            | Self::Cancelled { .. }
            | Self::UnexpectedTask { .. } => Delivery::Answered,
        }
    }

    /// The same of a request that was sent before, and is only repeated: it may have had an effect
    /// then, whatever became of the repetition.
    pub(crate) fn sent_before(mut self) -> Self {
        if let Self::TimedOut { delivery, .. } | Self::Closed { delivery, .. } = &mut self {
            *delivery = Delivery::MaybeProcessed;
        }
        if let Self::Exchange(fault) = &mut self {
            fault.sent = Sent::Maybe;
        }
        self
    }

    /// What went wrong with the exchange, if that is what happened.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Exchange(fault) => Some(fault),
            _ => None,
        }
    }

    /// Whether time ran out.
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

    /// Why the connection closed, if that is what happened.
    pub fn close_reason(&self) -> Option<&CloseReason> {
        match self {
            Self::Closed { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

/// Why no session came about.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There was no connection to begin with.
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
        /// Why.
        #[source]
        error: Box<CallError>,
        /// Why the connection before this one ended, when there was one: a server that ends on the
        /// first request is started a second time.
        earlier: Option<Arc<CloseReason>>,
        /// What the server had to say meanwhile: lines of stderr, lines that were no messages.
        seen: Box<Seen>,
    },
}

/// What a server had to say outside the protocol.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The first and the last lines of stderr, with a line for those between them that were not kept.
    pub stderr: Vec<String>,
    /// The first lines on stdout that were no messages.
    pub noise: Vec<String>,
    /// The certificate and proxy variables that its process was started with.
    pub network: NetworkVariables,
}
