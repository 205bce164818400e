//! What each command does.

pub(crate) mod add;
pub(crate) mod call;
pub(crate) mod config;
pub(crate) mod import;
pub(crate) mod leftovers;
pub(crate) mod lock;
pub(crate) mod pins;
pub(crate) mod policy;
pub(crate) mod prompts;
mod reach;
pub(crate) mod remove;
pub(crate) mod resources;
pub(crate) mod servers;
pub(crate) mod test_server;
pub(crate) mod toggle;
pub(crate) mod tool;
pub(crate) mod tools;
pub(crate) mod trust;
