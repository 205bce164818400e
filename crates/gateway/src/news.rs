//! News for the operator: servers that are left out, and those that are offered again.

use std::collections::BTreeMap;

use switchboard::ServerName;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::caller::ClientIdentity;
use crate::gateway::Gateway;
use crate::offer::{LeftOut, LeftOutReason};
use crate::scope::Scope;

/// Rounds of looking between two attempts to connect to a server that wants a login.
const LOGIN_ROUNDS: u32 = 15;

/// Follows the servers that a scope leaves out. A server that is approved meanwhile, by this program in
/// another terminal, is connected to.
pub struct LeftOutNews {
    gateway: Gateway,
    identity: ClientIdentity,
    scope: Scope,
    known: BTreeMap<ServerName, LeftOut>,
    revision: watch::Receiver<u64>,
    /// Attempts to connect; they end with this value.
    trying: JoinSet<ServerName>,
    round: u32,
    due: Instant,
}

/// A change of what is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOutChange {
    /// Servers that are left out now, or for another reason than before.
    pub left_out: Vec<LeftOut>,
    /// Servers that are offered again.
    pub back: Vec<ServerName>,
}

impl Gateway {
    /// Follows the servers that a scope leaves out for a client.
    pub fn left_out_news(&self, identity: ClientIdentity, scope: Scope) -> LeftOutNews {
        LeftOutNews {
            gateway: self.clone(),
            identity,
            scope,
            known: BTreeMap::new(),
            revision: self.0.offers.watch(),
            trying: JoinSet::new(),
            round: 0,
            due: Instant::now(),
        }
    }
}

impl LeftOutNews {
    /// Waits for the next change. The first call returns at once if something is left out.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub async fn next(&mut self) -> LeftOutChange {
        loop {
            let change = self.look();
            if !change.left_out.is_empty() || !change.back.is_empty() {
                return change;
            }
            tokio::select! {
                // What is no change of revision, such as a failure to connect, is seen in the next round.
                () = sleep_until(self.due) => self.begin_round().await,
                _ = self.revision.changed() => self.settle().await,
            }
        }
    }

    /// Compares what is left out with what was known.
    fn look(&mut self) -> LeftOutChange {
        let now = self
            .gateway
            .left_out(&self.identity, &self.scope)
            .into_iter();
        // A server that is being connected to is not news yet.
        let now = now.filter(|server| server.reason != LeftOutReason::Connecting);
        let now: BTreeMap<ServerName, LeftOut> =
            now.map(|server| (server.server.clone(), server)).collect();
        let is_new = |server: &&LeftOut| self.known.get(&server.server) != Some(*server);
        let left_out = now.values().filter(is_new).cloned().collect();
        let back = self
            .known
            .keys()
            .filter(|server| !now.contains_key(*server));
        let back = back.cloned().collect();
        self.known = now;
        LeftOutChange { left_out, back }
    }

    /// Lets a burst of changes pass.
    async fn settle(&mut self) {
        tokio::time::sleep(self.gateway.0.options.limits.change_pause).await;
        self.revision.mark_unchanged();
    }

    async fn begin_round(&mut self) {
        // Set before the first await: a dropped future must not repeat the round at once.
        self.due = Instant::now() + self.gateway.0.options.limits.recheck;
        self.round = self.round.wrapping_add(1);
        while self.trying.try_join_next().is_some() {}
        // One round of attempts at a time: a server that hangs must not collect them.
        if !self.trying.is_empty() {
            return;
        }
        for server in self.known.values() {
            let is_due = match server.reason {
                LeftOutReason::NeedsApproval => self.is_approved(&server.server).await,
                LeftOutReason::NeedsLogin => self.round.is_multiple_of(LOGIN_ROUNDS),
                _ => false,
            };
            if is_due {
                let (host, name) = (self.gateway.0.host.clone(), server.server.clone());
                self.trying.spawn(async move {
                    // The outcome is in the status of the server.
                    drop(host.tools_of(name.as_str()).fresh().await);
                    name
                });
            }
        }
    }

    /// Looks an approval up, which reads a file.
    async fn is_approved(&self, server: &ServerName) -> bool {
        let (host, server) = (self.gateway.0.host.clone(), server.clone());
        // Off the runtime: reading the file must not hold up other clients.
        let asked = tokio::task::spawn_blocking(move || host.question(server.as_str()));
        matches!(asked.await, Ok(Ok(None)))
    }
}

impl std::fmt::Debug for LeftOutNews {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LeftOutNews")
            .field("scope", &self.scope)
            .field("known", &self.known)
            .finish_non_exhaustive()
    }
}
