//! Servers to test clients against.
//!
//! One small and correct Model Context Protocol server that speaks both eras: it shakes hands with
//! `initialize` (2024-11-05 to 2025-11-25) or answers requests that describe themselves
//! (2026-07-28). It shares nothing with the client but the protocol types, so that a mistake in
//! the client cannot hide behind the same mistake here.
//!
//! It runs over stdio ([`serve_stdio`], [`serve`]) and over HTTP ([`http`], a feature that is on by default).
//!
//! The parts: `stdio` turns bytes into lines and back, `service` knows the eras and answers
//! messages, `catalog` holds what is offered (`tools`, `resources`, `prompts`), and `pages` cuts
//! lists. Nothing but `stdio` and `http` knows where the messages come from.
//!
//! `conformance` is what the official suite's server scenarios ask for, in place of the usual catalog.
//! `chaos` makes the same server misbehave, in one way at a time. `issuer` puts OAuth in front of it over HTTP.
//!
//! `shapes` are results that are odd but valid, for proxies that should not change them.
//!
//! It is stricter than servers in the field: a missing `jsonrpc`, a `requestState` that is not
//! echoed exactly and an invented cursor are all refused, because the tests of a client cannot find
//! mistakes that this server forgives.

mod catalog;
pub mod chaos;
mod clock;
mod completion;
mod conformance;
mod growth;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "http")]
pub mod issuer;
mod journal;
mod lines;
pub mod models;
mod options;
mod pages;
mod prompts;
mod resources;
mod service;
pub mod shapes;
mod stdio;
mod tools;

pub use journal::Journal;
pub use options::{Eras, HeaderTools, Options, OptionsError};
pub use stdio::{serve, serve_stdio};
