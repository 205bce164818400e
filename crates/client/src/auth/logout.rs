//! Logout: removes the tokens of a server and revokes them at the issuer (RFC 7009).

use std::sync::Arc;

use switchboard_core::limits::Limits;
use switchboard_core::secret::Secret;

use super::authorizer::Authorizer;
use super::fetch::AuthFetch;
use super::settings::OAuthSettings;
use super::store::{self, Credential, CredentialKey, CredentialSet, TokenStore};
use super::token::TokenRequest;
use crate::auth_error::{AuthError, Purpose, TokenStoreError};

/// The result of a logout.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Logout {
    /// There were no tokens.
    NothingStored,
    /// The tokens are removed here, and the issuer has revoked them.
    Revoked,
    /// The tokens are removed here; the issuer offers no revocation.
    Forgotten,
    /// The tokens are removed here; revoking them failed with this error.
    NotRevoked(AuthError),
}

impl Authorizer {
    /// Removes the tokens of the server, and revokes them at the issuer.
    ///
    /// # Cancel safety
    /// Dropping the future may leave tokens removed here but not revoked at the issuer.
    ///
    /// # Errors
    /// Fails when the store cannot be written. Then nothing is revoked either.
    pub async fn logout(&self) -> Result<Logout, AuthError> {
        let (server, profile) = (self.server_name(), self.inner.settings.profile.clone());
        // Remove first: a token that is revoked but still stored would be used again.
        let removed = store::change(&*self.inner.store, move |set| {
            set.remove_server(&server, &profile)
        });
        let removed = removed.await?;
        self.abandon();
        self.reset_step_ups();
        let Some(credential) = removed else {
            return Ok(Logout::NothingStored);
        };
        Ok(self.revoke_tokens(&credential).await)
    }

    /// Has the issuer revoke tokens that are forgotten here.
    async fn revoke_tokens(&self, credential: &Credential) -> Logout {
        let endpoint = credential.revocation_endpoint.as_ref();
        let Some(endpoint) = endpoint.and_then(|stored| stored.endpoint()) else {
            return Logout::Forgotten;
        };
        // Revoking the refresh token also revokes its access tokens; without one, revoke the access
        // token.
        let token = match &credential.refresh_token {
            Some(token) => (token, "refresh_token"),
            None => (&credential.access_token, "access_token"),
        };
        match self.revoke(credential, &endpoint, token.0, token.1).await {
            Ok(()) => Logout::Revoked,
            Err(error) => Logout::NotRevoked(error),
        }
    }

    async fn revoke(
        &self,
        credential: &Credential,
        endpoint: &super::fetch::Endpoint,
        token: &Secret<String>,
        hint: &'static str,
    ) -> Result<(), AuthError> {
        let exchange = self.token_client();
        let form = vec![("token", token.clone()), ("token_type_hint", hint.into())];
        let request = TokenRequest {
            purpose: Purpose::Revocation,
            endpoint,
            issuer: &credential.key.issuer,
            client: &credential.client,
            dpop: None,
            form,
        };
        let posted = exchange.post(&request).await?;
        if posted.answer.is_success() {
            return Ok(());
        }
        Err(posted.refusal(Purpose::Revocation, &endpoint.url))
    }
}

/// Forgets everything that a store keeps, and has the issuers revoke the tokens. Says what came of each.
///
/// Clients that prove themselves by signatures need their key for that, which only their server's [`Authorizer`] has:
/// their tokens are forgotten and not revoked.
///
/// # Errors
/// When the store cannot be written. Then nothing is revoked either.
pub async fn logout_all(
    store: &Arc<dyn TokenStore>,
    fetch: Arc<dyn AuthFetch>,
    limits: &Limits,
) -> Result<Vec<(CredentialKey, Logout)>, TokenStoreError> {
    let removed = store::change(&**store, CredentialSet::take_all).await?;
    let mut outcomes = Vec::new();
    for credential in removed {
        let settings = OAuthSettings::default();
        let (fetch, kept) = (Arc::clone(&fetch), Arc::clone(store));
        let issuer = &credential.key.issuer;
        let outcome = match Authorizer::new(issuer, settings, fetch, kept, limits) {
            Ok(authorizer) => authorizer.revoke_tokens(&credential).await,
            Err(error) => Logout::NotRevoked(error),
        };
        outcomes.push((credential.key, outcome));
    }
    Ok(outcomes)
}
