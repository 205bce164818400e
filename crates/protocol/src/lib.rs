//! What the Model Context Protocol says on the wire, seen from a client.
//!
//! Five published versions are covered, in two eras: the legacy ones that shake hands with
//! `initialize` (2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25) and the modern one whose
//! requests describe themselves (2026-07-28).
//!
//! Two rules shape every type here:
//!
//! - **Nothing is lost.** What a peer sent is kept as the text it sent ([`Raw`]); the typed fields
//!   are a reading of that text, never a replacement. Unknown members, unknown content types, the
//!   order of keys and the spelling of numbers survive.
//! - **One method is one type**, with its name, its parameters and its result ([`Method`],
//!   [`Notice`]).
//!
//! The crate does no I/O and depends on serde alone.

#[macro_use]
mod object;

mod content;
mod envelope;
mod id;
#[macro_use]
mod method;
mod raw;
mod rpc;
mod tools;
mod version;

pub use content::*;
pub use envelope::{Envelope, EnvelopeError, Kind, Message};
pub use id::RequestId;
pub use method::{Method, Notice};
pub use object::{FromRaw, Misfit};
pub use raw::{Raw, RawError};
pub use rpc::{RpcError, code};
pub use tools::*;
pub use version::{Era, Version};
