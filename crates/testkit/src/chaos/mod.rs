//! Chaos: the same server with one fault.
//!
//! A `Chaos` names a fault and its target; `flag` is the table of all faults. The faults stand
//! between the server and its pipes: `serve` shows them every incoming message (`ClientMessage`) and
//! every outgoing one (`ServerMessage`), and `output` writes the result. The server itself knows
//! nothing of them, so that everything that a fault does not touch stays correct.
//!
//! Each group of faults has a file: `framing`, `rpc`, `lists`, `calls` and `start`, with the parts
//! that need processes and signals in `unix`. Those of HTTP are in `http::faults`; faults of
//! messages are the same over HTTP.

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

pub(crate) use fault::{ClientMessage, ClientRequest};
#[cfg(feature = "http")]
pub(crate) use lists::adjust;
pub(crate) use output::Act;
#[cfg(feature = "http")]
pub(crate) use player::Player;

use fault::{Fault, ServerMessage, notification, request};

/// Creates the fault of a flag.
fn fault(chaos: &Chaos) -> Box<dyn Fault> {
    match chaos.flag().group() {
        Group::Start => Box::new(start::Start::new(chaos)),
        Group::Framing => Box::new(framing::Framing::new(chaos)),
        Group::Rpc => Box::new(rpc::Rpc::new(chaos)),
        Group::Lists => Box::new(lists::Lists::new(chaos)),
        Group::Calls => Box::new(calls::Calls::new(chaos)),
        // Not faults of messages; `http` implements them.
        Group::Http => Box::new(Nothing),
    }
}

/// No fault.
struct Nothing;

impl Fault for Nothing {}
