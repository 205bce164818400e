//! The token in use, in the form that requests need.

use switchboard_core::secret::Secret;

use super::authorize::{RequestAuthorization, RequestTarget};
use super::jose::{DpopKey, Proof};
use super::store::Credential;
use super::token::{TokenType, now};
use crate::auth_error::AuthError;

/// A token in use, with everything that its requests need.
pub(super) struct LiveToken {
    pub(super) credential: Credential,
    /// The `Authorization` header.
    pub(super) header: RequestAuthorization,
    pub(super) dpop: Option<DpopKey>,
    /// The time of renewal ahead of expiry, in seconds since 1970.
    pub(super) renew_at: Option<u64>,
    pub(super) generation: u64,
    pub(super) origin: TokenOrigin,
}

/// The place that a token came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenOrigin {
    /// The issuer has just given it: a server that refuses it will refuse the next one too.
    Issuer,
    /// It was stored, and may have been revoked since.
    Store,
}

impl LiveToken {
    pub(super) fn new(
        credential: Credential,
        generation: u64,
        origin: TokenOrigin,
    ) -> Result<Self, AuthError> {
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
            origin,
        })
    }

    pub(super) fn is_expired(&self, now: u64) -> bool {
        self.credential.is_expired(now)
    }

    pub(super) fn headers(
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
