//! OAuth for one server: the token in use, and its renewal without ever losing it.
//!
//! Requests use a snapshot of the token. A renewal is a transaction in a task of its own, which a
//! cancelled caller does not stop: take the turn in this process, lock the key against other
//! processes, read the store again, renew only if the stored token is still the one that failed,
//! write, adopt, release. If the issuer's answer does not arrive, both tokens stay as they are; if
//! it refuses the refresh token, exactly that token is removed.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use switchboard_core::limits::Limits;
use switchboard_core::secret::{SafeUrl, Secret};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use super::authorize::{
    Authorize, Authorizing, Deciding, Decision, Refusal, RequestAuthorization, RequestTarget,
};
use super::challenge::Challenge;
use super::client_id::ClientSource;
use super::discovery::{Discovery, Hint};
use crate::auth_error::{AuthError, LoginReason, NeedsLogin, Purpose, TokenStoreError};
use super::fetch::AuthFetch;
use super::jose::{DpopKey, Proof};
use super::scope;
use super::settings::OAuthSettings;
use super::store::{self, Credential, TokenStore};
use super::token::{self, Exchange, TokenRequest, TokenType, now};

/// Pause after a failed renewal ahead of time.
const REST: Duration = Duration::from_secs(30);
/// Maximum number of attempts to write new tokens to the store.
const WRITES: u32 = 3;
/// Pause between these attempts.
const WRITE_REST: Duration = Duration::from_millis(100);

/// OAuth for one server.
///
/// Owns the token in use, loads it from the [`TokenStore`] on first use, adds it to every request,
/// renews it at four fifths of its life or when the server rejects it, and reports with
/// [`AuthError::NeedsLogin`] when a person has to log in. Any number of processes may share the
/// store: a refresh token is never used twice.
///
/// Pass it to [`Http::authorization`](crate::transport::Http::authorization); log in with
/// [`Login`](super::Login). Clones share everything.
///
/// ```no_run
/// use std::sync::Arc;
/// use switchboard_client::auth::{Authorizer, MemoryStore, OAuthSettings};
/// use switchboard_client::transport::{Http, HttpAuthFetch};
/// use switchboard_client::Limits;
///
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let url = "https://mcp.example.com/mcp";
/// let authorizer = Authorizer::new(
///     url,
///     OAuthSettings::default(),
///     Arc::new(HttpAuthFetch::new()),
///     Arc::new(MemoryStore::new()),
///     &Limits::default(),
/// )?;
/// let server = Http::new(url)?.authorization(Arc::new(authorizer));
/// # drop(server);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Authorizer {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) server: SafeUrl,
    pub(super) settings: OAuthSettings,
    pub(super) fetch: Arc<dyn AuthFetch>,
    pub(super) store: Arc<dyn TokenStore>,
    pub(super) limits: Limits,
    /// The last nonce of the issuer.
    pub(super) issuer_nonce: Mutex<Option<String>>,
    state: Mutex<State>,
    /// Held during a renewal, so that there is one at a time.
    turn: tokio::sync::Mutex<()>,
    renewals: TaskTracker,
}

#[derive(Default)]
struct State {
    is_loaded: bool,
    live: Option<Arc<Live>>,
    /// Counts the tokens that were adopted; identifies the token in use.
    generation: u64,
    /// The contents of the last refusal.
    hint: Option<Hint>,
    /// The last nonce of the server.
    server_nonce: Option<String>,
    step_ups: usize,
    /// The time and error of the last failed renewal, for callers that waited for it.
    failure: Option<(Instant, AuthError)>,
    /// The time until which renewal ahead of time pauses.
    rest_until: Option<Instant>,
    is_renewing: bool,
    /// The digest and error of a refused assertion: the refusal is final for it.
    pub(super) refused_assertion: Option<(Vec<u8>, AuthError)>,
    /// The error of the first attempt to read the store.
    load_error: Option<TokenStoreError>,
}

/// A token in use, with everything that its requests need.
struct Live {
    credential: Credential,
    /// The `Authorization` header.
    header: RequestAuthorization,
    dpop: Option<DpopKey>,
    /// The time of renewal ahead of expiry, in seconds since 1970.
    renew_at: Option<u64>,
    generation: u64,
}

impl Live {
    fn new(credential: Credential, generation: u64) -> Result<Self, AuthError> {
        let token = credential.access_token.expose();
        let (scheme, dpop) = match credential.token_type {
            TokenType::Bearer => ("Bearer", None),
            TokenType::Dpop => {
                let key = credential.dpop_key.as_ref().ok_or_else(|| AuthError::Key {
                    what: "the key of the stored token",
                    problem: "it is missing".to_owned(),
                })?;
                ("DPoP", Some(DpopKey::from_stored(key)?))
            }
        };
        let header = RequestAuthorization::header(&Secret::new(format!("{scheme} {token}")))?;
        let life = credential
            .expires_at
            .map(|at| at.saturating_sub(credential.issued_at));
        // At four fifths of its life: late enough to be rare, early enough to fail and try again.
        let renew_at = life.map(|life| {
            credential
                .issued_at
                .saturating_add(life / 5 * 4 + life % 5 * 4 / 5)
        });
        Ok(Self {
            header: header.generation(generation),
            credential,
            dpop,
            renew_at,
            generation,
        })
    }

    fn is_expired(&self, now: u64) -> bool {
        self.credential.expires_at.is_some_and(|at| now >= at)
    }

    fn headers(
        &self,
        request: &RequestTarget<'_>,
        nonce: Option<&str>,
    ) -> Result<RequestAuthorization, AuthError> {
        let Some(key) = &self.dpop else {
            return Ok(self.header.clone());
        };
        let proof = key.prove(&Proof {
            method: request.method,
            url: request.url,
            nonce,
            token: Some(&self.credential.access_token),
            now: now(),
        })?;
        self.header.clone().with_proof(&proof)
    }
}

impl Authorizer {
    /// Creates the authorization for the server at a URL.
    ///
    /// # Errors
    /// Fails when it is not a URL, or a setting cannot be used.
    pub fn new(
        server: &str,
        settings: OAuthSettings,
        fetch: Arc<dyn AuthFetch>,
        store: Arc<dyn TokenStore>,
        limits: &Limits,
    ) -> Result<Self, AuthError> {
        let server = SafeUrl::parse(server).map_err(|_| AuthError::Forbidden {
            purpose: Purpose::Server,
            url: String::new(),
            why: "its address is not a URL".to_owned(),
        })?;
        if settings.authorization_endpoint.is_some() != settings.token_endpoint.is_some()
            && !settings.grant.is_unattended()
            && settings.device_authorization_endpoint.is_none()
        {
            return Err(AuthError::Setting {
                key: "authorizationEndpoint",
                problem: "and `oauth.tokenEndpoint` are set together or not at all".to_owned(),
            });
        }
        Ok(Self {
            inner: Arc::new(Inner {
                server,
                settings,
                fetch,
                store,
                limits: limits.clone(),
                issuer_nonce: Mutex::default(),
                state: Mutex::default(),
                turn: tokio::sync::Mutex::default(),
                renewals: TaskTracker::new(),
            }),
        })
    }

    /// The server's URL, as the store uses it for look-ups.
    pub(super) fn server_name(&self) -> String {
        let mut url = self.inner.server.expose().clone();
        url.set_fragment(None);
        url.to_string()
    }

    /// The credential that is stored for the server. It does not expose its tokens.
    ///
    /// # Cancel safety
    /// Cancel safe: it only reads.
    ///
    /// # Errors
    /// Fails when the store cannot be read.
    pub async fn stored(&self) -> Result<Option<Credential>, AuthError> {
        let set = self.inner.store.read().await?;
        let found = set.of_server(&self.server_name(), &self.inner.settings.profile);
        Ok(found.filter(|known| self.fits(known)).cloned())
    }

    /// Remembers the challenges of a server's refusal for the next login.
    pub fn note_challenge(&self, challenges: &[Challenge]) {
        self.state().hint = Some(Hint::of(challenges));
    }

    pub(super) fn hint(&self) -> Option<Hint> {
        self.state().hint.clone()
    }

    pub(super) fn exchange(&self) -> Exchange<'_> {
        Exchange {
            fetch: &*self.inner.fetch,
            settings: &self.inner.settings,
            limits: &self.inner.limits,
            nonce: &self.inner.issuer_nonce,
        }
    }

    pub(super) fn discovery(&self) -> Discovery<'_> {
        Discovery {
            server: self.inner.server.expose(),
            settings: &self.inner.settings,
            fetch: &*self.inner.fetch,
            limits: &self.inner.limits,
        }
    }

    /// Returns true if a stored credential matches the settings.
    fn fits(&self, credential: &Credential) -> bool {
        let settings = &self.inner.settings;
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == found)
        };
        let is_configured = credential.client.source == ClientSource::Configured;
        // Tokens of a configured client do not outlive its configuration: the secret is gone, too.
        is(&settings.client_id, &credential.key.client_id)
            && (settings.client_id.is_some() || !is_configured)
            && is(&settings.issuer, &credential.key.issuer)
    }

    /// Puts a token to use.
    pub(super) fn adopt(&self, credential: Credential) -> Result<(), AuthError> {
        let mut state = self.state();
        let generation = state.generation.saturating_add(1);
        let live = Live::new(credential, generation)?;
        state.generation = generation;
        state.live = Some(Arc::new(live));
        state.is_loaded = true;
        state.failure = None;
        Ok(())
    }

    /// Stops using the token.
    pub(super) fn abandon(&self) {
        let mut state = self.state();
        state.generation = state.generation.saturating_add(1);
        state.live = None;
    }

    pub(super) fn reset_step_ups(&self) {
        self.state().step_ups = 0;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        let state = self.inner.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn refused_assertion(&self) -> Option<(Vec<u8>, AuthError)> {
        self.state().refused_assertion.clone()
    }

    pub(super) fn note_refused_assertion(&self, digest: Vec<u8>, error: AuthError) {
        self.state().refused_assertion = Some((digest, error));
    }

    /// Reads the store for the first time.
    async fn load(&self) {
        let stored = self.stored().await;
        if self.state().is_loaded {
            return;
        }
        let adopted = match stored {
            Ok(Some(credential)) => self.adopt(credential),
            Ok(None) => Ok(()),
            // A server may need no token at all, so report the error only when one is demanded.
            Err(error) => Err(error),
        };
        let mut state = self.state();
        state.is_loaded = true;
        if let Err(AuthError::Store(error)) = adopted {
            state.load_error = Some(error);
        }
    }

    fn can_renew(&self, live: &Live) -> bool {
        live.credential.refresh_token.is_some() || self.inner.settings.grant.is_unattended()
    }

    /// Renews the token in a task of its own, which a cancelled caller does not stop.
    ///
    /// # Errors
    /// Fails when no new token could be had.
    async fn renew(&self, failed: u64, trigger: Trigger) -> Result<(), AuthError> {
        let (this, asked) = (self.clone(), Instant::now());
        let renewal = async move { this.renew_in_turn(failed, trigger, asked).await };
        let done = self.inner.renewals.spawn(renewal).await;
        done.unwrap_or_else(|_| Err(self.needs_login(LoginReason::Rejected, &[])))
    }

    async fn renew_in_turn(
        &self,
        failed: u64,
        trigger: Trigger,
        asked: Instant,
    ) -> Result<(), AuthError> {
        // 1. One renewal at a time: callers that find the same token rejected wait here.
        let _turn = self.inner.turn.lock().await;
        let live = {
            let state = self.state();
            // 2. Another caller has renewed it meanwhile: use the result.
            if state.generation != failed {
                return match state.live {
                    Some(_) => Ok(()),
                    None => Err(self.needs_login_in(&state, LoginReason::Rejected)),
                };
            }
            // 3. Another caller has failed since this one asked: share the error instead of asking
            //    the issuer again.
            if let Some((at, error)) = &state.failure
                && *at >= asked
            {
                return Err(error.clone());
            }
            state.live.clone()
        };
        let done = match live {
            None => Box::pin(self.first_token()).await,
            Some(live) => Box::pin(self.renew_live(&live, trigger)).await,
        };
        if let Err(error) = &done {
            self.state().failure = Some((Instant::now(), error.clone()));
        }
        done
    }

    /// Gets the first token: from the store, if another process has logged in, or with an
    /// unattended grant.
    async fn first_token(&self) -> Result<(), AuthError> {
        if let Some(credential) = self.stored().await? {
            return self.adopt(credential);
        }
        if self.inner.settings.grant.is_unattended() {
            let hint = self.hint().unwrap_or_default();
            return self.obtain(&hint, None).await;
        }
        if let Some(error) = self.state().load_error.clone() {
            return Err(error.into());
        }
        Err(self.needs_login(LoginReason::NoToken, &[]))
    }

    async fn renew_live(&self, live: &Live, trigger: Trigger) -> Result<(), AuthError> {
        // The lock against other processes first, or two of them could use the refresh token twice.
        let store = &*self.inner.store;
        let key = &live.credential.key;
        let lock = store.lock(key, self.inner.limits.auth_lock).await?;
        // Read the store only under the lock: another process may have renewed the token while we
        // waited.
        let Some(stored) = self.stored().await? else {
            self.abandon();
            drop(lock);
            if self.inner.settings.grant.is_unattended() {
                let hint = self.hint().unwrap_or_default();
                return self.obtain(&hint, None).await;
            }
            return Err(self.needs_login(LoginReason::NoToken, &[]));
        };
        if stored.key != *key || stored.access_token != live.credential.access_token {
            return self.adopt(stored);
        }
        // The stored token is the one that failed, so renewing it is up to us.
        if stored.refresh_token.is_some() {
            return self.refresh(stored, trigger).await;
        }
        drop(lock);
        if self.inner.settings.grant.is_unattended() {
            let hint = self.hint().unwrap_or_default();
            return self.obtain(&hint, Some(&stored.access_token)).await;
        }
        Err(self.needs_login(LoginReason::Rejected, &[]))
    }

    /// Renews a token with its refresh token. The caller holds the lock on its key.
    async fn refresh(&self, old: Credential, trigger: Trigger) -> Result<(), AuthError> {
        let store = &*self.inner.store;
        let Some(refresh_token) = old.refresh_token.clone() else {
            return Err(self.needs_login(LoginReason::Rejected, &[]));
        };
        let Some(endpoint) = old.token_endpoint.endpoint() else {
            return Err(self.needs_login(LoginReason::Rejected, &[]));
        };
        // Write first: a store that cannot be written now could not take the new tokens either, and
        // the old refresh token would be spent.
        let (key, began) = (old.key.clone(), now());
        store::change(store, move |set| {
            if let Some(known) = set.get_mut(&key) {
                known.renewal_began = Some(began);
            }
        })
        .await?;
        let dpop = match &old.dpop_key {
            Some(key) => Some(DpopKey::from_stored(key)?),
            None => None,
        };
        let mut form: Vec<(&'static str, Secret<String>)> = vec![
            ("grant_type", "refresh_token".into()),
            ("refresh_token", refresh_token.clone()),
        ];
        if let Some(resource) = &old.resource {
            form.push(("resource", resource.as_str().into()));
        }
        let request = TokenRequest {
            purpose: Purpose::Token,
            endpoint: &endpoint,
            issuer: &old.key.issuer,
            client: &old.client,
            dpop: dpop.as_ref(),
            form,
        };
        let asked = self.exchange().tokens(&request).await;
        match asked {
            Ok(tokens) => {
                let mut new = old;
                new.replace_tokens(tokens);
                new.renewal_began = None;
                // Store before adopting: the old refresh token is spent, and only the new one can
                // be used again.
                self.keep(&new).await;
                self.adopt(new)
            }
            Err(AuthError::Refused { code, .. })
                if matches!(
                    code.as_str(),
                    "invalid_grant" | "invalid_client" | "unauthorized_client"
                ) =>
            {
                self.forget_refresh_token(&old, refresh_token, &code, trigger)
                    .await?;
                Err(self.needs_login(LoginReason::Revoked, &old.requested_scopes))
            }
            // The outcome is unknown, or the request was never sent: both tokens stay as they are.
            Err(error) => Err(error),
        }
    }

    /// Writes new tokens, in several attempts. Failing that they are used all the same: the old
    /// ones are spent.
    async fn keep(&self, new: &Credential) {
        for attempt in 0..WRITES {
            if attempt > 0 {
                tokio::time::sleep(WRITE_REST).await;
            }
            let (credential, limits) = (new.clone(), self.inner.limits.clone());
            let kept = store::change(&*self.inner.store, move |set| {
                set.put(credential, &limits);
            });
            if kept.await.is_ok() {
                return;
            }
        }
    }

    /// Removes exactly the refresh token that was refused, and the access token if the server
    /// rejects it.
    async fn forget_refresh_token(
        &self,
        old: &Credential,
        refused: Secret<String>,
        code: &str,
        trigger: Trigger,
    ) -> Result<(), AuthError> {
        let (key, access_token) = (old.key.clone(), old.access_token.clone());
        let is_client_gone =
            code != "invalid_grant" && old.client.source == ClientSource::Registered;
        store::change(&*self.inner.store, move |set| {
            let Some(known) = set.get_mut(&key) else {
                return;
            };
            if known.refresh_token.as_ref() != Some(&refused) {
                return;
            }
            known.refresh_token = None;
            if trigger == Trigger::Rejected && known.access_token == access_token {
                set.remove(&key);
            }
            if is_client_gone {
                // The issuer has forgotten our client: the next login registers again.
                set.forget_registration(&key.client_id);
            }
        })
        .await?;
        match trigger {
            Trigger::Rejected => self.abandon(),
            Trigger::Age => {
                let mut kept = old.clone();
                kept.refresh_token = None;
                self.adopt(kept)?;
            }
        }
        Ok(())
    }

    fn needs_login(&self, reason: LoginReason, scopes: &[String]) -> AuthError {
        let state = self.state();
        let mut needed = self.needs_login_in(&state, reason);
        if let AuthError::NeedsLogin(needed) = &mut needed {
            needed.scopes = scope::union(scopes, &needed.scopes);
        }
        needed
    }

    fn needs_login_in(&self, state: &State, reason: LoginReason) -> AuthError {
        let live = state.live.as_ref();
        let issuer = live.map(|live| live.credential.key.issuer.clone());
        let hinted = state.hint.as_ref().and_then(|hint| hint.scopes.clone());
        AuthError::NeedsLogin(NeedsLogin {
            issuer: issuer.or_else(|| self.inner.settings.issuer.clone()),
            scopes: hinted.unwrap_or_default(),
            reason,
        })
    }

    async fn decide(&self, refusal: Refusal<'_>) -> Decision {
        let used = refusal.used;
        let oauth: Vec<&Challenge> = refusal
            .challenges
            .iter()
            .filter(|challenge| challenge.is_oauth())
            .collect();
        let has_error = |code: &str| {
            oauth
                .iter()
                .any(|challenge| challenge.error() == Some(code))
        };
        // A nonce first: the proof was incomplete, and the token may be fine.
        if let Some(nonce) = &refusal.nonce {
            self.note_nonce(nonce);
            // RFC 9449, 9: the same request with the nonce in a new proof.
            if has_error("use_dpop_nonce") && used.has_proof() && refusal.repeated == 0 {
                return Decision::Retry;
            }
        }
        let hint = Hint::of(&refusal.challenges);
        if refusal.status == 403 && has_error("insufficient_scope") {
            return self.step_up(&refusal, hint).await;
        }
        // A server that demands a password, for instance, has no use for a token.
        if refusal.status != 401 || (oauth.is_empty() && !refusal.challenges.is_empty()) {
            return Decision::Pass;
        }
        self.state().hint = Some(hint);
        if refusal.repeated > 1 || (refusal.repeated == 1 && !used.has_proof()) {
            let reason = if used.is_some() {
                LoginReason::Rejected
            } else {
                LoginReason::NoToken
            };
            return Decision::GiveUp(self.needs_login(reason, &[]));
        }
        match self.renew(used.number(), Trigger::Rejected).await {
            Ok(()) => Decision::Retry,
            Err(error) => Decision::GiveUp(error),
        }
    }

    /// Reacts to a demand for more scopes.
    async fn step_up(&self, refusal: &Refusal<'_>, hint: Hint) -> Decision {
        let demanded = hint.scopes.clone().unwrap_or_default();
        let live = {
            let mut state = self.state();
            let live = state.live.clone();
            if live
                .as_ref()
                .is_some_and(|live| live.generation != refusal.used.number())
                && refusal.repeated == 0
            {
                return Decision::Retry;
            }
            state.hint = Some(hint.clone());
            live
        };
        let Some(live) = live else {
            return Decision::GiveUp(self.needs_login(LoginReason::NoToken, &demanded));
        };
        // Another process may have got a token with more scopes.
        match self.stored().await {
            Ok(Some(stored))
                if stored.access_token != live.credential.access_token && refusal.repeated == 0 =>
            {
                return match self.adopt(stored) {
                    Ok(()) => Decision::Retry,
                    Err(error) => Decision::GiveUp(error),
                };
            }
            Ok(_) => {}
            Err(error) => return Decision::GiveUp(error),
        }
        let requested = &live.credential.requested_scopes;
        let was_asked = !demanded.is_empty() && scope::contains_all(requested, &demanded);
        let steps = {
            let mut state = self.state();
            state.step_ups = state.step_ups.saturating_add(1);
            state.step_ups
        };
        if was_asked || steps > self.inner.limits.auth_step_ups || refusal.repeated > 0 {
            return Decision::GiveUp(AuthError::ScopeNotGranted { scopes: demanded });
        }
        let wanted = scope::union(requested, &demanded);
        if self.inner.settings.grant.is_unattended() {
            let hint = Hint {
                scopes: Some(wanted),
                ..hint
            };
            let failed = live.credential.access_token.clone();
            return match Box::pin(self.obtain(&hint, Some(&failed))).await {
                Ok(()) => Decision::Retry,
                Err(error) => Decision::GiveUp(error),
            };
        }
        Decision::GiveUp(self.needs_login(LoginReason::InsufficientScope, &wanted))
    }

    /// Renews a token that is still valid, in the background.
    fn renew_ahead(&self, generation: u64) {
        let this = self.clone();
        drop(self.inner.renewals.spawn(async move {
            let asked = Instant::now();
            let done = this.renew_in_turn(generation, Trigger::Age, asked).await;
            let mut state = this.state();
            state.is_renewing = false;
            if done.is_err() {
                state.rest_until = Instant::now().checked_add(REST);
            }
        }));
    }

    fn take_ready(
        &self,
        request: &RequestTarget<'_>,
    ) -> Option<Result<RequestAuthorization, AuthError>> {
        let (live, nonce) = {
            let mut state = self.state();
            let live = match (&state.live, state.is_loaded) {
                (Some(live), _) => Arc::clone(live),
                (None, true) => {
                    let none = RequestAuthorization::none().generation(state.generation);
                    return Some(Ok(none));
                }
                (None, false) => return None,
            };
            if let Some(renew_at) = live.renew_at {
                let now = now();
                if now >= renew_at && self.can_renew(&live) {
                    if live.is_expired(now)
                        && state.rest_until.is_none_or(|until| Instant::now() >= until)
                    {
                        return None;
                    }
                    let may = !state.is_renewing
                        && state.rest_until.is_none_or(|until| Instant::now() >= until);
                    if may {
                        state.is_renewing = true;
                        drop(state);
                        self.renew_ahead(live.generation);
                        state = self.state();
                    }
                }
            }
            (live, state.server_nonce.clone())
        };
        Some(live.headers(request, nonce.as_deref()))
    }

    async fn take_later(
        &self,
        request: &RequestTarget<'_>,
    ) -> Result<RequestAuthorization, AuthError> {
        if !self.state().is_loaded {
            self.load().await;
        }
        let expired = {
            let state = self.state();
            let live = state.live.as_ref();
            live.filter(|live| live.is_expired(now()) && self.can_renew(live))
                .map(|live| live.generation)
        };
        if let Some(generation) = expired
            && let Err(error) = self.renew(generation, Trigger::Rejected).await
        {
            // Continue with the old token, because clocks differ: the server decides if a login is
            // needed.
            self.state().rest_until = Instant::now().checked_add(REST);
            if error.needs_login().is_none() {
                return Err(error);
            }
        }
        let (live, nonce, generation) = {
            let state = self.state();
            (
                state.live.clone(),
                state.server_nonce.clone(),
                state.generation,
            )
        };
        match live {
            Some(live) => live.headers(request, nonce.as_deref()),
            None => Ok(RequestAuthorization::none().generation(generation)),
        }
    }
}

/// The reason of a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trigger {
    /// The server rejects the token, or it has expired.
    Rejected,
    /// The token is old, and still valid.
    Age,
}

impl Authorize for Authorizer {
    fn authorize<'a>(&'a self, request: &RequestTarget<'a>) -> Authorizing<'a> {
        if let Some(ready) = self.take_ready(request) {
            return Authorizing::Ready(ready);
        }
        let request = *request;
        Authorizing::Later(Box::pin(async move { self.take_later(&request).await }))
    }

    fn refused<'a>(&'a self, refusal: Refusal<'a>) -> Deciding<'a> {
        Box::pin(self.decide(refusal))
    }

    fn note_nonce(&self, nonce: &str) {
        if token::is_nonce(nonce) {
            self.state().server_nonce = Some(nonce.to_owned());
        }
    }

    fn settle(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            self.inner.renewals.close();
            self.inner.renewals.wait().await;
            // Reopen: other connections may share this authorizer.
            self.inner.renewals.reopen();
        })
    }
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorizer")
            .field("server", &self.inner.server)
            .finish_non_exhaustive()
    }
}
