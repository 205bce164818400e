//! The token endpoint: clients authenticate and exchange grants for tokens.

use std::collections::BTreeSet;

use serde_json::json;

use super::encoding::{Params, decode, from_base64, random, sha256};
use super::fault::{Endpoint, FaultKind};
use super::jwt::{self, Jwt, Proven, check_proof};
use super::options::{ClientAuth, Dpop};
use super::reply::{IssuerReply, Refusal, ReplyBody, hostile_text};
use super::state::{Access, Client, Grant, Refresh, State};
use super::{Inner, IssuerRequest, JournalEntry};

const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// The parameters of client authentication.
pub(super) const CLIENT: &[&str] = &[
    "client_assertion",
    "client_assertion_type",
    "client_id",
    "client_secret",
];
/// Maximum lifetime of an assertion, in seconds.
const ASSERTION_LIFE: u64 = 600;
const HUGE_TOKEN_BYTES: usize = 1024 * 1024;

impl Inner {
    pub(super) fn token(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        entry: &mut JournalEntry,
    ) -> Result<IssuerReply, Refusal> {
        let answered = self.token_request(state, asked, entry);
        if answered.is_err() {
            state.counts.refused_tokens += 1;
        }
        answered
    }

    fn token_request(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        entry: &mut JournalEntry,
    ) -> Result<IssuerReply, Refusal> {
        let form = asked.form()?;
        let grant_type = form.require("grant_type")?;
        entry.grant = Some(grant_type.to_owned());
        let endpoint = match grant_type {
            "refresh_token" => Endpoint::Refresh,
            _ => Endpoint::Token,
        };
        // Faults that refuse strike before anything is processed: no code or token is used up.
        if let Some((status, error)) = self.faults.refusal(endpoint) {
            return Err(Refusal {
                status,
                ..Refusal::new(error, "a fault of the issuer")
            });
        }
        let repeats = match endpoint {
            Endpoint::Refresh => FaultKind::RefreshRepeats,
            _ => FaultKind::TokenRepeats,
        };
        if self.faults.strikes(repeats) {
            // As an answer and not as a refusal: the journal must have no secret in it.
            "invalid_grant".clone_into(&mut entry.outcome);
            let about = super::secrets::repeat(asked);
            let answer = json!({"error": "invalid_grant", "error_description": about});
            return Ok(IssuerReply::json(400, answer));
        }
        if endpoint == Endpoint::Token && self.faults.strikes(FaultKind::TokenHostileError) {
            return Err(Refusal::new("invalid_grant", hostile_text()));
        }
        // Who asks, then if it may ask for this grant, then the proof of its key, then the grant
        // itself.
        let client = self.authenticate(state, asked, &form)?;
        entry.client = Some(client.id.clone());
        if !client.may(grant_type) {
            let about = format!("the client did not register for {grant_type}");
            return Err(Refusal::new("unauthorized_client", about));
        }
        let key = self.proof_at_issuer(state, asked)?;
        let mut grant = match grant_type {
            "authorization_code" => self.exchange_code(state, asked, &form, &client)?,
            "refresh_token" => return self.refresh(state, asked, &form, &client, key.as_deref()),
            "client_credentials" if self.options.client_credentials => {
                self.own_grant(state, asked, &form, &client)?
            }
            super::device::GRANT if self.options.device => {
                self.poll_device(state, &form, &client)?
            }
            _ => {
                return Err(Refusal::new(
                    "unsupported_grant_type",
                    "this issuer does not have that grant",
                ));
            }
        };
        // RFC 9449, 10: a key announced with `dpop_jkt` must be the one that is used.
        if grant.key.is_some() && grant.key != key {
            return Err(Refusal::new(
                "invalid_dpop_proof",
                "the key is not the announced one",
            ));
        }
        grant.key = key;
        let mut scopes = grant.scopes.clone();
        if self.faults.strikes(FaultKind::ScopeMore) {
            scopes.insert("everything".to_owned());
        }
        // Faults that only spoil the answer strike after everything was processed, like a lost
        // response.
        let refresh = grant.refreshes.then(|| new_refresh(state, &grant));
        let mut reply = self.issue(state, grant, &scopes, refresh);
        if self.faults.strikes(FaultKind::TokenHugeValue)
            && let ReplyBody::Json(document) = &mut reply.body
        {
            document["access_token"] = json!("x".repeat(HUGE_TOKEN_BYTES));
        }
        Ok(reply.spoil(&self.faults, Endpoint::Token, asked.path))
    }

    fn exchange_code(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        form: &Params,
        client: &Client,
    ) -> Result<Grant, Refusal> {
        only(form, &["code", "code_verifier", "redirect_uri", "resource"])?;
        let invalid = |about: &str| Err(Refusal::new("invalid_grant", about));
        let now = state.now();
        let Some(code) = state.codes.get_mut(form.require("code")?) else {
            return invalid("the code is unknown");
        };
        // The owner before anything else: another client must not learn about the state of a code.
        if code.grant.client != client.id {
            return invalid("the code is another client's");
        }
        if code.used {
            // RFC 6749, 4.1.2: a code that comes twice was stolen, and so were its tokens.
            let family = code.grant.family;
            state.counts.replayed_codes += 1;
            state.revoke_family(family);
            return invalid("the code was used before");
        }
        if code.expires <= now {
            return invalid("the code has expired");
        }
        // RFC 6749, 4.1.3: the redirect URI must be identical to that of the authorization request.
        if form.require("redirect_uri")? != code.redirect {
            return invalid("redirect_uri is not the one of the request");
        }
        let verifier = form.require("code_verifier")?;
        let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if !(43..=128).contains(&verifier.len()) || !verifier.bytes().all(is_unreserved) {
            return invalid("code_verifier is not one of RFC 7636");
        }
        // PKCE: only the client that began the login knows the verifier of its challenge.
        if sha256(verifier) != code.challenge {
            return invalid("code_verifier does not fit the challenge");
        }
        let grant = code.grant.clone();
        // Used up from here on, even if the resource is wrong: a second attempt counts as a replay.
        code.used = true;
        if self.resource_of(asked, form)? != grant.resource {
            return Err(Refusal::new(
                "invalid_target",
                "resource is not the one of the request",
            ));
        }
        state.counts.logins += 1;
        Ok(grant)
    }

    fn refresh(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        form: &Params,
        client: &Client,
        key: Option<&str>,
    ) -> Result<IssuerReply, Refusal> {
        only(form, &["refresh_token", "resource", "scope"])?;
        let invalid = |about: &str| Err(Refusal::new("invalid_grant", about));
        let token = form.require("refresh_token")?;
        let Some(found) = state.refresh.get(token) else {
            return invalid("the refresh token is unknown");
        };
        let (grant, used) = (found.grant.clone(), found.used);
        // As for codes: the owner first, then replay, then revocation, then the key.
        if grant.client != client.id {
            return invalid("the refresh token is another client's");
        }
        if used {
            // RFC 9700, 4.14.2: two parties have the token, and one of them is not the client.
            state.counts.stale_refreshes += 1;
            state.revoke_family(grant.family);
            return invalid("the refresh token was used before; its family is revoked");
        }
        if state.revoked.contains(&grant.family) {
            return invalid("the refresh token was revoked");
        }
        if grant.key.as_deref() != key {
            return Err(Refusal::new(
                "invalid_dpop_proof",
                "the key is not that of the token",
            ));
        }
        let mut scopes = self.scopes_of(form)?;
        if scopes.is_empty() {
            scopes.clone_from(&grant.scopes);
        }
        // RFC 6749, 6: a refresh may narrow the scopes, never widen them.
        if !scopes.is_subset(&grant.scopes) {
            return Err(Refusal::new(
                "invalid_scope",
                "a refresh cannot have more scopes",
            ));
        }
        if self.resource_of(asked, form)? != grant.resource {
            return Err(Refusal::new(
                "invalid_target",
                "resource is not the one of the login",
            ));
        }
        // Rotation: the old token stays known as used, so that its second use revokes the family.
        let keeps = !self.options.rotation || self.faults.strikes(FaultKind::RefreshKeeps);
        let next = if keeps {
            None
        } else {
            if let Some(old) = state.refresh.get_mut(token) {
                old.used = true;
            }
            Some(new_refresh(state, &grant))
        };
        state.counts.refreshes += 1;
        if self.faults.strikes(FaultKind::RefreshScopeMore) {
            scopes.insert("everything".to_owned());
        }
        let reply = self.issue(state, grant, &scopes, next);
        Ok(reply.spoil(&self.faults, Endpoint::Refresh, asked.path))
    }

    /// Gives a client a grant for itself.
    fn own_grant(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        form: &Params,
        client: &Client,
    ) -> Result<Grant, Refusal> {
        only(form, &["resource", "scope"])?;
        // RFC 6749, 4.4: only confidential clients have a grant of their own.
        if client.auth == ClientAuth::None {
            let about = "a public client cannot have tokens for itself";
            return Err(Refusal::new("unauthorized_client", about));
        }
        state.counts.client_credentials += 1;
        Ok(Grant {
            client: client.id.clone(),
            scopes: self.scopes_of(form)?,
            resource: self.resource_of(asked, form)?,
            family: state.new_family(),
            key: None,
            refreshes: false,
        })
    }

    /// Issues an access token and writes the answer.
    fn issue(
        &self,
        state: &mut State,
        grant: Grant,
        scopes: &BTreeSet<String>,
        refresh: Option<String>,
    ) -> IssuerReply {
        let token = random("access-");
        let kind = match grant.key {
            Some(_) => "DPoP",
            None => "Bearer",
        };
        let scope: Vec<_> = scopes.iter().map(String::as_str).collect();
        let mut answer = json!({
            "access_token": token,
            "token_type": kind,
            "expires_in": self.options.access_life.as_secs(),
        });
        if !scope.is_empty() {
            answer["scope"] = json!(scope.join(" "));
        }
        if let Some(refresh) = refresh {
            answer["refresh_token"] = json!(refresh);
        }
        // OpenID Connect: who asks for `openid` gets a statement about the person, which no client here reads.
        if scopes.contains("openid") {
            answer["id_token"] = json!(random("id-"));
        }
        // The token remembers the scopes that were issued, which a refresh may have narrowed.
        let expires = state.now() + self.options.access_life;
        let scopes = scopes.clone();
        let grant = Grant { scopes, ..grant };
        state.access.insert(token, Access { grant, expires });
        self.with_nonce(state, IssuerReply::json(200, answer))
    }

    pub(super) fn with_nonce(&self, state: &State, reply: IssuerReply) -> IssuerReply {
        if self.options.dpop_nonces && self.options.dpop != Dpop::Off {
            return reply.with("dpop-nonce", state.nonce());
        }
        reply
    }

    /// Authenticates the client.
    pub(super) fn authenticate(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        form: &Params,
    ) -> Result<Client, Refusal> {
        let invalid = |about: String| Refusal::new("invalid_client", about);
        // Find the claimed id and the presented proof first, and compare with the registration
        // below.
        let (id, given) = if let Some(header) = asked.header("authorization") {
            let basic = header.strip_prefix("Basic ");
            let challenge = || {
                let refusal = Refusal::new("invalid_client", "the header has no id and secret");
                refusal.with("www-authenticate", "Basic realm=\"token\"")
            };
            let bytes = basic.and_then(from_base64).ok_or_else(challenge)?;
            let text = String::from_utf8(bytes).map_err(|_| challenge())?;
            let (id, secret) = text.split_once(':').ok_or_else(challenge)?;
            // RFC 6749, 2.3.1: both are encoded as in a form before they are joined.
            let id = decode(id).ok_or_else(challenge)?;
            let secret = decode(secret).ok_or_else(challenge)?;
            if form.get("client_id").is_some_and(|other| other != id) {
                return Err(Refusal::invalid_request("two client ids"));
            }
            (id, PresentedAuth::Secret(ClientAuth::Basic, secret))
        } else {
            let id = form.get("client_id").map(str::to_owned);
            if let Some(secret) = form.get("client_secret") {
                let id = id.ok_or("client_id is missing".to_owned())?;
                (
                    id,
                    PresentedAuth::Secret(ClientAuth::Post, secret.to_owned()),
                )
            } else if let Some(assertion) = form.get("client_assertion") {
                if form.require("client_assertion_type")? != ASSERTION {
                    return Err(Refusal::invalid_request("client_assertion_type is unknown"));
                }
                let jwt = Jwt::parse(assertion).map_err(invalid)?;
                let subject = jwt.text("sub").map_err(invalid)?.to_owned();
                if id.is_some_and(|id| id != subject) {
                    return Err(Refusal::invalid_request("two client ids"));
                }
                (subject, PresentedAuth::Assertion(assertion.to_owned()))
            } else {
                (
                    id.ok_or("client_id is missing".to_owned())?,
                    PresentedAuth::Nothing,
                )
            }
        };
        // RFC 6749, 2.3: one authentication method per request.
        let twice = asked.header("authorization").is_some()
            && (form.get("client_secret").is_some() || form.get("client_assertion").is_some());
        if twice || (form.get("client_secret").is_some() && form.get("client_assertion").is_some())
        {
            return Err(Refusal::invalid_request(
                "the client proves itself in two ways",
            ));
        }
        let client = self
            .find_client(state, &id)
            .ok_or_else(|| invalid("the client is unknown".to_owned()))?;
        if client.auth != given.method() {
            let name = client.auth.name();
            return Err(invalid(format!("the client is registered for {name}")));
        }
        match given {
            PresentedAuth::Nothing => {}
            PresentedAuth::Secret(_, secret)
                if client.secret.as_deref() == Some(secret.as_str()) => {}
            PresentedAuth::Secret(..) => return Err(invalid("the secret is wrong".to_owned())),
            PresentedAuth::Assertion(text) => {
                self.check_assertion(state, asked, &client, &text)
                    .map_err(|about| invalid(format!("the assertion: {about}")))?;
            }
        }
        Ok(client)
    }

    /// Checks an assertion of a client (RFC 7523, 3).
    fn check_assertion(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        client: &Client,
        text: &str,
    ) -> Result<(), String> {
        let jwt = Jwt::parse(text)?;
        // The signature before the claims: unsigned claims mean nothing.
        jwt.verify(client.key.as_ref().ok_or("the client has no key")?)?;
        if jwt.text("iss")? != client.id || jwt.text("sub")? != client.id {
            return Err("its iss and sub are not the client".to_owned());
        }
        let issuer = self.issuer(asked.site);
        // An assertion for another issuer must not work here, or that issuer could replay it.
        if !jwt.is_for(&[&issuer, &format!("{issuer}/token")]) {
            return Err("it is for another audience".to_owned());
        }
        let expires = jwt.seconds("exp")?;
        if expires <= jwt::now() || expires > jwt::now() + ASSERTION_LIFE {
            return Err("its exp is past or too far off".to_owned());
        }
        // RFC 7523, 3: the id last, so that only an otherwise valid assertion uses it up.
        if !state
            .seen_ids
            .insert(format!("assertion {}", jwt.text("jti")?))
        {
            return Err("its jti was used before".to_owned());
        }
        Ok(())
    }

    /// Checks the proof of a token request; returns the thumbprint of its key.
    fn proof_at_issuer(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
    ) -> Result<Option<String>, Refusal> {
        let invalid = |about: String| Refusal::new("invalid_dpop_proof", about);
        // Without a proof the token is a bearer token, unless the issuer demands proofs.
        let Some(text) = asked.header("dpop") else {
            return match self.options.dpop {
                Dpop::Required => Err(invalid("the proof is missing".to_owned())),
                Dpop::Off | Dpop::Allowed => Ok(None),
            };
        };
        if self.options.dpop == Dpop::Off {
            return Err(Refusal::invalid_request("proofs are not understood here"));
        }
        let url = format!("{}/token", self.issuer(asked.site));
        let proven = Proven {
            method: asked.method,
            url: &url,
            token: None,
        };
        // The signature first, then the nonce, then replay: a request for a nonce does not use up
        // the id.
        let proof = check_proof(text, &proven).map_err(invalid)?;
        if self.options.dpop_nonces {
            let is_good = state.take_nonce(proof.nonce.as_deref());
            if !is_good || self.faults.strikes(FaultKind::NonceLoop) {
                state.counts.nonce_challenges += 1;
                let nonce = if self.faults.has(FaultKind::NonceLoop) {
                    random("nonce-")
                } else {
                    state.nonce().to_owned()
                };
                let refusal = Refusal::new("use_dpop_nonce", "the proof needs this nonce");
                return Err(refusal.with("dpop-nonce", nonce));
            }
        }
        if !state.seen_ids.insert(format!("proof {}", proof.id)) {
            return Err(invalid("its jti was used before".to_owned()));
        }
        Ok(Some(proof.thumbprint))
    }

    /// Revokes a token and all of its family (RFC 7009).
    pub(super) fn revoke(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        entry: &mut JournalEntry,
    ) -> Result<IssuerReply, Refusal> {
        let form = asked.form()?;
        // RFC 7009, 2.1: a client may revoke only its own tokens, so it authenticates first.
        let client = self.authenticate(state, asked, &form)?;
        entry.client = Some(client.id.clone());
        let known = [CLIENT, &["token", "token_type_hint"]].concat();
        form.only(&known)?;
        let token = form.require("token")?;
        let refresh = state.refresh.get(token).map(|found| &found.grant);
        let access = state.access.get(token).map(|found| &found.grant);
        let found = refresh.or(access).cloned();
        if let Some(grant) = found {
            if grant.client != client.id {
                return Err(Refusal::invalid_request("the token is another client's"));
            }
            state.revoke_family(grant.family);
        }
        // RFC 7009, 2.2: a token that is unknown is as good as revoked.
        state.counts.revocations += 1;
        Ok(IssuerReply {
            status: 200,
            headers: Vec::new(),
            body: ReplyBody::Text(String::new()),
        })
    }
}

/// The authentication that a client presented.
enum PresentedAuth {
    Nothing,
    Secret(ClientAuth, String),
    Assertion(String),
}

impl PresentedAuth {
    fn method(&self) -> ClientAuth {
        match self {
            Self::Nothing => ClientAuth::None,
            Self::Secret(method, _) => *method,
            Self::Assertion(_) => ClientAuth::PrivateKeyJwt,
        }
    }
}

/// Refuses parameters that belong neither to the grant nor to client authentication.
pub(super) fn only(form: &Params, of_grant: &[&str]) -> Result<(), Refusal> {
    let known = [CLIENT, &["grant_type"], of_grant].concat();
    form.only(&known).map_err(Refusal::from)
}

fn new_refresh(state: &mut State, grant: &Grant) -> String {
    let token = random("refresh-");
    let refresh = Refresh {
        grant: grant.clone(),
        used: false,
    };
    state.refresh.insert(token.clone(), refresh);
    token
}
