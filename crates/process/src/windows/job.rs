//! The job object that contains a server and everything it starts.
#![allow(unsafe_code, reason = "jobs and consoles are calls of the system")]

use std::io;
use std::mem;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle, RawHandle};
use std::ptr;

use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation,
    SetInformationJobObject, TerminateJobObject,
};

/// The exit code of processes that the job kills. It means nothing.
const KILLED: u32 = 1;

/// A job; dropping it kills all processes in it.
pub(super) struct Job(OwnedHandle);

impl Job {
    /// Creates a job that ends with its last handle. Children do not inherit the handle.
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: attributes and name may both be null.
        let handle = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle was just created, is valid, and has no other owner.
        let job = Self(unsafe { OwnedHandle::from_raw_handle(handle) });
        job.kill_on_close()?;
        Ok(job)
    }

    fn kill_on_close(&self) -> io::Result<()> {
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        let size = u32::try_from(mem::size_of_val(&limits)).map_err(io::Error::other)?;
        // SAFETY: the pointer is to a structure of this class and size, which lives until the call
        // returns; the system only reads it.
        let set = unsafe {
            SetInformationJobObject(
                self.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size,
            )
        };
        check(set)
    }

    /// Puts a process into the job. Processes that it starts from now on are in the job, too.
    pub(super) fn take_in(&self, process: RawHandle) -> io::Result<()> {
        // SAFETY: both handles are open: the job is ours, and the caller holds the process.
        check(unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), process) })
    }

    /// Kills all processes in the job.
    pub(super) fn end(&self) {
        // SAFETY: the handle is open. The only failure with a job of our own: it is empty.
        unsafe { TerminateJobObject(self.0.as_raw_handle(), KILLED) };
    }
}

/// Sends Ctrl-Break to a process group.
///
/// Only processes that share our console receive it. Failures are ignored: a process that did not
/// receive it is killed later.
pub(super) fn interrupt(group: u32) {
    // SAFETY: the arguments are numbers. The group is never 0, which would mean ourselves.
    if group != 0 {
        unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, group) };
    }
}

fn check(succeeded: i32) -> io::Result<()> {
    match succeeded {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
