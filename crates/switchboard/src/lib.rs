//! Connects agents to Model Context Protocol servers.
//!
//! ```no_run
//! use switchboard::protocol::Raw;
//! use switchboard::spec::ServerName;
//! use switchboard::transport::{Environment, Stdio};
//! use switchboard::{CallOptions, Server, SessionOptions};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let time = Stdio::new("uvx").args(["mcp-server-time"]).host(&Environment::of_process());
//! let server = Server::new(ServerName::parse("time")?, time, SessionOptions::default());
//! for tool in &server.list_tools().await?.items {
//!     println!("{}: {}", tool.name(), tool.description().unwrap_or_default());
//! }
//! let arguments = Raw::parse(r#"{"timezone": "Europe/Berlin"}"#)?;
//! let result = server.call_tool("get_current_time", Some(arguments), CallOptions::default()).await?;
//! println!("{:?}", result.content());
//! # Ok(())
//! # }
//! ```
//!
//! The library never prints, reads no file (but a ledger's, where a program keeps one) and no
//! variable by itself, and starts no runtime: it runs on the tokio runtime of its caller.

pub mod catalog;
pub mod config;
mod error;
pub mod events;
mod explain;
pub mod formats;
pub mod host;
pub mod limits;
pub mod pins;
pub mod policy;
pub mod schema;
pub mod secret;
pub mod server;
pub mod session;
pub mod spec;
pub mod text;
pub mod transport;
pub mod trust;
mod vault;

pub use error::{Context, Error, ErrorKind};
pub use explain::{Diagnosis, explain};
pub use limits::{Budget, Deadline, Limits, Timeouts};
pub use server::{Server, ServerState};
pub use session::{CallError, CallOptions, Listing, OpenError, Session, SessionOptions};
pub use switchboard_protocol as protocol;
pub use transport::{keeper, leftovers};
