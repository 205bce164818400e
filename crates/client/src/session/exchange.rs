//! A session over a link on which every message is an exchange of its own.
//!
//! The call's own task drives its exchange: no task is spawned for it, and dropping the call closes
//! the exchange. Everything else is as on a stream: the call stands in the table, with its clocks
//! and its progress, and whoever resolves it first wins.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde::Serialize;
use switchboard_core::limits::Deadline;
use switchboard_wire::{
    CallTool, CallToolResult, Era, Listen, Method as _, RequestId, Version, code,
};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::close::CloseCause;
use super::engine::{Ask, Engine, GiveUp, never_sent, notice};
use super::error::{CallError, Clock, Delivery};
use super::outbox::Shut;
use super::pending::{Answer, Waiting, ends};
use super::reply::{ForCall, Nobody, Unasked};
use super::{CallOptions, Session};
use crate::transport::{self, Exchange, Fault, FaultKind, Kind, Outgoing, Repeat, Sent};

/// Messages that nobody waits for and that are on their way at the same time; further ones are
/// dropped and counted.
const POSTS: usize = 64;

/// How messages leave where each is sent by itself.
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

    /// Bytes that nobody waits for and that have not left.
    pub(crate) fn posted_bytes(&self) -> usize {
        self.posted_bytes.load(Ordering::Relaxed)
    }
}

impl Session {
    /// Finds out what a tool is, where a call of it can only be sent once that is known; the call
    /// has what is left of its time.
    pub(super) async fn learn_tool(&self, options: &mut CallOptions) -> Result<(), CallError> {
        let deadline = options.deadline.unwrap_or(self.timeouts().execution);
        let begun = Instant::now();
        if let Some(driver) = &self.engine().driver
            && self.negotiated().era() == Era::Modern
        {
            self.learn_tools(driver, deadline).await?;
            options.deadline = Some(left_of(deadline, begun));
        }
        Ok(())
    }

    /// Whether a call was refused because what we know of the tool was out of date, and is not any
    /// more.
    pub(super) async fn has_learned_more(
        &self,
        called: &Result<CallToolResult, CallError>,
        options: &mut CallOptions,
    ) -> bool {
        let refused = match called {
            Err(CallError::Rpc(error)) => error.code(),
            _ => return false,
        };
        let driver = self.engine().driver.as_ref();
        let outdated = refused == code::HEADER_MISMATCH
            && driver.is_some_and(|driver| driver.exchange.may_repair(CallTool::NAME, refused));
        if !outdated {
            return false;
        }
        let deadline = options.deadline.unwrap_or(self.timeouts().execution);
        let begun = Instant::now();
        let listed = within(deadline, self.list_tools()).await;
        options.deadline = Some(left_of(deadline, begun));
        matches!(listed, Ok(Ok(_)))
    }

    /// Learns the tools for a call that needs to know its own, within the time of that call.
    async fn learn_tools(
        &self,
        driver: &ExchangeDriver,
        deadline: Deadline,
    ) -> Result<(), CallError> {
        if !driver.exchange.wants_tools() {
            return Ok(());
        }
        let before = driver.lessons.load(Ordering::Relaxed);
        let learned = within(deadline, async {
            let _alone = driver.learning.lock().await;
            // Somebody else may have tried meanwhile, and what they did not learn we would not.
            if driver.lessons.load(Ordering::Relaxed) == before {
                // Where there is no list to be had, the server says so if it misses a header.
                self.list_tools().await.ok();
                driver.lessons.fetch_add(1, Ordering::Relaxed);
            }
        });
        learned.await
    }
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
    let (after, clock) = match deadline.idle < deadline.total {
        true => (deadline.idle, Clock::Idle),
        false => (deadline.total, Clock::Total),
    };
    let done = transport::within(after, work).await;
    done.map_err(|_| CallError::TimedOut {
        method: CallTool::NAME.to_owned(),
        clock,
        after,
        delivery: Delivery::NeverSent,
    })
}

impl Engine {
    /// Makes a request, and makes it again where that is safe and worth a try.
    pub(crate) async fn exchange_patiently(&self, driver: &ExchangeDriver, ask: Ask<'_>) -> Answer {
        let begun = Instant::now();
        let mut made = 0;
        let mut may_have_run = false;
        loop {
            let left = left_of(ask.deadline, begun);
            let answer = match self.exchange_over(driver, &ask, left).await {
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
            let wait = driver.exchange.wait_before_repeating(&Repeat {
                method: ask.request.method,
                idempotent: ask.idempotent,
                fault,
                made,
            });
            may_have_run |= fault.sent != Sent::Never && fault.kind.status() != Some(429);
            match wait {
                Some(wait) if wait < left.total => {
                    tokio::select! {
                        () = sleep(wait) => made += 1,
                        () = self.stop.cancelled() => return answer,
                    }
                }
                _ => return answer,
            }
        }
    }

    /// Makes a request once, within the time that is left for it.
    async fn exchange_over(
        &self,
        driver: &ExchangeDriver,
        ask: &Ask<'_>,
        deadline: Deadline,
    ) -> Answer {
        let now = Instant::now();
        let (idle_at, total_at) = ends(deadline, now);
        let _slot = timeout_at(idle_at.min(total_at), self.slots.acquire())
            .await
            .map_err(|_| never_sent(ask))?
            .map_err(|_| self.closed_before())?;
        // 2026-07-28 HTTP: what is sent again is a new request, with an id of its own.
        let id = match &ask.id {
            Some(id) => id.clone(),
            None => RequestId::Number(self.next_number()),
        };
        let bytes = ask.encode(&id)?;
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
        self.stand(&id, waiting)?;
        let given_up = GiveUp {
            engine: self,
            id: &id,
            reason: ask.reason,
        };
        let what = (ask.request.method, ask.version);
        let bytes = bytes.trim_ascii_end();
        let answer = self
            .send_over(driver, what, &id, bytes, &mut answered)
            .await;
        // The call is off the table, and nobody has to be told anything.
        std::mem::forget(given_up);
        answer
    }

    /// Sends a request that stands in the table, and waits for what becomes of it.
    async fn send_over(
        &self,
        driver: &ExchangeDriver,
        (method, version): (&str, Option<Version>),
        id: &RequestId,
        body: &[u8],
        answered: &mut oneshot::Receiver<Answer>,
    ) -> Answer {
        let Some(engine) = driver.me.upgrade() else {
            return Err(self.closed_before());
        };
        let inlet = ForCall::new(engine, id);
        let message = Outgoing {
            kind: Kind::Request,
            method,
            version,
            body,
            budget: &self.budget,
        };
        let sent = tokio::select! {
            biased;
            sent = driver.exchange.send(message, &inlet) => sent,
            answer = &mut *answered => return self.or_closed(answer),
        };
        match (sent, answered.try_recv()) {
            (_, Ok(answer)) => answer,
            (Ok(()), _) => self.or_closed(answered.await),
            (Err(fault), _) => {
                drop(self.table().take(id));
                if matches!(fault.kind, FaultKind::SessionLost { .. }) {
                    // Nothing works on this connection any more; a new one begins afresh.
                    self.close(CloseCause::ReadFailed(fault.to_string()));
                }
                Err(CallError::Exchange(Box::new(fault)))
            }
        }
    }

    fn or_closed(&self, answer: Result<Answer, oneshot::error::RecvError>) -> Answer {
        answer.unwrap_or_else(|_| Err(self.closed_before()))
    }

    /// Whether the server learns from the end of an exchange that nobody waits any more.
    pub(crate) fn closing_cancels(&self) -> bool {
        self.driver.is_some() && self.era() == Some(Era::Modern)
    }

    fn era(&self) -> Option<Era> {
        self.dialect.get().map(super::dialect::Dialect::era)
    }

    /// Sends a message that nobody waits for.
    pub(crate) fn post(
        &self,
        driver: &ExchangeDriver,
        kind: Kind,
        method: &str,
        bytes: Vec<u8>,
    ) -> Result<(), Shut> {
        let engine = driver.me.upgrade().ok_or(Shut)?;
        if self.stop.is_cancelled() {
            return Err(Shut);
        }
        if driver.posts.fetch_add(1, Ordering::Relaxed) >= POSTS {
            driver.posts.fetch_sub(1, Ordering::Relaxed);
            self.counters.shed_answers.add();
            return Ok(());
        }
        driver
            .posted_bytes
            .fetch_add(bytes.len(), Ordering::Relaxed);
        let method = method.to_owned();
        drop(self.tasks.spawn(async move {
            // Whatever becomes of it, nobody waits for it.
            let posted = engine.send_bytes(kind, &method, &bytes);
            let last_moment = async {
                engine.stop.cancelled().await;
                sleep(engine.limits.drain).await;
            };
            tokio::select! {
                _ = timeout(engine.limits.post, posted) => {}
                () = last_moment => {}
            }
            if let Some(driver) = &engine.driver {
                driver.posts.fetch_sub(1, Ordering::Relaxed);
                driver
                    .posted_bytes
                    .fetch_sub(bytes.len(), Ordering::Relaxed);
            }
        }));
        Ok(())
    }

    /// Sends a notification, and waits until the server has taken it where that can be known.
    pub(crate) async fn notify_and_wait<P: Serialize>(
        &self,
        method: &str,
        params: Option<&P>,
        patience: Duration,
    ) -> Result<(), CallError> {
        if self.driver.is_none() {
            return self.notify(method, params);
        }
        let bytes = notice(method, params)?;
        let sent = self.send_bytes(Kind::Notification, method, &bytes);
        match transport::within(patience, sent).await {
            Ok(sent) => sent.map_err(|fault| CallError::Exchange(Box::new(fault))),
            Err(_) => Err(CallError::TimedOut {
                method: method.to_owned(),
                clock: Clock::Idle,
                after: patience,
                delivery: Delivery::MaybeProcessed,
            }),
        }
    }

    async fn send_bytes(&self, kind: Kind, method: &str, bytes: &[u8]) -> Result<(), Fault> {
        let Some(driver) = &self.driver else {
            return Ok(());
        };
        let message = Outgoing {
            kind,
            method,
            version: self.dialect.get().map(|dialect| dialect.version),
            body: bytes.trim_ascii_end(),
            budget: &self.budget,
        };
        driver.exchange.send(message, &Nobody).await
    }

    /// Listens to what the server says unasked, until the connection is over.
    pub(crate) async fn listen(self: Arc<Self>) {
        let Some(driver) = &self.driver else {
            return;
        };
        let inlet = Unasked::new(Arc::clone(&self));
        let heard = tokio::select! {
            heard = driver.exchange.listen(&inlet, &self.budget) => heard,
            () = self.stop.cancelled() => return,
        };
        if let Err(fault) = heard {
            self.close(CloseCause::ReadFailed(fault.to_string()));
        }
    }

    /// Takes leave of the server, without waiting for it.
    pub(crate) fn take_leave(&self, driver: &ExchangeDriver) {
        let (Some(engine), Ok(runtime)) =
            (driver.me.upgrade(), tokio::runtime::Handle::try_current())
        else {
            // Nobody is left to say it: the server finds out by itself.
            return;
        };
        let leaving = async move {
            if let Some(driver) = &engine.driver {
                let patience = engine.limits.end_after_close;
                timeout(patience, driver.exchange.close()).await.ok();
            }
        };
        drop(self.tasks.spawn_on(leaving, &runtime));
    }
}
