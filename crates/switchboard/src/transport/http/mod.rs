//! Servers that are reached by URL: the parts that do no input or output.
#![allow(
    dead_code,
    unused_imports,
    reason = "the transport that uses them is not here yet"
)]

mod date;
mod dial;
mod guard;
mod headers;
mod mirror;
mod retry;
pub mod sse;
mod window;

pub use dial::DialError;
pub use guard::{Class, Elsewhere, Forbidden, Origin, Reach, permit};
pub use headers::{Header, HeaderError, Headers, IdRule, Owner as HeaderOwner, SessionIdError};
pub use mirror::BadMirror;
