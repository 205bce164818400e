//! Login by a person in a browser: begun here, and finished here or in another process.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use switchboard_core::secret::{SafeUrl, Secret};
use url::Url;

use super::authorizer::Authorizer;
use super::challenge::Challenge;
use super::client_id::{self, ClientIdentity, ClientSource};
use super::discovery::{Discovered, Hint, choose_scopes};
use super::fetch::{self, AuthBody, AuthRequest};
use super::jose::{DpopKey, pkce_challenge, random_text};
use super::metadata::shorten;
use super::scope;
use super::store::document_endpoint;
use super::store::{self, Binding, Credential, CredentialKey, PendingLogin};
use super::token::{TokenRequest, Tokens, now, redact};
use crate::auth_error::{AuthError, CallbackProblem, Purpose};
use crate::transport::guard::Reach;

/// Parameters of an authorization request that only we may set.
const OURS: &[&str] = &[
    "client_id",
    "client_secret",
    "code_challenge",
    "code_challenge_method",
    "redirect_uri",
    "request",
    "request_uri",
    "resource",
    "response_mode",
    "response_type",
    "scope",
    "state",
];

/// A login by a person.
///
/// [`Login::begin`] returns the address to open; the address where the browser ends goes to
/// [`Login::finish`]. The state in between is in the store, so that another process can finish.
///
/// ```no_run
/// use switchboard_client::auth::{Authorizer, CallbackListener, Login, LoginOptions};
///
/// # async fn example(authorizer: Authorizer) -> Result<(), Box<dyn std::error::Error>> {
/// let listener = CallbackListener::bind(None).await?;
/// let login = Login::new(&authorizer);
/// let request = login.begin(LoginOptions::default().redirect_uri(listener.redirect_uri())).await?;
/// println!("open {}", request.url.expose());
/// let callback = listener.wait(&request.state).await?;
/// login.finish(callback.expose()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Login {
    authorizer: Authorizer,
}

/// Options of a login.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LoginOptions {
    /// The redirect URI; that of the settings if it is `None`.
    pub redirect_uri: Option<String>,
    /// Scopes to request, besides those of an earlier login.
    pub scopes: Option<Vec<String>>,
    /// The challenges of the server; the server is asked if nothing is known.
    pub challenges: Option<Vec<Challenge>>,
    /// Ignores earlier logins: their scopes, registration and issuer.
    pub force: Force,
}

/// Use or ignore the results of an earlier login.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Force {
    /// Use them.
    #[default]
    No,
    /// Ignore them.
    Yes,
}

impl LoginOptions {
    /// Sets the redirect URI.
    #[must_use]
    pub fn redirect_uri(mut self, uri: impl Into<String>) -> Self {
        self.redirect_uri = Some(uri.into());
        self
    }

    /// Sets the scopes to request.
    #[must_use]
    pub fn scopes(mut self, scopes: Vec<String>) -> Self {
        self.scopes = Some(scopes);
        self
    }

    /// Ignores the results of an earlier login.
    #[must_use]
    pub fn force(mut self) -> Self {
        self.force = Force::Yes;
        self
    }
}

/// An authorization request that a person answers in a browser.
#[derive(Clone)]
#[non_exhaustive]
pub struct AuthorizationRequest {
    /// The address to open; [`SafeUrl::expose`] shows all of it.
    pub url: SafeUrl,
    /// The state that the answer must carry.
    pub state: Secret<String>,
    /// The redirect URI.
    pub redirect_uri: String,
    /// The issuer, to be shown to the person.
    pub issuer: String,
    /// The scopes that are requested.
    pub scopes: Vec<String>,
    /// The time until which the login must be finished.
    pub expires: SystemTime,
}

impl fmt::Debug for AuthorizationRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizationRequest")
            .field("url", &self.url)
            .field("issuer", &self.issuer)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

impl Login {
    /// Creates a login for the server of an authorizer.
    pub fn new(authorizer: &Authorizer) -> Self {
        Self {
            authorizer: authorizer.clone(),
        }
    }

    pub(super) fn authorizer(&self) -> &Authorizer {
        &self.authorizer
    }

    /// Begins a login: finds the issuer, registers a client if need be, and stores the state for
    /// finishing.
    ///
    /// # Errors
    /// Fails when the issuer cannot be found or used, or there is no client id.
    ///
    /// # Cancel safety
    /// Dropping the future begins no login; a client may have been registered.
    pub async fn begin(&self, options: LoginOptions) -> Result<AuthorizationRequest, AuthError> {
        let begun = Box::pin(self.request(options)).await;
        self.authorizer.report_login(begun)
    }

    async fn request(&self, options: LoginOptions) -> Result<AuthorizationRequest, AuthError> {
        let inner = &self.authorizer.inner;
        let prepared = Box::pin(self.authorizer.prepare(&options)).await?;
        let Prepared { found, hint } = &prepared;
        let issuer = &found.issuer;
        let (Some(authorization), Some(token)) = (&issuer.authorization, &issuer.token) else {
            return Err(AuthError::NotOffered {
                issuer: issuer.issuer.clone(),
                what: "authorization by a browser",
            });
        };
        if !issuer.has_pkce {
            return Err(AuthError::NoPkce {
                issuer: issuer.issuer.clone(),
            });
        }
        // The redirect URI before the client: a registration is made for one.
        let redirect_uri = self.redirect_uri(&options)?;
        let scopes = self.authorizer.login_scopes(&options, hint, found).await?;
        let authorizer = &self.authorizer;
        let client = authorizer.client(found, &redirect_uri, &scopes, options.force);
        let client = Box::pin(client).await?;
        // New secrets for every login: the state ties the answer to it, the verifier the code.
        let (state, verifier) = (random_text()?, random_text()?);
        let dpop = if found.wants_dpop {
            Some(DpopKey::generate()?)
        } else {
            None
        };
        let url = authorization_url(
            authorization.url.expose(),
            &Asked {
                issuer: &issuer.issuer,
                client_id: &client.client_id,
                redirect_uri: &redirect_uri,
                scopes: &scopes,
                state: &state,
                verifier: &verifier,
                resource: found.resource.as_deref(),
            },
        )?;
        let expires_at = now().saturating_add(inner.limits.auth_login.as_secs());
        let pending = PendingLogin {
            state: Secret::new(state.clone()),
            verifier: Secret::new(verifier),
            server: self.authorizer.server_name(),
            profile: inner.settings.profile.clone(),
            issuer: issuer.issuer.clone(),
            names_itself: issuer.names_itself,
            redirect_uri: redirect_uri.clone(),
            token_endpoint: document_endpoint(token),
            revocation_endpoint: issuer.revocation.as_ref().map(document_endpoint),
            client,
            resource: found.resource.clone(),
            scopes: scopes.clone(),
            dpop_key: dpop.as_ref().map(|key| key.stored().clone()),
            expires_at,
        };
        let limits = inner.limits.clone();
        // Store before the browser is sent away: the answer is checked against this.
        store::change(&*inner.store, move |set| set.put_pending(pending, &limits)).await?;
        let expires = UNIX_EPOCH.checked_add(Duration::from_secs(expires_at));
        Ok(AuthorizationRequest {
            url: SafeUrl::from(url),
            state: Secret::new(state),
            redirect_uri,
            issuer: issuer.issuer.clone(),
            scopes,
            expires: expires.unwrap_or_else(SystemTime::now),
        })
    }

    /// Finishes a login with the address where the browser ended.
    ///
    /// # Errors
    /// Fails when the address is not the answer to a login that was begun for this server, the
    /// person refused, or the issuer gives no token.
    ///
    /// # Cancel safety
    /// A login is finished once: after the future was dropped it has to be begun again.
    pub async fn finish(&self, callback: &str) -> Result<Credential, AuthError> {
        let finished = Box::pin(self.redeem(callback)).await;
        self.authorizer.report_login(finished)
    }

    async fn redeem(&self, callback: &str) -> Result<Credential, AuthError> {
        let inner = &self.authorizer.inner;
        let answer = CallbackAnswer::parse(callback)?;
        let state = answer.state.clone().ok_or(CallbackProblem::UnknownState)?;
        // Take it out first: an answer may be used only once, even if the rest fails.
        let taken = store::change(&*inner.store, move |set| set.take_pending(state.expose()));
        let pending = taken.await?.ok_or(CallbackProblem::UnknownState)?;
        // An answer to a login of another server must not become the token of this one.
        let is_ours = pending.server == self.authorizer.server_name()
            && pending.profile == inner.settings.profile;
        if !is_ours {
            return Err(CallbackProblem::UnknownState.into());
        }
        // All checks of the answer before the code is sent anywhere.
        let code = answer.check(&pending)?;
        let dpop = match &pending.dpop_key {
            Some(key) => Some(DpopKey::from_stored(key)?),
            None => None,
        };
        let endpoint = pending.token_endpoint.endpoint();
        let Some(endpoint) = endpoint else {
            return Err(CallbackProblem::UnknownState.into());
        };
        let mut form: Vec<(&'static str, Secret<String>)> = vec![
            ("grant_type", "authorization_code".into()),
            ("code", code),
            ("redirect_uri", pending.redirect_uri.as_str().into()),
            ("code_verifier", pending.verifier.clone()),
        ];
        if let Some(resource) = &pending.resource {
            form.push(("resource", resource.as_str().into()));
        }
        let request = TokenRequest {
            purpose: Purpose::Token,
            endpoint: &endpoint,
            issuer: &pending.issuer,
            client: &pending.client,
            dpop: dpop.as_ref(),
            form,
        };
        let tokens = self.authorizer.token_client().tokens(&request).await?;
        let client = ClientIdentity {
            auth: tokens.client_auth,
            ..pending.client
        };
        let credential = Credential {
            key: CredentialKey {
                issuer: pending.issuer,
                resource: pending.resource.clone().unwrap_or_default(),
                client_id: client.client_id.clone(),
                profile: pending.profile,
            },
            resource: pending.resource,
            token_endpoint: pending.token_endpoint,
            revocation_endpoint: pending.revocation_endpoint,
            client,
            dpop_key: pending.dpop_key,
            ..fresh(tokens, &pending.scopes)
        };
        self.authorizer.keep_login(credential).await
    }

    /// The port of the redirect URI that is registered at the server's issuer: using it again saves
    /// a registration.
    ///
    /// # Errors
    /// Fails when the store cannot be read.
    pub async fn registered_port(&self) -> Result<Option<u16>, AuthError> {
        let inner = &self.authorizer.inner;
        let set = inner.store.read().await?;
        let binding = set.binding(&self.authorizer.server_name(), &inner.settings.profile);
        let known = binding.and_then(|binding| set.last_redirect(&binding.key.issuer));
        Ok(known.and_then(|uri| Url::parse(uri).ok()?.port()))
    }

    fn redirect_uri(&self, options: &LoginOptions) -> Result<String, AuthError> {
        let settings = &self.authorizer.inner.settings;
        let bad = |problem: &str| AuthError::Setting {
            key: "redirectUri",
            problem: problem.to_owned(),
        };
        let chosen = settings.redirect_uri.clone();
        let chosen = chosen.or_else(|| options.redirect_uri.clone());
        let chosen = chosen.ok_or_else(|| bad("is missing"))?;
        let url = Url::parse(&chosen).map_err(|_| bad("is not a URL"))?;
        // 2026-07-28: https, or this machine.
        let checked = fetch::check(Purpose::Authorization, &url, Reach::Person, &[]);
        match checked {
            Ok(_) if url.fragment().is_none() => Ok(chosen),
            _ => Err(bad("is neither an https URL nor one of this machine")),
        }
    }
}

/// The findings that a login needs first.
pub(super) struct Prepared {
    pub(super) found: Discovered,
    pub(super) hint: Hint,
}

impl Authorizer {
    /// Finds the issuer for a login.
    pub(super) async fn prepare(&self, options: &LoginOptions) -> Result<Prepared, AuthError> {
        let settings = &self.inner.settings;
        let known = options.challenges.as_deref().map(Hint::of);
        let is_configured = settings.issuer.is_some() || settings.token_endpoint.is_some();
        // What is known needs no request: challenges of the caller, then those of an earlier
        // refusal.
        let hint = match known.or_else(|| self.hint()) {
            Some(hint) => hint,
            // The settings are complete, so the server need not be asked.
            None if is_configured => Hint::default(),
            None => self.probe().await?,
        };
        let found = Box::pin(self.discovery().run(&hint)).await?;
        Ok(Prepared { found, hint })
    }

    /// Sends the server a harmless request, for the challenge in its refusal.
    async fn probe(&self) -> Result<Hint, AuthError> {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let request = AuthRequest {
            purpose: Purpose::Server,
            url: self.inner.server.clone(),
            reach: Reach::Person,
            body: Some(AuthBody {
                content_type: "application/json",
                content: Secret::new(ping.into()),
            }),
            headers: vec![("accept", "application/json, text/event-stream".into())],
            limit_bytes: self.inner.limits.auth_metadata_bytes,
            timeout: self.inner.limits.auth_request,
        };
        let answer = fetch::send(&*self.inner.fetch, request).await;
        let answer = match answer {
            Ok(answer) => answer,
            // An unusable answer contains no hint, but the well-known URLs may still work.
            Err(AuthError::Metadata { .. }) => return Ok(Hint::default()),
            Err(error) => return Err(error),
        };
        let lines = answer.headers.iter();
        let lines = lines.filter(|(name, _)| name == "www-authenticate");
        let challenges = Challenge::parse_all(lines.map(|(_, value)| value.as_str()));
        let hint = Hint::of(&challenges);
        self.note_challenge(&challenges);
        Ok(hint)
    }

    /// The client identity at an issuer: configured, of a metadata document, registered earlier, or
    /// registered now.
    pub(super) async fn client(
        &self,
        found: &Discovered,
        redirect_uri: &str,
        scopes: &[String],
        force: Force,
    ) -> Result<ClientIdentity, AuthError> {
        let (settings, issuer) = (&self.inner.settings, &found.issuer);
        // In order of preference: the person's own client, a document, an earlier registration, a
        // new one.
        if let Some(client) = ClientIdentity::configured(settings, issuer)? {
            self.check_issuer(&client, &issuer.issuer, force).await?;
            return Ok(client);
        }
        if let Some(client) = ClientIdentity::document(settings, issuer)? {
            return Ok(client);
        }
        let set = self.inner.store.read().await?;
        let known = set.registration(&issuer.issuer, redirect_uri);
        let known = known.filter(|known| known.covers(scopes));
        if let (Some(known), Force::No) = (known, force) {
            return Ok(known.identity.clone());
        }
        // For all that the server may come to demand, so that more of it later needs no other client.
        let listed = found.resource_scopes.as_deref().unwrap_or_default();
        let scopes = scope::union(scopes, listed);
        let exchange = self.token_client();
        let registration = client_id::register(&exchange, issuer, redirect_uri, &scopes);
        let registration = registration.await?;
        let client = registration.identity.clone();
        let limits = self.inner.limits.clone();
        store::change(&*self.inner.store, move |set| {
            set.put_registration(registration, &limits);
        })
        .await?;
        Ok(client)
    }

    /// Checks that a configured client is sent only to the issuer that it was used with before.
    pub(super) async fn check_issuer(
        &self,
        client: &ClientIdentity,
        issuer: &str,
        force: Force,
    ) -> Result<(), AuthError> {
        let settings = &self.inner.settings;
        let is_named = settings.issuer.is_some() || settings.token_endpoint.is_some();
        if client.source != ClientSource::Configured || is_named || force == Force::Yes {
            return Ok(());
        }
        let set = self.inner.store.read().await?;
        match set.binding(&self.server_name(), &settings.profile) {
            Some(known)
                if known.key.client_id == client.client_id && known.key.issuer != issuer =>
            {
                Err(AuthError::IssuerChanged {
                    was: known.key.issuer.clone(),
                    now: shorten(issuer),
                })
            }
            _ => Ok(()),
        }
    }

    /// The scopes of a login: those of an earlier one at the same issuer, and those demanded now.
    pub(super) async fn login_scopes(
        &self,
        options: &LoginOptions,
        hint: &Hint,
        found: &Discovered,
    ) -> Result<Vec<String>, AuthError> {
        let mut settings = self.inner.settings.clone();
        if let Some(scopes) = &options.scopes {
            settings.scopes = Some(scope::collect(scopes.iter().map(String::as_str)));
        }
        let earlier = match options.force {
            Force::Yes => Vec::new(),
            Force::No => {
                let stored = self.stored().await?;
                let stored = stored.filter(|known| known.key.issuer == found.issuer.issuer);
                stored
                    .map(|known| known.requested_scopes)
                    .unwrap_or_default()
            }
        };
        let most = self.inner.limits.auth_scopes;
        Ok(choose_scopes(&settings, hint, found, &earlier, most))
    }

    /// Stores the tokens of a login, and adopts them.
    pub(super) async fn keep_login(&self, credential: Credential) -> Result<Credential, AuthError> {
        let (kept, limits) = (credential.clone(), self.inner.limits.clone());
        let binding = Binding {
            server: self.server_name(),
            profile: self.inner.settings.profile.clone(),
            key: kept.key.clone(),
        };
        store::change(&*self.inner.store, move |set| {
            set.put(kept, &limits);
            set.bind(binding, &limits);
        })
        .await?;
        self.adopt(credential.clone())?;
        Ok(credential)
    }
}

/// Creates a credential with new tokens; the caller fills in the key and the client.
fn fresh(tokens: Tokens, requested: &[String]) -> Credential {
    Credential {
        key: CredentialKey {
            issuer: String::new(),
            resource: String::new(),
            client_id: String::new(),
            profile: String::new(),
        },
        issued_at: tokens.requested_at,
        expires_at: tokens.expires_at(),
        access_token: tokens.access_token,
        token_type: tokens.token_type,
        refresh_token: tokens.refresh_token,
        scopes: tokens.scopes.unwrap_or_else(|| requested.to_vec()),
        requested_scopes: requested.to_vec(),
        token_endpoint: store::no_endpoint(),
        revocation_endpoint: None,
        resource: None,
        client: ClientIdentity {
            client_id: String::new(),
            client_secret: None,
            auth: client_id::ClientAuth::None,
            source: ClientSource::Registered,
        },
        dpop_key: None,
        renewal_began: None,
    }
}

/// Creates a credential from the results of discovery.
pub(super) fn credential_of(
    key: CredentialKey,
    client: &ClientIdentity,
    tokens: Tokens,
    scopes: &[String],
    found: &Discovered,
    dpop: Option<&DpopKey>,
) -> Credential {
    let endpoint = found.issuer.token.as_ref();
    Credential {
        key,
        client: ClientIdentity {
            auth: tokens.client_auth,
            ..client.clone()
        },
        resource: found.resource.clone(),
        token_endpoint: endpoint.map_or_else(store::no_endpoint, document_endpoint),
        revocation_endpoint: found.issuer.revocation.as_ref().map(document_endpoint),
        dpop_key: dpop.map(|key| key.stored().clone()),
        ..fresh(tokens, scopes)
    }
}

/// The contents of an authorization request.
struct Asked<'a> {
    issuer: &'a str,
    client_id: &'a str,
    redirect_uri: &'a str,
    scopes: &'a [String],
    state: &'a str,
    verifier: &'a str,
    resource: Option<&'a str>,
}

/// Builds the address that a person opens.
fn authorization_url(endpoint: &Url, asked: &Asked<'_>) -> Result<Url, AuthError> {
    let mut url = endpoint.clone();
    url.set_fragment(None);
    // A parameter in the endpoint's own query could override ours.
    let foreign = url.query_pairs().find(|(name, _)| OURS.contains(&&**name));
    if let Some((name, _)) = foreign {
        return Err(AuthError::Metadata {
            purpose: Purpose::Authorization,
            url: asked.issuer.to_owned(),
            problem: format!("its address sets `{name}` itself"),
        });
    }
    {
        let mut query = url.query_pairs_mut();
        query.append_pair("response_type", "code");
        query.append_pair("client_id", asked.client_id);
        query.append_pair("redirect_uri", asked.redirect_uri);
        query.append_pair("state", asked.state);
        query.append_pair("code_challenge", &pkce_challenge(asked.verifier));
        query.append_pair("code_challenge_method", "S256");
        if !asked.scopes.is_empty() {
            query.append_pair("scope", &asked.scopes.join(" "));
        }
        if let Some(resource) = asked.resource {
            query.append_pair("resource", resource);
        }
        // OpenID Connect Core, 11: `offline_access` is ignored without a consent prompt.
        if asked.scopes.iter().any(|scope| scope == "offline_access") {
            query.append_pair("prompt", "consent");
        }
    }
    Ok(url)
}

/// The address where a browser ended, parsed.
struct CallbackAnswer {
    url: Url,
    state: Option<Secret<String>>,
    code: Option<Secret<String>>,
    issuer: Option<String>,
    error: Option<String>,
    description: Option<String>,
}

impl CallbackAnswer {
    fn parse(callback: &str) -> Result<Self, CallbackProblem> {
        const MOST_BYTES: usize = 32 * 1024;
        let callback = callback.trim();
        if callback.len() > MOST_BYTES {
            return Err(CallbackProblem::OtherAddress);
        }
        let url = Url::parse(callback).map_err(|_| CallbackProblem::OtherAddress)?;
        let one = |name: &'static str| {
            let mut found = url.query_pairs().filter(|(known, _)| known == name);
            let first = found.next().map(|(_, value)| value.into_owned());
            match found.next() {
                Some(_) => Err(CallbackProblem::Twice(name)),
                None => Ok(first),
            }
        };
        Ok(Self {
            state: one("state")?.map(Secret::new),
            code: one("code")?.map(Secret::new),
            issuer: one("iss")?,
            error: one("error")?,
            description: one("error_description")?,
            url,
        })
    }

    /// Checks an answer against its login, and returns the code.
    fn check(self, pending: &PendingLogin) -> Result<Secret<String>, AuthError> {
        // Expired logins first: their secrets are too old to be trusted with anything.
        if pending.expires_at <= now() {
            return Err(CallbackProblem::TooLate.into());
        }
        let sent_to = Url::parse(&pending.redirect_uri).ok();
        let is_there = sent_to.is_some_and(|sent_to| {
            sent_to.origin() == self.url.origin() && sent_to.path() == self.url.path()
        });
        if !is_there {
            return Err(CallbackProblem::OtherAddress.into());
        }
        // RFC 9207: check the issuer before anything else in the answer, errors included, without
        // normalising.
        let expected = || pending.issuer.clone();
        match &self.issuer {
            Some(issuer) if *issuer != pending.issuer => {
                return Err(CallbackProblem::OtherIssuer {
                    expected: expected(),
                }
                .into());
            }
            None if pending.names_itself => {
                return Err(CallbackProblem::NoIssuer {
                    expected: expected(),
                }
                .into());
            }
            _ => {}
        }
        if let Some(error) = self.error {
            let mut sent = vec![pending.verifier.clone(), pending.state.clone()];
            sent.extend(self.code);
            return Err(AuthError::Refused {
                purpose: Purpose::Authorization,
                code: redact(&error, &sent),
                description: self.description.map(|text| redact(&text, &sent)),
            });
        }
        let code = self.code.filter(|code| !code.expose().is_empty());
        Ok(code.ok_or(CallbackProblem::NoCode)?)
    }
}
