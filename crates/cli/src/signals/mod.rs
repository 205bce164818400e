//! Signals that end the program: the runtime handles the first one, and the thread of `watcher` ends the
//! process on the second, even if the runtime is blocked.

#[cfg(unix)]
mod watcher;

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

use crate::ask::is_away;
#[cfg(unix)]
pub(crate) use watcher::{NoServersYet, mark_handled};

/// A received signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signal {
    pub(crate) name: &'static str,
    pub(crate) number: u8,
}

impl Signal {
    /// Ctrl-C.
    pub(crate) const INTERRUPT: Self = Self {
        name: "SIGINT",
        number: 2,
    };
}
#[cfg(unix)]
const HANGUP: Signal = Signal {
    name: "SIGHUP",
    number: 1,
};
#[cfg(unix)]
const TERMINATE: Signal = Signal {
    name: "SIGTERM",
    number: 15,
};

/// Has SIGHUP ask for the config files to be read again, unless it says that the terminal is gone.
#[cfg(unix)]
pub(crate) fn hangup_reloads() {
    watcher::hangup_reloads();
}

/// Does nothing: there is no such signal.
#[cfg(not(unix))]
pub(crate) fn hangup_reloads() {}

/// Returns true if a signal asks for the config files to be read again.
#[cfg(unix)]
pub(crate) fn is_reload(signal: Signal) -> bool {
    signal == HANGUP && watcher::is_hangup_a_reload()
}

/// Returns false: there is no such signal.
#[cfg(not(unix))]
pub(crate) fn is_reload(_: Signal) -> bool {
    false
}

impl Signals {
    /// Waits for the next signal that is meant for us: while a program that we have started for the person
    /// has the terminal, Ctrl-C is a key of that program. Cancel safe.
    pub(crate) async fn stopping(&mut self) -> Signal {
        loop {
            let signal = self.next().await;
            if signal != Signal::INTERRUPT || !is_away() {
                return signal;
            }
        }
    }
}

/// Listens for signals. Once created, signals no longer end the process directly.
#[cfg(unix)]
pub(crate) struct Signals {
    interrupt: Stream,
    terminate: Stream,
    hangup: Stream,
}

#[cfg(unix)]
impl Signals {
    /// Starts to listen.
    pub(crate) fn listen() -> io::Result<Self> {
        let signals = Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        };
        // After the runtime's handlers, so that the watcher counts no signal that the runtime does not see.
        watcher::start()?;
        Ok(signals)
    }

    /// Waits for the next signal. Cancel safe.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            Some(()) = self.interrupt.recv() => Signal::INTERRUPT,
            Some(()) = self.terminate.recv() => TERMINATE,
            Some(()) = self.hangup.recv() => HANGUP,
            else => std::future::pending().await,
        }
    }
}

/// Does nothing: signals are not counted here.
#[cfg(not(unix))]
pub(crate) fn mark_handled() {}

/// Does nothing: see the version for Unix.
#[cfg(not(unix))]
pub(crate) struct NoServersYet(());

#[cfg(not(unix))]
impl NoServersYet {
    pub(crate) fn begin() -> Self {
        Self(())
    }
}

/// Listens for Ctrl-C.
#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Starts to listen.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for the next signal. Cancel safe.
    pub(crate) async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::INTERRUPT,
            // Ctrl-C cannot be listened for.
            Err(_) => std::future::pending().await,
        }
    }
}
