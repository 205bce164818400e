//! Sessions of clients that shook hands.
//!
//! A session is found by an id of 128 random bits, and only by the principal and agent that it was opened for, in
//! the scope that it was opened in. Its parts are made when they are first used: most sessions are idle.
//! Sessions of clients that never say goodbye end when they have been idle for long enough; sooner when
//! there is no room for others.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};
use rustc_hash::FxHashMap;
use tokio::time::Instant;

use super::channel::{Channel, ChannelBounds};
use super::stats::Counters;
use crate::caller::ClientIdentity;
use crate::client::Client;
use crate::limits::GatewayLimits;
use crate::scope::Scope;
use crate::validity::{InUse, Validity};

/// Length of a session id in base64.
const ID_TEXT: usize = 22;
/// Limits of the time between two searches for idle sessions.
const SWEEPS: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(60));
/// Time between two searches for room when all sessions are taken.
const PRESSURE: Duration = Duration::from_secs(1);

/// The id of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SessionId([u8; 16]);

impl SessionId {
    fn new() -> Option<Self> {
        let mut bytes = [0; 16];
        SystemRandom::new().fill(&mut bytes).ok()?;
        Some(Self(bytes))
    }

    /// Reads an id as clients bring it back.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        if text.len() != ID_TEXT {
            return None;
        }
        let mut bytes = [0; 18];
        let length = URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok()?;
        Some(Self(bytes.get(..length)?.try_into().ok()?))
    }

    pub(super) fn to_text(self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }
}

/// One client that shook hands.
pub(super) struct Session {
    pub(super) id: SessionId,
    principal: Arc<str>,
    scope: Scope,
    pub(super) client: Arc<Client>,
    /// How long the credential counts that the client came with last.
    validity: Mutex<InUse>,
    /// Messages that belong to no request.
    pub(super) general: Arc<Channel>,
    /// Streams of requests that clients can resume, the newest last.
    streams: Mutex<Streams>,
    /// Requests and streams that are open.
    uses: AtomicU32,
    /// The time of the last use, in milliseconds of the registry's clock.
    last_use: AtomicU64,
    started: Instant,
}

#[derive(Default)]
struct Streams {
    last: u32,
    kept: VecDeque<Arc<Channel>>,
}

/// A use of a session, which keeps it from being idle.
pub(super) struct SessionUse(Arc<Session>);

impl Session {
    /// Marks the session as used until the returned value is dropped.
    pub(super) fn in_use(self: &Arc<Self>) -> SessionUse {
        self.uses.fetch_add(1, Ordering::AcqRel);
        SessionUse(Arc::clone(self))
    }

    /// The number of requests and streams that are open.
    pub(super) fn uses(&self) -> u32 {
        self.uses.load(Ordering::Acquire)
    }

    fn streams(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number for the stream of a request.
    pub(super) fn next_stream(&self) -> u32 {
        let mut streams = self.streams();
        // 0 is the stream that belongs to no request, so numbers begin at 1.
        streams.last = streams.last.wrapping_add(1).max(1);
        streams.last
    }

    /// Keeps the stream of a request, so that it can be resumed. The oldest over `most` is forgotten.
    pub(super) fn keep(&self, channel: &Arc<Channel>, most: usize) {
        let mut streams = self.streams();
        streams.kept.push_back(Arc::clone(channel));
        if streams.kept.len() > most {
            streams.kept.pop_front();
        }
    }

    /// The stream with that number: 0 is the one that belongs to no request.
    pub(super) fn stream(&self, number: u32) -> Option<Arc<Channel>> {
        if number == 0 {
            return Some(Arc::clone(&self.general));
        }
        let streams = self.streams();
        let mut kept = streams.kept.iter();
        kept.find(|channel| channel.number() == number).cloned()
    }

    fn validity(&self) -> MutexGuard<'_, InUse> {
        self.validity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self) {
        self.last_use
            .store(elapsed(self.started), Ordering::Release);
    }

    fn is_idle(&self, now: u64, limit: Duration) -> bool {
        let idle = now.saturating_sub(self.last_use.load(Ordering::Acquire));
        self.uses() == 0 && idle >= millis(limit)
    }

    /// Ends everything of the session.
    pub(super) async fn end(&self) {
        self.general.close();
        let kept = std::mem::take(&mut self.streams().kept);
        for channel in kept {
            channel.close();
        }
        self.client.close().await;
    }
}

impl Drop for SessionUse {
    fn drop(&mut self) {
        // Touched before the count drops: a sweep in between would see an old time and end it.
        self.0.touch();
        self.0.uses.fetch_sub(1, Ordering::AcqRel);
    }
}

fn elapsed(since: Instant) -> u64 {
    millis(since.elapsed())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// All sessions.
pub(super) struct Sessions {
    most: usize,
    most_of_one: usize,
    idle: Duration,
    idle_when_full: Duration,
    counters: Arc<Counters>,
    started: Instant,
    state: Mutex<SessionTable>,
    is_swept: AtomicBool,
}

#[derive(Default)]
struct SessionTable {
    open: FxHashMap<SessionId, Arc<Session>>,
    /// Sessions of each principal, those included that are being opened.
    counts: FxHashMap<Arc<str>, usize>,
    /// All of them.
    count: usize,
    searched: Option<Instant>,
}

/// Room for one session that is being opened. Dropping it gives the room back.
pub(super) struct SessionSlot {
    sessions: Arc<Sessions>,
    principal: Arc<str>,
    is_used: bool,
}

impl Sessions {
    pub(super) fn new(limits: &GatewayLimits, counters: &Arc<Counters>) -> Arc<Self> {
        Arc::new(Self {
            most: limits.sessions,
            most_of_one: limits.sessions_per_principal,
            idle: limits.session_idle,
            idle_when_full: limits.session_idle_when_full,
            counters: Arc::clone(counters),
            started: Instant::now(),
            state: Mutex::default(),
            is_swept: AtomicBool::new(false),
        })
    }

    fn state(&self) -> MutexGuard<'_, SessionTable> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of open sessions.
    pub(super) fn len(&self) -> usize {
        self.state().open.len()
    }

    /// Finds a session of this client in this scope. Sessions of others do not exist for it, nor do those
    /// that it opened as another agent.
    pub(super) fn find(
        &self,
        id: SessionId,
        identity: &ClientIdentity,
        scope: &Scope,
    ) -> Option<Arc<Session>> {
        let state = self.state();
        let session = state.open.get(&id)?;
        // The id alone opens nothing: it may have leaked.
        let is_theirs = *session.principal == *identity.principal()
            && session.client.acts_as(identity.caller())
            && session.scope == *scope
            && session.validity().is_valid();
        if !is_theirs {
            return None;
        }
        // A client that renews its credential keeps its session.
        session.validity().extend(identity.validity());
        Some(Arc::clone(session))
    }

    /// Reserves room for a session. With none, sessions that have been idle for a while end.
    pub(super) fn reserve(self: &Arc<Self>, principal: &Arc<str>) -> Option<SessionSlot> {
        let mut state = self.state();
        if !self.has_room(&state, principal) {
            // A flood of attempts must not mean a search for each of them.
            let searched = state.searched;
            if searched.is_some_and(|searched| searched.elapsed() < PRESSURE) {
                return None;
            }
            state.searched = Some(Instant::now());
            // Unlocked: ending idle sessions takes the same lock.
            drop(state);
            self.end_idle(self.idle_when_full);
            state = self.state();
            // Checked again: another request may have taken the room meanwhile.
            if !self.has_room(&state, principal) {
                return None;
            }
        }
        // Counted before the session exists: those that open at once share the bound.
        state.count += 1;
        *state.counts.entry(Arc::clone(principal)).or_default() += 1;
        drop(state);
        Some(SessionSlot {
            sessions: Arc::clone(self),
            principal: Arc::clone(principal),
            is_used: false,
        })
    }

    fn has_room(&self, state: &SessionTable, principal: &str) -> bool {
        let theirs = state.counts.get(principal).copied().unwrap_or_default();
        state.count < self.most && theirs < self.most_of_one
    }

    /// Forgets a session, which the caller then ends.
    pub(super) fn remove(&self, id: SessionId) -> Option<Arc<Session>> {
        let mut state = self.state();
        let session = state.open.remove(&id)?;
        state.release(&session.principal);
        Some(session)
    }

    /// Forgets all sessions, which the caller then ends.
    pub(super) fn remove_all(&self) -> Vec<Arc<Session>> {
        let mut state = self.state();
        let all: Vec<_> = state.open.drain().map(|(_, session)| session).collect();
        for session in &all {
            state.release(&session.principal);
        }
        all
    }

    /// Ends all sessions that have been idle for that long.
    fn end_idle(&self, limit: Duration) {
        let now = elapsed(self.started);
        for _ in 0..self.end_all(|session| session.is_idle(now, limit)) {
            self.counters.expired();
        }
    }

    /// Ends all sessions whose clients' credentials do not count any more.
    pub(super) fn end_invalid(&self) {
        self.end_all(|session| !session.validity().is_valid());
    }

    /// Returns the number of sessions that it ends.
    fn end_all(&self, is_over: impl Fn(&Session) -> bool) -> usize {
        let mut state = self.state();
        let over: Vec<SessionId> = state
            .open
            .iter()
            .filter(|(_, session)| is_over(session))
            .map(|(id, _)| *id)
            .collect();
        let mut ended = Vec::with_capacity(over.len());
        for id in over {
            if let Some(session) = state.open.remove(&id) {
                state.release(&session.principal);
                ended.push(session);
            }
        }
        // Ended without the lock: it can take time, and other requests need the registry.
        drop(state);
        let count = ended.len();
        for session in ended {
            tokio::spawn(async move { session.end().await });
        }
        count
    }

    /// Starts the search for idle sessions, which goes on as long as there are any.
    fn start_sweeping(self: &Arc<Self>) {
        if self.is_swept.swap(true, Ordering::AcqRel) {
            return;
        }
        // Weak: the search must not keep a service alive that is gone.
        let sessions = Arc::downgrade(self);
        let pause = (self.idle / 4).clamp(SWEEPS.0, SWEEPS.1);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(pause).await;
                let Some(sessions) = Weak::upgrade(&sessions) else {
                    return;
                };
                sessions.end_idle(sessions.idle);
                if sessions.len() > 0 {
                    continue;
                }
                sessions.is_swept.store(false, Ordering::Release);
                // A session that was opened in between must not be missed.
                if sessions.len() == 0 || sessions.is_swept.swap(true, Ordering::AcqRel) {
                    return;
                }
            }
        });
    }
}

impl SessionTable {
    fn release(&mut self, principal: &Arc<str>) {
        self.count = self.count.saturating_sub(1);
        if let Some(count) = self.counts.get_mut(principal) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.counts.remove(principal);
            }
        }
    }
}

impl SessionSlot {
    /// Opens the session. `None` if the system has no random numbers.
    pub(super) fn open(
        mut self,
        scope: Scope,
        client: Arc<Client>,
        general: Arc<Channel>,
        validity: &Validity,
    ) -> Option<Arc<Session>> {
        let sessions = &self.sessions;
        let session = Arc::new(Session {
            id: SessionId::new()?,
            principal: Arc::clone(&self.principal),
            scope,
            client,
            validity: Mutex::new(InUse::new(validity)),
            general,
            streams: Mutex::default(),
            uses: AtomicU32::new(0),
            last_use: AtomicU64::new(elapsed(sessions.started)),
            started: sessions.started,
        });
        let mut state = sessions.state();
        state.open.insert(session.id, Arc::clone(&session));
        drop(state);
        sessions.start_sweeping();
        // Only now: until here, dropping the slot gives the room back.
        self.is_used = true;
        // A credential that ended just now has ended the sessions before this one.
        if !validity.is_valid() {
            self.sessions.end_invalid();
        }
        Some(session)
    }
}

impl Drop for SessionSlot {
    fn drop(&mut self) {
        if !self.is_used {
            self.sessions.state().release(&self.principal);
        }
    }
}

/// The bounds of the channel of a session that belongs to no request.
pub(super) fn bounds_of_general(limits: &GatewayLimits) -> ChannelBounds {
    ChannelBounds {
        unread: Some(limits.replay_events),
        ..bounds_of_sessions(limits)
    }
}

/// The bounds of the channels of a session.
pub(super) fn bounds_of_sessions(limits: &GatewayLimits) -> ChannelBounds {
    ChannelBounds {
        waiting: limits.outbox,
        waiting_bytes: limits.message_bytes,
        unread: None,
        kept: limits.replay_events,
        kept_bytes: limits.replay_bytes,
        all_bytes: limits.replay_bytes_all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_are_read_as_they_are_written() {
        let id = SessionId::new().unwrap();
        let text = id.to_text();
        assert_eq!(text.len(), ID_TEXT);
        assert_eq!(SessionId::parse(text.as_bytes()), Some(id));
        for bad in [
            "",
            "x",
            &text[1..],
            &format!("{text}A"),
            &"é".repeat(11),
            &"=".repeat(22),
        ] {
            assert_eq!(SessionId::parse(bad.as_bytes()), None, "{bad}");
        }
        assert_ne!(SessionId::new().unwrap(), id);
    }

    #[tokio::test(start_paused = true)]
    async fn room_is_given_back_and_bounded_by_principal() {
        let mut limits = GatewayLimits::default();
        limits.sessions = 3;
        limits.sessions_per_principal = 2;
        let sessions = Sessions::new(&limits, &Arc::default());
        let (one, other): (Arc<str>, Arc<str>) = (Arc::from("one"), Arc::from("other"));
        let first = sessions.reserve(&one).unwrap();
        let second = sessions.reserve(&one).unwrap();
        assert!(sessions.reserve(&one).is_none());
        let third = sessions.reserve(&other).unwrap();
        assert!(sessions.reserve(&other).is_none());
        drop(second);
        let fourth = sessions.reserve(&other).unwrap();
        drop((first, third, fourth));
        let state = sessions.state();
        assert!(state.count == 0 && state.counts.is_empty());
    }
}
