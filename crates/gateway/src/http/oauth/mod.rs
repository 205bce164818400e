//! The gateway as an OAuth resource server (RFC 9728): tokens that an issuer makes for it.
//!
//! `jwt` takes a token apart, `keys` checks its signature with a key of the issuer, `issuer` fetches those.
//! `server` checks what the token says and finds the agent that it stands for, by the rules of `options`,
//! which `file` reads.

mod file;
mod issuer;
mod jwt;
mod keys;
mod options;
mod server;

pub use options::{ClaimRule, OAuthOptions};
pub use server::OAuth;
