//! Keeps the lists of a connected server fresh, and notices when it is gone.

use std::sync::{Arc, Weak};
use std::time::Duration;

use switchboard_wire::{Era, Listen, ListenParams, SubscriptionFilter, code};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::lists::{Kinds, reach, read_lists};
use super::member::Member;
use super::options::HostLimits;
use super::watching::following;
use super::{Inner, level};
use crate::events::Event;
use crate::limits::{Deadline, dice, doubled, share};
use crate::session::{CallError, CallOptions, Changes, CloseReason, Session};

/// Longer than any connection lasts.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

impl Inner {
    /// Has the lists of a new connection read, and read again when they change.
    pub(super) fn tend(self: &Arc<Self>, member: Arc<Member>, session: &Session) {
        member.wanted.send_modify(|wanted| *wanted += 1);
        let (host, stop) = (Arc::downgrade(self), self.stop.clone());
        let session = session.clone();
        drop(self.tasks.spawn(async move {
            let _turn = member.tending.lock().await;
            let reason = tokio::select! {
                () = keep_fresh(&host, &member, &session) => None,
                reason = session.closed() => Some(reason),
                () = member.gone.cancelled() => None,
                () = stop.cancelled() => None,
            };
            member.topics.lost(reason.as_ref());
            // Nobody waits for lists that will not come.
            let goal = *member.wanted.borrow();
            reach(&member.tools_listed, goal);
            reach(&member.listed, goal);
            if let (Some(reason), Some(host)) = (reason, host.upgrade()) {
                host.lost(&member, &session, &reason);
            }
        }));
    }

    /// Says that a connection is gone, and marks what it offered as stale.
    fn lost(&self, member: &Member, session: &Session, reason: &CloseReason) {
        let counts = session.counts();
        let shed = counts.dropped_notices + counts.shed_answers + counts.no_room;
        if shed > 0 {
            self.events.emit(|| Event::Shed {
                server: member.name.clone(),
                messages: shed,
            });
        }
        let reason = reason.to_string();
        self.events.emit(|| Event::Disconnected {
            server: member.name.clone(),
            reason: match member.ready() {
                Some(ready) => ready.secrets.redact(&reason).into_owned(),
                None => reason,
            },
        });
        self.mark_stale(member);
    }
}

/// Reads lists now and whenever they change or somebody wants them, and has a modern server say when.
/// Ends when the host is gone.
async fn keep_fresh(host: &Weak<Inner>, member: &Member, session: &Session) {
    let limits = match host.upgrade() {
        Some(host) => host.options.host_limits.clone(),
        None => return,
    };
    // What a server says while it is listed counts too.
    Box::pin(level::set_again(host, member, session)).await;
    // Listening comes first, so that nothing is missed between a list and what is said about it.
    tokio::select! {
        biased;
        () = listening(member, session, &limits) => {}
        () = following(&member.topics, session, &limits) => {}
        () = refreshing(host, member, session, &limits) => {}
    }
}

/// Reads lists one time after the other.
async fn refreshing(host: &Weak<Inner>, member: &Member, session: &Session, limits: &HostLimits) {
    let mut changes = session.changes();
    let mut wanted = member.wanted.subscribe();
    let mut kinds = None;
    let (mut last, mut rushes) = (Instant::now(), 0);
    loop {
        let (goal, seen) = (*wanted.borrow_and_update(), *changes.borrow_and_update());
        let kinds_now = match (kinds, host.upgrade()) {
            (_, None) => return,
            (Some(kinds), _) => kinds,
            (None, Some(host)) => host.first_kinds(member),
        };
        Box::pin(read_lists(host, member, session, kinds_now, goal)).await;
        reach(&member.listed, goal);
        kinds = tokio::select! {
            changed = changes.changed() => {
                if changed.is_err() {
                    return;
                }
                // Known to be out of date, should the connection end before they are read.
                Kinds::changed(seen, *changes.borrow()).forget(member);
                let calm = async {
                    quiet(&mut changes, limits).await;
                    // A server that has something new whenever it was read is not read all the time.
                    let next = last + limits.unrest;
                    rushes = if Instant::now() < next { rushes + 1 } else { 0 };
                    if rushes > limits.rushes {
                        sleep_until(next).await;
                    }
                    last = Instant::now();
                };
                tokio::select! {
                    () = calm => Some(Kinds::changed(seen, *changes.borrow())),
                    wish = wanted.changed() => match wish {
                        Ok(()) => Some(Kinds::ALL),
                        Err(_) => return,
                    },
                }
            }
            wish = wanted.changed() => match wish {
                Ok(()) => Some(Kinds::ALL),
                Err(_) => return,
            },
        };
    }
}

/// Waits until a list has been quiet for a while, but not for ever.
async fn quiet(changes: &mut watch::Receiver<Changes>, limits: &HostLimits) {
    let last = Instant::now() + limits.unrest;
    loop {
        let calm = (Instant::now() + limits.quiet).min(last);
        match timeout_at(calm, changes.changed()).await {
            Ok(Ok(())) if Instant::now() < last => {}
            _ => return,
        }
    }
}

/// Has a modern server say when its lists change. A subscription that ends is opened anew, and the
/// lists are read again, for nobody knows what was missed. Never ends.
async fn listening(member: &Member, session: &Session, limits: &HostLimits) {
    let wish = wish(session);
    if session.negotiated().era() != Era::Modern || wish.is_empty() {
        return std::future::pending().await;
    }
    let params = ListenParams {
        notifications: wish,
    };
    let mut ended = 0;
    loop {
        let begun = Instant::now();
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
        if begun.elapsed() > limits.relisten_most {
            ended = 0;
        }
        let ceiling = doubled(limits.relisten, limits.relisten_most, ended);
        ended = ended.saturating_add(1);
        sleep(ceiling / 2 + share(ceiling / 2, dice())).await;
        member.wanted.send_modify(|wanted| *wanted += 1);
    }
}

/// What to be told about: what the server says it tells.
fn wish(session: &Session) -> SubscriptionFilter {
    let capabilities = &session.negotiated().capabilities;
    SubscriptionFilter {
        tools_list_changed: capabilities.tools_list_changed(),
        prompts_list_changed: capabilities.prompts_list_changed(),
        resources_list_changed: capabilities.resources_list_changed(),
        ..SubscriptionFilter::default()
    }
}
