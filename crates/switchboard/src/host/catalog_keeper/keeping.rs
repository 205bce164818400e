//! Keeps the definitions of connected servers for the next run.

use std::sync::{Arc, Weak};

use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::refresh::Connection;
use super::{CatalogKeeper, Member, Progress};
use crate::catalog::{Freshness, ItemKind};
use crate::events::Event;
use crate::host::kept::Definitions;
use crate::spec::Settings;

impl CatalogKeeper {
    /// Publishes the definitions that were kept of a server in an earlier run.
    pub(in crate::host) fn publish_kept(
        &self,
        member: &Member,
        settings: &Settings,
        kept: Definitions,
    ) {
        {
            let mut facts = member.facts();
            (facts.version, facts.server) = (kept.version, kept.info);
            facts.capabilities = kept.capabilities;
            facts.is_kept = true;
        }
        let builder = self.builder(member, Some(settings));
        let part = builder
            .tools(kept.tools)
            .prompts(kept.prompts)
            .resources(kept.resources)
            .templates(kept.templates)
            .instructions(kept.instructions)
            .freshness(Freshness::Stale)
            .build(None);
        self.publish(member, |_| part.clone());
    }

    /// Begins to write what a connected server offers, unless that is what was written last.
    pub(super) fn write_kept(&self, member: &Arc<Member>) -> Option<JoinHandle<()>> {
        let store = self.options().kept.clone()?;
        let part = self.part(member)?;
        // A list that could not be read may be empty for that reason alone.
        let lacks_lists = member
            .listing
            .unlisted()
            .iter()
            .any(|(kind, error)| *kind == ItemKind::Tool || error.close_reason().is_some());
        if part.freshness() != Freshness::Live || member.is_local() || lacks_lists {
            return None;
        }
        // By address: a part that was not built anew is the one that was written.
        let written = member.listing.log().written.replace(Arc::clone(&part));
        if written.is_some_and(|written| Arc::ptr_eq(&written, &part)) {
            return None;
        }
        let (member, events) = (Arc::clone(member), self.events.clone());
        // On a thread that may block: many definitions take a while, and so may the disk.
        Some(self.tasks.spawn_blocking(move || {
            let about = {
                let facts = member.facts();
                Definitions {
                    version: facts.version,
                    info: facts.server.clone(),
                    capabilities: facts.capabilities.clone(),
                    ..Definitions::default()
                }
            };
            // Another writing may have begun since, and must not be replaced by this one.
            let is_newest = || {
                let written = &member.listing.log().written;
                written.as_ref().is_some_and(|it| Arc::ptr_eq(it, &part))
            };
            if let Err(error) = store.write(&member.identity(), &part, about, is_newest) {
                events.emit(|| Event::Notice {
                    server: member.name.clone(),
                    text: format!("its definitions are not kept: {error}"),
                });
            }
        }))
    }
}

impl Connection {
    /// Writes what the server offers once its lists were read, and each time that they were read anew,
    /// after a while. Never returns.
    pub(super) async fn keep(&self, keeper: &Weak<CatalogKeeper>) {
        let store = keeper.upgrade();
        let store = store.and_then(|keeper| keeper.options().kept.clone());
        let Some(store) = store else {
            return std::future::pending().await;
        };
        let mut progress = self.member.listing.progress.subscribe();
        while progress.wait_for(|now| self.is_read(now)).await.is_ok() {
            // Lists that change again meanwhile are written once.
            sleep(store.save_after()).await;
            progress.mark_unchanged();
            let writing = keeper
                .upgrade()
                .and_then(|keeper| keeper.write_kept(&self.member));
            if let Some(writing) = writing {
                drop(writing.await);
            }
            if progress.changed().await.is_err() {
                break;
            }
        }
        std::future::pending::<()>().await;
    }

    /// Writes what the server offers, now that the connection ends.
    pub(super) fn keep_last(&self, keeper: &CatalogKeeper) {
        let is_read = self.is_read(&self.member.listing.progress.borrow());
        if is_read {
            drop(keeper.write_kept(&self.member));
        }
    }

    /// Returns true if all lists of this connection were read.
    fn is_read(&self, progress: &Progress) -> bool {
        progress.connection == self.number && progress.all > 0
    }
}
