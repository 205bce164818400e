//! Links on which every message is an exchange of its own, as over HTTP.
//!
//! A stream link has two byte streams, and who an answer belongs to is told by its id. Here each
//! message is sent by itself, what comes back belongs to it, and what the server says unasked comes
//! by a way of its own. The session is the same above both.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use switchboard_core::limits::Budget;
use switchboard_wire::{Era, Tool, Version};

use super::fault::Fault;
use super::tap::Spot;

/// A message being exchanged.
pub(crate) type Exchanging<'a> = Pin<Box<dyn Future<Output = Result<(), Fault>> + Send + 'a>>;
/// Work that cannot fail.
pub(crate) type Working<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Sends messages one by one.
pub(crate) trait Exchange: Send + Sync {
    /// Sends a message and gives what comes back for it to `inlet`; ends when all of it has.
    ///
    /// Dropping the future closes the exchange.
    fn send<'a>(&'a self, message: Outgoing<'a>, inlet: &'a dyn Inlet) -> Exchanging<'a>;

    /// Gives to `inlet` what the server says unasked. Ends with an error when the connection is
    /// over with it, and without one where there is nothing to listen to.
    fn listen<'a>(&'a self, inlet: &'a dyn Inlet, budget: &'a Budget) -> Exchanging<'a>;

    /// Has a tap told of everything that goes over, from the first message on.
    fn tap(&mut self, spot: Spot);

    /// Takes leave of the server.
    fn close(&self) -> Working<'_>;

    /// Learns what a tool is, before anybody calls it.
    ///
    /// # Errors
    /// When no call of that tool can be sent, with the reason.
    fn learn_tool(&self, tool: &Tool) -> Result<(), String>;

    /// Whether calls can only be sent once the definitions of the tools are known, and they are not.
    fn wants_tools(&self) -> bool;

    /// Says that the list of tools was read to its end.
    fn learned_tools(&self);

    /// The era that the link is of, where it is of one only.
    fn era(&self) -> Option<Era>;

    /// Whether a request that the server refused with this error may be sent again, once what it was
    /// refused for is put right.
    fn may_repair(&self, method: &str, code: i64) -> bool;

    /// How long to wait before a request is sent again after this; `None` where it is not.
    fn wait_before_repeating(&self, repeat: &Repeat<'_>) -> Option<Duration>;
}

/// A request that may be sent again.
pub(crate) struct Repeat<'a> {
    pub(crate) method: &'a str,
    /// Whether the person says that it may run twice.
    pub(crate) idempotent: bool,
    /// What became of it.
    pub(crate) fault: &'a Fault,
    /// How often it was sent again already.
    pub(crate) made: u32,
}

/// What kind of message it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One that is answered.
    Request,
    /// One that is not.
    Notification,
    /// The answer to a request of the server's.
    Answer,
}

/// A message to be sent.
pub(crate) struct Outgoing<'a> {
    pub(crate) kind: Kind,
    /// Its method; empty for an answer.
    pub(crate) method: &'a str,
    /// The tool that is called, where it is known without reading the body.
    pub(crate) subject: Option<&'a str>,
    /// The version that was agreed on, or is assumed; `None` before that.
    pub(crate) version: Option<Version>,
    /// The message.
    pub(crate) body: &'a [u8],
    /// What what comes back may take while it is being read.
    pub(crate) budget: &'a Budget,
}

/// Takes what a server says.
pub(crate) trait Inlet: Send + Sync {
    /// Takes a message; says whether it was what was waited for.
    fn message(&self, text: &[u8]) -> Heard;

    /// Learns that a message was too long, and how it begins.
    fn over_limit(&self, head: &[u8]) -> Heard;

    /// Learns how the message that was too long ends.
    fn over_limit_end(&self, tail: &[u8]) -> Heard;
}

/// What a message was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Whoever waits for the exchange has what they wait for.
    Answer,
    /// Something else.
    Aside,
}
