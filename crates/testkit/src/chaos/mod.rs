//! The same server with one thing wrong with it.
//!
//! A `Chaos` names a fault and what it applies to; `flag` holds the table of them all. The
//! faults stand between the server and its pipes: `serve` shows them every message on its way in
//! (`Heard`) and on its way out (`Saying`), and `output` writes what they make of it. The server
//! itself knows nothing of them, so that whatever a flag does not touch is as correct as ever.
//!
//! One file for each group of faults: `framing`, `rpc`, `lists`, `calls` and `start`, with what needs
//! processes and signals in `unix`. Those of HTTP are in `http::faults`; over HTTP, those of messages are the same.

mod calls;
mod fault;
mod flag;
mod framing;
mod lists;
mod output;
mod parse;
mod player;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(not(unix), path = "windows.rs")]
mod process;
mod rpc;
mod serve;
mod start;

pub use flag::{Flag, Group, Takes};
pub use parse::{Chaos, ChaosError, table};

pub(crate) use output::{Close, Ending};
pub(crate) use process::close;
pub(crate) use serve::serve;

pub(crate) use fault::{Heard, Request};
#[cfg(feature = "http")]
pub(crate) use lists::adjust;
pub(crate) use output::Act;
#[cfg(feature = "http")]
pub(crate) use player::Player;

use fault::{Fault, Saying, notification, request};

/// The fault that a flag asks for.
fn fault(chaos: &Chaos) -> Box<dyn Fault> {
    match chaos.flag().group() {
        Group::Start => Box::new(start::Start::new(chaos)),
        Group::Framing => Box::new(framing::Framing::new(chaos)),
        Group::Rpc => Box::new(rpc::Rpc::new(chaos)),
        Group::Lists => Box::new(lists::Lists::new(chaos)),
        Group::Calls => Box::new(calls::Calls::new(chaos)),
        // These are not faults of messages; `http` has them.
        Group::Http => Box::new(Nothing),
    }
}

/// No fault.
struct Nothing;

impl Fault for Nothing {}
