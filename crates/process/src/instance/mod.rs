//! Which process a number means.
//!
//! Systems give the number of a process that is gone to another one. With the time at which it
//! started, a number means one process for good.

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

/// Systems whose processes we cannot tell apart.
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    windows
)))]
mod platform {
    pub(super) fn started(_pid: u32) -> Option<super::Started> {
        None
    }

    pub(super) fn place() -> String {
        String::new()
    }
}

/// When a process started.
#[derive(Debug, Clone)]
pub(super) struct Started {
    /// As the system has it, to be compared and nothing else.
    pub(super) mark: String,
    /// The same for people: not exact where the clock was set in between.
    pub(super) at: SystemTime,
}

/// One process, which may be gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Instance {
    pub(super) pid: u32,
    pub(super) mark: String,
}

impl Instance {
    /// The process that has this number now, if it runs.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let Started { mark, .. } = platform::started(pid)?;
        Some(Self { pid, mark })
    }

    /// When it started, if it still runs.
    pub(super) fn running_since(&self) -> Option<SystemTime> {
        platform::started(self.pid)
            .filter(|started| started.mark == self.mark)
            .map(|started| started.at)
    }

    /// Whether it still runs. One that has ended and was not fetched does not.
    pub(super) fn is_running(&self) -> bool {
        self.running_since().is_some()
    }
}

/// Where numbers of processes mean what they mean here: a machine, and a container on it.
pub(super) fn place() -> String {
    platform::place()
}
