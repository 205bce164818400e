//! Grants without a person: client credentials, workload identity, enterprise.

use switchboard_core::files::{self, Source};
use switchboard_core::secret::Secret;

use super::authorizer::Authorizer;
use super::client_id::{ClientAuth, ClientIdentity, ClientSource};
use super::discovery::{Discovered, Hint, choose_scopes};
use super::jose::{DpopKey, sha256};
use super::login::credential_of;
use super::settings::{Assertion, Enterprise, Grant};
use super::store::{self, Binding, CredentialKey};
use super::token::{TokenRequest, Tokens};
use crate::auth_error::{AuthError, Purpose};

/// Maximum length of an assertion in a file.
const ASSERTION_BYTES: usize = 64 * 1024;

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

type FormFields = Vec<(&'static str, Secret<String>)>;

impl Assertion {
    fn read(&self) -> Result<Secret<String>, AuthError> {
        match self {
            Self::Fixed(assertion) => Ok(assertion.clone()),
            Self::File(path) => {
                let bad = |problem: String| AuthError::Key {
                    what: "the file of the assertion",
                    problem,
                };
                let content = files::read(path, Source::Referenced, ASSERTION_BYTES)
                    .map_err(|error| bad(error.to_string()))?;
                let text = Secret::new(content.bytes);
                let text = std::str::from_utf8(text.expose())
                    .map_err(|_| bad("it is not text".to_owned()))?;
                Ok(Secret::from(text.trim()))
            }
        }
    }
}

impl Authorizer {
    /// Gets a token without a person, unless another process has got one that differs from
    /// `failed`.
    ///
    /// # Errors
    /// Fails when the issuer cannot be found or refuses.
    pub(super) async fn obtain(
        &self,
        hint: &Hint,
        failed: Option<&Secret<String>>,
    ) -> Result<(), AuthError> {
        let settings = &self.inner.settings;
        // Find the issuer before locking: the lock's key contains it.
        let found = self.discovery().run(hint).await?;
        let client = self.unattended_client(&found)?;
        let issuer = &found.issuer;
        // A configured secret goes only to the issuer that it was used with before.
        self.check_issuer(&client, &issuer.issuer, super::login::Force::No)
            .await?;
        let Some(endpoint) = issuer.token.clone() else {
            return Err(AuthError::NotOffered {
                issuer: issuer.issuer.clone(),
                what: "a token endpoint",
            });
        };
        let mut scopes = choose_scopes(settings, hint, &found, &[], self.inner.limits.auth_scopes);
        // These grants give no refresh token.
        scopes.retain(|scope| scope != "offline_access");
        let key = CredentialKey {
            issuer: issuer.issuer.clone(),
            resource: found.resource.clone().unwrap_or_default(),
            client_id: client.client_id.clone(),
            profile: settings.profile.clone(),
        };
        let limits = &self.inner.limits;
        // Lock before looking into the store: another process may be getting a token for the same
        // key.
        let _lock = self.inner.store.lock(&key, limits.auth_lock).await?;
        if let Some(stored) = self.stored().await?
            && failed.is_some_and(|failed| stored.access_token != *failed)
            && stored.key == key
        {
            return self.adopt_stored(stored);
        }
        let dpop = if found.wants_dpop {
            Some(DpopKey::generate()?)
        } else {
            None
        };
        let mut form = match &settings.grant {
            Grant::Person => Vec::new(),
            Grant::ClientCredentials => vec![("grant_type", "client_credentials".into())],
            Grant::Workload { assertion } => self.workload_form(assertion)?,
            Grant::Enterprise(enterprise) => {
                let grant = self.id_jag(enterprise, &found, &scopes).await?;
                vec![("grant_type", JWT_BEARER.into()), ("assertion", grant)]
            }
        };
        if !scopes.is_empty() {
            form.push(("scope", scopes.join(" ").into()));
        }
        if let Some(resource) = &found.resource {
            form.push(("resource", resource.as_str().into()));
        }
        let request = TokenRequest {
            purpose: Purpose::Token,
            endpoint: &endpoint,
            issuer: &issuer.issuer,
            client: &client,
            dpop: dpop.as_ref(),
            form,
        };
        // Request, store, then adopt: other processes must find the token that this one uses.
        let tokens = self.unattended_tokens(&request).await?;
        let credential = credential_of(key, &client, tokens, &scopes, &found, dpop.as_ref());
        let (kept, limits) = (credential.clone(), limits.clone());
        let binding = Binding {
            server: self.server_name(),
            profile: settings.profile.clone(),
            key: kept.key.clone(),
        };
        store::change(&*self.inner.store, move |set| {
            set.put(kept, &limits);
            set.bind(binding, &limits);
        })
        .await?;
        let issuer = credential.key.issuer.clone();
        self.adopt(credential)?;
        self.report_renewed(&issuer);
        Ok(())
    }

    /// Requests tokens, and remembers a refused assertion.
    async fn unattended_tokens(&self, request: &TokenRequest<'_>) -> Result<Tokens, AuthError> {
        let tokens = self.token_client().tokens(request).await;
        if let (Err(error @ AuthError::Refused { .. }), Grant::Workload { .. }) =
            (&tokens, &self.inner.settings.grant)
            && let Some((_, assertion)) = request.form.iter().find(|(name, _)| *name == "assertion")
        {
            let digest = sha256(assertion.expose().as_bytes());
            self.note_refused_assertion(digest, error.clone());
        }
        tokens
    }

    fn workload_form(&self, assertion: &Assertion) -> Result<FormFields, AuthError> {
        let assertion = assertion.read()?;
        // A refusal is final: neither this nor another grant is tried until the platform provides
        // another token.
        if let Some((digest, error)) = self.refused_assertion()
            && digest == sha256(assertion.expose().as_bytes())
        {
            return Err(error);
        }
        Ok(vec![
            ("grant_type", JWT_BEARER.into()),
            ("assertion", assertion),
        ])
    }

    /// Exchanges the person's ID token for a grant to the issuer (RFC 8693).
    async fn id_jag(
        &self,
        enterprise: &Enterprise,
        found: &Discovered,
        scopes: &[String],
    ) -> Result<Secret<String>, AuthError> {
        let purpose = Purpose::IdentityProvider;
        let endpoint = self
            .discovery()
            .setting(purpose, &enterprise.token_endpoint)?;
        let mut form: FormFields = vec![
            ("grant_type", TOKEN_EXCHANGE.into()),
            ("requested_token_type", ID_JAG.into()),
            ("audience", found.issuer.issuer.as_str().into()),
            ("subject_token", enterprise.id_token.read()?),
            ("subject_token_type", ID_TOKEN.into()),
        ];
        let server = || super::discovery::canonical(self.inner.server.expose());
        let resource = found.resource.clone().unwrap_or_else(server);
        form.push(("resource", resource.into()));
        if !scopes.is_empty() {
            form.push(("scope", scopes.join(" ").into()));
        }
        let client = ClientIdentity {
            client_id: enterprise.client_id.clone(),
            auth: if enterprise.client_secret.is_some() {
                ClientAuth::Basic
            } else {
                ClientAuth::None
            },
            client_secret: enterprise.client_secret.clone(),
            source: ClientSource::Registered,
        };
        let request = TokenRequest {
            purpose,
            endpoint: &endpoint,
            issuer: &enterprise.token_endpoint,
            client: &client,
            dpop: None,
            form,
        };
        let tokens = self.token_client().tokens(&request).await?;
        Ok(tokens.access_token)
    }

    fn unattended_client(&self, found: &Discovered) -> Result<ClientIdentity, AuthError> {
        let issuer = &found.issuer;
        let configured = ClientIdentity::configured(&self.inner.settings, issuer)?;
        configured.ok_or_else(|| AuthError::Setting {
            key: "clientId",
            problem: format!(
                "is needed for a login without a person at {}",
                issuer.issuer
            ),
        })
    }
}
