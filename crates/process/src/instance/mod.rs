//! Identifies a process by its number and its start time.
//!
//! Systems reuse the numbers of dead processes. Together with the start time, a number means one process
//! forever.

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;

use std::time::SystemTime;

#[cfg(any(target_os = "linux", target_os = "android"))]
use linux as platform;
#[cfg(target_os = "macos")]
use macos as platform;
#[cfg(windows)]
use windows as platform;

/// Fallback for systems on which we cannot read start times.
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    windows
)))]
mod platform {
    pub(super) fn start_time(_pid: u32) -> Option<super::StartTime> {
        None
    }

    pub(super) fn place() -> String {
        String::new()
    }
}

/// The start time of a process.
#[derive(Debug, Clone)]
pub(super) struct StartTime {
    /// In the system's own units, for comparison only.
    pub(super) mark: String,
    /// As a time for people; inexact if the clock was changed in between.
    pub(super) at: SystemTime,
}

/// One particular process, running or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Instance {
    pub(super) pid: u32,
    pub(super) mark: String,
}

impl Instance {
    /// The process that has this number now, if it runs.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let StartTime { mark, .. } = platform::start_time(pid)?;
        Some(Self { pid, mark })
    }

    /// Its start time, if it still runs.
    pub(super) fn running_since(&self) -> Option<SystemTime> {
        platform::start_time(self.pid)
            .filter(|started| started.mark == self.mark)
            .map(|started| started.at)
    }

    /// Returns true if it still runs; a zombie does not.
    pub(super) fn is_running(&self) -> bool {
        self.running_since().is_some()
    }
}

/// The scope in which process numbers are comparable: a machine, and a container on it.
pub(super) fn place() -> String {
    platform::place()
}
