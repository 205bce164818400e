//! Reactions to refused requests: a new nonce, a renewed token, more scopes, or a login.

use super::authorize::{Authorize as _, Decision, RequestRefusal};
use super::authorizer::Authorizer;
use super::challenge::Challenge;
use super::discovery::Hint;
use super::live_token::TokenOrigin;
use super::renewal::Trigger;
use super::scope;
use super::token::now;
use crate::auth_error::{AuthError, LoginReason};

impl Authorizer {
    pub(super) async fn decide(&self, refusal: RequestRefusal<'_>) -> Decision {
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
        // A token that was fine when it was sent may have expired on the way, or been replaced by another process, and
        // one from the store may have been revoked since: that is no reason for a login. The transport bounds how
        // often one request is sent.
        let is_outdated = {
            let state = self.state();
            let live = state.live.as_ref();
            live.is_some_and(|live| {
                live.generation != used.number()
                    || live.is_expired(now())
                    || live.origin == TokenOrigin::Store
            })
        };
        let is_repeated = refusal.repeated > 1 || (refusal.repeated == 1 && !used.has_proof());
        if is_repeated && !is_outdated {
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
    async fn step_up(&self, refusal: &RequestRefusal<'_>, hint: Hint) -> Decision {
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
                return match self.adopt_stored(stored) {
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
}
