//! Servers that are reached by URL: the parts that do no input or output.
#![allow(dead_code, reason = "the transport that uses them is not here yet")]

mod headers;
mod mirror;
pub mod sse;
mod window;

pub use headers::{Header, HeaderError, Headers, IdRule, Owner as HeaderOwner, SessionIdError};
pub use mirror::BadMirror;
