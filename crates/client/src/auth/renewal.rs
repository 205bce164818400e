//! Renewal of a token, as a transaction that never loses one.
//!
//! One renewal runs at a time in this process, and one across all processes that share the store. It
//! reads the store again under the lock, and renews only if the stored token is still the one that
//! failed, so a refresh token is never used twice. The store is written before the issuer is asked,
//! so that a store that cannot be written spends no refresh token.

use std::time::Duration;

use switchboard_core::secret::Secret;
use tokio::time::Instant;

use super::authorizer::{Authorizer, REST};
use super::client_id::ClientSource;
use super::jose::DpopKey;
use super::live_token::LiveToken;
use super::store::{self, Credential};
use super::token::{TokenRequest, now};
use crate::auth_error::{AuthError, LoginReason, Purpose};

/// Maximum number of attempts to write new tokens to the store.
const WRITES: u32 = 3;
/// Pause between these attempts.
const WRITE_REST: Duration = Duration::from_millis(100);

/// The reason of a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trigger {
    /// The server rejects the token, or it has expired.
    Rejected,
    /// The token is old, and still valid.
    Age,
}

impl Authorizer {
    pub(super) fn can_renew(&self, live: &LiveToken) -> bool {
        live.credential.refresh_token.is_some() || self.inner.settings.grant.is_unattended()
    }

    /// Renews the token in a task of its own, which a cancelled caller does not stop.
    ///
    /// # Errors
    /// Fails when no new token could be had.
    pub(super) async fn renew(&self, failed: u64, trigger: Trigger) -> Result<(), AuthError> {
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
            return self.adopt_stored(credential);
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

    async fn renew_live(&self, live: &LiveToken, trigger: Trigger) -> Result<(), AuthError> {
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
        // The lock is on one key: the token of another key is not ours to renew.
        if stored.key != *key {
            return self.adopt_stored(stored);
        }
        // A token that another process got, and that has expired while we waited, would only be refused again.
        if stored.access_token != live.credential.access_token && !stored.is_expired(now()) {
            return self.adopt_stored(stored);
        }
        // The stored token is the one that failed, or has expired, so renewing it is up to us.
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
        let asked = self.token_client().tokens(&request).await;
        match asked {
            Ok(tokens) => {
                let mut new = old;
                new.replace_tokens(tokens);
                new.renewal_began = None;
                // Store before adopting: the old refresh token is spent, and only the new one can
                // be used again.
                self.keep(&new).await;
                let issuer = new.key.issuer.clone();
                self.adopt(new)?;
                self.report_renewed(&issuer);
                Ok(())
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

    /// Renews a token that is still valid, in the background.
    pub(super) fn renew_ahead(&self, generation: u64) {
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
}
