//! The signals that ask us to stop: the runtime listens for the first, and `watcher` sees to it that the second ends
//! the program whatever the runtime does.

#[cfg(unix)]
mod watcher;

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

use crate::ask::is_away;
#[cfg(unix)]
pub(crate) use watcher::{NoServersYet, obeyed};

/// A signal that came.
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

impl Signals {
    /// Waits for the next one that is meant for us: while the person is in a program that we have started for them,
    /// Ctrl-C is a key of that program. Cancel safe.
    pub(crate) async fn stopping(&mut self) -> Signal {
        loop {
            let signal = self.next().await;
            if signal != Signal::INTERRUPT || !is_away() {
                return signal;
            }
        }
    }
}

/// Listens for signals; from its making on, they do not end the process by themselves.
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
        // Second, so that no signal is counted that the runtime does not hear of.
        watcher::start()?;
        Ok(signals)
    }

    /// Waits for the next one. Cancel safe.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            Some(()) = self.interrupt.recv() => Signal::INTERRUPT,
            Some(()) = self.terminate.recv() => TERMINATE,
            Some(()) = self.hangup.recv() => HANGUP,
            else => std::future::pending().await,
        }
    }
}

/// Says that a signal was obeyed; nobody counts them here.
#[cfg(not(unix))]
pub(crate) fn obeyed() {}

/// While this is there, there are no servers; nobody makes anything of it here.
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

    /// Waits for the next one. Cancel safe.
    pub(crate) async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::INTERRUPT,
            // There is nothing to listen to.
            Err(_) => std::future::pending().await,
        }
    }
}
