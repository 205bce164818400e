//! The authorization endpoint: a request in a browser, a person, and the redirect back.

use std::collections::BTreeSet;

use super::encoding::{Params, html, query, random};
use super::fault::{Effect, Endpoint, FaultKind};
use super::options::{Consent, ResourceRule};
use super::reply::{IssuerReply, Refusal, hostile_text};
use super::state::{Code, Grant, Pending, State};
use super::{Inner, IssuerRequest, JournalEntry};

/// The parameters of an authorization request.
const KNOWN: &[&str] = &[
    "client_id",
    "code_challenge",
    "code_challenge_method",
    "dpop_jkt",
    "nonce",
    "prompt",
    "redirect_uri",
    "resource",
    "response_mode",
    "response_type",
    "scope",
    "state",
];

/// The shortest `state` that cannot be guessed: 96 bits in base64.
const SHORTEST_STATE: usize = 16;
/// The length of a SHA-256 in base64url.
const CHALLENGE: usize = 43;

impl Inner {
    pub(super) fn authorize(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        entry: &mut JournalEntry,
    ) -> Result<IssuerReply, Refusal> {
        let params = Params::parse(asked.query)?;
        // Nothing is redirected to before both of these are known to belong together.
        let id = params.require("client_id")?;
        let client = self
            .find_client(state, id)
            .ok_or_else(|| Refusal::new("invalid_client", "the client is unknown"))?;
        entry.client = Some(client.id.clone());
        entry.scope = params.get("scope").map(str::to_owned);
        let redirect = params.require("redirect_uri")?;
        if !client.has_redirect(redirect) {
            return Err(Refusal::invalid_request("redirect_uri is not the client's"));
        }
        // From here on errors go back to the client by redirect, because the redirect address is
        // known to be its own.
        let pending = match self.check(state, asked, &params, &client.id) {
            Ok(_) if !client.may("authorization_code") => Err(Refusal::new(
                "unauthorized_client",
                "the client did not register for codes",
            )),
            other => other,
        };
        let told = params.get("state").unwrap_or_default();
        let mut pending = match pending {
            Ok(pending) => pending,
            Err(refusal) => {
                entry.outcome = refusal.error.to_owned();
                entry.about.clone_from(&refusal.about);
                return Ok(self.send_error(asked, redirect, told, &refusal));
            }
        };
        // OpenID Connect: with `offline_access` in use, only a request for it gets refresh tokens.
        let can_refresh = self.options.refresh && client.may("refresh_token");
        pending.grant.refreshes = can_refresh
            && (!self.options.offline_access || pending.grant.scopes.contains("offline_access"));
        state.counts.prompts += 1;
        // A page waits for a person (or a scripted browser); the ticket finds the request again.
        if self.options.consent == Consent::Page {
            let ticket = random("ticket-");
            let page = consent_page(&self.issuer(asked.site), &ticket, &pending);
            state.pending.insert(ticket, pending);
            return Ok(IssuerReply::page(200, &page));
        }
        Ok(self.approve(state, asked, pending))
    }

    /// Answers the form of the page.
    pub(super) fn decide(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        entry: &mut JournalEntry,
    ) -> Result<IssuerReply, Refusal> {
        let params = asked.form()?;
        params.only(&["ticket", "decision"])?;
        let ticket = params.require("ticket")?;
        // Removed, not looked up: a form can be submitted only once.
        let pending = state.pending.remove(ticket);
        let pending = pending.ok_or_else(|| Refusal::invalid_request("the page is too old"))?;
        entry.client = Some(pending.grant.client.clone());
        if params.get("decision") == Some("approve") {
            return Ok(self.approve(state, asked, pending));
        }
        let refusal = Refusal::new("access_denied", "the person refused");
        entry.outcome = refusal.error.to_owned();
        Ok(self.send_error(asked, &pending.redirect, &pending.state, &refusal))
    }

    fn check(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        params: &Params,
        client: &str,
    ) -> Result<Pending, Refusal> {
        // Unknown parameters first, so that a typing error is not hidden by a later refusal.
        params.only(KNOWN)?;
        if params.require("response_type")? != "code" {
            return Err(Refusal::new(
                "unsupported_response_type",
                "only code is offered",
            ));
        }
        if params
            .get("response_mode")
            .is_some_and(|mode| mode != "query")
        {
            return Err(Refusal::invalid_request(
                "only the response_mode query is offered",
            ));
        }
        // OAuth 2.1: PKCE with S256 is required of every client.
        if params.require("code_challenge_method")? != "S256" {
            return Err(Refusal::invalid_request(
                "code_challenge_method must be S256",
            ));
        }
        let challenge = params.require("code_challenge")?;
        let is_hash = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if challenge.len() != CHALLENGE || !challenge.bytes().all(is_hash) {
            return Err(Refusal::invalid_request("code_challenge is not a SHA-256"));
        }
        // The state protects the client against forged redirects, so it must not be guessable.
        let told = params.require("state")?;
        if told.len() < SHORTEST_STATE {
            return Err(Refusal::invalid_request("state can be guessed"));
        }
        let scopes = self.scopes_of(params)?;
        let resource = self.resource_of(asked, params)?;
        Ok(Pending {
            grant: Grant {
                client: client.to_owned(),
                scopes,
                resource,
                family: state.new_family(),
                key: params.get("dpop_jkt").map(str::to_owned),
                refreshes: false,
            },
            challenge: challenge.to_owned(),
            redirect: params.require("redirect_uri")?.to_owned(),
            state: told.to_owned(),
        })
    }

    /// Reads the scopes of a request; each must be known.
    pub(super) fn scopes_of(&self, params: &Params) -> Result<BTreeSet<String>, Refusal> {
        let text = params.get("scope").unwrap_or_default();
        let scopes: BTreeSet<_> = text.split(' ').map(str::to_owned).collect();
        if text.is_empty() {
            return Ok(BTreeSet::new());
        }
        let is_known = |scope: &String| {
            let is_offline = self.options.offline_access && scope == "offline_access";
            // The server of `scope-ladder` makes up scopes.
            let is_made_up = self.faults.has(FaultKind::ScopeLadder) && scope.starts_with("rung-");
            self.options.scopes.contains(scope) || is_offline || is_made_up
        };
        match scopes.iter().find(|scope| !is_known(scope)) {
            Some(scope) => Err(Refusal::new(
                "invalid_scope",
                format!("{scope:?} is unknown"),
            )),
            None => Ok(scopes),
        }
    }

    /// Checks the resource of a request (RFC 8707).
    pub(super) fn resource_of(
        &self,
        asked: &IssuerRequest<'_>,
        params: &Params,
    ) -> Result<Option<String>, Refusal> {
        let resource = params.get("resource");
        let wrong = |about: &str| Err(Refusal::new("invalid_target", about));
        match (self.options.resource, resource) {
            (ResourceRule::Refused, Some(_)) => Err(Refusal::invalid_request(
                "AADSTS9010010: the resource parameter does not match the requested scopes",
            )),
            (ResourceRule::Required, None) => wrong("resource is missing"),
            (_, Some(resource)) if resource != asked.site.resource() => {
                wrong("resource is not a server of this issuer")
            }
            (_, resource) => Ok(resource.map(str::to_owned)),
        }
    }

    fn approve(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        pending: Pending,
    ) -> IssuerReply {
        let Pending {
            grant,
            challenge,
            redirect,
            state: told,
        } = pending;
        // Faults of the redirect strike after the person has approved, where a client expects a
        // code.
        let refused = match self.faults.refusal(Endpoint::Authorization) {
            Some((_, error)) => Some(Refusal::new(error, "a fault of the issuer")),
            None if self.faults.strikes(FaultKind::ErrorHostile) => {
                Some(Refusal::new("access_denied", hostile_text()))
            }
            None if self.faults.has(FaultKind::ErrorWrongIss) => {
                Some(Refusal::new("server_error", "an error of another issuer"))
            }
            None => None,
        };
        if let Some(refusal) = refused {
            return self.send_error(asked, &redirect, &told, &refusal);
        }
        // The code carries everything that the exchange is checked against later.
        let code = random("code-");
        let mut expires = state.now() + self.options.code_life;
        if self.faults.strikes(FaultKind::CodeExpired) {
            expires = state.now();
        }
        let issued = Code {
            grant,
            challenge,
            redirect: redirect.clone(),
            expires,
            used: false,
        };
        state.codes.insert(code.clone(), issued);
        let params = vec![("code".to_owned(), code)];
        self.send_back(asked, &redirect, &told, params)
    }

    fn send_error(
        &self,
        asked: &IssuerRequest<'_>,
        redirect: &str,
        told: &str,
        refusal: &Refusal,
    ) -> IssuerReply {
        let params = vec![
            ("error".to_owned(), refusal.error.to_owned()),
            ("error_description".to_owned(), refusal.about.clone()),
        ];
        self.send_back(asked, redirect, told, params)
    }

    /// Redirects to the client, with the faults of the redirect.
    fn send_back(
        &self,
        asked: &IssuerRequest<'_>,
        redirect: &str,
        told: &str,
        mut params: Vec<(String, String)>,
    ) -> IssuerReply {
        // RFC 6749, 4.1.2: the state comes back exactly as it was sent.
        if !told.is_empty() {
            params.push(("state".to_owned(), told.to_owned()));
        }
        // RFC 9207: the answer names its issuer, which protects clients against mix-up attacks.
        if self.options.iss {
            let mut issuer = self.issuer(asked.site);
            if self.faults.strikes(FaultKind::IssSlash) {
                issuer.push('/');
            }
            let evil = [FaultKind::IssUnexpected, FaultKind::ErrorWrongIss];
            if evil.iter().any(|kind| self.faults.strikes(*kind)) {
                issuer = "https://evil.example".to_owned();
            }
            params.push(("iss".to_owned(), issuer));
        }
        let wanted = |effect| {
            matches!(
                effect,
                Effect::Remove(_) | Effect::Set(..) | Effect::Twice(_)
            )
        };
        for effect in self.faults.effects(Endpoint::Authorization, wanted) {
            match effect {
                Effect::Remove(name) => params.retain(|(param, _)| param != name),
                Effect::Set(name, value) => {
                    for (param, old) in &mut params {
                        if param == name {
                            value.clone_into(old);
                        }
                    }
                }
                Effect::Twice(name) => {
                    let again = params.iter().find(|(param, _)| param == name).cloned();
                    params.extend(again);
                }
                _ => {}
            }
        }
        let mark = if redirect.contains('?') { '&' } else { '?' };
        IssuerReply::redirect(302, format!("{redirect}{mark}{}", query(&params)))
    }
}

fn consent_page(issuer: &str, ticket: &str, pending: &Pending) -> String {
    let scopes: Vec<_> = pending.grant.scopes.iter().map(String::as_str).collect();
    format!(
        "<h1>Allow {} to use {}?</h1>\n<p>Scopes: {}</p>\n\
         <form method=\"post\" action=\"{}/authorize/decide\">\n\
         <input type=\"hidden\" name=\"ticket\" value=\"{}\">\n\
         <button name=\"decision\" value=\"approve\">Allow</button>\n\
         <button name=\"decision\" value=\"refuse\">Refuse</button>\n</form>",
        html(&pending.grant.client),
        html(pending.grant.resource.as_deref().unwrap_or("this server")),
        html(&scopes.join(" ")),
        html(issuer),
        html(ticket),
    )
}
