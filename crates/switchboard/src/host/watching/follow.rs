//! Keeps the subscriptions on one connection as they are wanted.

use std::collections::BTreeSet;
use std::future::{Future, pending};
use std::pin::Pin;

use switchboard_wire::{Listen, Method as _, RequestId};
use tokio::time::{Instant, sleep};

use super::topics::Topics;
use crate::host::HostLimits;
use crate::limits::{dice, doubled, share};
use crate::session::{CallError, Clock, Delivery, Session, Subscribing};

/// Keeps the server subscribed to the watched resources, as long as the connection lasts. Never
/// returns.
pub(in crate::host) async fn following(topics: &Topics, session: &Session, limits: &HostLimits) {
    topics.connected();
    match session.subscribing() {
        Ok(Subscribing::Each) => each(topics, session).await,
        Ok(Subscribing::Together) => together(topics, session, limits).await,
        Err(error) => {
            let mut wishes = topics.wishes();
            loop {
                // Marked as seen before the set is read: a wish that comes in between runs the loop
                // again.
                wishes.borrow_and_update();
                topics.refuse(&topics.watched_uris(), &error);
                if wishes.changed().await.is_err() {
                    return pending().await;
                }
            }
        }
    }
}

/// Subscribes to each resource with a request of its own.
async fn each(topics: &Topics, session: &Session) {
    let mut wishes = topics.wishes();
    let mut open = BTreeSet::new();
    loop {
        wishes.borrow_and_update();
        let wanted = topics.watched_uris();
        for uri in &open - &wanted {
            // A failure is harmless: updates of a resource without watchers are dropped.
            session.unsubscribe(&uri).await.ok();
            open.remove(&uri);
        }
        for uri in &wanted - &open {
            match session.subscribe(&uri).await {
                Ok(()) => {
                    topics.opened([&uri]);
                    open.insert(uri);
                }
                // Watchers learn of the closed connection, and its reason, from `Topics::record_loss`.
                Err(CallError::Closed { .. }) => return pending().await,
                Err(error) => topics.refuse([&uri], &error),
            }
        }
        // A watcher may have left and another joined for the same resource while its subscription
        // stayed open.
        topics.opened(&open);
        if wishes.changed().await.is_err() {
            return pending().await;
        }
    }
}

/// An open subscription request; dropping it stops accepting its updates.
struct Listening<'a> {
    topics: &'a Topics,
    id: RequestId,
    ended: Pin<Box<dyn Future<Output = Result<(), CallError>> + Send + 'a>>,
}

impl<'a> Listening<'a> {
    fn open(topics: &'a Topics, session: &'a Session, uris: &BTreeSet<String>) -> Self {
        let id = session.fresh_id();
        // Before the request is sent: the acknowledgement may arrive at once.
        topics.expect(&id);
        let uris = uris.iter().cloned().collect();
        Self {
            topics,
            id: id.clone(),
            ended: Box::pin(session.listen(id, uris)),
        }
    }
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.topics.forget(&self.id);
    }
}

/// Asks for all resources with one request. When others are wanted, another request takes its place,
/// and the older one goes on until the server has agreed to the newer.
async fn together(topics: &Topics, session: &Session, limits: &HostLimits) {
    let mut wishes = topics.wishes();
    let mut older: Option<Listening<'_>> = None;
    let mut ends = 0;
    loop {
        wishes.borrow_and_update();
        let wanted = topics.watched_uris();
        if wanted.is_empty() {
            older = None;
            if wishes.changed().await.is_err() {
                return pending().await;
            }
            continue;
        }
        // The older request stays open meanwhile, so that no change falls between the two.
        let mut newer = Listening::open(topics, session, &wanted);
        let begun = Instant::now();
        // Biased: an acknowledgement that came together with the end of the request still counts.
        let agreed = tokio::select! {
            biased;
            agreed = topics.wait_for_acknowledgement(&newer.id) => Ok(agreed),
            ended = &mut newer.ended => Err(ended),
            () = sleep(session.acknowledgement()) => Err(Err(unanswered(session))),
            () = going_on(topics, &mut older) => pending().await,
        };
        let ended = match agreed {
            Ok(agreed) => {
                // Only now: the older subscription covers the time until the newer is acknowledged.
                older = None;
                let agreed: BTreeSet<String> = agreed.into_iter().collect();
                topics.opened(&(&agreed & &wanted));
                let what = "changes of this resource";
                topics.refuse(&(&wanted - &agreed), &CallError::NotOffered { what });
                tokio::select! {
                    ended = &mut newer.ended => ended,
                    wish = wishes.changed() => match wish {
                        Ok(()) => {
                            older = Some(newer);
                            continue;
                        }
                        Err(_) => return pending().await,
                    },
                }
            }
            Err(ended) => {
                // An error that the server answered refuses every resource that is not announced
                // now; another error only those that never were.
                let (new, closed) = topics.closed(&wanted);
                match &ended {
                    // Watchers learn of the closed connection, and its reason, from `Topics::record_loss`.
                    Err(CallError::Closed { .. }) => {}
                    Err(error @ CallError::Rpc(_)) => topics.refuse(&closed, error),
                    Err(error) => topics.refuse(&new, error),
                    Ok(()) => {}
                }
                ended
            }
        };
        // Its id is forgotten before the next request has another.
        drop(newer);
        if let Err(CallError::Closed { .. }) = ended {
            return pending().await;
        }
        if older.is_none() {
            // Changes are not announced from here until the next request is acknowledged.
            topics.interrupted();
        }
        if begun.elapsed() > limits.relisten_most {
            ends = 0;
        }
        let ceiling = doubled(limits.relisten, limits.relisten_most, ends);
        ends = ends.saturating_add(1);
        tokio::select! {
            () = sleep(ceiling / 2 + share(ceiling / 2, dice())) => {}
            () = going_on(topics, &mut older) => {}
        }
    }
}

/// Keeps an older request open, and notes its end if the server ends it. Never returns.
async fn going_on(topics: &Topics, older: &mut Option<Listening<'_>>) {
    if let Some(listening) = older {
        drop((&mut listening.ended).await);
        *older = None;
        topics.interrupted();
    }
    pending::<()>().await;
}

fn unanswered(session: &Session) -> CallError {
    CallError::TimedOut {
        method: Listen::NAME.to_owned(),
        clock: Clock::Idle,
        after: session.acknowledgement(),
        delivery: Delivery::MaybeProcessed,
        noise: Vec::new(),
    }
}
