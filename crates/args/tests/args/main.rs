//! The parser against the pages and texts of the workspace that speak of its commands.
#![allow(clippy::unwrap_used, reason = "tests say what they expect by failing")]

mod printed_commands;
mod reference;
