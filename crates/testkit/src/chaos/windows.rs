//! Stubs for the faults that need processes and signals of Unix: elsewhere they do nothing.

use std::io;

use super::output::{Ending, Side};
use super::{Chaos, Flag};

/// Does nothing: the client sees its pipe stay open.
pub(crate) fn close(_side: Side) {}

/// Returns true if the server continues after the end of stdin.
pub(super) fn ignores_eof(chaos: &[Chaos]) -> bool {
    chaos.iter().any(|chaos| chaos.flag() == Flag::IgnoreEof)
}

/// Never resolves: there are no such signals.
pub(super) fn signals(_chaos: &[Chaos]) -> io::Result<impl Future<Output = Ending> + use<>> {
    Ok(std::future::pending())
}

/// Starts no child.
pub(super) fn child(_flag: Flag, _seconds: u64) {}
