//! The programs that `cargo xtask bench` compares: one raw server, and three clients that do the
//! same work against it and check every answer.
//!
//! [`facts`] is what both sides know beforehand; [`server`] answers from prepared text; the
//! clients are [`raw`] (the limit that the pipe sets), [`ours`] and [`theirs`] (rmcp). [`http`] has
//! all of them over HTTP. `catalog` is ours alone and has no server. [`forward`] is what stands between a client
//! and a server: the gateway, and a bare proxy.

#[cfg(feature = "ours")]
pub mod catalog;
pub mod drive;
pub mod facts;
pub mod forward;
#[cfg(feature = "ours")]
pub mod hosted;
pub mod http;
#[cfg(feature = "ours")]
pub mod ours;
pub mod raw;
pub mod sample;
pub mod server;
#[cfg(feature = "theirs")]
pub mod theirs;
pub mod work;

/// Ends a measurement; its text is all that is wanted of it.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;
