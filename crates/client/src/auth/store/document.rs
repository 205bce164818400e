//! The contents of a token store, and their JSON form.

use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_core::limits::Limits;
use switchboard_core::secret::{SafeUrl, Secret};

use crate::auth::client_id::{ClientIdentity, Registration};
use crate::auth::fetch::Endpoint;
use crate::auth::token::{TokenType, Tokens, now};
use crate::auth_error::TokenStoreError;
use crate::transport::guard::Reach;

/// The version of the JSON form.
const VERSION: u64 = 1;

/// The identity that a token is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[non_exhaustive]
pub struct CredentialKey {
    /// The issuer.
    pub issuer: String,
    /// The resource that it was requested for; empty if none was named.
    pub resource: String,
    /// The client.
    pub client_id: String,
    /// The account, where a person has several.
    pub profile: String,
}

/// An endpoint in its stored form.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct StoredEndpoint {
    url: String,
    reach: String,
}

impl StoredEndpoint {
    pub(crate) fn of(endpoint: &Endpoint) -> Self {
        let reach = match endpoint.reach {
            Reach::Person => "person",
            Reach::LocalServer => "local",
            Reach::Server => "server",
        };
        Self {
            url: endpoint.url.expose().to_string(),
            reach: reach.to_owned(),
        }
    }

    /// A missing endpoint.
    pub(crate) fn none() -> Self {
        Self {
            url: String::new(),
            reach: String::new(),
        }
    }

    /// The endpoint. An unknown `reach` is treated with the strictest rule.
    pub(crate) fn endpoint(&self) -> Option<Endpoint> {
        Some(Endpoint {
            url: SafeUrl::parse(&self.url).ok()?,
            reach: match self.reach.as_str() {
                "person" => Reach::Person,
                "local" => Reach::LocalServer,
                // An unknown word of a later version gets the least: such an endpoint may not be on
                // this machine.
                _ => Reach::Server,
            },
        })
    }

    fn to_json(&self) -> Value {
        json!({"url": self.url, "reach": self.reach})
    }
}

/// The tokens for one server, with everything that renewing them needs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Credential {
    pub(crate) key: CredentialKey,
    pub(crate) access_token: Secret<String>,
    pub(crate) token_type: TokenType,
    pub(crate) refresh_token: Option<Secret<String>>,
    pub(crate) scopes: Vec<String>,
    pub(crate) requested_scopes: Vec<String>,
    pub(crate) issued_at: u64,
    pub(crate) expires_at: Option<u64>,
    pub(crate) token_endpoint: StoredEndpoint,
    pub(crate) revocation_endpoint: Option<StoredEndpoint>,
    pub(crate) resource: Option<String>,
    pub(crate) client: ClientIdentity,
    pub(crate) dpop_key: Option<Secret<String>>,
    /// The start of the last renewal, in seconds since 1970; it was interrupted if this is later
    /// than `issued_at`.
    pub(crate) renewal_began: Option<u64>,
}

impl Credential {
    /// The identity that the tokens are bound to.
    pub fn key(&self) -> &CredentialKey {
        &self.key
    }

    /// The scopes that were granted.
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// The time of issue of the access token, in seconds since 1970.
    pub fn issued_at(&self) -> u64 {
        self.issued_at
    }

    /// The expiry of the access token, in seconds since 1970, if the issuer states it.
    pub fn expires_at(&self) -> Option<u64> {
        self.expires_at
    }

    /// Returns true if the token can be renewed without a person.
    pub fn has_refresh_token(&self) -> bool {
        self.refresh_token.is_some()
    }

    /// Returns the start of a renewal that has not ended, in seconds since 1970: it runs, or its outcome is unknown.
    pub fn unfinished_renewal(&self) -> Option<u64> {
        self.renewal_began
    }

    /// Returns true if the access token has expired at a time, in seconds since 1970.
    pub(crate) fn is_expired(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|at| now >= at)
    }

    /// Replaces the tokens. If the issuer gives no new refresh token, the old one stays valid.
    pub(crate) fn replace_tokens(&mut self, tokens: Tokens) {
        self.issued_at = tokens.requested_at;
        self.expires_at = tokens.expires_at();
        self.access_token = tokens.access_token;
        self.token_type = tokens.token_type;
        // RFC 6749, section 6: without a new refresh token the old one stays valid.
        if tokens.refresh_token.is_some() {
            self.refresh_token = tokens.refresh_token;
        }
        // RFC 6749, section 5.1: scopes that are not mentioned are unchanged.
        if let Some(scopes) = tokens.scopes {
            self.scopes = scopes;
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "key": {
                "issuer": self.key.issuer,
                "resource": self.key.resource,
                "client_id": self.key.client_id,
                "profile": self.key.profile,
            },
            "access_token": self.access_token.expose(),
            "token_type": self.token_type.name(),
            "refresh_token": exposed(self.refresh_token.as_ref()),
            "scopes": self.scopes,
            "requested_scopes": self.requested_scopes,
            "issued_at": self.issued_at,
            "expires_at": self.expires_at,
            "token_endpoint": self.token_endpoint.to_json(),
            "revocation_endpoint": self.revocation_endpoint.as_ref().map(StoredEndpoint::to_json),
            "resource": self.resource,
            "client": client_json(&self.client),
            "dpop_key": exposed(self.dpop_key.as_ref()),
            "renewal_began": self.renewal_began,
        })
    }
}

/// The credential that a server uses.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Binding {
    /// The URL of the server, as it is configured.
    pub(crate) server: String,
    pub(crate) profile: String,
    pub(crate) key: CredentialKey,
}

/// A login in progress.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct PendingLogin {
    pub(crate) state: Secret<String>,
    pub(crate) verifier: Secret<String>,
    pub(crate) server: String,
    pub(crate) profile: String,
    pub(crate) issuer: String,
    pub(crate) names_itself: bool,
    pub(crate) redirect_uri: String,
    pub(crate) token_endpoint: StoredEndpoint,
    pub(crate) revocation_endpoint: Option<StoredEndpoint>,
    pub(crate) client: ClientIdentity,
    pub(crate) resource: Option<String>,
    pub(crate) scopes: Vec<String>,
    pub(crate) dpop_key: Option<Secret<String>>,
    pub(crate) expires_at: u64,
}

impl PendingLogin {
    fn to_json(&self) -> Value {
        json!({
            "state": self.state.expose(),
            "verifier": self.verifier.expose(),
            "server": self.server,
            "profile": self.profile,
            "issuer": self.issuer,
            "names_itself": self.names_itself,
            "redirect_uri": self.redirect_uri,
            "token_endpoint": self.token_endpoint.to_json(),
            "revocation_endpoint": self.revocation_endpoint.as_ref().map(StoredEndpoint::to_json),
            "client": client_json(&self.client),
            "resource": self.resource,
            "scopes": self.scopes,
            "dpop_key": exposed(self.dpop_key.as_ref()),
            "expires_at": self.expires_at,
        })
    }
}

/// Everything that a store keeps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CredentialSet {
    credentials: Vec<Credential>,
    registrations: Vec<Registration>,
    bindings: Vec<Binding>,
    pending: Vec<PendingLogin>,
}

#[derive(Deserialize)]
struct Document {
    version: u64,
    #[serde(default)]
    credentials: Vec<Credential>,
    #[serde(default)]
    registrations: Vec<Registration>,
    #[serde(default)]
    bindings: Vec<Binding>,
    #[serde(default)]
    pending: Vec<PendingLogin>,
}

impl CredentialSet {
    /// Parses the JSON form.
    ///
    /// # Errors
    /// Fails when it is invalid or of a newer version. The error quotes nothing of it.
    pub fn from_json(json: &[u8]) -> Result<Self, TokenStoreError> {
        let unreadable = |_| TokenStoreError::File("they are not in a known form".to_owned());
        let document: Document = serde_json::from_slice(json).map_err(unreadable)?;
        if document.version != VERSION {
            let version = document.version;
            let problem = format!("they have the form {version}, which this version does not know");
            return Err(TokenStoreError::File(problem));
        }
        Ok(Self {
            credentials: document.credentials,
            registrations: document.registrations,
            bindings: document.bindings,
            pending: document.pending,
        })
    }

    /// Writes the JSON form, with all secrets.
    pub fn to_json(&self) -> Secret<String> {
        let registration = |known: &Registration| {
            json!({
                "issuer": known.issuer,
                "redirect_uri": known.redirect_uri,
                "identity": client_json(&known.identity),
                "expires_at": known.expires_at,
                "scopes": known.scopes,
            })
        };
        let binding = |known: &Binding| {
            json!({
                "server": known.server,
                "profile": known.profile,
                "key": {
                    "issuer": known.key.issuer,
                    "resource": known.key.resource,
                    "client_id": known.key.client_id,
                    "profile": known.key.profile,
                },
            })
        };
        let list = |items: Vec<Value>| Value::Array(items);
        let document = json!({
            "version": VERSION,
            "credentials": list(self.credentials.iter().map(Credential::to_json).collect()),
            "registrations": list(self.registrations.iter().map(registration).collect()),
            "bindings": list(self.bindings.iter().map(binding).collect()),
            "pending": list(self.pending.iter().map(PendingLogin::to_json).collect()),
        });
        Secret::new(document.to_string())
    }

    /// All credentials.
    pub fn credentials(&self) -> &[Credential] {
        &self.credentials
    }

    /// The credential of a server, by its URL as it is configured.
    pub fn of_server(&self, server: &str, profile: &str) -> Option<&Credential> {
        let binding = self.binding(server, profile)?;
        self.get(&binding.key)
    }

    /// The credential of a key.
    pub fn get(&self, key: &CredentialKey) -> Option<&Credential> {
        self.credentials.iter().find(|known| known.key == *key)
    }

    /// Removes the credential of a server, and returns it.
    pub fn remove_server(&mut self, server: &str, profile: &str) -> Option<Credential> {
        let key = self.binding(server, profile)?.key.clone();
        // The binding goes first: whether the credential goes too depends on the bindings that
        // remain.
        self.bindings
            .retain(|known| !(known.server == server && known.profile == profile));
        // Another server may use the same token: then the credential stays.
        if self.bindings.iter().any(|known| known.key == key) {
            return None;
        }
        self.remove(&key)
    }

    /// Forgets everything; gives the credentials.
    pub(crate) fn take_all(&mut self) -> Vec<Credential> {
        std::mem::take(self).credentials
    }

    pub(crate) fn binding(&self, server: &str, profile: &str) -> Option<&Binding> {
        let mut bindings = self.bindings.iter();
        bindings.find(|known| known.server == server && known.profile == profile)
    }

    pub(crate) fn remove(&mut self, key: &CredentialKey) -> Option<Credential> {
        let at = self
            .credentials
            .iter()
            .position(|known| known.key == *key)?;
        Some(self.credentials.remove(at))
    }

    pub(crate) fn get_mut(&mut self, key: &CredentialKey) -> Option<&mut Credential> {
        self.credentials.iter_mut().find(|known| known.key == *key)
    }

    /// Adds a credential, replacing one with the same key.
    pub(crate) fn put(&mut self, credential: Credential, limits: &Limits) {
        // Replaced at the end of the list, so that the oldest is the first to be dropped.
        self.credentials.retain(|known| known.key != credential.key);
        self.credentials.push(credential);
        keep_last(&mut self.credentials, limits.auth_credentials);
    }

    /// Binds a server to a credential.
    pub(crate) fn bind(&mut self, binding: Binding, limits: &Limits) {
        self.bindings
            .retain(|known| known.server != binding.server || known.profile != binding.profile);
        self.bindings.push(binding);
        keep_last(&mut self.bindings, limits.auth_credentials);
    }

    pub(crate) fn registration(&self, issuer: &str, redirect_uri: &str) -> Option<&Registration> {
        let now = now();
        // The newest first: a provider may have dropped an older one.
        self.registrations.iter().rev().find(|known| {
            known.issuer == issuer
                && known.redirect_uri == redirect_uri
                && known.expires_at.is_none_or(|at| at > now)
        })
    }

    /// The redirect URI that was last registered at an issuer.
    pub(crate) fn last_redirect(&self, issuer: &str) -> Option<&str> {
        let mut known = self.registrations.iter().rev();
        known
            .find(|known| known.issuer == issuer)
            .map(|known| known.redirect_uri.as_str())
    }

    pub(crate) fn put_registration(&mut self, registration: Registration, limits: &Limits) {
        self.registrations.retain(|known| {
            known.issuer != registration.issuer || known.redirect_uri != registration.redirect_uri
        });
        self.registrations.push(registration);
        keep_last(&mut self.registrations, limits.auth_credentials);
    }

    pub(crate) fn forget_registration(&mut self, client_id: &str) {
        self.registrations
            .retain(|known| known.identity.client_id != client_id);
    }

    pub(crate) fn put_pending(&mut self, pending: PendingLogin, limits: &Limits) {
        let now = now();
        // Logins that were never finished do not push out those that still may be.
        self.pending.retain(|known| known.expires_at > now);
        self.pending.push(pending);
        keep_last(&mut self.pending, limits.auth_pending);
    }

    /// Takes out a login by its state, so that it can be finished only once.
    pub(crate) fn take_pending(&mut self, state: &str) -> Option<PendingLogin> {
        let is_it = |known: &PendingLogin| same(known.state.expose(), state);
        let at = self.pending.iter().position(is_it)?;
        Some(self.pending.remove(at))
    }
}

/// Compares in constant time.
fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    // All bytes are compared, so that the time tells nothing about the first difference.
    let differ = left.iter().zip(right).fold(0, |all, (a, b)| all | (a ^ b));
    left.len() == right.len() && std::hint::black_box(differ) == 0
}

fn keep_last<T>(items: &mut Vec<T>, most: usize) {
    let over = items.len().saturating_sub(most);
    items.drain(..over);
}

fn exposed(secret: Option<&Secret<String>>) -> Option<&String> {
    secret.map(Secret::expose)
}

fn client_json(client: &ClientIdentity) -> Value {
    json!({
        "client_id": client.client_id,
        "client_secret": exposed(client.client_secret.as_ref()),
        "auth": client.auth.name(),
        "source": client.source.name(),
    })
}
