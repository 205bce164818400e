//! Links on which every message is an exchange of its own, as over HTTP.
//!
//! On a stream link all messages share two byte streams, and the id of an answer tells its call. On
//! these links each message is sent in an exchange of its own, the messages of that exchange belong
//! to it, and messages outside of any exchange arrive by [`Exchange::listen`]. The session is the
//! same above both.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use switchboard_core::limits::Budget;
use switchboard_core::secret::Secret;
use switchboard_wire::{Era, Tool, Version};

use super::fault::Fault;
use super::tap::Spot;

/// A message being exchanged.
pub(crate) type Exchanging<'a> = Pin<Box<dyn Future<Output = Result<(), Fault>> + Send + 'a>>;
/// Work that cannot fail.
pub(crate) type Working<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Sends messages, each in an exchange of its own.
pub(crate) trait Exchange: Send + Sync {
    /// Sends a message and passes the messages that come back to `inlet`; resolves when there are
    /// no more.
    ///
    /// # Cancel safety
    /// Dropping the future closes the exchange.
    fn send<'a>(&'a self, message: Outgoing<'a>, inlet: &'a dyn Inlet) -> Exchanging<'a>;

    /// Passes messages outside of any exchange to `inlet`. Returns an error when the connection
    /// cannot go on without them, and `Ok` when there is nothing to listen to.
    fn listen<'a>(&'a self, inlet: &'a dyn Inlet, budget: &'a Budget) -> Exchanging<'a>;

    /// Makes a tap see all traffic, from the first message on.
    fn tap(&mut self, spot: Spot);

    /// Ends the server's session.
    fn close(&self) -> Working<'_>;

    /// Registers the definition of a tool, before it is called.
    ///
    /// # Errors
    /// Fails when no call of that tool can be sent, with the reason.
    fn learn_tool(&self, tool: &Tool) -> Result<(), String>;

    /// Returns true if calls need tool definitions that are not known yet.
    fn wants_tools(&self) -> bool;

    /// Notes that the list of tools was read to its end.
    fn mark_tools_complete(&self);

    /// The id of the session that the server opened, if it did.
    fn session_id(&self) -> Option<Secret<String>> {
        None
    }

    /// The era of the link, if it supports only one.
    fn era(&self) -> Option<Era>;

    /// Returns true if a request refused with this error may be sent again once the cause of the
    /// refusal is repaired.
    fn may_repair(&self, method: &str, code: i64) -> bool;

    /// The wait before the request is sent again; `None` if it must not be.
    fn wait_before_repeating(&self, repeat: &FailedRequest<'_>) -> Option<Duration>;
}

/// A failed request that may be sent again.
pub(crate) struct FailedRequest<'a> {
    pub(crate) method: &'a str,
    /// The caller declares that it may run twice.
    pub(crate) idempotent: bool,
    /// The fault of the last attempt.
    pub(crate) fault: &'a Fault,
    /// The number of repetitions so far.
    pub(crate) made: u32,
}

/// The kind of an outgoing message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A request, which is answered.
    Request,
    /// A notification, which is not.
    Notification,
    /// The answer to a request of the server.
    Answer,
}

/// A message to be sent.
pub(crate) struct Outgoing<'a> {
    pub(crate) kind: Kind,
    /// Its method; empty for an answer.
    pub(crate) method: &'a str,
    /// The tool that is called, if it is known without parsing the body.
    pub(crate) subject: Option<&'a str>,
    /// The version that was negotiated or is assumed; `None` before that.
    pub(crate) version: Option<Version>,
    /// The message.
    pub(crate) body: &'a [u8],
    /// The memory budget for reading the answer.
    pub(crate) budget: &'a Budget,
}

/// Takes the messages that an exchange brings.
pub(crate) trait Inlet: Send + Sync {
    /// Takes a message; returns whether it was the awaited answer.
    fn message(&self, text: &[u8]) -> Heard;

    /// Takes the start of a message that is over the size limit.
    fn over_limit(&self, head: &[u8]) -> Heard;

    /// Takes the end of a message that was over the size limit.
    fn over_limit_end(&self, tail: &[u8]) -> Heard;
}

/// The meaning of a message for its exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// The awaited answer: the exchange is complete.
    Answer,
    /// Any other message.
    Aside,
}
