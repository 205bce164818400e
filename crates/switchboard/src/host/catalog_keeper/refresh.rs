//! Follows one connection: reads its lists, reads them again when they change, and notices its end.

use std::sync::{Arc, Weak};
use std::time::Duration;

use switchboard_wire::{Era, Listen, ListenParams, LogLevel, SubscriptionFilter, code};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::lists::{Kinds, read_lists};
use super::{CatalogKeeper, HostLimits, Lists, Member};
use crate::events::Event;
use crate::host::clients::follow_level;
use crate::host::watching::following;
use crate::limits::{Deadline, dice, doubled, share};
use crate::session::{CallError, CallOptions, Changes, CloseReason, Session};

/// Longer than any connection lasts.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// One connection, while it lasts.
pub(super) struct Connection {
    pub(super) member: Arc<Member>,
    pub(super) session: Session,
    /// The number of the connection in `Listing`.
    pub(super) number: u64,
}

/// The reason that lists are read.
#[derive(Clone, Copy)]
enum ReadReason {
    /// The connection is new.
    NewConnection,
    /// The server has announced changes since these.
    Changed { since: Changes },
    /// All lists were requested.
    Requested,
}

impl Connection {
    /// Follows a connection until it ends.
    pub(super) async fn follow(self, keeper: Weak<CatalogKeeper>, stop: CancellationToken) {
        let Self { member, number, .. } = &self;
        // Wait until the end of the previous connection was reported: that marks its items stale,
        // which must not happen after the lists of this connection are read.
        let _turn = member.listing.turn.lock().await;
        // Whichever is first: the host is gone, the server ended, it was removed, or the host shuts
        // down.
        let reason = tokio::select! {
            () = self.keep_fresh(&keeper) => None,
            () = self.keep(&keeper) => None,
            reason = self.closed(&keeper) => Some(reason),
            () = member.gone.cancelled() => None,
            () = stop.cancelled() => None,
        };
        member.topics.record_loss(reason.as_ref());
        // Before its items are marked as stale: these are the definitions to keep.
        if let Some(keeper) = keeper.upgrade() {
            self.keep_last(&keeper);
        }
        // Openers that wait for lists of this connection go on without them.
        member.listing.end(*number);
        if let (Some(reason), Some(keeper)) = (reason, keeper.upgrade()) {
            self.report_loss(&keeper, &reason);
        }
    }

    /// Waits for the end of the connection, and for the lists that were being read: they fail with the reason of
    /// the end, which says more than that the connection is gone.
    async fn closed(&self, keeper: &Weak<CatalogKeeper>) -> Arc<CloseReason> {
        let reason = self.session.closed().await;
        if let Some(most) = keeper.upgrade().map(|it| it.options().host_limits.unrest) {
            drop(timeout(most, self.member.listing.caught_up()).await);
        }
        reason
    }

    /// Reports that the connection is gone, and marks its items as stale.
    fn report_loss(&self, keeper: &CatalogKeeper, reason: &CloseReason) {
        // The counters die with the session, so what it had to drop is reported now.
        let (member, counts) = (&self.member, self.session.counts());
        let shed = counts.dropped_notices + counts.shed_answers + counts.no_room;
        if shed > 0 {
            keeper.events.emit(|| Event::Shed {
                server: member.name.clone(),
                messages: shed,
            });
        }
        keeper.events.emit(|| Event::Disconnected {
            server: member.name.clone(),
            reason: member.redact(&reason.to_string()),
        });
        keeper.mark_stale(member);
    }

    /// Reads lists now and whenever they change or are requested, and has a modern server say when.
    /// Ends when the host is gone.
    async fn keep_fresh(&self, keeper: &Weak<CatalogKeeper>) {
        let (limits, levels) = match keeper.upgrade() {
            Some(keeper) => {
                let options = keeper.options();
                (
                    options.host_limits.clone(),
                    options.client_levels.subscribe(),
                )
            }
            None => return,
        };
        // First, so that the level applies to messages logged while the lists are read.
        Box::pin(self.set_log_level(keeper)).await;
        // Listening is polled first, so that no change is missed between a list and its
        // notification.
        tokio::select! {
            biased;
            () = self.listen(&limits) => {}
            () = following(&self.member.topics, &self.session, &limits) => {}
            () = self.follow_clients(keeper, levels) => {}
            () = self.refresh(keeper, &limits) => {}
        }
    }

    /// Reads lists one time after the other.
    async fn refresh(&self, keeper: &Weak<CatalogKeeper>, limits: &HostLimits) {
        let (listing, number) = (&self.member.listing, self.number);
        // Subscribed before the first list is read, so that a change during the reading is seen.
        let mut changes = self.session.changes();
        let mut reason = ReadReason::NewConnection;
        let (mut last, mut rushes) = (Instant::now(), 0);
        loop {
            // Noted before the lists are read: a change or a request meanwhile is for the next reading.
            let (request, seen) = (listing.requested(), *changes.borrow_and_update());
            // What has changed is told by what was noted: a list that is not read must not count as seen.
            let kinds = match (reason, keeper.upgrade()) {
                (_, None) => return,
                (ReadReason::Requested, _) => Kinds::ALL,
                (ReadReason::Changed { since }, _) => Kinds::difference(since, seen),
                // What was announced already is not taken from the last connection.
                (ReadReason::NewConnection, Some(keeper)) => {
                    let announced = Kinds::difference(Changes::default(), seen);
                    keeper.first_kinds(&self.member).and(announced)
                }
            };
            let on_tools = || listing.mark_read(number, Lists::Tools, request, seen);
            let (member, session) = (&self.member, &self.session);
            Box::pin(read_lists(keeper, member, session, kinds, on_tools)).await;
            listing.mark_read(number, Lists::All, request, seen);
            reason = tokio::select! {
                changed = changes.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    // Known to be out of date, should the connection end before they are read.
                    listing.forget(Kinds::difference(seen, *changes.borrow()));
                    let calm = async {
                        quiet(&mut changes, limits).await;
                        // A server whose lists change whenever they were read is not read all the time.
                        let next = last + limits.unrest;
                        rushes = if Instant::now() < next { rushes + 1 } else { 0 };
                        if rushes > limits.rushes {
                            sleep_until(next).await;
                        }
                        last = Instant::now();
                    };
                    tokio::select! {
                        () = calm => ReadReason::Changed { since: seen },
                        // A caller does not wait until the server is calm.
                        () = listing.awaited(number, seen) => ReadReason::Changed { since: seen },
                        () = listing.newer_request(number, request) => ReadReason::Requested,
                    }
                }
                () = listing.newer_request(number, request) => ReadReason::Requested,
            };
        }
    }

    /// Subscribes to the list changes of a modern server. A subscription that ends is opened again,
    /// and the lists are read again, because changes may have been missed. Never returns.
    async fn listen(&self, limits: &HostLimits) {
        let (session, wish) = (&self.session, wish(&self.session));
        if session.negotiated().era() != Era::Modern || wish.is_empty() {
            return std::future::pending().await;
        }
        // 2026-07-28: one request stays open, and its notifications come as they happen.
        let params = ListenParams {
            notifications: wish,
        };
        let mut ended = 0;
        loop {
            let begun = Instant::now();
            // The answer ends the subscription, so the usual timeouts do not apply.
            let options = CallOptions::default().deadline(Deadline::within(FOREVER));
            match session.request::<Listen>(&params, options).await {
                // It does not know how, or the connection is over.
                Err(CallError::Rpc(error))
                    if matches!(error.code(), code::METHOD_NOT_FOUND | code::INVALID_PARAMS) =>
                {
                    return std::future::pending().await;
                }
                Err(CallError::Closed { .. } | CallError::NotOffered { .. }) => {
                    return std::future::pending().await;
                }
                Ok(_) | Err(_) => {}
            }
            // It was open for a good while, so this end is not one of a row.
            if begun.elapsed() > limits.relisten_most {
                ended = 0;
            }
            let ceiling = doubled(limits.relisten, limits.relisten_most, ended);
            ended = ended.saturating_add(1);
            // Half of the wait is random: a server that restarts is not asked by all of its clients
            // at once.
            sleep(ceiling / 2 + share(ceiling / 2, dice())).await;
            // Changes may have been announced while no subscription was open.
            self.member.listing.request_on(self.number);
        }
    }

    /// Sets the log level that is wanted of the server, on a new connection.
    async fn set_log_level(&self, keeper: &Weak<CatalogKeeper>) {
        let (member, session) = (&self.member, &self.session);
        // A legacy server logs at a level of its own choice, which is not touched unless a level
        // was set.
        let usual = || {
            let is_modern = session.negotiated().era() == Era::Modern;
            let keeper = keeper.upgrade().filter(|_| is_modern)?;
            keeper.options().log_level
        };
        let Some(level) = member.listing.log_level().or_else(usual) else {
            return;
        };
        let set = match session.set_log_level(level).await {
            // A server that does not log has no level.
            Err(CallError::NotOffered { .. }) => Ok(()),
            set => set,
        };
        if let Err(error) = set {
            self.report_level(keeper, &error);
        }
    }

    /// Sets the level of a legacy server as its clients want it. Never returns.
    async fn follow_clients(
        &self,
        keeper: &Weak<CatalogKeeper>,
        levels: watch::Receiver<Option<LogLevel>>,
    ) {
        let most = || self.member.listing.log_level();
        let report = |error: &CallError| self.report_level(keeper, error);
        follow_level(&self.session, levels, most, report).await;
    }

    fn report_level(&self, keeper: &Weak<CatalogKeeper>, error: &CallError) {
        let Some(keeper) = keeper.upgrade() else {
            return;
        };
        keeper.events.emit(|| Event::Notice {
            server: self.member.name.clone(),
            text: (self.member).redact(&format!("the log level could not be set: {error}")),
        });
    }
}

/// Waits until a list has been quiet for a while, but not for ever.
async fn quiet(changes: &mut watch::Receiver<Changes>, limits: &HostLimits) {
    // A server that announces without end still has its lists read, after this time.
    let last = Instant::now() + limits.unrest;
    loop {
        let calm = (Instant::now() + limits.quiet).min(last);
        match timeout_at(calm, changes.changed()).await {
            Ok(Ok(())) if Instant::now() < last => {}
            _ => return,
        }
    }
}

/// Returns the notifications to ask for: those that the server declares.
fn wish(session: &Session) -> SubscriptionFilter {
    let capabilities = &session.negotiated().capabilities;
    SubscriptionFilter {
        tools_list_changed: capabilities.tools_list_changed(),
        prompts_list_changed: capabilities.prompts_list_changed(),
        resources_list_changed: capabilities.resources_list_changed(),
        ..SubscriptionFilter::default()
    }
}
