//! What host and keeper say to each other when they start.

use std::ffi::{CString, c_int};
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

/// What a keeper is called, in place of its program.
pub(in crate::transport::stdio) const NAME: &str = "switchboard-keeper";

/// A variable that only a keeper has: a name alone can be had by accident.
pub(in crate::transport::stdio) const MARK: &str = "SWITCHBOARD_KEEPER";

/// The file of a keeper that ends with its host.
pub(in crate::transport::stdio) const LIVENESS: c_int = 3;

/// The file of a keeper on which it reports whether the server could be started.
pub(in crate::transport::stdio) const STATUS: c_int = 4;

/// What a keeper is to do: its arguments are `FOLDER CLOSE-MS TERM-MS PROGRAM ARGS...`.
pub(super) struct Orders {
    /// Empty for the folder that the keeper was started in.
    pub(super) folder: CString,
    /// How long the server has after the host is gone, before it is told to terminate.
    pub(super) after_close: Duration,
    /// How long it has after that, before it is killed.
    pub(super) after_term: Duration,
    /// The program, then its arguments.
    pub(super) command: Vec<CString>,
}

impl Orders {
    pub(super) fn read() -> Option<Self> {
        let args = std::env::args_os().skip(1);
        let mut args = args.map_while(|arg| CString::new(arg.into_vec()).ok());
        let folder = args.next()?;
        let after_close = milliseconds(&args.next()?)?;
        let after_term = milliseconds(&args.next()?)?;
        let command: Vec<CString> = args.collect();
        (!command.is_empty()).then_some(Self {
            folder,
            after_close,
            after_term,
            command,
        })
    }
}

fn milliseconds(text: &CString) -> Option<Duration> {
    // No wait is so long that a moment after it could not be told.
    let milliseconds: u32 = text.to_str().ok()?.parse().ok()?;
    Some(Duration::from_millis(milliseconds.into()))
}

/// What a keeper reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::transport::stdio) enum Report {
    /// The server is this process; it may still fail to load its program.
    Forked(i32),
    /// The program could not be started, for this reason of the system.
    Failed(i32),
}

impl Report {
    /// Few enough to be written at once.
    pub(in crate::transport::stdio) const BYTES: usize = 5;

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let (tag, value) = match self {
            Self::Forked(pid) => (b'p', pid),
            Self::Failed(errno) => (b'e', errno),
        };
        let [a, b, c, d] = value.to_ne_bytes();
        [tag, a, b, c, d]
    }

    pub(in crate::transport::stdio) fn from_bytes(bytes: [u8; Self::BYTES]) -> Option<Self> {
        let [tag, a, b, c, d] = bytes;
        let value = i32::from_ne_bytes([a, b, c, d]);
        match tag {
            b'p' => Some(Self::Forked(value)),
            b'e' => Some(Self::Failed(value)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_reads_as_it_was_written() {
        for report in [Report::Forked(4_194_304), Report::Failed(libc::ENOEXEC)] {
            assert_eq!(Report::from_bytes(report.to_bytes()), Some(report));
        }
        assert_eq!(Report::from_bytes([0; Report::BYTES]), None);
    }
}
