//! The exchange driver: calls over a link on which every message is an exchange of its own, as over
//! HTTP.
//!
//! The caller's own task drives its exchange: no task is spawned for it, and dropping the call
//! closes the exchange. The rest is as on a stream: the call is in the table, with its clocks and
//! its progress, and the first of these to take it off the table resolves it.
//!
//! Two things that only such links need are here and nowhere above: repeating a request after a
//! fault, and reading the tool definitions before calls that repeat arguments in headers.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use switchboard_core::limits::Deadline;
use switchboard_wire::{CallTool, Era, Listen, Method as _, RequestId, Version, code};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use super::callbacks::PendingCallbacks;
use super::close::CloseCause;
use super::engine::{CancelOnDrop, Engine, PendingRequest};
use super::error::{CallError, Clock, Delivery};
use super::listing;
use super::outbox::Shut;
use super::pending::{Answer, PendingCall, ends};
use super::reply::{CallInlet, Discard, ListenInlet};
use crate::transport::{self, Exchange, FailedRequest, Fault, FaultKind, Kind, Outgoing, Sent};

/// Maximum number of concurrent messages that are not answered; the rest are dropped and counted.
const POSTS: usize = 64;

/// A request in progress.
type Answering<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// Drives the exchanges of one connection.
///
/// Owns the transport's [`Exchange`], the number of concurrent fire-and-forget POSTs and their
/// bytes, and the lock that makes one call refresh the tool definitions for all. Promises that a
/// request is repeated only if the transport says that this is safe, and that all attempts together
/// stay within the call's total time.
pub(crate) struct ExchangeDriver {
    pub(crate) exchange: Box<dyn Exchange>,
    /// The engine that owns this driver; spawned tasks hold it.
    me: Weak<Engine>,
    posts: AtomicUsize,
    /// The bytes of these POSTs.
    posted_bytes: AtomicUsize,
    /// Held by the call that reads the tool definitions, so that the others wait for its result.
    refresh_lock: tokio::sync::Mutex<()>,
    /// The number of times that the definitions were read or failed to be read.
    tool_refreshes: AtomicUsize,
}

impl ExchangeDriver {
    pub(crate) fn new(exchange: Box<dyn Exchange>, me: Weak<Engine>) -> Self {
        Self {
            exchange,
            me,
            posts: AtomicUsize::new(0),
            posted_bytes: AtomicUsize::new(0),
            refresh_lock: tokio::sync::Mutex::default(),
            tool_refreshes: AtomicUsize::new(0),
        }
    }

    /// The bytes of fire-and-forget messages that have not left yet.
    pub(crate) fn posted_bytes(&self) -> usize {
        self.posted_bytes.load(Ordering::Relaxed)
    }

    /// Makes a request, and repeats it where the transport says that this is safe.
    ///
    /// Boxed: calls over streams should not be as large as this future, and a call that reads the
    /// tool definitions makes another request in between.
    pub(crate) fn request<'a>(
        &'a self,
        engine: &'a Engine,
        ask: PendingRequest<'a>,
    ) -> Answering<'a> {
        Box::pin(async move {
            let begun = Instant::now();
            // 2026-07-28 HTTP: a call repeats some of its arguments in headers, and the tool's
            // definition says which. So the definitions come first, on the time of the call.
            if self.needs_tools(&ask) {
                self.load_tools(engine, ask.deadline).await?;
            }
            let answer = self.request_patiently(engine, &ask, begun).await;
            // A server whose definitions have changed refuses headers made by the old ones before
            // it runs anything. So the call goes out once more with new definitions, and the second
            // answer is final.
            if self.is_outdated(&ask, &answer) && self.refresh_tools(engine, &ask, begun).await {
                return self.request_patiently(engine, &ask, begun).await;
            }
            answer
        })
    }

    /// Returns true if a request needs tool definitions that are not known yet.
    fn needs_tools(&self, ask: &PendingRequest<'_>) -> bool {
        ask.request.method == CallTool::NAME
            && ask.version.map(Version::era) == Some(Era::Modern)
            && self.exchange.wants_tools()
    }

    /// Reads the tool definitions for a call that needs them, within the time of that call.
    async fn load_tools(&self, engine: &Engine, deadline: Deadline) -> Result<(), CallError> {
        let before = self.tool_refreshes.load(Ordering::Relaxed);
        let learned = within(deadline, async {
            let _alone = self.refresh_lock.lock().await;
            // Another call may have read them meanwhile, and a failure of that one would repeat
            // here.
            if self.tool_refreshes.load(Ordering::Relaxed) == before {
                // A failure is not fatal: a server that misses a header says so in its answer.
                listing::list_tools(engine).await.ok();
                self.tool_refreshes.fetch_add(1, Ordering::Relaxed);
            }
        });
        learned.await
    }

    /// Returns true if a call was refused because our definition of its tool is out of date.
    fn is_outdated(&self, ask: &PendingRequest<'_>, answer: &Answer) -> bool {
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

    /// Reads the tool definitions again, in the time that is left for a call; returns true on
    /// success.
    async fn refresh_tools(
        &self,
        engine: &Engine,
        ask: &PendingRequest<'_>,
        begun: Instant,
    ) -> bool {
        let left = left_of(ask.deadline, begun);
        matches!(within(left, listing::list_tools(engine)).await, Ok(Ok(_)))
    }

    /// Makes a request, and repeats it after transient faults.
    async fn request_patiently(
        &self,
        engine: &Engine,
        ask: &PendingRequest<'_>,
        begun: Instant,
    ) -> Answer {
        let mut made = 0;
        let mut may_have_run = false;
        loop {
            // Every attempt gets the time that the earlier ones left.
            let left = left_of(ask.deadline, begun);
            let answer = match self.request_once(engine, ask, left).await {
                // An earlier attempt came through and may have run, even if the last one did not.
                Err(error) if may_have_run => Err(error.sent_before()),
                answer => answer,
            };
            let Err(CallError::Exchange(fault)) = &answer else {
                return answer;
            };
            // A subscription that was interrupted may have missed changes, so its owner has to
            // start it again.
            if ask.request.method == Listen::NAME && fault.sent != Sent::Never {
                return answer;
            }
            // The transport decides: it knows which methods are safe and how often it has tried
            // lately.
            let wait = self.exchange.wait_before_repeating(&FailedRequest {
                method: ask.request.method,
                idempotent: ask.idempotent,
                fault,
                made,
            });
            // After that decision, which is about this fault alone. A server answers 429 before it
            // runs anything.
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
    async fn request_once(
        &self,
        engine: &Engine,
        ask: &PendingRequest<'_>,
        deadline: Deadline,
    ) -> Answer {
        let now = Instant::now();
        let (idle_at, total_at) = ends(deadline, now);
        // A slot per attempt: a call that waits between attempts does not block the others.
        let _slot = engine.wait_for_slot(idle_at.min(total_at), ask).await?;
        // 2026-07-28 HTTP: a repeated request is a new request, with an id of its own.
        let id = match &ask.id {
            Some(id) => id.clone(),
            None => RequestId::Number(engine.next_number()),
        };
        let bytes = ask.encode(&id)?;
        // Register before sending: the answer, the progress and the clocks find the call in the
        // table.
        let (answer, mut answered) = oneshot::channel();
        let waiting = PendingCall {
            answer,
            method: ask.request.method,
            since: now,
            idle: deadline.idle,
            idle_at,
            total_at,
            progress: ask.progress.clone(),
            callbacks: ask.callbacks.map(PendingCallbacks::new),
            reached: f64::NEG_INFINITY,
            cancellable: ask.cancellable,
        };
        engine.register(&id, waiting)?;
        let cancel_on_drop = CancelOnDrop {
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
        // The call is off the table, so the guard has nothing left to cancel.
        std::mem::forget(cancel_on_drop);
        answer
    }

    /// Sends a registered request, and waits until it is resolved.
    async fn send(
        &self,
        engine: &Engine,
        message: Outgoing<'_>,
        id: &RequestId,
        answered: &mut oneshot::Receiver<Answer>,
    ) -> Answer {
        let Some(me) = self.me.upgrade() else {
            return Err(engine.closed_error());
        };
        let inlet = CallInlet::new(me, id);
        let sent = tokio::select! {
            // Poll the exchange first: the answer in the table is what the exchange puts there.
            biased;
            sent = self.exchange.send(message, &inlet) => sent,
            answer = &mut *answered => return or_closed(engine, answer),
        };
        match (sent, answered.try_recv()) {
            // An answer that has arrived counts, even if the exchange broke after it.
            (_, Ok(answer)) => answer,
            (Ok(()), _) => or_closed(engine, answered.await),
            (Err(fault), _) => {
                drop(engine.table().take(id));
                if matches!(fault.kind, FaultKind::SessionLost { .. }) {
                    // The session is gone and nothing works on this connection any more: the next
                    // one starts a new session.
                    engine.close(CloseCause::ReadFailed(fault.to_string()));
                }
                Err(CallError::Exchange(Box::new(fault)))
            }
        }
    }

    /// Sends a fire-and-forget message in a task of its own; drops and counts it if too many are
    /// under way.
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
            // The result is ignored: no caller waits for a message without an answer.
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

    /// Sends a message without an answer, and waits until the server has accepted it.
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
        self.exchange.send(message, &Discard).await
    }

    /// Ends the server's session (DELETE) in a task, without waiting for it.
    pub(crate) fn take_leave(&self, engine: &Engine) {
        let (Some(me), Ok(runtime)) = (self.me.upgrade(), tokio::runtime::Handle::try_current())
        else {
            // Without a runtime there is no way to say it: the server times the session out.
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

/// Reads messages that belong to no call, until the connection closes.
pub(crate) async fn listen(engine: Arc<Engine>) {
    let Some(driver) = &engine.driver else {
        return;
    };
    let inlet = ListenInlet::new(Arc::clone(&engine));
    let heard = tokio::select! {
        heard = driver.exchange.listen(&inlet, &engine.budget) => heard,
        () = engine.stop.cancelled() => return,
    };
    if let Err(fault) = heard {
        engine.close(CloseCause::ReadFailed(fault.to_string()));
    }
}

fn or_closed(engine: &Engine, answer: Result<Answer, oneshot::error::RecvError>) -> Answer {
    answer.unwrap_or_else(|_| Err(engine.closed_error()))
}

/// The part of a call's deadline that is left.
fn left_of(deadline: Deadline, since: Instant) -> Deadline {
    Deadline {
        idle: deadline.idle,
        total: deadline.total.saturating_sub(since.elapsed()),
    }
}

/// Runs some work that a call needs before it is sent, within the call's time.
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
        noise: Vec::new(),
    })
}
