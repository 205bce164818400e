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
//! older connection reports counts for nothing once there is a newer one, so that no opener goes on
//! before its lists are read. [`lists`] reads the lists of a connection and puts a part together.

mod keeping;
mod lists;
mod refresh;
#[cfg(test)]
mod tests;
mod unused;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use switchboard_wire::LogLevel;
use tokio::sync::{Mutex as Turn, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use lists::Kinds;
use refresh::Connection;
use unused::Unused;

use super::clients::ClientLevels;
use super::member::{Member, Source};
use super::{HostLimits, KeptDefinitions, Options};
use crate::catalog::{
    self, Catalog, Change, Delta, ExposedNames, Freshness, ItemKind, ServerCatalog, ToolEntry,
};
use crate::error::{Error, HostError};
use crate::events::{Event, EventSender};
use crate::limits::Limits;
use crate::session::{Changes, CloseCause, Session};
use crate::spec::{NameStyle, Settings};

/// Lists are not read any more: the server was removed, or the host has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stopped;

/// The catalog of a host.
pub(super) struct CatalogKeeper {
    catalog: watch::Sender<Catalog>,
    events: EventSender,
    options: RwLock<Arc<ListOptions>>,
    /// Cancelled when connections are not followed any more.
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// Limits of lists, and the style of the names of their items.
struct ListOptions {
    limits: Limits,
    host_limits: HostLimits,
    name_style: NameStyle,
    exposed_names: Option<ExposedNames>,
    /// Definitions of earlier runs.
    kept: Option<KeptDefinitions>,
    /// Time without a use after which a connection is closed.
    close_unused: Option<Duration>,
    /// For servers that log nothing unless they are asked.
    log_level: Option<LogLevel>,
    /// The level from which on clients want legacy servers to log.
    client_levels: ClientLevels,
}

impl ListOptions {
    fn of(options: &Options) -> Self {
        Self {
            limits: options.limits.clone(),
            host_limits: options.host_limits.clone(),
            name_style: options.name_style,
            exposed_names: options.exposed_names,
            kept: options.kept.clone(),
            close_unused: options.close_unused,
            log_level: options.log_level,
            client_levels: options.client_levels.clone(),
        }
    }
}

impl CatalogKeeper {
    pub(super) fn new(options: &Options, events: EventSender) -> Self {
        Self {
            catalog: watch::Sender::new(Catalog::default()),
            events,
            options: RwLock::new(Arc::new(ListOptions::of(options))),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }

    fn options(&self) -> Arc<ListOptions> {
        let options = self.options.read();
        Arc::clone(&options.unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets the limits of lists that are read from now on.
    #[cfg(feature = "config")]
    pub(super) fn set_options(&self, options: &Options) {
        let mut current = self.options.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(ListOptions::of(options));
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

    /// Returns true if what is known of a server may have changed, as it has no connection.
    pub(super) fn is_stale(&self, member: &Member) -> bool {
        let part = self.part(member);
        part.is_some_and(|part| part.freshness() == Freshness::Stale)
    }

    /// Returns a tool as its server offers it now, under the same name for models; `None` if it is
    /// no longer offered.
    pub(super) fn current(&self, entry: &ToolEntry) -> Option<Arc<ToolEntry>> {
        let catalog = self.catalog.borrow();
        let current = catalog.tool(entry.exposed())?;
        (current.key() == entry.key()).then(|| Arc::clone(current))
    }

    /// Follows a new connection until it ends: has its lists read, and read again when they change.
    pub(super) fn follow(self: &Arc<Self>, member: Arc<Member>, session: &Session) {
        let connection = Connection {
            // Before the opener has the session: from here on it can wait for these lists.
            number: member.listing.begin(session),
            member,
            session: session.clone(),
        };
        let options = self.options();
        if let Some(after) = options.close_unused {
            let unused = Unused {
                member: Arc::clone(&connection.member),
                session: session.clone(),
                stop: self.stop.clone(),
                after,
                most: options.host_limits.drain,
            };
            drop(self.tasks.spawn(unused.close()));
        }
        // Not held by the task: a host that is dropped ends it.
        let keeper = Arc::downgrade(self);
        drop(
            self.tasks
                .spawn(connection.follow(keeper, self.stop.clone())),
        );
    }

    /// Waits until the lists of a connection are read, or the connection is over.
    ///
    /// # Errors
    /// Fails if lists are no longer read.
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

    /// Returns true if a connection was lost before those of its lists were read.
    pub(super) fn was_cut_short(&self, member: &Member, session: &Session, lists: Lists) -> bool {
        let reason = session.close_reason();
        let is_lost = reason.is_some_and(|reason| reason.cause != CloseCause::ByUs);
        is_lost && !member.listing.was_read(session, lists)
    }

    /// Waits until all lists of the newest connection are read, or it is over; returns at once if
    /// there was no connection.
    ///
    /// # Errors
    /// Fails if lists are no longer read.
    pub(super) async fn caught_up(&self, member: &Member) -> Result<(), Stopped> {
        tokio::select! {
            () = member.listing.caught_up() => Ok(()),
            () = self.stopped(member) => Err(Stopped),
        }
    }

    /// Waits until the tools that a server has announced as changed are read, or the connection is over.
    pub(super) async fn read_announced(&self, member: &Member) {
        tokio::select! {
            () = member.listing.read_announced() => {}
            () = self.stopped(member) => {}
        }
    }

    async fn stopped(&self, member: &Member) {
        tokio::select! {
            () = member.gone.cancelled() => {}
            () = self.stop.cancelled() => {}
        }
    }

    /// Requests that all lists of a server be read again: now if it is connected, or else on its
    /// next connection.
    pub(super) fn refresh(&self, member: &Member) {
        member.listing.forget_reads();
        member.listing.request();
    }

    /// Requests that the lists be read again if a wanted one could not be read the last time.
    pub(super) fn refresh_failed(&self, member: &Member, lists: Lists) {
        let is_wanted = |kind| lists == Lists::All || kind == ItemKind::Tool;
        // A new connection reads them anyway, and takes the others from the last one.
        if !member.listing.is_followed() {
            return;
        }
        let unlisted = member.listing.unlisted();
        if unlisted.iter().any(|(kind, _)| is_wanted(*kind)) {
            self.refresh(member);
        }
    }

    /// Notes in the errors of lists how many starts of the server ended in the same way.
    pub(super) fn note_starts(&self, member: &Member, starts: u32) {
        for (_, error) in &mut member.listing.log().unlisted {
            *error = error.clone().after_starts(starts);
        }
    }

    /// Returns the error of a server that must have tools and has none.
    pub(super) fn lacks_tools(&self, member: &Member) -> Option<Error> {
        let fails = member.ready()?.settings.fail_if_no_tools;
        let is_empty = self.part(member)?.tools().is_empty();
        let unlisted = || member.listing.why_unlisted(ItemKind::Tool);
        // A list that could not be read is the reason that there are none.
        (fails && is_empty)
            .then(|| unlisted().unwrap_or_else(|| member.with_context(HostError::NoTools)))
    }

    /// Begins the part of a server with those settings.
    fn builder(&self, member: &Member, settings: Option<&Settings>) -> catalog::Builder {
        let limits = catalog::CatalogLimits {
            items: self.options().limits.items,
            ..catalog::CatalogLimits::default()
        };
        let style = settings.and_then(|settings| settings.name_style);
        let builder = ServerCatalog::builder(member.name.clone())
            .limits(limits)
            .style(style.unwrap_or(self.options().name_style))
            .names(self.options().exposed_names);
        match settings {
            Some(settings) => builder.filter(&settings.tools),
            None => builder,
        }
    }

    /// Publishes tools that have no server.
    pub(super) fn publish_offline(&self, member: &Member) {
        if let Source::Offline(tools) = &member.source {
            let part = self
                .builder(member, None)
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
            if member.has_left() {
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
            // Before waiting openers are woken: their calls must not use a stale preparation.
            member.mark_changed();
            !changes.is_empty()
        });
        self.report(member, &changes);
    }

    fn report(&self, member: &Member, changes: &[Change]) {
        if changes.is_empty() {
            return;
        }
        let most = self.options().host_limits.changes;
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

/// The lists that an opener waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lists {
    /// The tools.
    Tools,
    /// Tools, prompts, resources and templates.
    All,
}

/// Progress in reading the lists of one server, over all of its connections.
///
/// `progress` is that of the newest connection alone: [`Listing::begin`] replaces it, and a report for
/// an older number is dropped. `log` outlives connections: a list may be kept from one to the next.
#[derive(Default)]
pub(super) struct Listing {
    progress: watch::Sender<Progress>,
    /// Held by the task of a connection: the next waits until the end of the last was reported.
    turn: Turn<()>,
    log: Mutex<Log>,
}

/// Progress in reading the lists of the newest connection.
#[derive(Default)]
struct Progress {
    /// The number of the connection; 0 before the first.
    connection: u64,
    /// Distinguishes the session of the connection from others.
    changes: Option<watch::Receiver<Changes>>,
    /// Number of times that all lists were requested on this connection, including at its start.
    requested: u64,
    /// The last of these requests for which the tools are read.
    tools: u64,
    /// The last of these requests for which all lists are read.
    all: u64,
    /// Number of announced changes that the tools include which were read last.
    tools_seen: u64,
    /// Number of announced changes of tools that a caller waits for.
    tools_awaited: u64,
    /// True if nothing more is read on it.
    is_over: bool,
}

/// A record of the lists that were read of a server, over all of its connections.
#[derive(Default)]
struct Log {
    /// The lists that could not be read the last time, and why.
    unlisted: Vec<(ItemKind, Error)>,
    /// The lists that are known.
    reads: BTreeMap<ItemKind, Read>,
    /// The part that was kept last for the next run.
    written: Option<Arc<ServerCatalog>>,
    /// The level from which on the server logs, if one was set.
    log_level: Option<LogLevel>,
}

/// The time at which a list was read.
#[derive(Clone, Copy)]
struct Read {
    at: Instant,
    /// The time for which it may be kept, if the server sends one.
    ttl: Option<Duration>,
}

impl Progress {
    fn is_of(&self, session: &watch::Receiver<Changes>) -> bool {
        let known = self.changes.as_ref();
        known.is_some_and(|known| known.same_channel(session))
    }

    /// Number of changes of tools that the server has announced; those that were read if the connection
    /// is over.
    fn tools_announced(&self) -> u64 {
        let changes = self.changes.as_ref().filter(|_| !self.is_over);
        changes.map_or(self.tools_seen, |changes| changes.borrow().tools)
    }

    fn read(&self, lists: Lists) -> u64 {
        match lists {
            Lists::Tools => self.tools,
            Lists::All => self.all,
        }
    }
}

impl Listing {
    /// Begins a connection, on which all lists are requested, and returns its number. The progress of
    /// the one before ends here.
    fn begin(&self, session: &Session) -> u64 {
        let mut number = 0;
        self.progress.send_modify(|progress| {
            number = progress.connection + 1;
            *progress = Progress {
                connection: number,
                changes: Some(session.changes()),
                requested: 1,
                ..Progress::default()
            };
        });
        number
    }

    /// Reports that lists are read up to a request, after those changes were announced.
    fn mark_read(&self, connection: u64, lists: Lists, request: u64, seen: Changes) {
        self.change(connection, |progress| {
            progress.tools = progress.tools.max(request);
            progress.tools_seen = seen.tools;
            if lists == Lists::All {
                progress.all = progress.all.max(request);
            }
        });
    }

    /// Reports that nothing more is read on a connection.
    fn end(&self, connection: u64) {
        self.change(connection, |progress| progress.is_over = true);
    }

    fn change(&self, connection: u64, change: impl FnOnce(&mut Progress)) {
        self.progress.send_if_modified(|progress| {
            // The task of an older connection must not speak for a newer one.
            let is_current = progress.connection == connection;
            if is_current {
                change(progress);
            }
            is_current
        });
    }

    /// Returns true if those lists were read on that session's connection, or there is a newer one.
    fn was_read(&self, session: &Session, lists: Lists) -> bool {
        let (is_newest, is_read) = {
            let progress = self.progress.borrow();
            let is_newest = progress.is_of(&session.changes());
            (is_newest, progress.read(lists) > 0)
        };
        // A reading that failed is over, too.
        !is_newest || (is_read && self.log().unlisted.is_empty())
    }

    /// Requests all lists on the newest connection.
    fn request(&self) {
        self.progress
            .send_modify(|progress| progress.requested += 1);
    }

    /// Requests all lists on a connection, unless there is a newer one.
    fn request_on(&self, connection: u64) {
        self.change(connection, |progress| progress.requested += 1);
    }

    /// The number of the newest request on the newest connection.
    fn requested(&self) -> u64 {
        self.progress.borrow().requested
    }

    /// Waits for a newer request on a connection; forever if there is a newer connection.
    async fn newer_request(&self, connection: u64, than: u64) {
        let mut progress = self.progress.subscribe();
        let is_newer =
            |progress: &Progress| progress.connection == connection && progress.requested > than;
        if progress.wait_for(is_newer).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Returns true if there is a connection whose changes are followed.
    fn is_followed(&self) -> bool {
        let progress = self.progress.borrow();
        progress.changes.is_some() && !progress.is_over
    }

    /// Waits until a caller wants more announced changes of tools read than those; forever if there is a
    /// newer connection.
    async fn awaited(&self, connection: u64, seen: Changes) {
        let mut progress = self.progress.subscribe();
        let is_awaited = |progress: &Progress| {
            progress.connection == connection && progress.tools_awaited > seen.tools
        };
        if progress.wait_for(is_awaited).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Returns true if the server has announced a change of its tools that was not read yet.
    pub(super) fn is_behind(&self) -> bool {
        let progress = self.progress.borrow();
        progress.tools_announced() > progress.tools_seen
    }

    /// Has the tools read at once, and waits until they include all changes that are announced now, or
    /// the connection is over.
    async fn read_announced(&self) {
        let mut progress = self.progress.subscribe();
        let (mut connection, mut goal) = (0, 0);
        self.progress.send_modify(|progress| {
            (connection, goal) = (progress.connection, progress.tools_announced());
            progress.tools_awaited = progress.tools_awaited.max(goal);
        });
        let is_read = |progress: &Progress| {
            progress.connection != connection || progress.is_over || progress.tools_seen >= goal
        };
        drop(progress.wait_for(is_read).await);
    }

    /// Waits until the lists of that session's connection are read as far as they are requested now,
    /// or the connection is over.
    async fn listed(&self, session: &Session, lists: Lists) {
        let own = session.changes();
        let mut progress = self.progress.subscribe();
        let mut goal = None;
        let is_read = |progress: &Progress| {
            // The session is there a moment before it is followed.
            progress.is_of(&own) && {
                let goal = *goal.get_or_insert(progress.requested);
                progress.is_over || progress.read(lists) >= goal
            }
        };
        let mut ending = self.progress.subscribe();
        let ended = async {
            session.closed().await;
            // Its task may still report the end; that of an older connection is not waited for.
            let is_over = |progress: &Progress| progress.is_over || !progress.is_of(&own);
            drop(ending.wait_for(is_over).await);
        };
        tokio::select! {
            read = progress.wait_for(is_read) => drop(read),
            () = ended => {}
        }
    }

    /// Waits until all lists of the newest connection are read, or it is over.
    async fn caught_up(&self) {
        let mut progress = self.progress.subscribe();
        let (connection, goal) = {
            let now = progress.borrow();
            (now.connection, now.requested)
        };
        let is_read = |progress: &Progress| {
            progress.connection != connection
                || connection == 0
                || progress.is_over
                || progress.all >= goal
        };
        drop(progress.wait_for(is_read).await);
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has all lists read on the next connection, whatever may be kept.
    fn forget_reads(&self) {
        self.log().reads.clear();
    }

    /// Marks these lists as unread, whatever lifetime the server gave them.
    fn forget(&self, kinds: Kinds) {
        self.log().reads.retain(|kind, _| !kinds.has(*kind));
    }

    /// The lists that could not be read the last time, and why.
    pub(super) fn unlisted(&self) -> Vec<(ItemKind, Error)> {
        self.log().unlisted.clone()
    }

    /// The error for which a list could not be read the last time.
    pub(super) fn why_unlisted(&self, kind: ItemKind) -> Option<Error> {
        let log = self.log();
        let unlisted = log.unlisted.iter().find(|(known, _)| *known == kind);
        unlisted.map(|(_, error)| error.clone())
    }

    /// The level from which on the server logs, if one was set.
    pub(super) fn log_level(&self) -> Option<LogLevel> {
        self.log().log_level
    }

    /// Sets the level for later connections, and returns the one before.
    pub(super) fn set_log_level(&self, level: Option<LogLevel>) -> Option<LogLevel> {
        std::mem::replace(&mut self.log().log_level, level)
    }
}
