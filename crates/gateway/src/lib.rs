//! Offers every server of a [`Host`](switchboard::Host) as one Model Context Protocol server.
//!
//! A [`Gateway`] answers clients over byte streams ([`Gateway::serve`]) and HTTP ([`Gateway::http`]),
//! in both eras of the protocol. It has no policy of its own: each client acts as an agent of the host,
//! and sees and uses what the policy grants that agent.
//!
//! # How it works
//!
//! - [`caller`]: who a client is, for the policy and for everything that is sealed. [`Validity`]: how long
//!   its credential counts.
//! - `message`: one message of a client, read strictly; one answer, written. `batch`: several at once.
//! - `client`: the state of one client: its era, capabilities, calls in flight, open questions,
//!   subscriptions. `Client::handle` is the way of every message.
//! - `offer`: what one caller is offered in one scope, made from a snapshot of the catalog: lists in
//!   pages, names, addresses of resources, and the way back from them to a server.
//! - `seal`: sealed texts that clients carry for us: cursors and states.
//! - `stream`: clients on byte streams. `http`: clients over HTTP.
//! - For the program that serves: [`setup`] has the texts for clients, `news` what is left out, `loops` finds
//!   entries that lead back to the gateway.
//!
//! Nothing asks a server for its lists on behalf of a client: lists come from the catalog of the host.

mod batch;
pub mod caller;
mod client;
mod drain;
mod error;
mod gateway;
#[cfg(feature = "http")]
pub mod http;
mod limits;
mod loops;
mod message;
mod news;
mod offer;
mod options;
mod outlet;
mod scope;
mod seal;
pub mod setup;
mod stdio;
mod stream;
mod validity;

pub use caller::ClientIdentity;
pub use client::client_capabilities;
pub use error::GatewayError;
pub use gateway::Gateway;
pub use limits::GatewayLimits;
#[cfg(feature = "http")]
pub use loops::leads_to;
pub use loops::starts_gateway;
pub use news::{LeftOutChange, LeftOutNews};
pub use offer::{LeftOut, LeftOutReason};
pub use options::{GatewayOptions, Profile};
pub use scope::Scope;
pub use stdio::{StdioInput, StdioOutput, stdio};
pub use validity::Validity;
