//! The terminal while no line is being typed: typed-ahead keys are kept for the next line, and shown with it.

#[cfg(unix)]
mod unix {
    use std::sync::{Mutex, PoisonError};

    use rustix::io::Errno;
    use rustix::process::Pid;
    use rustix::termios::{
        InputModes, LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr,
        tcgetpgrp, tcsetattr,
    };

    /// The original modes, while they are changed.
    static USUAL: Mutex<Option<Termios>> = Mutex::new(None);

    /// Keeps typed-ahead keys unechoed until it is dropped.
    pub struct TypeAhead(());

    impl TypeAhead {
        /// Changes the modes of the terminal. Does nothing if stdin is not a terminal.
        pub fn begin() -> Self {
            let stdin = rustix::stdio::stdin();
            let Ok(usual) = tcgetattr(stdin) else {
                return Self(());
            };
            let mut waiting = usual.clone();
            // Enter is not translated, and nothing is edited or echoed before there is a line to type into.
            // Ctrl-C stays a signal.
            waiting.input_modes -= InputModes::ICRNL;
            waiting.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
            if tcsetattr(stdin, OptionalActions::Now, &waiting).is_ok() {
                *USUAL.lock().unwrap_or_else(PoisonError::into_inner) = Some(usual);
            }
            Self(())
        }
    }

    /// Restores the terminal, if this process is in the foreground: a background process would be stopped for
    /// it.
    pub fn restore() {
        let usual = USUAL.lock().unwrap_or_else(PoisonError::into_inner).take();
        let stdin = rustix::stdio::stdin();
        if let Some(usual) = usual
            && is_in_foreground()
        {
            // Ignored: the terminal may be gone.
            tcsetattr(stdin, OptionalActions::Now, &usual).ok();
        }
    }

    /// Returns true if this process belongs to the terminal's foreground group.
    fn is_in_foreground() -> bool {
        match tcgetpgrp(rustix::stdio::stdin()) {
            Ok(foreground) => own_group() == Some(foreground),
            // A group outside of this PID namespace has no number here. If the same is true of our own group,
            // both are the same: a container or `unshare` that was started from a shell and has no session of
            // its own.
            Err(Errno::OPNOTSUPP) => own_group().is_none(),
            Err(_) => false,
        }
    }

    /// Returns the group of this process, unless it lies outside of the PID namespace.
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

    /// Drops keys that were typed and not read.
    pub(in super::super) fn forget() {
        // Ignored: the terminal may be gone.
        tcflush(rustix::stdio::stdin(), QueueSelector::IFlush).ok();
    }

    impl Drop for TypeAhead {
        fn drop(&mut self) {
            restore();
        }
    }
}

#[cfg(not(unix))]
mod other {
    /// A console, which keeps typed-ahead keys without help.
    pub struct TypeAhead;

    impl TypeAhead {
        pub fn begin() -> Self {
            Self
        }
    }

    /// Does nothing: a console cannot drop typed keys.
    pub(in super::super) fn forget() {}
}

#[cfg(not(unix))]
pub use other::TypeAhead;
#[cfg(not(unix))]
pub(super) use other::forget;
#[cfg(unix)]
pub(super) use unix::forget;
#[cfg(unix)]
pub use unix::{TypeAhead, restore};
