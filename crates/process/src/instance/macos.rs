//! Processes as shown by `libproc` on macOS. Compiled by `cargo xtask platforms`, but run by no test.

use std::mem::{self, MaybeUninit};
use std::time::{Duration, UNIX_EPOCH};

use super::StartTime;

#[allow(unsafe_code)]
pub(super) fn start_time(pid: u32) -> Option<StartTime> {
    let pid = libc::c_int::try_from(pid).ok()?;
    let size = libc::c_int::try_from(mem::size_of::<libc::proc_bsdinfo>()).ok()?;
    let mut info = MaybeUninit::<libc::proc_bsdinfo>::zeroed();
    // SAFETY: the buffer has the size given, and the type that this request returns.
    let written = unsafe {
        libc::proc_pidinfo(
            pid,
            libc::PROC_PIDTBSDINFO,
            0,
            info.as_mut_ptr().cast(),
            size,
        )
    };
    if written != size {
        return None;
    }
    // SAFETY: the system has written all of it; besides, it consists of numbers that were zero before.
    let info = unsafe { info.assume_init() };
    if info.pbi_status == libc::SZOMB {
        return None;
    }
    let (seconds, more) = (info.pbi_start_tvsec, info.pbi_start_tvusec);
    Some(StartTime {
        mark: format!("{seconds}.{more:06}"),
        at: UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_micros(more),
    })
}

pub(super) fn place() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}
