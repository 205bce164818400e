//! Our clients with the servers of others, and our servers with their clients.
//!
//! `cargo xtask check --only interop` installs the partners and runs this.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    reason = "a failure here is a failed test"
)]

mod agents_compared;
mod host_interop;
mod http_support;
mod interop_clients;
mod interop_elicit;
mod interop_http_clients;
mod interop_http_restarts;
mod interop_http_servers;
mod interop_http_typescript;
mod interop_http_unasked;
mod interop_rounds;
mod interop_servers;
mod interop_talk;
#[path = "../support/mod.rs"]
mod support;
