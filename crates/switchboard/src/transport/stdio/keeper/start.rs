//! How a keeper starts its server.

use std::ffi::{CStr, CString, c_char};
use std::io;
use std::ptr;

use super::orders::{LIVENESS, MARK, Orders, Report, STATUS};
use super::signals::heed_all;

#[allow(unsafe_code)]
unsafe extern "C" {
    /// The variables of this process, then a null pointer.
    static environ: *const *const c_char;
}

/// Starts the server in a session of its own, with the standard streams; returns its number.
///
/// A program that cannot be loaded is reported to the host by the new process itself.
#[allow(unsafe_code)]
pub(super) fn start(orders: &Orders) -> io::Result<libc::pid_t> {
    let Some(program) = orders.command.first() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let args = list(&orders.command);
    let variables = variables_but_the_mark();
    // SAFETY: this process has one thread. The new one makes only system calls until it is another
    // program; the lists are C strings that end with a null pointer and live until then.
    unsafe {
        let keeper = libc::getpid();
        match libc::fork() {
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
    for file in [LIVENESS, STATUS] {
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

#[allow(unsafe_code)]
fn variables_but_the_mark() -> Vec<*const c_char> {
    let mut kept = Vec::new();
    // SAFETY: the C library's list ends with a null pointer and all before it are C strings.
    // Nothing else runs that could change it.
    unsafe {
        let mut next = environ;
        while !next.is_null() && !(*next).is_null() {
            let variable = CStr::from_ptr(*next).to_bytes();
            let rest = variable.strip_prefix(MARK.as_bytes());
            if !rest.is_some_and(|rest| rest.starts_with(b"=")) {
                kept.push(*next);
            }
            next = next.add(1);
        }
    }
    kept.push(ptr::null());
    kept
}
