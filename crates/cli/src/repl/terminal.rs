//! The terminal while no line is being typed: what is typed ahead is kept as it is for the next line, and
//! shown with it.

#[cfg(unix)]
mod unix {
    use std::sync::{Mutex, PoisonError};

    use rustix::io::Errno;
    use rustix::process::Pid;
    use rustix::termios::{
        InputModes, LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr,
        tcgetpgrp, tcsetattr,
    };

    /// How the terminal was, while it is not.
    static USUAL: Mutex<Option<Termios>> = Mutex::new(None);

    /// A terminal that waits, until it is dropped.
    pub(in super::super) struct Waiting(());

    impl Waiting {
        /// Has the terminal keep what is typed. Where there is none, nothing is done.
        pub(in super::super) fn begin() -> Self {
            let stdin = rustix::stdio::stdin();
            let Ok(usual) = tcgetattr(stdin) else {
                return Self(());
            };
            let mut waiting = usual.clone();
            // Enter stays Enter, and nothing is edited or echoed before there is a line to type into.
            // Ctrl-C is a signal still.
            waiting.input_modes -= InputModes::ICRNL;
            waiting.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
            if tcsetattr(stdin, OptionalActions::Now, &waiting).is_ok() {
                *USUAL.lock().unwrap_or_else(PoisonError::into_inner) = Some(usual);
            }
            Self(())
        }
    }

    /// Makes the terminal what it was, where it is ours to change: whoever does that from the background is stopped.
    pub(crate) fn restore() {
        let usual = USUAL.lock().unwrap_or_else(PoisonError::into_inner).take();
        let stdin = rustix::stdio::stdin();
        if let Some(usual) = usual
            && is_in_foreground()
        {
            // A terminal that is gone needs no modes.
            tcsetattr(stdin, OptionalActions::Now, &usual).ok();
        }
    }

    /// Whether this process belongs to the group that the terminal listens to.
    fn is_in_foreground() -> bool {
        match tcgetpgrp(rustix::stdio::stdin()) {
            Ok(foreground) => own_group() == Some(foreground),
            // A group outside of this PID namespace has no number here. If that is so of ours too, it is the same
            // group: a container or `unshare` that was started from a shell and has no session of its own.
            Err(Errno::OPNOTSUPP) => own_group().is_none(),
            Err(_) => false,
        }
    }

    /// The group of this process, unless it lies outside of the PID namespace.
    #[cfg(target_os = "linux")]
    fn own_group() -> Option<Pid> {
        // `rustix::process::getpgrp` panics where the kernel answers 0.
        // reads because: it is a file of the kernel.
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        // A number for each PID namespace, from that of `/proc` down to ours.
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("NSpgid:"))?;
        Pid::from_raw(line.split_ascii_whitespace().last()?.parse().ok()?)
    }

    #[cfg(not(target_os = "linux"))]
    #[allow(
        clippy::disallowed_methods,
        reason = "there are no PID namespaces there"
    )]
    fn own_group() -> Option<Pid> {
        Some(rustix::process::getpgrp())
    }

    /// Forgets what was typed and not read.
    pub(in super::super) fn forget() {
        // A terminal that is gone has nothing to forget.
        tcflush(rustix::stdio::stdin(), QueueSelector::IFlush).ok();
    }

    impl Drop for Waiting {
        fn drop(&mut self) {
            restore();
        }
    }
}

#[cfg(not(unix))]
mod other {
    /// A console, which keeps what is typed by itself.
    pub(in super::super) struct Waiting;

    impl Waiting {
        pub(in super::super) fn begin() -> Self {
            Self
        }
    }

    /// What was typed stays: the console has no such thing.
    pub(in super::super) fn forget() {}
}

#[cfg(not(unix))]
pub(super) use other::{Waiting, forget};
#[cfg(unix)]
pub(crate) use unix::restore;
#[cfg(unix)]
pub(super) use unix::{Waiting, forget};
