//! The gateway over HTTP: both eras at one URL, over TCP, TLS and Unix sockets.
//!
//! ```no_run
//! use switchboard_gateway::Gateway;
//! use switchboard_gateway::http::{HttpAuth, HttpListener, HttpOptions, TokenFile};
//!
//! # async fn serve(gateway: Gateway) -> Result<(), Box<dyn std::error::Error>> {
//! let token = TokenFile::read_or_make("/home/me/.local/state/switchboard/gateway-token".as_ref())?;
//! let service = gateway.http(HttpOptions::new(HttpAuth::Token(token.token))?)?;
//! let listener = HttpListener::tcp("127.0.0.1:8808".parse()?).await?;
//! service.serve(listener, std::future::pending()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! With [`NamedTokens`] each client has a token of its own:
//!
//! ```no_run
//! use switchboard_gateway::Gateway;
//! use switchboard_gateway::http::{HttpAuth, HttpOptions, LiveTokens, NamedTokens, NewToken};
//!
//! # fn make(gateway: Gateway) -> Result<(), Box<dyn std::error::Error>> {
//! let folder = "/home/me/.local/state/switchboard/gateway-tokens";
//! let text = NamedTokens::at(folder).add(NewToken::new("laptop"))?;
//! let tokens = LiveTokens::new(NamedTokens::at(folder));
//! let service = gateway.http(HttpOptions::new(HttpAuth::Named(tokens))?)?;
//! # drop((text, service));
//! # Ok(())
//! # }
//! ```
//!
//! A request passes `origin` (is it meant for us at all), `route`, `auth` (who sends it) and the checks of
//! `service`, before its body is read and parsed, once. `modern` answers a request that says all about
//! itself; `agreement` compares its headers with its body. `legacy` answers those of `sessions`, and
//! `older` is the transport of 2024-11-05. `ends` closes what clients left open when their credentials end.
//!
//! An answer is one JSON text if nothing comes before it. Otherwise it is a stream of events (`events`)
//! that reads a `channel`; channels of sessions keep what was read, so that clients can resume.
//!
//! `serve` accepts connections from a `listener`, within bounds of their number and of every wait (`idle` is
//! the wait for a request), and drains them at the end.

#![allow(
    clippy::result_large_err,
    reason = "a refusal is a response like any other, and goes out at once"
)]

mod agreement;
mod auth;
mod body;
mod channel;
mod digest;
mod ends;
mod events;
mod idle;
mod legacy;
mod listener;
mod modern;
mod oauth;
mod older;
mod options;
mod origin;
mod respond;
mod route;
mod serve;
mod service;
mod sessions;
mod socket;
mod stats;
mod tls;
mod token_file;
mod tokens;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
mod unix_user;

pub use auth::{AuthFuture, AuthRefusal, Authenticate, Credentials, Peer, Token, bearer};
pub use body::HttpBody;
pub use listener::HttpListener;
pub use oauth::{ClaimRule, OAuth, OAuthOptions};
pub use options::{HttpAuth, HttpOptions, TlsFiles};
pub use service::HttpService;
pub use stats::{HttpStats, RefusalReason};
pub use token_file::TokenFile;
pub use tokens::{LiveTokens, NamedToken, NamedTokenError, NamedTokens, NewToken};
