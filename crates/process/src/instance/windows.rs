//! Processes as Windows shows them. Compiled by `cargo xtask platforms`, but run by no test.
#![allow(unsafe_code, reason = "the times of a process are calls of the system")]

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::time::{Duration, UNIX_EPOCH};

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Threading::{
    GetProcessTimes, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION,
};

use super::Started;

/// From the beginning of the system's count, in 1601, to 1970.
const TO_1970: Duration = Duration::from_secs(11_644_473_600);

pub(super) fn started(pid: u32) -> Option<Started> {
    // SAFETY: it takes numbers; 0 is that programs do not inherit the handle.
    let handle = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, pid) };
    if handle.is_null() {
        return None;
    }
    // SAFETY: the handle was just made, is valid and nobody else's.
    let handle = unsafe { OwnedHandle::from_raw_handle(handle) };
    let [mut created, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
    // SAFETY: the handle is open and may do this; the four are the system's to write until it
    // returns.
    let known = unsafe {
        GetProcessTimes(
            handle.as_raw_handle(),
            &raw mut created,
            &raw mut ended,
            &raw mut kernel,
            &raw mut user,
        )
    };
    // A process that has ended is known for as long as somebody has a handle to it.
    if known == 0 || units(ended) != 0 {
        return None;
    }
    let created = units(created);
    let since_1601 = Duration::from_micros(created / 10);
    Some(Started {
        mark: created.to_string(),
        at: UNIX_EPOCH + since_1601.saturating_sub(TO_1970),
    })
}

/// In tenths of a microsecond.
fn units(time: FILETIME) -> u64 {
    (u64::from(time.dwHighDateTime) << 32) | u64::from(time.dwLowDateTime)
}

/// Nothing says which machine this is without the registry or the environment. A folder that
/// machines share is for the host to keep apart.
pub(super) fn place() -> String {
    "windows".to_owned()
}
