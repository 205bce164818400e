//! OAuth for one server: the token in use, and the headers of each request.
//!
//! Requests use a snapshot of the token ([`LiveToken`]). Renewing it is a transaction in a task of
//! its own, which a cancelled caller does not stop (`renewal`). `refusals` decides how to proceed
//! after a 401 or 403.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use switchboard_core::limits::Limits;
use switchboard_core::secret::{LiveSecrets, SafeUrl};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use super::authorize::{
    Authorize, Authorizing, Deciding, Decision, RequestAuthorization, RequestRefusal, RequestTarget,
};
use super::challenge::Challenge;
use super::client_id::ClientSource;
use super::discovery::{Discovery, Hint};
use super::fetch::AuthFetch;
use super::live_token::{LiveToken, TokenOrigin};
use super::observe::ObserveLogins;
use super::renewal::Trigger;
use super::scope;
use super::settings::OAuthSettings;
use super::store::{Credential, TokenStore};
use super::token::{self, TokenClient, now};
use crate::auth_error::{AuthError, LoginReason, NeedsLogin, Purpose, TokenStoreError};

/// Pause after a failed renewal ahead of time.
pub(super) const REST: Duration = Duration::from_secs(30);

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
    pub(super) inner: Arc<AuthContext>,
}

pub(super) struct AuthContext {
    pub(super) server: SafeUrl,
    pub(super) settings: OAuthSettings,
    pub(super) fetch: Arc<dyn AuthFetch>,
    pub(super) store: Arc<dyn TokenStore>,
    pub(super) limits: Limits,
    /// The last nonce of the issuer.
    pub(super) issuer_nonce: Mutex<Option<String>>,
    pub(super) observer: OnceLock<Arc<dyn ObserveLogins>>,
    /// The tokens in use, for redaction of what the server sends.
    pub(super) secrets: LiveSecrets,
    pub(super) state: Mutex<TokenState>,
    /// Held during a renewal, so that there is one at a time.
    pub(super) turn: tokio::sync::Mutex<()>,
    pub(super) renewals: TaskTracker,
}

#[derive(Default)]
pub(super) struct TokenState {
    pub(super) is_loaded: bool,
    pub(super) live: Option<Arc<LiveToken>>,
    /// Counts the tokens that were adopted; identifies the token in use.
    pub(super) generation: u64,
    /// The contents of the last refusal.
    pub(super) hint: Option<Hint>,
    /// The last nonce of the server.
    pub(super) server_nonce: Option<String>,
    pub(super) step_ups: usize,
    /// The time and error of the last failed renewal, for callers that waited for it.
    pub(super) failure: Option<(Instant, AuthError)>,
    /// The time until which renewal ahead of time pauses.
    pub(super) rest_until: Option<Instant>,
    pub(super) is_renewing: bool,
    /// The digest and error of a refused assertion: the refusal is final for it.
    pub(super) refused_assertion: Option<(Vec<u8>, AuthError)>,
    /// The login that a request failed for, until there is another token.
    pub(super) needed: Option<NeedsLogin>,
    /// The error of the first attempt to read the store.
    pub(super) load_error: Option<TokenStoreError>,
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
        // One of the two would mix a configured endpoint with a discovered one, perhaps of another
        // issuer.
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
            inner: Arc::new(AuthContext {
                server,
                settings,
                fetch,
                store,
                limits: limits.clone(),
                issuer_nonce: Mutex::default(),
                observer: OnceLock::new(),
                secrets: LiveSecrets::default(),
                state: Mutex::default(),
                turn: tokio::sync::Mutex::default(),
                renewals: TaskTracker::new(),
            }),
        })
    }

    /// Reports logins and renewals from now on. Only the first observer counts.
    #[doc(hidden)]
    pub fn observe(&self, observer: Arc<dyn ObserveLogins>) {
        drop(self.inner.observer.set(observer));
    }

    /// The tokens in use, to be kept out of what is shown of the server: see
    /// [`Redactor::follow`](switchboard_core::secret::Redactor::follow).
    pub fn secrets(&self) -> &LiveSecrets {
        &self.inner.secrets
    }

    /// The settings of the server's login.
    pub fn settings(&self) -> &OAuthSettings {
        &self.inner.settings
    }

    /// The login that a request failed for, until there is another token or [`Authorizer::forget_need`] is called.
    pub fn needed_login(&self) -> Option<NeedsLogin> {
        self.state().needed.clone()
    }

    /// Forgets that a login was needed: the server has answered without one.
    #[doc(hidden)]
    pub fn forget_need(&self) {
        self.state().needed = None;
    }

    /// Returns true if a login took place since a request failed for want of one, here or in another process
    /// that shares the store. Nothing is sent.
    pub async fn has_new_login(&self) -> bool {
        // In a block: the lock is not held while the store is read.
        let rejected = {
            let state = self.state();
            if state.needed.is_none() {
                return true;
            }
            let live = state.live.as_ref();
            live.map(|live| live.credential.access_token.clone())
        };
        match self.stored().await {
            Ok(Some(stored)) if Some(&stored.access_token) != rejected.as_ref() => {
                self.adopt_stored(stored).is_ok()
            }
            _ => false,
        }
    }

    /// Notes that a request failed for want of a login.
    pub(super) fn note_need(&self, needed: &NeedsLogin) {
        let known = self.state().needed.replace(needed.clone());
        // An agent may try again and again: the same need is said once.
        if known.as_ref() != Some(needed)
            && let Some(observer) = self.inner.observer.get()
        {
            observer.login_needed(needed);
        }
    }

    pub(super) fn report_renewed(&self, issuer: &str) {
        if let Some(observer) = self.inner.observer.get() {
            observer.token_renewed(issuer);
        }
    }

    /// Reports a login that did not succeed.
    pub(super) fn report_login<T>(&self, done: Result<T, AuthError>) -> Result<T, AuthError> {
        if let (Err(error), Some(observer)) = (&done, self.inner.observer.get()) {
            observer.login_failed(error);
        }
        done
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

    pub(super) fn token_client(&self) -> TokenClient<'_> {
        TokenClient {
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

    /// Puts a token to use that the issuer has just given.
    pub(super) fn adopt(&self, credential: Credential) -> Result<(), AuthError> {
        self.put_to_use(credential, TokenOrigin::Issuer)
    }

    /// Puts a token to use that another process, or an earlier one, has stored.
    pub(super) fn adopt_stored(&self, credential: Credential) -> Result<(), AuthError> {
        self.put_to_use(credential, TokenOrigin::Store)
    }

    fn put_to_use(&self, credential: Credential, origin: TokenOrigin) -> Result<(), AuthError> {
        // Before the first request has it: the answer may repeat it.
        self.inner.secrets.learn(&credential.access_token);
        if let Some(token) = &credential.refresh_token {
            self.inner.secrets.learn(token);
        }
        // Each token has a number: a refusal names the one that it is about, and an older one is
        // ignored.
        let mut state = self.state();
        let generation = state.generation.saturating_add(1);
        let live = LiveToken::new(credential, generation, origin)?;
        state.generation = generation;
        state.live = Some(Arc::new(live));
        state.is_loaded = true;
        state.failure = None;
        state.needed = None;
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

    pub(super) fn state(&self) -> MutexGuard<'_, TokenState> {
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
        // Two requests may load at once: the first to finish decides.
        let stored = self.stored().await;
        if self.state().is_loaded {
            return;
        }
        let adopted = match stored {
            Ok(Some(credential)) => self.adopt_stored(credential),
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

    pub(super) fn needs_login(&self, reason: LoginReason, scopes: &[String]) -> AuthError {
        let state = self.state();
        let mut needed = self.needs_login_in(&state, reason);
        if let AuthError::NeedsLogin(needed) = &mut needed {
            needed.scopes = scope::union(scopes, &needed.scopes);
        }
        needed
    }

    pub(super) fn needs_login_in(&self, state: &TokenState, reason: LoginReason) -> AuthError {
        let live = state.live.as_ref();
        let issuer = live.map(|live| live.credential.key.issuer.clone());
        let hinted = state.hint.as_ref().and_then(|hint| hint.scopes.clone());
        AuthError::NeedsLogin(NeedsLogin {
            issuer: issuer.or_else(|| self.inner.settings.issuer.clone()),
            scopes: hinted.unwrap_or_default(),
            reason,
        })
    }

    fn take_ready(
        &self,
        request: &RequestTarget<'_>,
    ) -> Option<Result<RequestAuthorization, AuthError>> {
        let (live, nonce) = {
            let mut state = self.state();
            // Ready without waiting in the usual case: a token that is good, or none at all.
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
                    // Expired: the request has to wait for the new token, so it takes the slow way.
                    if live.is_expired(now)
                        && state.rest_until.is_none_or(|until| Instant::now() >= until)
                    {
                        return None;
                    }
                    // Not expired yet: one renewal runs in the background, and requests go on with
                    // this token.
                    let may = !state.is_renewing
                        && state.rest_until.is_none_or(|until| Instant::now() >= until);
                    if may {
                        state.is_renewing = true;
                        // The renewal takes the lock itself.
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
        // The store may just have had a newer token, so look again.
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

impl Authorize for Authorizer {
    fn authorize<'a>(&'a self, request: &RequestTarget<'a>) -> Authorizing<'a> {
        if let Some(ready) = self.take_ready(request) {
            return Authorizing::Ready(ready);
        }
        let request = *request;
        Authorizing::Later(Box::pin(async move { self.take_later(&request).await }))
    }

    fn on_refusal<'a>(&'a self, refusal: RequestRefusal<'a>) -> Deciding<'a> {
        Box::pin(async move {
            let decision = self.decide(refusal).await;
            if let Decision::GiveUp(AuthError::NeedsLogin(needed)) = &decision {
                self.note_need(needed);
            }
            decision
        })
    }

    fn note_nonce(&self, nonce: &str) {
        // It is repeated in a header, so it must be one that fits into it.
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
