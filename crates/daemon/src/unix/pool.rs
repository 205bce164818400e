//! The servers of the daemon: those that commands use, and those that wait for one.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::instance::Instance;
use super::past::Past;
use crate::message::ServerStart;
use crate::{DaemonOptions, ServerStatus};

/// All servers.
pub(super) struct Pool {
    pub(super) options: DaemonOptions,
    /// Cancelled when the daemon stops.
    pub(super) stop: CancellationToken,
    /// Those that wait, the last one that was used at the end. Each is held by a task of its own.
    waiting: Mutex<Vec<Waiting>>,
    /// All that run.
    running: Mutex<BTreeMap<u64, ServerStatus>>,
    tasks: TaskTracker,
    started: AtomicU64,
}

/// A server that waits for a command.
struct Waiting {
    number: u64,
    start: Arc<ServerStart>,
    past: Past,
    next_id: i64,
    /// Takes the server from its task.
    take: oneshot::Sender<oneshot::Sender<Instance>>,
}

/// The place of a server among those that run, which goes with it.
pub(super) struct Counted {
    pool: Arc<Pool>,
    number: u64,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.pool.running().remove(&self.number);
    }
}

impl Pool {
    pub(super) fn new(options: DaemonOptions) -> Arc<Self> {
        Arc::new(Self {
            options,
            stop: CancellationToken::new(),
            waiting: Mutex::default(),
            running: Mutex::default(),
            tasks: TaskTracker::new(),
            started: AtomicU64::new(1),
        })
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<u64, ServerStatus>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The servers that run.
    pub(super) fn statuses(&self) -> Vec<ServerStatus> {
        self.running().values().cloned().collect()
    }

    /// Notes the state of a server.
    pub(super) fn note(&self, instance: &Instance, in_use: bool) {
        let status = instance.status(in_use);
        if let Some(noted) = self.running().get_mut(&instance.number) {
            *noted = status;
        }
    }

    /// Takes a server of that description that waits, if one fits.
    pub(super) async fn take(
        &self,
        start: &ServerStart,
        fits: impl Fn(&Past) -> bool,
    ) -> Option<Instance> {
        loop {
            let found = {
                let mut waiting = self.waiting();
                // The last one that was used: the others reach their idle time.
                let at = waiting
                    .iter()
                    .rposition(|it| *it.start == *start && fits(&it.past))?;
                waiting.remove(at)
            };
            let (give, given) = oneshot::channel();
            // Fails if the server has just ended: then there may be another one.
            if found.take.send(give).is_ok()
                && let Ok(instance) = given.await
            {
                return Some(instance);
            }
        }
    }

    /// The first number that no request to a server of that description has had as its id, among those that wait.
    pub(super) fn next_id(&self, start: &ServerStart) -> i64 {
        let waiting = self.waiting();
        let same = waiting.iter().filter(|it| *it.start == *start);
        same.map(|it| it.next_id).max().unwrap_or(1)
    }

    /// Starts a server; `None` if it cannot be started here.
    pub(super) async fn start(self: &Arc<Self>, start: &Arc<ServerStart>) -> Option<Instance> {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        // Room first. A start that fails gives it back, because its place goes with `counted`.
        let counted = self.reserve(number)?;
        let instance = Instance::start(number, Arc::clone(start), &self.options).await?;
        self.running().insert(number, instance.status(true));
        // Until its process has ended, however that comes.
        let ended = instance.process.watch_end();
        self.tasks.spawn(async move {
            ended.await;
            drop(counted);
        });
        Some(instance)
    }

    /// Makes room for one more server. Of those that wait, the one that was not used for longest makes way.
    fn reserve(self: &Arc<Self>, number: u64) -> Option<Counted> {
        if self.running().len() >= self.options.servers {
            let mut waiting = self.waiting();
            if waiting.is_empty() {
                return None;
            }
            // Its task ends it, because no command can take it any more.
            drop(waiting.remove(0));
        }
        let pool = Arc::clone(self);
        Some(Counted { pool, number })
    }

    /// Lets a server wait for the next command.
    pub(super) fn park(self: &Arc<Self>, mut instance: Instance) {
        // Before it can be found: the next command decides by its past whether it fits.
        instance.past.is_used = true;
        self.note(&instance, false);
        let (take, taken) = oneshot::channel();
        {
            let mut waiting = self.waiting();
            // Those whose servers have ended are forgotten.
            waiting.retain(|it| !it.take.is_closed());
            let same = waiting.iter().filter(|it| *it.start == *instance.start);
            // The oldest of the same description makes way, because the newest is taken first.
            if same.count() >= self.options.idle_servers
                && let Some(at) = waiting.iter().position(|it| *it.start == *instance.start)
            {
                drop(waiting.remove(at));
            }
            waiting.push(Waiting {
                number: instance.number,
                start: Arc::clone(&instance.start),
                past: instance.past.clone(),
                next_id: instance.next_id,
                take,
            });
        }
        self.tasks.spawn(Arc::clone(self).keep(instance, taken));
    }

    /// Holds a server until a command takes it, or until it is ended.
    async fn keep(
        self: Arc<Self>,
        mut instance: Instance,
        mut taken: oneshot::Receiver<oneshot::Sender<Instance>>,
    ) {
        let mut idle = pin!(sleep(self.options.idle));
        loop {
            let answer = tokio::select! {
                // The command first: a server that it can still have is not ended.
                biased;
                give = &mut taken => match give {
                    Ok(give) => return drop(give.send(instance)),
                    Err(_) => break,
                },
                () = self.stop.cancelled() => break,
                () = &mut idle => break,
                line = instance.next_unused() => line,
            };
            // Outside of the choice above: a line that was begun has to be finished.
            match answer {
                Some(None) => {}
                Some(Some(answer)) if instance.send(&answer).await => {}
                _ => break,
            }
        }
        // Out of the list before it ends: no command may find a server that is about to go.
        let number = instance.number;
        self.waiting().retain(|it| it.number != number);
        instance.end().await;
    }

    /// Ends a server that no command can use any more.
    pub(super) fn discard(self: &Arc<Self>, instance: Instance) {
        self.tasks.spawn(instance.end());
    }

    /// Ends all servers that wait, and waits until all have ended. No command uses one any more.
    pub(super) async fn close(&self) {
        // The tasks of those that wait end at this.
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}
