//! Connects agents to Model Context Protocol servers.
//!
//! Every server of an `mcp.json` as tools for a model, and one call:
//!
#![cfg_attr(feature = "config", doc = "```no_run")]
#![cfg_attr(not(feature = "config"), doc = "```ignore")]
//! use serde_json::json;
//! use switchboard::Host;
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let host = Host::open("mcp.json").await?;
//!     for problem in host.problems() {
//!         println!("{problem}");
//!     }
//!     let tools: Vec<_> = host.tools().iter().map(|tool| tool.to_openai()).collect();
//!     println!("{} tools for a model", tools.len());
//!     let hello = json!({ "message": "hello" });
//!     let result = host.call("demo/echo", hello).await?;
//!     println!("{}", result.text());
//!     host.shutdown().await;
//!     Ok(())
//! }
//! ```
//!
//! A [`Host`] connects to all servers at once; a broken one does not affect the others. Its methods are
//! those of the owner, who may use everything; an agent has a [`View`] that a [`Policy`] restricts.
//! Arguments are checked before they are sent. Every failure is an [`Error`], and [`explain()`] lists its
//! causes and what to do next. The repository has a guide, `docs/library.md`, and whole programs in
//! `examples`: an agent with a model in the loop, a registry for several agents, a manager with
//! capabilities.
//!
//! # Which type do I want?
//!
//! | to | use |
//! |---|---|
//! | use the servers of a config file | `Host::open`, `Host::discover` (the feature `config`) |
//! | describe servers in the program | [`Host::builder`], [`ServerSpec`] |
//! | add a server while the host runs | [`Host::connect_new`], [`Host::add`] |
//! | offer a function of the program as a tool | [`Host::register_tool`], [`host::LocalTool`] |
//! | call a tool | [`Host::call`], or [`Host::tool`] and [`ToolHandle::call`], with the options of [`ToolCall`] |
//! | give tools to a model | [`ToolHandle::to_openai`], [`ToolHandle::to_anthropic`], [`Host::call_for_model`], [`formats`] |
//! | read resources, get prompts | [`Host::read`], [`Host::prompt`]; [`View::watch`], [`View::complete`] |
//! | list the tools of one server, cached or fresh | [`Host::tools_of`] |
//! | restrict an agent | [`HostBuilder::agent`] with an [`AgentPolicy`] ([`Level`], [`Grants`]), then [`Host::agent`]; [`Policy`] for all rules |
//! | ask a person | [`Operator`], or one closure: [`HostBuilder::on_approve_use`], [`HostBuilder::on_elicit`] and the like |
//! | see what happens | [`Host::events`] ([`Event`]), [`Host::logs`], [`Host::servers`] |
//! | decide what to do about a failure | [`Error::kind`], [`Error::was_sent`], [`explain()`] |
//! | limit time and sizes | [`ToolCall::timeout`], [`Timeouts`], [`Limits`], [`HostBuilder::limits`] |
//! | talk to one server, without a host | [`Server`], or [`Session`] for one connection of it |
//! | log in at a server | [`auth`] (the feature `auth`) |
//! | reach a server in another way | [`transport::Connect`] |
//!
//! The names at the root are the API that most programs need; the modules have the rest.
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `config` | yes | servers that config files describe, and what such files say about agents, limits and the network |
//! | `http` | yes | servers at URLs |
//! | `auth` | yes | OAuth for servers at URLs; implies `http` |
//! | `schema` | yes | checks of arguments and results against the schemas of tools; without it they are said to be [not validated](schema::Reason::NotBuilt) |
//! | `sampling` | no | models behind OpenAI's and Anthropic's APIs, for servers that ask for one; implies `http` |
//! | `keyring` | no | the key of stored tokens in the system's keyring (`auth::KeyringKey`) |
//!
//! # Environment
//!
//! The library never prints, and starts no runtime: it runs on the tokio runtime of its caller. A
//! [`HostBuilder`] and a [`transport::Stdio`] take the environment of the process unless they are given
//! another; of that, a server gets the safe variables (`PATH`, `HOME`, `LANG` and the like) and those that
//! its description names. A project's config files run nothing before a person has approved them.
//!
//! # Cancel safety
//!
//! Every future may be dropped. A call or request that has not left is withdrawn; one that has left is
//! cancelled on the wire, with a reason, and its answer is ignored. A connection that is being made is
//! given up, unless another caller waits for it, and its process ends. `next` and `recv` of events, logs
//! and watched resources lose nothing when they are dropped. After the last clone of a [`Host`] is
//! dropped, its servers end in the background; [`Host::shutdown`] waits for it.
//!
//! # Stability
//!
//! Versions before 1.0 may rename things: the repository's `docs/upgrading.md` maps old names to new
//! ones. Texts of errors are for people and may change at any time: programs decide by [`Error::kind`],
//! [`Error::was_sent`] and the other methods. Enums and structs that may grow are `#[non_exhaustive]`. What is hidden from
//! these pages belongs to the command line, and changes without notice.

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
pub use error::{Context, Denial, Error, MissingPolicy};
pub use events::Event;
pub use explain::{Diagnosis, Step, explain};
pub use host::{Caller, Host, HostBuilder, ServerRequest, ToolCall, ToolHandle, ToolResult, View};
pub use policy::{AgentPolicy, Grants, Level, Policy};
#[doc(no_inline)]
pub use switchboard_client::{
    CallError, CallOptions, ErrorKind, Listing, OpenError, Server, ServerError, ServerState,
    Session, SessionOptions, auth, keeper, leftovers, server, session, transport,
};
#[cfg(feature = "config")]
pub use switchboard_config as config;
#[doc(hidden)]
pub use switchboard_core::files;
#[doc(no_inline)]
pub use switchboard_core::limits::{Budget, Deadline, Limits, Timeouts};
#[doc(hidden)]
pub use switchboard_core::mask;
#[doc(hidden)]
pub use switchboard_core::private_store;
#[doc(no_inline)]
pub use switchboard_core::spec::{ServerName, ServerSpec};
#[doc(no_inline)]
pub use switchboard_core::{limits, secret, spec, text};
pub use switchboard_schema as schema;
pub use switchboard_wire as protocol;
pub use talk::Operator;

/// The page of the crate, whose code is compiled with the tests.
#[cfg(all(doctest, feature = "config"))]
#[doc = include_str!("../README.md")]
struct Readme;
