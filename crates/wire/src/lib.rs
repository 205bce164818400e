//! The messages of the Model Context Protocol, from a client's point of view.
//!
//! Five published versions are covered, in two eras: the legacy ones that shake hands with
//! `initialize` (2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25) and the modern one whose
//! requests describe themselves (2026-07-28).
//!
//! Two rules shape every type here:
//!
//! - **Nothing is lost.** A peer's message is kept as the text it sent ([`Raw`]); the typed fields
//!   are a reading of that text, never a replacement. Unknown members, unknown content types, the
//!   order of keys and the spelling of numbers survive.
//! - **One method is one type**, with its name, its parameters and its result: [`Method`] for our
//!   requests, [`Ask`] for a server's, [`Notice`] for notifications of either side. [`METHODS`] lists
//!   the versions that each of them exists in.
//!
//! Outgoing values are written with serde, incoming ones are read with [`FromRaw`].
//! [`read_outcome`] tells a complete modern result from one that asks for input.
//!
//! The crate does no I/O and depends on serde alone.

#[macro_use]
mod object;

#[macro_use]
mod method;
#[macro_use]
mod page;

mod argument_header;
mod bytes;
pub mod canonical;
mod capabilities;
mod check;
mod completion;
mod content;
mod defaults;
mod elicitation;
mod empty;
mod ends;
mod envelope;
mod id;
mod lifecycle;
mod logging;
mod message;
pub mod meta;
mod nest;
mod notifications;
mod outcome;
mod pairs;
mod prompts;
mod raw;
mod resources;
mod roots;
mod rpc;
mod sampling;
mod scan;
mod string;
mod subscriptions;
mod table;
mod tasks;
mod timestamp;
mod tools;
mod unescape;
mod version;

#[doc(hidden)]
pub use argument_header::argument_header;
pub use capabilities::*;
pub use check::Checked;
pub use completion::*;
pub use content::*;
pub use defaults::FilledForm;
pub use elicitation::*;
pub use empty::{Empty, NoParams};
pub use envelope::{Envelope, EnvelopeError, EnvelopeKind};
pub use id::RequestId;
pub use lifecycle::*;
pub use logging::*;
pub use message::Message;
pub use method::{Ask, Method, Notice};
pub use notifications::*;
pub use object::{FromRaw, Misfit};
pub use outcome::*;
pub use page::{Page, PageParams};
pub use pairs::Pairs;
pub use prompts::*;
pub use raw::{Raw, RawError};
pub use resources::*;
pub use roots::*;
pub use rpc::{RpcError, code};
pub use sampling::*;
pub use subscriptions::*;
pub use table::{Direction, METHODS, MessageKind, MethodInfo};
pub use tasks::*;
pub use tools::*;
pub use version::{Era, UnknownVersion, Version};
