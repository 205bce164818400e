//! The server over HTTP: streamable HTTP in both eras, and the older HTTP+SSE.
//!
//! It runs in the tokio runtime of the caller, one thread is enough, and tells what it has seen:
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
//! A misbehaving server is made in the same way: `Options::chaos` has the faults. To wait for
//! something to happen, a test need not sleep: [`Server::until`] waits for the counts to say so.
//!
//! The parts: `server` accepts connections and `wire` is one of them; `exchange` looks at a request and finds the part
//! that is responsible: `modern`, `legacy` or `older`. `session` is what is remembered of a client, `channel` what
//! is said to it on one stream. `answer` and `events` turn that into bodies. `faults` says what is wrong with the HTTP, and `spoil`
//! does it.

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
pub async fn serve(http: Http) -> std::io::Result<Server> {
    http.serve().await
}
