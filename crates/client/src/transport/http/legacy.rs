//! The session of a legacy server: its id, its renewal, and the state to restore in a new one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use switchboard_core::limits::Budget;
use switchboard_wire::{
    EnvelopeKind as Message, FromRaw, Initialize, InitializeResult, Initialized,
};
use switchboard_wire::{Method as _, Notice, Raw, SetLevel, Version};
use tokio::sync::watch;

use super::answer;
use super::headers::SessionId;
use super::inner::Inner;
use super::streamable::{AttemptOutcome, Streamable};
use crate::transport::{Fault, FaultKind, Heard, Inlet, Kind, Outgoing, Sent, within};

/// Maximum length of a session id: the maximum length of a header.
const ID_BYTES: usize = 8 * 1024;

/// The session with a legacy server.
///
/// A server that restarts forgets its sessions. Then one call makes a new handshake (`renew`) while
/// the others wait, and all of them continue in the new session.
#[derive(Default)]
pub(crate) struct Legacy {
    state: Mutex<LegacyState>,
    /// Held by the call that opens a new session.
    renewing: tokio::sync::Mutex<()>,
    /// The number of sessions opened so far; listeners start again with each.
    opened: watch::Sender<u64>,
    /// The last session whose listening stream was requested, with whatever result.
    listened: watch::Sender<u64>,
}

#[derive(Default)]
struct LegacyState {
    id: Option<SessionId>,
    /// The id of a session whose handshake is not complete. Until it is, other calls use the
    /// previous session, so that a caller that gives up in between changes nothing.
    next: Option<Option<SessionId>>,
    /// The `initialize` request as it was sent, to repeat it.
    handshake: Option<Vec<u8>>,
    version: Option<Version>,
    /// The last `logging/setLevel` request: a new session has to be told again.
    level: Option<Vec<u8>>,
}

/// Identifies one of the sessions, in the order of their opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step(u64);

impl Legacy {
    fn state(&self) -> MutexGuard<'_, LegacyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn session(&self) -> Option<SessionId> {
        self.state().id.clone()
    }

    /// The id of the session that a message belongs to.
    pub(crate) fn session_for(&self, message: &Outgoing<'_>) -> Option<SessionId> {
        let state = self.state();
        match &state.next {
            // The handshake's second message goes to the new session, while others still use the
            // old one.
            Some(next) if message.method == Initialized::NAME => next.clone(),
            _ => state.id.clone(),
        }
    }

    /// All sessions that the server may still remember.
    pub(crate) fn sessions(&self) -> Vec<SessionId> {
        let state = self.state();
        let begun = state.next.clone().flatten();
        state.id.clone().into_iter().chain(begun).collect()
    }

    pub(crate) fn version(&self) -> Option<Version> {
        self.state().version
    }

    pub(crate) fn step(&self) -> Step {
        Step(*self.opened.borrow())
    }

    pub(crate) fn is_handshake(&self, message: &Outgoing<'_>) -> bool {
        message.kind == Kind::Request && message.method == Initialize::NAME
    }

    /// Validates the id that a server gave.
    pub(crate) fn usable(
        &self,
        inner: &Inner,
        given: Option<Vec<u8>>,
    ) -> Result<Option<SessionId>, Fault> {
        let id = given.map(|id| SessionId::parse(&id, ID_BYTES, inner.id_rule));
        id.transpose().map_err(|error| {
            inner.answer_fault(FaultKind::SessionId {
                what: error.to_string(),
            })
        })
    }

    /// Records that the server accepted a handshake, and the id that it gave.
    pub(crate) fn begun(&self, handshake: &[u8], id: Option<SessionId>) {
        let mut state = self.state();
        state.next = Some(id);
        state.handshake = Some(handshake.to_vec());
    }

    /// Records that the session is open.
    pub(crate) fn opened(&self, version: Option<Version>) {
        {
            let mut state = self.state();
            if let Some(next) = state.next.take() {
                state.id = next;
            }
            state.version = version;
        }
        // After the state was changed, so that a reader who sees the number sees the session too.
        self.opened.send_modify(|times| *times += 1);
    }

    /// Records messages that have to be repeated in a new session.
    pub(crate) fn note(&self, message: &Outgoing<'_>) {
        if message.kind == Kind::Request && message.method == SetLevel::NAME {
            self.state().level = Some(message.body.to_vec());
        }
    }

    /// Subscribes to the opening of sessions.
    pub(crate) fn openings(&self) -> watch::Receiver<u64> {
        self.opened.subscribe()
    }

    /// Records that the listening stream of that session was answered.
    pub(crate) fn listened(&self, session: u64) {
        self.listened.send_if_modified(|last| {
            // Never backwards: an older session may report late.
            let later = session > *last;
            *last = session.max(*last);
            later
        });
    }

    /// Waits until the listening stream is open, or is known not to exist.
    ///
    /// Before that a server has no way to ask, and some drop a question that they cannot send. A
    /// server that does not answer is waited for once.
    pub(crate) async fn listening(&self, patience: Duration) {
        let session = *self.opened.borrow();
        if *self.listened.borrow() >= session {
            return;
        }
        let mut listened = self.listened.subscribe();
        let stands = listened.wait_for(|last| *last >= session);
        // Not waited for a second time: a server without such a stream must not slow down every
        // call.
        if within(patience, stands).await.is_err() {
            self.listened(session);
        }
    }
}

impl Streamable {
    /// Opens a new session in place of one that the server has forgotten, unless another call
    /// already has.
    pub(crate) async fn renew(
        &self,
        seen: &Step,
        budget: &Budget,
        fault: &Fault,
    ) -> Result<(), Fault> {
        // One renewal at a time: the others find a newer step below, and are done.
        let _alone = self.legacy.renewing.lock().await;
        if self.legacy.step() != *seen {
            return Ok(());
        }
        let lost = |what: String| self.inner.answer_fault(FaultKind::SessionLost { what });
        let (handshake, version) = {
            let state = self.legacy.state();
            (state.handshake.clone(), state.version)
        };
        let (Some(handshake), Some(version)) = (handshake, version) else {
            return Err(fault.clone());
        };
        // The same three messages as in the first session: initialize, initialized, log level.
        let agreed = Agreed::default();
        let again = Outgoing {
            kind: Kind::Request,
            method: Initialize::NAME,
            subject: None,
            version: None,
            body: &handshake,
            budget,
        };
        self.attempt(&again, &agreed)
            .await
            .map_err(|fault| not_now(fault).unwrap_or_else(|fault| lost(fault.to_string())))?;
        match agreed.version() {
            // Another version would change the meaning of calls that are under way.
            Some(found) if found == version.as_str() => {}
            Some(found) => return Err(lost(format!("it speaks {found} now, and not {version}"))),
            None => return Err(lost("it refused the handshake".to_owned())),
        }
        let told = Outgoing {
            kind: Kind::Notification,
            method: Initialized::NAME,
            subject: None,
            version: Some(version),
            body: br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            budget,
        };
        match self.attempt(&told, &agreed).await {
            Ok(AttemptOutcome::Done) => {
                self.tell_level(version, budget).await;
                Ok(())
            }
            Ok(AttemptOutcome::NoSession(fault)) => Err(lost(fault.to_string())),
            Err(fault) => Err(not_now(fault).unwrap_or_else(|fault| lost(fault.to_string()))),
        }
    }
}

impl Streamable {
    /// Repeats the log level of the last session in a new one.
    async fn tell_level(&self, version: Version, budget: &Budget) {
        let Some(body) = self.legacy.state().level.clone() else {
            return;
        };
        let again = Outgoing {
            kind: Kind::Request,
            method: SetLevel::NAME,
            subject: None,
            version: Some(version),
            body: &body,
            budget,
        };
        // A failure here is not worth losing the session.
        drop(self.attempt(&again, &Agreed::default()).await);
    }
}

/// Keeps a transient fault of a renewal as it is, so that the next call may try again; others end
/// the session.
fn not_now(fault: Fault) -> Result<Fault, Fault> {
    let passes = match fault.kind {
        FaultKind::Resolve { .. } | FaultKind::Connect { .. } => true,
        FaultKind::Interrupted { .. } | FaultKind::NoAnswer { .. } => true,
        // These pass: the session itself may still be renewed by the next call.
        FaultKind::Status { status, .. } => matches!(status, 429 | 500..=599),
        _ => false,
    };
    if passes {
        // The call itself was refused before, whatever the handshake's fault says about being sent.
        Ok(Fault {
            sent: Sent::Answered,
            ..fault
        })
    } else {
        Err(fault)
    }
}

/// Watches the answer to a handshake on its way to the inlet.
pub(crate) struct Watching<'a> {
    inlet: &'a dyn Inlet,
    /// A result is passed on only if the session id is usable.
    usable: bool,
    succeeded: AtomicBool,
}

impl<'a> Watching<'a> {
    pub(crate) fn new(inlet: &'a dyn Inlet, usable: bool) -> Self {
        Self {
            inlet,
            usable,
            succeeded: AtomicBool::new(false),
        }
    }

    /// Returns true if the answer was a result.
    pub(crate) fn succeeded(&self) -> bool {
        self.succeeded.load(Ordering::Relaxed)
    }
}

impl Inlet for Watching<'_> {
    fn message(&self, text: &[u8]) -> Heard {
        if result_of(text).is_some() {
            self.succeeded.store(true, Ordering::Relaxed);
            // Withheld: the caller must not see a handshake whose session cannot be used.
            if !self.usable {
                return Heard::Answer;
            }
        }
        self.inlet.message(text)
    }

    fn over_limit(&self, head: &[u8]) -> Heard {
        self.inlet.over_limit(head)
    }

    fn over_limit_end(&self, tail: &[u8]) -> Heard {
        self.inlet.over_limit_end(tail)
    }
}

/// Takes the answer to a repeated handshake.
#[derive(Default)]
struct Agreed(Mutex<Option<String>>);

impl Agreed {
    fn version(&self) -> Option<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Inlet for Agreed {
    fn message(&self, text: &[u8]) -> Heard {
        let Some(result) = result_of(text) else {
            return Heard::Answer;
        };
        if let Ok(result) = InitializeResult::from_raw(&result) {
            let version = Some(result.protocol_version().to_owned());
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = version;
        }
        Heard::Answer
    }

    fn over_limit(&self, _: &[u8]) -> Heard {
        Heard::Aside
    }

    fn over_limit_end(&self, _: &[u8]) -> Heard {
        Heard::Aside
    }
}

/// The result in a message, if it is a success.
fn result_of(text: &[u8]) -> Option<Raw> {
    match answer::message(text)? {
        Message::Success { result, .. } => Some(Raw::from(result)),
        _ => None,
    }
}
