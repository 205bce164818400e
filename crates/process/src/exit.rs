//! Exit statuses, and reports on the cleanup after a process.

use std::fmt;

/// The exit status of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// It returned this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// The system did not report it.
    Unknown,
}

impl Exit {
    /// Returns true for exit code 0.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => match signal_name(*signal) {
                Some(name) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
            Self::Unknown => f.write_str("an unknown exit status"),
        }
    }
}

/// The names of signals whose numbers are the same on all supported systems.
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return None,
    })
}

/// A report on the processes that a server's keeper did not end.
///
/// See [`keeper`](crate::keeper).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleanup {
    /// The exit status of the keeper, if it was killed before it had finished.
    pub keeper_lost: Option<Exit>,
    /// The number of processes that the host ended in its place.
    pub ended: usize,
    /// The process ids of those that were still running after
    /// [`Limits::end_after_kill`](switchboard_core::limits::Limits::end_after_kill) was over.
    pub left: Vec<u32>,
}

impl fmt::Display for Cleanup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.keeper_lost {
            Some(exit) => write!(f, "the server's keeper was lost ({exit})")?,
            None => f.write_str("the server's keeper could not end all its processes")?,
        }
        match self.ended {
            0 => {}
            1 => f.write_str("; 1 process was ended in its place")?,
            ended => write!(f, "; {ended} processes were ended in its place")?,
        }
        if !self.left.is_empty() {
            let left: Vec<String> = self.left.iter().map(u32::to_string).collect();
            write!(f, "; still running: {}", left.join(", "))?;
        }
        Ok(())
    }
}
