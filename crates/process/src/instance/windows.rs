//! Processes as shown by Windows. Compiled by `cargo xtask platforms`, but run by no test.
#![allow(unsafe_code, reason = "the times of a process are calls of the system")]

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::time::{Duration, UNIX_EPOCH};

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Threading::{
    GetProcessTimes, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION,
};

use super::StartTime;

/// The time from 1601, the epoch of Windows, to 1970.
const TO_1970: Duration = Duration::from_secs(11_644_473_600);

pub(super) fn start_time(pid: u32) -> Option<StartTime> {
    // SAFETY: the arguments are numbers; 0 means that child processes do not inherit the handle.
    let handle = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, pid) };
    if handle.is_null() {
        return None;
    }
    // SAFETY: the handle was just created, is valid, and has no other owner.
    let handle = unsafe { OwnedHandle::from_raw_handle(handle) };
    let [mut created, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
    // SAFETY: the handle is open with the right access; the system writes to the four values only
    // until it returns.
    let known = unsafe {
        GetProcessTimes(
            handle.as_raw_handle(),
            &raw mut created,
            &raw mut ended,
            &raw mut kernel,
            &raw mut user,
        )
    };
    // The times of a dead process are available as long as any handle to it is open.
    if known == 0 || units(ended) != 0 {
        return None;
    }
    let created = units(created);
    let since_1601 = Duration::from_micros(created / 10);
    Some(StartTime {
        mark: created.to_string(),
        at: UNIX_EPOCH + since_1601.saturating_sub(TO_1970),
    })
}

/// Converts to tenths of a microsecond.
fn units(time: FILETIME) -> u64 {
    (u64::from(time.dwHighDateTime) << 32) | u64::from(time.dwLowDateTime)
}

/// Returns a constant: without the registry or the environment nothing identifies the machine. The host
/// must not share the folder between machines.
pub(super) fn place() -> String {
    "windows".to_owned()
}
