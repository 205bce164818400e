//! Signals of a keeper: all are blocked, and the few that matter are read from a signalfd.

use std::ffi::c_int;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::time::Duration;

/// The events after a wait.
#[derive(Default, Clone, Copy)]
pub(super) struct News {
    /// The host asks all processes to end.
    pub(super) terminate: bool,
    /// The host wants all processes killed.
    pub(super) kill: bool,
    /// The pipe that was polled beside the signals has closed.
    pub(super) ended: bool,
}

/// The signalfd.
pub(super) struct Signals(OwnedFd);

#[allow(unsafe_code)]
impl Signals {
    /// Blocks all signals and opens the signalfd.
    pub(super) fn open() -> io::Result<Self> {
        let (mut all, mut heeded) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: the sets are written before they are read; the file is new and has no other owner.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::sigprocmask(libc::SIG_SETMASK, all.as_ptr(), ptr::null_mut());
            libc::sigemptyset(heeded.as_mut_ptr());
            for signal in [libc::SIGCHLD, libc::SIGTERM, libc::SIGQUIT] {
                libc::sigaddset(heeded.as_mut_ptr(), signal);
            }
            let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
            match libc::signalfd(-1, heeded.as_ptr(), flags) {
                -1 => Err(io::Error::last_os_error()),
                file => Ok(Self(OwnedFd::from_raw_fd(file))),
            }
        }
    }

    /// Waits for a signal, for the end of `liveness` if given, and at most for `most`.
    pub(super) fn wait(&self, liveness: Option<c_int>, most: Option<Duration>) -> News {
        let entry = |fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        // `poll` ignores entries with a negative number.
        let mut files = [entry(self.0.as_raw_fd()), entry(liveness.unwrap_or(-1))];
        // Round up: a slightly short timeout would make the caller spin.
        let most = most.map_or(-1, |most| {
            i32::try_from(most.as_millis().saturating_add(1)).unwrap_or(i32::MAX)
        });
        // SAFETY: the array has two entries. On a failure or an interruption no entry is set.
        unsafe { libc::poll(files.as_mut_ptr(), 2, most) };
        let [_, liveness] = files;
        let mut news = News {
            // Nothing is ever written to it, so any event is its end.
            ended: liveness.revents != 0,
            ..News::default()
        };
        while let Some(signal) = self.next() {
            news.terminate |= signal == libc::SIGTERM;
            news.kill |= signal == libc::SIGQUIT;
        }
        news
    }

    fn next(&self) -> Option<c_int> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::uninit();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: the buffer has the size given, and is used only if all of it was written.
        unsafe {
            let read = libc::read(self.0.as_raw_fd(), info.as_mut_ptr().cast(), size);
            if usize::try_from(read) != Ok(size) {
                return None;
            }
            c_int::try_from(info.assume_init().ssi_signo).ok()
        }
    }
}

/// Ends this process by a signal, ignoring all others that are pending.
#[allow(unsafe_code)]
pub(super) fn end_by(signal: c_int) {
    let mut one = MaybeUninit::uninit();
    // SAFETY: the set is written before it is read; the other calls change this process only.
    unsafe {
        // The server has dumped its own core; one of the keeper would be misleading.
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        libc::signal(signal, libc::SIG_DFL);
        // Raise the signal while it is blocked, then unblock it alone: no other can come first.
        libc::kill(libc::getpid(), signal);
        libc::sigemptyset(one.as_mut_ptr());
        libc::sigaddset(one.as_mut_ptr(), signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, one.as_ptr(), ptr::null_mut());
    }
}

/// Resets all signals to their defaults and unblocks them.
///
/// Makes system calls only, because it runs between fork and exec.
#[allow(unsafe_code)]
pub(super) fn heed_all() {
    let mut none = MaybeUninit::uninit();
    // SAFETY: for signals that cannot be changed, the call fails without effect; the set is written
    // before it is read.
    unsafe {
        for signal in 1..32 {
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
    }
}
