//! Connects agents to Model Context Protocol servers.
//!
//! Ten lines give an agent every tool of every server that an `mcp.json` describes:
//!
//! ```no_run
//! use switchboard::config::Places;
//! use switchboard::transport::Environment;
//! use switchboard::{Caller, Host};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let environment = Environment::of_process();
//! let host = Host::from_config(&Places::only("mcp.json"), &environment)?;
//! for status in host.connect_all().await {
//!     println!("{}: {}", status.name, status.state.word());
//! }
//! let view = host.view(Caller::owner());
//! let tools: Vec<_> = view.tools().iter().map(|tool| tool.openai_chat().value).collect();
//! let result = view.tool("mcp__demo__echo")?.call(serde_json::json!({"message": "hello"})).await?;
//! println!("{} tools; {}", tools.len(), result.text());
//! host.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! [`Host`] has many servers, [`Server`] one, [`Session`] one connection to one; each can be used
//! without the one above it. A [`config`] file that came with a folder runs nothing before the
//! person has approved it ([`trust`]). What servers offer is in a [`catalog`], under names that
//! models can use; arguments are checked against a tool's [`schema`] before they are sent;
//! [`formats`] has the shapes of models' APIs; [`events`] say what happens. Why something did not
//! work is an [`Error`], which [`explain()`] puts into words.
//!
//! The library never prints, reads no variable and no folder by itself (the environment and the
//! places of files are values that it is given), and starts no runtime: it runs on the tokio runtime
//! of its caller.
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `config` | yes | servers that [`config`] files describe, and what such files say about agents, bounds and the network |
//! | `http` | yes | servers at URLs |
//! | `schema` | yes | checks of arguments and results against the schemas of tools; without it they are said to be [not validated](schema::Reason::NotBuilt) |
//! | `sampling` | no | models behind OpenAI's and Anthropic's APIs, for servers that ask for one; implies `http` |
//! | `keyring` | no | the key of stored tokens in the system's keyring (`auth::KeyringKey`) |

pub mod catalog;
mod error;
pub mod events;
pub mod explain;
pub mod formats;
pub mod host;
pub mod pins;
pub mod policy;
pub mod talk;
pub mod trust;

pub use catalog::ToolRef;
pub use error::{Context, Error};
pub use explain::{Diagnosis, Step, explain};
pub use host::{Caller, Host, ToolHandle, ToolResult, View};
pub use switchboard_client::{
    CallError, CallOptions, ErrorKind, Listing, OpenError, Server, ServerError, ServerState,
    Session, SessionOptions, auth, keeper, leftovers, server, session, transport,
};
#[cfg(feature = "config")]
pub use switchboard_config as config;
pub use switchboard_core::limits::{Budget, Deadline, Limits, Timeouts};
#[doc(hidden)]
pub use switchboard_core::mask;
pub use switchboard_core::{files, limits, private_store, secret, spec, text};
pub use switchboard_schema as schema;
pub use switchboard_wire as protocol;
pub use talk::Operator;
