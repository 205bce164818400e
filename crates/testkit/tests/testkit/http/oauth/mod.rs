//! The issuer, as a client that forgives nothing sees it.

mod client;
mod discovery;
mod faults;
mod grants;
mod login;
