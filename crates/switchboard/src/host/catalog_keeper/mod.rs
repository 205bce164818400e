//! The catalog of a host: reads the lists of every connected server, and publishes snapshots.
//!
//! [`CatalogKeeper`] owns the [`Catalog`] and one task for each live connection. It promises that a
//! snapshot never changes, that a list which cannot be read leaves what was known, that lists are read
//! again when the server says that they changed (a burst of changes is one reading), and that the part
//! of a server without a connection is marked stale.
//!
//! The registry hands each new connection to [`CatalogKeeper::follow`], which numbers it and starts its
//! task ([`refresh`]); an opener awaits [`CatalogKeeper::listed`] with the session that it got. How far
//! the lists are read is a [`Listing`] of the member, and belongs to one connection: what the task of an
//! older connection reports counts for nothing once there is a newer one, so that nobody is told of
//! lists that were never read. [`lists`] reads the lists of a connection and puts a part together.

mod listing;
mod lists;
mod refresh;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use switchboard_wire::LogLevel;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(super) use listing::{Listing, Lists};

use super::member::{Member, Source};
use super::options::{HostLimits, Options};
use crate::catalog::{Catalog, Change, Delta, Freshness, ServerCatalog, ToolEntry};
use crate::error::{Error, HostError};
use crate::events::{Event, Sender};
use crate::limits::Limits;
use crate::session::Session;
use crate::spec::NameStyle;

/// Lists are not read any more: the server was removed, or the host has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stopped;

/// The catalog of a host.
pub(super) struct CatalogKeeper {
    catalog: watch::Sender<Catalog>,
    events: Sender,
    options: ListOptions,
    /// Cancelled when connections are not followed any more.
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// What bounds lists, and how what is in them is named.
struct ListOptions {
    limits: Limits,
    host_limits: HostLimits,
    name_style: NameStyle,
    /// For servers that log nothing unless they are asked.
    log_level: Option<LogLevel>,
}

impl CatalogKeeper {
    pub(super) fn new(options: &Options, events: Sender) -> Self {
        Self {
            catalog: watch::Sender::new(Catalog::default()),
            events,
            options: ListOptions {
                limits: options.limits.clone(),
                host_limits: options.host_limits.clone(),
                name_style: options.name_style,
                log_level: options.log_level,
            },
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }

    /// The newest snapshot.
    pub(super) fn catalog(&self) -> Catalog {
        self.catalog.borrow().clone()
    }

    /// The newest snapshot, and each that follows.
    pub(super) fn subscribe(&self) -> watch::Receiver<Catalog> {
        self.catalog.subscribe()
    }

    /// The part of a server.
    pub(super) fn part(&self, member: &Member) -> Option<Arc<ServerCatalog>> {
        let catalog = self.catalog.borrow();
        catalog.server(member.name.as_str()).cloned()
    }

    /// A tool as its server offers it now, under the same name for models; nothing where it does not.
    pub(super) fn current(&self, entry: &ToolEntry) -> Option<Arc<ToolEntry>> {
        let catalog = self.catalog.borrow();
        let current = catalog.tool(entry.exposed())?;
        (current.key() == entry.key()).then(|| Arc::clone(current))
    }

    /// Waits until the lists of a connection are read, or the connection is over.
    ///
    /// # Errors
    /// When lists are not read any more.
    pub(super) async fn listed(
        &self,
        member: &Member,
        session: &Session,
        lists: Lists,
    ) -> Result<(), Stopped> {
        tokio::select! {
            () = member.listing.listed(session, lists) => Ok(()),
            () = self.stopped(member) => Err(Stopped),
        }
    }

    /// Waits until all lists of the newest connection are read, or it is over; not at all where there
    /// was none.
    ///
    /// # Errors
    /// When lists are not read any more.
    pub(super) async fn caught_up(&self, member: &Member) -> Result<(), Stopped> {
        tokio::select! {
            () = member.listing.caught_up() => Ok(()),
            () = self.stopped(member) => Err(Stopped),
        }
    }

    async fn stopped(&self, member: &Member) {
        tokio::select! {
            () = member.gone.cancelled() => {}
            () = self.stop.cancelled() => {}
        }
    }

    /// Has all lists of a server read again: now where it is connected, or else on its next connection.
    pub(super) fn refresh(&self, member: &Member) {
        member.listing.forget_reads();
        member.listing.request();
    }

    /// The error of a server that has no tools and is said to have some.
    pub(super) fn lacks_tools(&self, member: &Member) -> Option<Error> {
        let fails = member.ready()?.settings.fail_if_no_tools;
        let is_empty = self.part(member)?.tools().is_empty();
        (fails && is_empty).then(|| member.about(HostError::NoTools))
    }

    /// Publishes tools that have no server.
    pub(super) fn publish_offline(&self, member: &Member) {
        if let Source::Offline(tools) = &member.source {
            let part = ServerCatalog::builder(member.name.clone())
                .style(self.options.name_style)
                .tools(tools.clone())
                .freshness(Freshness::Offline)
                .build(None);
            self.publish(member, |_| part.clone());
        }
    }

    /// Marks the part of a server as stale.
    fn mark_stale(&self, member: &Member) {
        if self.part(member).is_some() {
            self.publish(member, |part| part.with_freshness(Freshness::Stale));
        }
    }

    /// Publishes a snapshot with another part of a server in it, and reports the changes.
    fn publish(&self, member: &Member, part: impl Fn(&ServerCatalog) -> ServerCatalog) {
        self.replace(member, |catalog| {
            // Asked while the lock is held, so that nothing is published after it was removed.
            if member.gone.is_cancelled() {
                return None;
            }
            let empty;
            let known = match catalog.server(member.name.as_str()) {
                Some(part) => part,
                None => {
                    empty = Arc::new(ServerCatalog::builder(member.name.clone()).build(None));
                    &empty
                }
            };
            Some(catalog.with(Arc::new(part(known))))
        });
    }

    /// Publishes a snapshot without a server that was removed.
    pub(super) fn forget(&self, member: &Member) {
        self.replace(member, |catalog| Some(catalog.without(&member.name)));
    }

    fn replace(&self, member: &Member, newer: impl FnOnce(&Catalog) -> Option<Catalog>) {
        let mut changes = Vec::new();
        self.catalog.send_if_modified(|catalog| {
            let Some(newer) = newer(catalog) else {
                return false;
            };
            changes = catalog.diff(&newer);
            *catalog = newer;
            // Before those who wait are woken: a call that they make must not use what it prepared.
            member.mark_changed();
            !changes.is_empty()
        });
        self.report(member, &changes);
    }

    fn report(&self, member: &Member, changes: &[Change]) {
        if changes.is_empty() {
            return;
        }
        let most = self.options.host_limits.changes;
        self.events.emit(|| {
            let lines = changes.iter().take(most).map(line);
            let mut lines: Vec<String> = lines.map(|line| member.redact(&line)).collect();
            if changes.len() > most {
                lines.push(format!("and {} more", changes.len() - most));
            }
            Event::CatalogChanged {
                server: member.name.clone(),
                changes: lines,
            }
        });
    }

    /// Ends all tasks, and waits for them. Connections are to be closed before.
    pub(super) async fn shutdown(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Drop for CatalogKeeper {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A change in words.
fn line(change: &Change) -> String {
    match change {
        Change::ServerAdded(_) => "listed".to_owned(),
        Change::ServerRemoved(_) => "removed".to_owned(),
        Change::Freshness { to, .. } => match to {
            Freshness::Live => "live".to_owned(),
            Freshness::Stale => "stale".to_owned(),
            Freshness::Offline => "offline".to_owned(),
        },
        Change::Instructions(_) => "instructions changed".to_owned(),
        Change::Item {
            kind, name, delta, ..
        } => {
            let what = match delta {
                Delta::Added => "added",
                Delta::Removed => "removed",
                Delta::Changed => "changed",
            };
            format!("{kind} {name} {what}")
        }
    }
}
