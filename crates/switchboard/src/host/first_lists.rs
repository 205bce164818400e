//! What can be listed before a server was used: kept definitions, and servers that are still starting.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::catalog_keeper::Lists;
use super::member::Member;
use super::registry::Want;
use super::view::View;
use super::{Host, HostInner};
use crate::events::Event;
use crate::policy::Caller;
use crate::spec::ServerName;

impl HostInner {
    /// Publishes what was kept of a server in an earlier run, if it may be listed as it is now.
    pub(super) fn publish_kept(&self, member: &Member) {
        let (Some(store), Some(settings)) = (&self.registry.options().kept, member.settings())
        else {
            return;
        };
        if member.is_disabled() {
            return;
        }
        match store.read(&member.identity()) {
            // Approved first, and what agents may be shown of it is known.
            Ok(Some(kept)) => {
                let is_approved = matches!(self.registry.question(member), Ok(None));
                if is_approved && !self.access.lacks_baseline(member) {
                    self.keeper.publish_kept(member, settings, kept);
                }
            }
            Ok(None) => {}
            Err(why) => {
                self.events.emit(|| Event::Notice {
                    server: member.name.clone(),
                    text: why.clone(),
                });
                // Kept as well: there are no subscribers to events while a host is made.
                member.facts().unusable = Some(why);
            }
        }
    }

    /// Returns true if a server is described, and nothing of it was listed or tried. Agents see what was
    /// listed once it is pinned, after all lists were read.
    pub(super) fn is_untried(&self, member: &Member) -> bool {
        !member.is_disabled()
            && !member.is_offline()
            && (self.keeper.part(member).is_none() || self.access.lacks_baseline(member))
            && member.facts().refused.is_none()
    }
}

impl View {
    /// Begins to connect to the servers that the caller may know of and that nothing is known of, waits
    /// for them no longer than this, and returns those that are still being connected to. They go on in
    /// the background. Servers that were refused before are not tried again.
    #[doc(hidden)]
    pub async fn connect_within(&self, patience: Duration) -> Vec<ServerName> {
        let host = &self.host;
        let (mut opening, mut waiting) = (JoinSet::new(), BTreeSet::new());
        for member in host.registry.members() {
            if host.is_untried(&member) && host.access.knows(&self.caller, &member.name) {
                waiting.insert(member.name.clone());
                let host = Arc::clone(host);
                opening.spawn(async move {
                    // The outcome, good or bad, is in the status.
                    drop(host.open(&member, Want::Use, Lists::All).await);
                    member.name.clone()
                });
            }
        }
        let until = Instant::now() + patience;
        while let Ok(Some(opened)) = timeout_at(until, opening.join_next()).await {
            if let Ok(name) = opened {
                waiting.remove(&name);
            }
        }
        host.registry.finish_in_background(opening);
        waiting.into_iter().collect()
    }

    /// The instructions of the servers that the caller may know of, by server. Those that have changed
    /// since they were approved are left out.
    #[doc(hidden)]
    pub fn instructions(&self) -> Vec<(ServerName, String)> {
        let (host, catalog) = (&self.host, self.catalog());
        let parts = catalog.servers().filter_map(|part| {
            let member = host.registry.member(part.name())?;
            let text = part.instructions()?;
            let is_shown = host.access.shows_instructions(&self.caller, &member);
            is_shown.then(|| (part.name().clone(), member.redact(text)))
        });
        parts.collect()
    }
}

impl Host {
    /// Connects as [`View::connect_within`] does, for the owner: to all servers.
    #[doc(hidden)]
    pub async fn connect_within(&self, patience: Duration) -> Vec<ServerName> {
        self.view(Caller::owner()).connect_within(patience).await
    }
}
