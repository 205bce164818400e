//! The job that a server and everything it starts are in.
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

/// What a process that the job ends returns. It says nothing: the process had no say in it.
const KILLED: u32 = 1;

/// A job; dropped, it kills all that is in it.
pub(super) struct Job(OwnedHandle);

impl Job {
    /// Makes a job that ends with its last handle. No program inherits the handle.
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: neither attributes nor a name are given, which both may be null.
        let handle = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle was just made, is valid and nobody else's.
        let job = Self(unsafe { OwnedHandle::from_raw_handle(handle) });
        job.kill_on_close()?;
        Ok(job)
    }

    fn kill_on_close(&self) -> io::Result<()> {
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        let size = u32::try_from(mem::size_of_val(&limits)).map_err(io::Error::other)?;
        // SAFETY: the pointer is to a structure of this class and of this size, which lives until
        // the call returns; the system only reads it.
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

    /// Puts a process into the job. What it starts from now on is in there, too.
    pub(super) fn take_in(&self, process: RawHandle) -> io::Result<()> {
        // SAFETY: both handles are open: the job is ours, and the caller has the process.
        check(unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), process) })
    }

    /// Kills all that is in the job.
    pub(super) fn end(&self) {
        // SAFETY: the handle is open. The only failure that there is with an own job: nobody is
        // left in it.
        unsafe { TerminateJobObject(self.0.as_raw_handle(), KILLED) };
    }
}

/// Sends Ctrl-Break to a process group.
///
/// The system hands it to those of the group that share our console. A failure is that there is
/// nobody, or no console: whoever does not hear is killed later.
pub(super) fn interrupt(group: u32) {
    // SAFETY: it takes two numbers. That of the group is never 0, which would mean ourselves.
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
