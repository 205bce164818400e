//! The server over HTTP: streamable HTTP in both eras, and the older HTTP+SSE.
//!
//! It runs in the tokio runtime of the caller (one thread is enough), and records what it has seen:
//!
//! ```
//! use switchboard_testkit::http::Http;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let server = Http::default().serve().await?;
//! // ... point a client at `server.url()` ...
//! assert!(server.url().ends_with("/mcp"));
//! assert_eq!(server.connections(), 0);
//! assert!(server.requests().is_empty());
//! server.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! A misbehaving server is made in the same way, with faults in `Options::chaos`. Tests that wait
//! for an event need not sleep: [`Server::until`] waits for the counts.
//!
//! The parts: `server` accepts connections and `wire` is one of them; `exchange` reads a request
//! and routes it to `modern`, `legacy` or `older`. `session` is the memory of a client, `channel`
//! the messages of one stream. `answer` and `events` turn those into bodies. `faults` selects the
//! faults of HTTP, and `spoil` applies them.

#![allow(
    clippy::result_large_err,
    reason = "a refusal is an answer as good as any, and goes out at once"
)]

mod answer;
mod base64;
mod body;
mod channel;
mod config;
mod events;
mod exchange;
mod faults;
mod gzip;
mod headers;
mod legacy;
mod modern;
mod oauth;
mod older;
mod record;
mod server;
mod session;
mod sessions;
mod shared;
mod spoil;
mod wire;

pub use config::{Answers, Http, Transport};
pub use record::{Counts, Request};
pub use server::Server;

/// Starts a server in the tokio runtime of the caller.
///
/// # Errors
/// As [`Http::serve`].
///
/// # Cancel safety
/// Dropping the future starts nothing.
pub async fn serve(http: Http) -> std::io::Result<Server> {
    http.serve().await
}
