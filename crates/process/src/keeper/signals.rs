//! Signals as a keeper has them: none interrupts it, and those it heeds are read from a file.

use std::ffi::c_int;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::time::Duration;

/// What there is to do, after a wait.
#[derive(Default, Clone, Copy)]
pub(super) struct News {
    /// The host asks everybody to end.
    pub(super) terminate: bool,
    /// The host wants everybody killed.
    pub(super) kill: bool,
    /// The file that was waited for beside the signals has ended.
    pub(super) ended: bool,
}

/// A file from which signals are read.
pub(super) struct Signals(OwnedFd);

#[allow(unsafe_code)]
impl Signals {
    /// Blocks all signals and opens the file.
    pub(super) fn open() -> io::Result<Self> {
        let (mut all, mut heeded) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: the sets are written before they are read; the file is new and nobody else's.
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

    /// Waits for a signal, for the end of `liveness` where one is given, or for `most`.
    pub(super) fn wait(&self, liveness: Option<c_int>, most: Option<Duration>) -> News {
        let entry = |fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        // An entry with a negative number is passed over.
        let mut files = [entry(self.0.as_raw_fd()), entry(liveness.unwrap_or(-1))];
        // Rounded up: a wait that is a little too short would be repeated in a spin.
        let most = most.map_or(-1, |most| {
            i32::try_from(most.as_millis().saturating_add(1)).unwrap_or(i32::MAX)
        });
        // SAFETY: there are two entries. A failure is an interruption, or leaves nothing reported.
        unsafe { libc::poll(files.as_mut_ptr(), 2, most) };
        let [_, liveness] = files;
        let mut news = News {
            // Nobody writes to it: whatever is reported is its end.
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
        // SAFETY: there is room for what is read, and it is looked at only if all of it was read.
        unsafe {
            let read = libc::read(self.0.as_raw_fd(), info.as_mut_ptr().cast(), size);
            if usize::try_from(read) != Ok(size) {
                return None;
            }
            c_int::try_from(info.assume_init().ssi_signo).ok()
        }
    }
}

/// Ends this process by a signal, of all that may be waiting.
#[allow(unsafe_code)]
pub(super) fn end_by(signal: c_int) {
    let mut one = MaybeUninit::uninit();
    // SAFETY: the set is written before it is read; the rest changes this process only.
    unsafe {
        // One image of a crash is enough, and this would be the wrong one.
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        libc::signal(signal, libc::SIG_DFL);
        libc::kill(libc::getpid(), signal);
        libc::sigemptyset(one.as_mut_ptr());
        libc::sigaddset(one.as_mut_ptr(), signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, one.as_ptr(), ptr::null_mut());
    }
}

/// Gives signals back the meaning that they have in a fresh process.
///
/// Only system calls: it may run between fork and exec.
#[allow(unsafe_code)]
pub(super) fn heed_all() {
    let mut none = MaybeUninit::uninit();
    // SAFETY: a signal that cannot be changed is an error that changes nothing; the set is written
    // before it is read.
    unsafe {
        for signal in 1..32 {
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
    }
}
