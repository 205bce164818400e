//! Calls over a link on which every message is an exchange of its own, as over HTTP.
//!
//! The call's own task drives its exchange: no task is spawned for it, and dropping the call closes
//! the exchange. Everything else is as on a stream: the call stands in the table, with its clocks
//! and its progress, and whichever of these resolves it first wins.
//!
//! What only such links need is here too, and nowhere above: sending a request again after a fault,
//! and learning the definitions of tools before calls that repeat arguments in headers.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use switchboard_core::limits::Deadline;
use switchboard_wire::{CallTool, Era, Listen, Method as _, RequestId, Version, code};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use super::close::CloseCause;
use super::engine::{Ask, Engine, GiveUp};
use super::error::{CallError, Clock, Delivery};
use super::listing;
use super::outbox::Shut;
use super::pending::{Answer, Waiting, ends};
use super::reply::{ForCall, Nobody, Unasked};
use crate::transport::{self, Exchange, Fault, FaultKind, Kind, Outgoing, Repeat, Sent};

/// Maximum number of concurrent messages that are not answered; the rest are dropped and counted.
const POSTS: usize = 64;

/// A request being made.
type Answering<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// Sends messages where each is sent by itself.
pub(crate) struct ExchangeDriver {
    pub(crate) exchange: Box<dyn Exchange>,
    /// The engine that it belongs to: what is spawned has to hold it.
    me: Weak<Engine>,
    posts: AtomicUsize,
    /// The bytes of these.
    posted_bytes: AtomicUsize,
    /// Held by the call that learns the tools, for all that want to know them.
    learning: tokio::sync::Mutex<()>,
    /// How often that was tried.
    lessons: AtomicUsize,
}

impl ExchangeDriver {
    pub(crate) fn new(exchange: Box<dyn Exchange>, me: Weak<Engine>) -> Self {
        Self {
            exchange,
            me,
            posts: AtomicUsize::new(0),
            posted_bytes: AtomicUsize::new(0),
            learning: tokio::sync::Mutex::default(),
            lessons: AtomicUsize::new(0),
        }
    }

    /// The bytes of messages that are not answered and have not left.
    pub(crate) fn posted_bytes(&self) -> usize {
        self.posted_bytes.load(Ordering::Relaxed)
    }

    /// Makes a request, and makes it again where that is safe and worth a try.
    ///
    /// Boxed: calls over streams are not to be as large as this, and a call that learns its tools makes another
    /// request in between.
    pub(crate) fn request<'a>(&'a self, engine: &'a Engine, ask: Ask<'a>) -> Answering<'a> {
        Box::pin(async move {
            let begun = Instant::now();
            // 2026-07-28 HTTP: a call repeats some of its arguments in headers, and its tool's definition says
            // which. So the definitions come first, on the time of the call.
            if self.needs_tools(&ask) {
                self.learn_tools(engine, ask.deadline).await?;
            }
            let answer = self.request_patiently(engine, &ask, begun).await;
            // A server whose definitions have changed refuses headers made by the old ones. It has run nothing
            // then: the call goes out once more with new ones, and whatever comes of that is its answer.
            if self.is_outdated(&ask, &answer) && self.has_learned(engine, &ask, begun).await {
                return self.request_patiently(engine, &ask, begun).await;
            }
            answer
        })
    }

    /// Whether a request can only be sent once the definitions of the tools are known, and they are not.
    fn needs_tools(&self, ask: &Ask<'_>) -> bool {
        ask.request.method == CallTool::NAME
            && ask.version.map(Version::era) == Some(Era::Modern)
            && self.exchange.wants_tools()
    }

    /// Learns the tools for a call that needs to know its own, within the time of that call.
    async fn learn_tools(&self, engine: &Engine, deadline: Deadline) -> Result<(), CallError> {
        let before = self.lessons.load(Ordering::Relaxed);
        let learned = within(deadline, async {
            let _alone = self.learning.lock().await;
            // Another call may have tried meanwhile, and what it did not learn this one would not.
            if self.lessons.load(Ordering::Relaxed) == before {
                // Where there is no list to be had, the server says so if it misses a header.
                listing::list_tools(engine).await.ok();
                self.lessons.fetch_add(1, Ordering::Relaxed);
            }
        });
        learned.await
    }

    /// Whether a call was refused because what we know of its tool is out of date.
    fn is_outdated(&self, ask: &Ask<'_>, answer: &Answer) -> bool {
        let method = ask.request.method;
        match answer {
            Err(CallError::Rpc(error)) => {
                method == CallTool::NAME
                    && error.code() == code::HEADER_MISMATCH
                    && self.exchange.may_repair(method, error.code())
            }
            _ => false,
        }
    }

    /// Reads the definitions of the tools once more, in the time that is left for a call.
    async fn has_learned(&self, engine: &Engine, ask: &Ask<'_>, begun: Instant) -> bool {
        let left = left_of(ask.deadline, begun);
        matches!(within(left, listing::list_tools(engine)).await, Ok(Ok(_)))
    }

    /// Makes a request, and makes it again after faults that pass.
    async fn request_patiently(&self, engine: &Engine, ask: &Ask<'_>, begun: Instant) -> Answer {
        let mut made = 0;
        let mut may_have_run = false;
        loop {
            // Every attempt has what the earlier ones left of the call's time.
            let left = left_of(ask.deadline, begun);
            let answer = match self.request_once(engine, ask, left).await {
                // One that came through before may have run, whatever became of the last.
                Err(error) if may_have_run => Err(error.sent_before()),
                answer => answer,
            };
            let Err(CallError::Exchange(fault)) = &answer else {
                return answer;
            };
            // What a subscription missed meanwhile, only its owner can catch up with.
            if ask.request.method == Listen::NAME && fault.sent != Sent::Never {
                return answer;
            }
            // The transport decides: it knows which methods are safe, and how often it has tried lately.
            let wait = self.exchange.wait_before_repeating(&Repeat {
                method: ask.request.method,
                idempotent: ask.idempotent,
                fault,
                made,
            });
            // After that decision, which is about this fault alone. 429 is refused before anything is run.
            may_have_run |= fault.sent != Sent::Never && fault.kind.status() != Some(429);
            match wait {
                Some(wait) if wait < left.total => {
                    tokio::select! {
                        () = sleep(wait) => made += 1,
                        () = engine.stop.cancelled() => return answer,
                    }
                }
                _ => return answer,
            }
        }
    }

    /// Makes a request once, within the time that is left for it.
    async fn request_once(&self, engine: &Engine, ask: &Ask<'_>, deadline: Deadline) -> Answer {
        let now = Instant::now();
        let (idle_at, total_at) = ends(deadline, now);
        let _slot = engine.wait_for_slot(idle_at.min(total_at), ask).await?;
        // 2026-07-28 HTTP: what is sent again is a new request, with an id of its own.
        let id = match &ask.id {
            Some(id) => id.clone(),
            None => RequestId::Number(engine.next_number()),
        };
        let bytes = ask.encode(&id)?;
        // In the table before it is sent: its answer, its progress and its clocks find it there.
        let (answer, mut answered) = oneshot::channel();
        let waiting = Waiting {
            answer,
            method: ask.request.method,
            since: now,
            idle: deadline.idle,
            idle_at,
            total_at,
            progress: ask.progress.clone(),
            reached: f64::NEG_INFINITY,
            cancellable: ask.cancellable,
        };
        engine.stand(&id, waiting)?;
        let given_up = GiveUp {
            engine,
            id: &id,
            reason: ask.reason,
        };
        let message = Outgoing {
            kind: Kind::Request,
            method: ask.request.method,
            subject: ask.subject,
            version: ask.version,
            body: bytes.trim_ascii_end(),
            budget: &engine.budget,
        };
        let answer = self.send(engine, message, &id, &mut answered).await;
        // The call is off the table, and nobody has to be told anything.
        std::mem::forget(given_up);
        answer
    }

    /// Sends a request that stands in the table, and waits for what becomes of it.
    async fn send(
        &self,
        engine: &Engine,
        message: Outgoing<'_>,
        id: &RequestId,
        answered: &mut oneshot::Receiver<Answer>,
    ) -> Answer {
        let Some(me) = self.me.upgrade() else {
            return Err(engine.closed_before());
        };
        let inlet = ForCall::new(me, id);
        let sent = tokio::select! {
            // The exchange first: what it brings is what the table hands out.
            biased;
            sent = self.exchange.send(message, &inlet) => sent,
            answer = &mut *answered => return or_closed(engine, answer),
        };
        match (sent, answered.try_recv()) {
            // An answer that is here counts, even where the exchange broke behind it.
            (_, Ok(answer)) => answer,
            (Ok(()), _) => or_closed(engine, answered.await),
            (Err(fault), _) => {
                drop(engine.table().take(id));
                if matches!(fault.kind, FaultKind::SessionLost { .. }) {
                    // Nothing works on this connection any more; a new one begins afresh.
                    engine.close(CloseCause::ReadFailed(fault.to_string()));
                }
                Err(CallError::Exchange(Box::new(fault)))
            }
        }
    }

    /// Sends a message that is not answered.
    pub(crate) fn post(
        &self,
        engine: &Engine,
        kind: Kind,
        method: &str,
        bytes: Vec<u8>,
    ) -> Result<(), Shut> {
        let me = self.me.upgrade().ok_or(Shut)?;
        if engine.stop.is_cancelled() {
            return Err(Shut);
        }
        if self.posts.fetch_add(1, Ordering::Relaxed) >= POSTS {
            self.posts.fetch_sub(1, Ordering::Relaxed);
            engine.counters.shed_answers.add();
            return Ok(());
        }
        self.posted_bytes.fetch_add(bytes.len(), Ordering::Relaxed);
        let method = method.to_owned();
        drop(engine.tasks.spawn(async move {
            let Some(driver) = &me.driver else {
                return;
            };
            // Whatever becomes of it, nobody waits for it.
            let posted = driver.send_bytes(&me, kind, &method, &bytes);
            let last_moment = async {
                me.stop.cancelled().await;
                sleep(me.limits.drain).await;
            };
            tokio::select! {
                _ = timeout(me.limits.post, posted) => {}
                () = last_moment => {}
            }
            driver.posts.fetch_sub(1, Ordering::Relaxed);
            driver
                .posted_bytes
                .fetch_sub(bytes.len(), Ordering::Relaxed);
        }));
        Ok(())
    }

    /// Sends a message that is not answered, and waits until the server has taken it.
    pub(super) async fn send_bytes(
        &self,
        engine: &Engine,
        kind: Kind,
        method: &str,
        bytes: &[u8],
    ) -> Result<(), Fault> {
        let message = Outgoing {
            kind,
            method,
            subject: None,
            version: engine.dialect.get().map(|dialect| dialect.version),
            body: bytes.trim_ascii_end(),
            budget: &engine.budget,
        };
        self.exchange.send(message, &Nobody).await
    }

    /// Takes leave of the server, without waiting for it.
    pub(crate) fn take_leave(&self, engine: &Engine) {
        let (Some(me), Ok(runtime)) = (self.me.upgrade(), tokio::runtime::Handle::try_current())
        else {
            // Nothing is left that could say it: the server finds out by itself.
            return;
        };
        let leaving = async move {
            if let Some(driver) = &me.driver {
                let patience = me.limits.end_after_close;
                timeout(patience, driver.exchange.close()).await.ok();
            }
        };
        drop(engine.tasks.spawn_on(leaving, &runtime));
    }
}

/// Listens to what the server says unasked, until the connection is over.
pub(crate) async fn listen(engine: Arc<Engine>) {
    let Some(driver) = &engine.driver else {
        return;
    };
    let inlet = Unasked::new(Arc::clone(&engine));
    let heard = tokio::select! {
        heard = driver.exchange.listen(&inlet, &engine.budget) => heard,
        () = engine.stop.cancelled() => return,
    };
    if let Err(fault) = heard {
        engine.close(CloseCause::ReadFailed(fault.to_string()));
    }
}

fn or_closed(engine: &Engine, answer: Result<Answer, oneshot::error::RecvError>) -> Answer {
    answer.unwrap_or_else(|_| Err(engine.closed_before()))
}

/// What is left of the time of a call.
fn left_of(deadline: Deadline, since: Instant) -> Deadline {
    Deadline {
        idle: deadline.idle,
        total: deadline.total.saturating_sub(since.elapsed()),
    }
}

/// Does something for a call before the call is sent, within its time.
async fn within<T>(deadline: Deadline, work: impl Future<Output = T>) -> Result<T, CallError> {
    let (after, clock) = if deadline.idle < deadline.total {
        (deadline.idle, Clock::Idle)
    } else {
        (deadline.total, Clock::Total)
    };
    let done = transport::within(after, work).await;
    done.map_err(|_| CallError::TimedOut {
        method: CallTool::NAME.to_owned(),
        clock,
        after,
        delivery: Delivery::NeverSent,
    })
}
