//! How a keeper starts its server.

use std::ffi::{CString, c_char};
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;

use super::cgroup::Cgroup;
use super::orders::{LAST, LIVENESS, LastReport, Orders, Report, STATUS, VARIABLES};
use super::signals::heed_all;

/// Starts the server in a session of its own, with the standard streams; returns its number.
///
/// A program that cannot be loaded is reported to the host by the new process itself.
#[allow(unsafe_code)]
pub(super) fn start(orders: &Orders, cgroup: Option<&Cgroup>) -> io::Result<libc::pid_t> {
    let Some(program) = orders.command.first() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let args = list(&orders.command);
    let variables = list(&orders.variables);
    // SAFETY: this process has one thread. The new one makes only system calls until it is another
    // program; the lists are C strings that end with a null pointer and live until then.
    unsafe {
        let keeper = libc::getpid();
        match fork_into(cgroup) {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                libc::setsid();
                // What nobody can watch any more must not run on.
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                if libc::getppid() != keeper {
                    libc::_exit(127);
                }
                heed_all();
                let folder = &orders.folder;
                if folder.is_empty() || libc::chdir(folder.as_ptr()) == 0 {
                    libc::execve(program.as_ptr(), args.as_ptr(), variables.as_ptr());
                }
                report(Report::Failed(*libc::__errno_location()));
                libc::_exit(127)
            }
            pid => Ok(pid),
        }
    }
}

/// What `clone3` is told, as the kernel has it since 5.7.
#[repr(C)]
#[derive(Default)]
struct CloneArgs {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

/// Forks; the new process is in a control group from its first moment on, where that is possible.
///
/// To move it there later would take the kernel milliseconds, in which it could not be started.
///
/// # Safety
/// As for a fork, and the new process may only make system calls: the C library does not know that
/// it is new.
#[allow(unsafe_code)]
unsafe fn fork_into(cgroup: Option<&Cgroup>) -> libc::pid_t {
    const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
    if let Some(cgroup) = cgroup {
        let args = CloneArgs {
            flags: CLONE_INTO_CGROUP,
            exit_signal: u64::from(libc::SIGCHLD.unsigned_abs()),
            cgroup: u64::from(cgroup.folder().as_raw_fd().unsigned_abs()),
            ..CloneArgs::default()
        };
        // SAFETY: the arguments are as long as they are said to be; the rest is the caller's.
        let pid =
            unsafe { libc::syscall(libc::SYS_clone3, &raw const args, size_of::<CloneArgs>()) };
        // A refusal is a group that is gone, or not ours to put somebody into.
        if let Ok(pid @ 0..) = libc::pid_t::try_from(pid) {
            return pid;
        }
    }
    // SAFETY: by the promise of the caller.
    unsafe { libc::fork() }
}

/// Tells the host that the work is done, and what is left.
#[allow(unsafe_code)]
pub(super) fn report_last(report: LastReport) {
    let bytes = report.to_bytes();
    // SAFETY: the bytes are there for as long as the call takes.
    unsafe { libc::write(LAST, bytes.as_ptr().cast(), bytes.len()) };
}

/// Tells the host how the start went. A host that is gone wants to know nothing.
#[allow(unsafe_code)]
pub(super) fn report(report: Report) {
    let bytes = report.to_bytes();
    // SAFETY: the bytes are there for as long as the call takes.
    unsafe { libc::write(STATUS, bytes.as_ptr().cast(), bytes.len()) };
}

/// Keeps the files between host and keeper from the server.
#[allow(unsafe_code)]
pub(super) fn hide_own_files() {
    for file in [LIVENESS, STATUS, LAST, VARIABLES] {
        // SAFETY: only sets a flag; a file that is not open is an error that changes nothing.
        unsafe { libc::fcntl(file, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

/// Lets go of the server's streams, of the report to the host, and of the folder.
///
/// While a keeper held them, the end of the server would not be the end of its pipes.
#[allow(unsafe_code)]
pub(super) fn let_go() {
    // SAFETY: nobody in this process uses these files any more. A folder that cannot be left is
    // kept busy, and that is all.
    unsafe {
        for file in [0, 1, 2, STATUS] {
            libc::close(file);
        }
        libc::chdir(c"/".as_ptr());
    }
}

fn list(texts: &[CString]) -> Vec<*const c_char> {
    let texts = texts.iter().map(|text| text.as_ptr());
    texts.chain([ptr::null()]).collect()
}
