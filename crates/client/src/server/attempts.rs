//! Processes that attempts to connect have started.
//!
//! An attempt that fails or is given up leaves its process to end by itself, which takes a process
//! that does not listen a while. Whoever waits for a server's end waits for these too.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::transport::{Connect, Connecting, Peer};

/// The processes that were started and may not have ended yet.
#[derive(Default)]
pub(super) struct Attempts(Mutex<Vec<Peer>>);

impl Attempts {
    /// Those that may not have ended yet.
    pub(super) fn left(&self) -> Vec<Peer> {
        let mut started = self.started();
        started.retain(|peer| peer.exit().is_none());
        started.clone()
    }

    fn note(&self, peer: &Peer) {
        if peer.is_process() {
            let mut started = self.started();
            started.retain(|peer| peer.exit().is_none());
            started.push(peer.clone());
        }
    }

    fn started(&self) -> MutexGuard<'_, Vec<Peer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A transport whose processes are noted.
pub(super) struct Noted<'a> {
    pub(super) connect: &'a dyn Connect,
    pub(super) attempts: &'a Attempts,
}

impl Connect for Noted<'_> {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async {
            let link = self.connect.connect().await?;
            self.attempts.note(&link.peer);
            Ok(link)
        })
    }

    fn identity(&self) -> String {
        self.connect.identity()
    }

    fn otherwise(&self) -> Option<&dyn Connect> {
        // Only what has no process has another way.
        self.connect.otherwise()
    }
}
