//! Starting a server from its keeper.

use std::ffi::{CString, c_char};
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;

use super::cgroup::ServerCgroup;
use super::orders::{LAST, LIVENESS, LastReport, Orders, Report, STATUS, VARIABLES};
use super::signals::heed_all;

/// Starts the server in a session of its own, with the standard streams; returns its process id.
///
/// If its program cannot be loaded, the new process reports that to the host.
#[allow(unsafe_code)]
pub(super) fn start(orders: &Orders, cgroup: Option<&ServerCgroup>) -> io::Result<libc::pid_t> {
    let Some(program) = orders.command.first() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let args = list(&orders.command);
    let variables = list(&orders.variables);
    // SAFETY: this process has one thread. The child makes only system calls until it runs another
    // program; the lists are C strings that end with a null pointer and live until then.
    unsafe {
        let keeper = libc::getpid();
        match fork_into(cgroup) {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                libc::setsid();
                // Without its keeper the server must not continue.
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                // The keeper may have died before the call above.
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

/// The arguments of `clone3`, as in Linux 5.7.
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

/// Forks directly into a control group, if there is one.
///
/// Moving the process there later would take the kernel milliseconds, during which it could not be
/// started.
///
/// # Safety
/// As for a fork, and the child may only make system calls: the C library does not know about the fork.
#[allow(unsafe_code)]
unsafe fn fork_into(cgroup: Option<&ServerCgroup>) -> libc::pid_t {
    const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
    if let Some(cgroup) = cgroup {
        let args = CloneArgs {
            flags: CLONE_INTO_CGROUP,
            exit_signal: u64::from(libc::SIGCHLD.unsigned_abs()),
            cgroup: u64::from(cgroup.folder().as_raw_fd().unsigned_abs()),
            ..CloneArgs::default()
        };
        // SAFETY: the arguments have the size given; the rest is up to the caller.
        let pid =
            unsafe { libc::syscall(libc::SYS_clone3, &raw const args, size_of::<CloneArgs>()) };
        // A failure means that the group is gone, or that we may not use it: fork without it.
        if let Ok(pid @ 0..) = libc::pid_t::try_from(pid) {
            return pid;
        }
    }
    // SAFETY: as promised by the caller.
    unsafe { libc::fork() }
}

/// Reports to the host that the work is done, and which processes remain.
#[allow(unsafe_code)]
pub(super) fn report_last(report: LastReport) {
    let bytes = report.to_bytes();
    // SAFETY: the bytes live for the duration of the call.
    unsafe { libc::write(LAST, bytes.as_ptr().cast(), bytes.len()) };
}

/// Reports the result of the start to the host. A failure is ignored: the host is gone then.
#[allow(unsafe_code)]
pub(super) fn report(report: Report) {
    let bytes = report.to_bytes();
    // SAFETY: the bytes live for the duration of the call.
    unsafe { libc::write(STATUS, bytes.as_ptr().cast(), bytes.len()) };
}

/// Keeps the server from inheriting the files between host and keeper.
#[allow(unsafe_code)]
pub(super) fn hide_own_files() {
    for file in [LIVENESS, STATUS, LAST, VARIABLES] {
        // SAFETY: only sets a flag; on a file that is not open, the call fails without effect.
        unsafe { libc::fcntl(file, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

/// Closes the server's streams and the pipe of the start report, and leaves the working folder.
///
/// If the keeper kept them open, the pipes would not end with the server.
#[allow(unsafe_code)]
pub(super) fn let_go() {
    // SAFETY: nothing in this process uses these files any more. If the folder cannot be left, it
    // stays busy, which does no harm.
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
