//! The messages between host and keeper at the start and at the end.

use std::ffi::{CString, c_int};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::FromRawFd;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

/// The process name of a keeper, in place of its program's name.
pub(crate) const NAME: &str = "switchboard-keeper";

/// The first argument of a keeper, because the name alone may be a coincidence.
pub(crate) const MARK: &str = "--keep-a-server";

/// The keeper's end of the pipe that closes when the host dies.
pub(crate) const LIVENESS: c_int = 3;

/// The pipe on which a keeper reports the start of the server.
pub(crate) const STATUS: c_int = 4;

/// The pipe on which a keeper finally reports the processes that it could not end.
pub(crate) const LAST: c_int = 5;

/// The file with the server's variables.
///
/// They are only data to a keeper. In its own environment they would affect how it is loaded: the
/// `LD_PRELOAD` of a server would run in it.
pub(crate) const VARIABLES: c_int = 6;

/// The instructions of a keeper, from its arguments
/// `MARK FOLDER CGROUP CLOSE-MS TERM-MS KILL-MS PROGRAM ARGS...`.
pub(super) struct Orders {
    /// The server's working folder; empty for the folder that the keeper was started in.
    pub(super) folder: CString,
    /// The folder of the server's control group; empty without one.
    pub(super) cgroup: CString,
    /// Time for the server after the host is gone, before it is asked to terminate.
    pub(super) after_close: Duration,
    /// Time after that, before it is killed.
    pub(super) after_term: Duration,
    /// Time during which remaining processes are killed again and again.
    pub(super) after_kill: Duration,
    /// The program, then its arguments.
    pub(super) command: Vec<CString>,
    /// The server's variables, each as `NAME=value`.
    pub(super) variables: Vec<CString>,
}

impl Orders {
    pub(super) fn read() -> Option<Self> {
        let args = std::env::args_os().skip(2);
        let mut args = args.map_while(|arg| CString::new(arg.into_vec()).ok());
        let (folder, cgroup) = (args.next()?, args.next()?);
        let after_close = milliseconds(&args.next()?)?;
        let after_term = milliseconds(&args.next()?)?;
        let after_kill = milliseconds(&args.next()?)?;
        let command: Vec<CString> = args.collect();
        (!command.is_empty()).then_some(Self {
            folder,
            cgroup,
            after_close,
            after_term,
            after_kill,
            command,
            variables: variables()?,
        })
    }
}

/// Reads all of the server's variables and closes the file.
#[allow(unsafe_code)]
fn variables() -> Option<Vec<CString>> {
    // SAFETY: the host has opened the file for this, and nothing else here uses its number.
    let mut file = unsafe { File::from_raw_fd(VARIABLES) };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let mut variables = Vec::new();
    for variable in bytes.split_inclusive(|byte| *byte == 0) {
        variables.push(CString::from_vec_with_nul(variable.to_vec()).ok()?);
    }
    Some(variables)
}

/// Writes variables in the form that a keeper reads.
pub(crate) fn write_variables(file: &mut impl Write, variables: &[CString]) -> io::Result<()> {
    let bytes: Vec<u8> = variables
        .iter()
        .flat_map(|variable| variable.as_bytes_with_nul())
        .copied()
        .collect();
    file.write_all(&bytes)
}

fn milliseconds(text: &CString) -> Option<Duration> {
    // 32 bits keep every deadline within the range of `Instant`.
    let milliseconds: u32 = text.to_str().ok()?.parse().ok()?;
    Some(Duration::from_millis(milliseconds.into()))
}

/// A keeper's report on the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// The server has this process id; it may still fail to load its program.
    Forked(i32),
    /// The server could not be started, with this error number.
    Failed(i32),
}

impl Report {
    /// Small enough for one atomic write to a pipe.
    pub(crate) const BYTES: usize = 5;

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let (tag, value) = match self {
            Self::Forked(pid) => (b'p', pid),
            Self::Failed(errno) => (b'e', errno),
        };
        let [a, b, c, d] = value.to_ne_bytes();
        [tag, a, b, c, d]
    }

    pub(crate) fn from_bytes(bytes: [u8; Self::BYTES]) -> Option<Self> {
        let [tag, a, b, c, d] = bytes;
        let value = i32::from_ne_bytes([a, b, c, d]);
        match tag {
            b'p' => Some(Self::Forked(value)),
            b'e' => Some(Self::Failed(value)),
            _ => None,
        }
    }
}

/// A keeper's report at its end. A keeper that was killed sends none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LastReport {
    /// The number of the server's processes that still run.
    pub(crate) left: u32,
    /// The first of their process ids, then zeros.
    pub(crate) pids: [i32; Self::PIDS],
}

impl LastReport {
    /// The maximum number of process ids in the report.
    pub(crate) const PIDS: usize = 15;
    /// Small enough for one atomic write to a pipe.
    pub(crate) const BYTES: usize = 4 * (1 + Self::PIDS);

    /// Counts a process that still runs.
    pub(super) fn add(&mut self, pid: i32) {
        let at = usize::try_from(self.left).unwrap_or(usize::MAX);
        if let Some(place) = self.pids.get_mut(at) {
            *place = pid;
        }
        self.left = self.left.saturating_add(1);
    }

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let numbers = [self.left.to_ne_bytes()].into_iter();
        let numbers = numbers.chain(self.pids.map(i32::to_ne_bytes));
        for (place, number) in bytes.chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&number);
        }
        bytes
    }

    pub(crate) fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let mut numbers = bytes
            .chunks_exact(4)
            .map(|number| number.try_into().unwrap_or_default());
        let left = u32::from_ne_bytes(numbers.next().unwrap_or_default());
        let mut pids = [0; Self::PIDS];
        for (place, number) in pids.iter_mut().zip(numbers) {
            *place = i32::from_ne_bytes(number);
        }
        Self { left, pids }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_report_names_the_first_and_counts_all() {
        let mut report = LastReport::default();
        assert_eq!(LastReport::from_bytes(report.to_bytes()), report);
        (1..=20).for_each(|pid| report.add(pid));
        let read = LastReport::from_bytes(report.to_bytes());
        assert_eq!((read.left, read.pids.len()), (20, LastReport::PIDS));
        assert!(read.pids.into_iter().eq(1..=15));
    }

    #[test]
    fn a_report_reads_as_it_was_written() {
        for report in [Report::Forked(4_194_304), Report::Failed(libc::ENOEXEC)] {
            assert_eq!(Report::from_bytes(report.to_bytes()), Some(report));
        }
        assert_eq!(Report::from_bytes([0; Report::BYTES]), None);
    }
}
