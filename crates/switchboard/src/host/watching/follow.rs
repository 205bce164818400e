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

/// Has the server tell of what is wanted, as long as the connection lasts. Never ends.
pub(in crate::host) async fn following(topics: &Topics, session: &Session, limits: &HostLimits) {
    topics.connected();
    match session.subscribing() {
        Ok(Subscribing::Each) => each(topics, session).await,
        Ok(Subscribing::Together) => together(topics, session, limits).await,
        Err(error) => {
            let mut wishes = topics.wishes();
            loop {
                wishes.borrow_and_update();
                topics.refused(&topics.wanted(), &error);
                if wishes.changed().await.is_err() {
                    return pending().await;
                }
            }
        }
    }
}

/// Asks for every resource by itself.
async fn each(topics: &Topics, session: &Session) {
    let mut wishes = topics.wishes();
    let mut open = BTreeSet::new();
    loop {
        wishes.borrow_and_update();
        let wanted = topics.wanted();
        for uri in &open - &wanted {
            // One that goes on telling tells nobody.
            session.unsubscribe(&uri).await.ok();
            open.remove(&uri);
        }
        for uri in &wanted - &open {
            match session.subscribe(&uri).await {
                Ok(()) => {
                    topics.opened([&uri]);
                    open.insert(uri);
                }
                // Whoever watches is told that, and why.
                Err(CallError::Closed { .. }) => return pending().await,
                Err(error) => topics.refused([&uri], &error),
            }
        }
        // Somebody may have gone and another come for the same, and no word of it reached the server.
        topics.opened(&open);
        if wishes.changed().await.is_err() {
            return pending().await;
        }
    }
}

/// A request that lasts as long as the server tells.
struct Listening<'a> {
    topics: &'a Topics,
    id: RequestId,
    ended: Pin<Box<dyn Future<Output = Result<(), CallError>> + Send + 'a>>,
}

impl<'a> Listening<'a> {
    fn open(topics: &'a Topics, session: &'a Session, uris: &BTreeSet<String>) -> Self {
        let id = session.fresh_id();
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
        let wanted = topics.wanted();
        if wanted.is_empty() {
            older = None;
            if wishes.changed().await.is_err() {
                return pending().await;
            }
            continue;
        }
        let mut newer = Listening::open(topics, session, &wanted);
        let begun = Instant::now();
        let agreed = tokio::select! {
            biased;
            agreed = topics.agreed(&newer.id) => Ok(agreed),
            ended = &mut newer.ended => Err(ended),
            () = sleep(session.acknowledgement()) => Err(Err(unanswered(session))),
            () = going_on(topics, &mut older) => pending().await,
        };
        let ended = match agreed {
            Ok(agreed) => {
                older = None;
                let agreed: BTreeSet<String> = agreed.into_iter().collect();
                topics.opened(&(&agreed & &wanted));
                let what = "changes of this resource";
                topics.refused(&(&wanted - &agreed), &CallError::NotOffered { what });
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
                let (new, closed) = topics.closed(&wanted);
                match &ended {
                    // Whoever watches is told that, and why.
                    Err(CallError::Closed { .. }) => {}
                    Err(error @ CallError::Rpc(_)) => topics.refused(&closed, error),
                    Err(error) => topics.refused(&new, error),
                    Ok(()) => {}
                }
                ended
            }
        };
        drop(newer);
        if let Err(CallError::Closed { .. }) = ended {
            return pending().await;
        }
        if older.is_none() {
            // Whatever happens until the next is agreed on, nobody tells.
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

/// Lets an older request go on, which may end by itself. Never ends.
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
    }
}
