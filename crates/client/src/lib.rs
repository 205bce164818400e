//! A client of Model Context Protocol servers.
//!
//! - [`auth`]: OAuth for servers that are reached by URL;
//! - [`transport`]: byte streams and exchanges to a server: a child process, HTTP in both
//!   generations, memory, or a transport of your own;
//! - [`session`]: one live connection in either era of the protocol;
//! - [`server`]: one server that survives its connections.
//!
//! ```no_run
//! use switchboard_client::transport::{Environment, Stdio};
//! use switchboard_client::{CallOptions, Server, SessionOptions};
//! use switchboard_core::spec::ServerName;
//! use switchboard_wire::Raw;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let command = Stdio::new("uvx").args(["mcp-server-time"]);
//! let time = Server::new(ServerName::parse("time")?, command, SessionOptions::default());
//! let arguments = Raw::parse(r#"{"timezone": "Europe/Berlin"}"#)?;
//! let result = time.call_tool("get_current_time", Some(arguments), CallOptions::default()).await?;
//! # drop(result);
//! time.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! Programs that use many servers, config files or policies use the crate `switchboard`, which
//! re-exports all of this under the same names.

#[cfg(feature = "auth")]
pub mod auth;
mod auth_error;
mod error;
pub mod server;
pub mod session;
pub mod transport;

/// Errors of authorization. The rest of this module needs the feature `auth`.
#[cfg(not(feature = "auth"))]
pub mod auth {
    pub use crate::auth_error::{
        AuthError, CallbackProblem, LoginReason, NeedsLogin, Purpose, TokenStoreError,
    };
}

pub use error::{ErrorKind, ServerError, ServerErrorCause};
pub use server::{Server, ServerState};
pub use session::{CallError, CallOptions, Listing, OpenError, Session, SessionOptions};
pub use switchboard_core::limits::{Budget, Deadline, Limits, Timeouts};
pub use transport::{keeper, leftovers};
