//! Named tokens as a gateway that serves compares with them.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use switchboard::policy::{Caller, CallerId};

use super::error::NamedTokenError;
use super::record::NamedToken;
use super::store::NamedTokens;
use crate::caller::ClientIdentity;
use crate::http::digest::Digest;
use crate::validity::Validity;

/// Time between two looks at the file, while clients are there.
const LOOK: Duration = Duration::from_millis(250);
/// Time between two looks for tokens that are not known: one may have been made just now.
const LOOK_FOR_NEW: Duration = Duration::from_millis(25);

/// The named tokens of a [`NamedTokens`], for [`HttpAuth::Named`](crate::http::HttpAuth::Named).
///
/// The file is looked at when a token is used, and every 250 ms as long as clients are connected that came
/// with one. A token that was revoked or rotated does not count any more once that is seen, nor do the
/// sessions and streams that it opened. While the file cannot be read, no token counts.
pub struct LiveTokens {
    store: NamedTokens,
    state: Mutex<State>,
    is_watched: AtomicBool,
    on_problem: Box<OnProblem>,
}

/// Is called with the reason that no token counts any more.
type OnProblem = dyn Fn(&str) + Send + Sync;

#[derive(Default)]
struct State {
    looked: Option<Instant>,
    /// The file that was read, if there was one.
    stamp: Option<Stamp>,
    tokens: Vec<LiveToken>,
    problem: Option<String>,
}

struct LiveToken {
    token: NamedToken,
    principal: Arc<str>,
    validity: Validity,
}

/// What differs once the file was replaced or touched.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    /// The number of the file, and the time at which anything about it changed.
    place: (u64, i64, i64),
}

impl LiveTokens {
    /// The tokens of a store. Nothing is read until a token is used.
    pub fn new(store: NamedTokens) -> Arc<Self> {
        Self::with_listener(store, |_| ())
    }

    /// The same, and calls `on_problem` with the reason whenever the file cannot be used any more, so that no token
    /// counts.
    pub fn with_listener(
        store: NamedTokens,
        on_problem: impl Fn(&str) + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            store,
            state: Mutex::default(),
            is_watched: AtomicBool::new(false),
            on_problem: Box::new(on_problem),
        })
    }

    /// Reads the file now.
    ///
    /// # Errors
    /// Fails if it cannot be read, or if another user could have written it.
    pub fn check(&self) -> Result<(), NamedTokenError> {
        self.store.list().map(drop)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client that comes with a token; see [`CredentialBounds`](crate::caller::CredentialBounds) for `usual`.
    pub(in crate::http) fn find(
        self: &Arc<Self>,
        text: &[u8],
        usual: &CallerId,
    ) -> Option<ClientIdentity> {
        self.look(LOOK);
        // Twice at the most: the token of a client that was told of it just now is in the file already.
        let found = self.identity(text, usual).or_else(|| {
            self.look(LOOK_FOR_NEW);
            self.identity(text, usual)
        });
        // Only from here on something can be revoked under a client.
        if found.is_some() {
            self.start_watching();
        }
        found
    }

    fn identity(&self, text: &[u8], usual: &CallerId) -> Option<ClientIdentity> {
        let digest = Digest::of(text);
        let state = self.state();
        let mut found = None;
        // All are compared, whatever is found: the time says nothing about any of them.
        for live in &state.tokens {
            if live.token.digest.matches(&digest) {
                found = Some(live);
            }
        }
        let live = found.filter(|live| live.validity.is_valid())?;
        let caller: Caller = live.token.caller(usual)?;
        let identity = ClientIdentity::remote(caller, Arc::clone(&live.principal));
        Some(identity.valid(live.validity.clone()))
    }

    /// Reads the file again if it has changed, unless it was looked at just now.
    fn look(&self, pause: Duration) {
        let mut state = self.state();
        if state.looked.is_some_and(|looked| looked.elapsed() < pause) {
            return;
        }
        state.looked = Some(Instant::now());
        // After a problem the file is read in any case: what was wrong may have been its folder.
        let stamp = Stamp::of(&self.store.path());
        if stamp == state.stamp && state.problem.is_none() {
            return;
        }
        match self.store.list() {
            Ok(tokens) => {
                state.replace(tokens);
                state.problem = None;
            }
            // Nothing counts that cannot be read: a token in it may have been revoked.
            Err(error) => {
                state.replace(Vec::new());
                let why = error.to_string();
                if state.problem.as_ref() != Some(&why) {
                    (self.on_problem)(&why);
                }
                state.problem = Some(why);
            }
        }
        // Of before the reading: what changed meanwhile is read at the next look.
        state.stamp = stamp;
    }

    /// Looks at the file as long as clients are there whose tokens may be revoked.
    fn start_watching(self: &Arc<Self>) {
        if self.is_watched.swap(true, Ordering::AcqRel) {
            return;
        }
        let live = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK).await;
                // Weak: the watching must not keep a gateway alive that is gone.
                let Some(live) = live.upgrade() else { return };
                live.look(LOOK);
                if live.has_clients() {
                    continue;
                }
                live.is_watched.store(false, Ordering::Release);
                // A client that came in between must not be missed.
                if !live.has_clients() || live.is_watched.swap(true, Ordering::AcqRel) {
                    return;
                }
            }
        });
    }

    fn has_clients(&self) -> bool {
        let state = self.state();
        state.tokens.iter().any(|live| live.validity.is_in_use())
    }
}

impl State {
    /// Takes other tokens. Those that are the same as before stay valid for their clients; the others end.
    fn replace(&mut self, tokens: Vec<NamedToken>) {
        let mut earlier = std::mem::take(&mut self.tokens);
        self.tokens = tokens
            .into_iter()
            .map(|token| {
                let known = earlier.iter().position(|live| live.token == token);
                known.map_or_else(|| LiveToken::new(token), |known| earlier.swap_remove(known))
            })
            .collect();
        // Those that are left were revoked or rotated: what they have opened ends with them.
        for gone in earlier {
            gone.validity.end();
        }
    }
}

impl LiveToken {
    fn new(token: NamedToken) -> Self {
        Self {
            principal: token.principal().into(),
            validity: token
                .expires
                .map_or_else(Validity::until_ended, Validity::until),
            token,
        }
    }
}

impl Drop for LiveTokens {
    fn drop(&mut self) {
        self.state().replace(Vec::new());
    }
}

impl Stamp {
    #[cfg(unix)]
    fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;

        let metadata = std::fs::symlink_metadata(path).ok()?;
        Some(Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            place: (metadata.ino(), metadata.ctime(), metadata.ctime_nsec()),
        })
    }

    #[cfg(not(unix))]
    fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::symlink_metadata(path).ok()?;
        Some(Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            place: (0, 0, 0),
        })
    }
}

impl std::fmt::Debug for LiveTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveTokens")
            .field("path", &self.store.path())
            .finish_non_exhaustive()
    }
}
