//! The check in front of the server: every request needs a token that is good here and now.

use std::collections::BTreeSet;

use serde_json::Value;

use super::encoding::random;
use super::fault::{Effect, Endpoint, FaultKind};
use super::jwt::{Proven, check_proof};
use super::options::Dpop;
use super::reply::{IssuerReply, ReplyBody};
use super::state::{Access, State};
use super::{Inner, IssuerRequest, JournalEntry};

/// The size of the challenge of `challenge-huge`.
const HUGE_CHALLENGE_BYTES: usize = 48 * 1024;

/// The reason that a request is not admitted.
struct Denied {
    status: u16,
    error: Option<&'static str>,
    about: String,
    scope: Option<String>,
    nonce: Option<String>,
}

impl Denied {
    fn new(status: u16, error: &'static str, about: impl Into<String>) -> Self {
        Self {
            status,
            error: Some(error),
            about: about.into(),
            scope: None,
            nonce: None,
        }
    }

    fn token(about: impl Into<String>) -> Self {
        Self::new(401, "invalid_token", about)
    }
}

impl Inner {
    /// Returns the refusal of a request to the server; `None` lets it in.
    pub(super) fn admit(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        entry: &mut JournalEntry,
    ) -> Option<IssuerReply> {
        // The tool decides about the scopes, so the message is read before the token is checked.
        let message: Value = serde_json::from_slice(asked.body).unwrap_or_default();
        let is_call = message["method"] == "tools/call";
        let tool = message["params"]["name"].as_str().filter(|_| is_call);
        if self.options.calls_only && !is_call {
            return None;
        }
        let denied = match self.check_access(state, asked, tool, entry) {
            Ok(()) => {
                state.counts.admitted += 1;
                return None;
            }
            Err(denied) => denied,
        };
        match denied.status {
            403 => state.counts.step_ups += 1,
            401 => state.counts.challenges += 1,
            _ => {}
        }
        entry.outcome = denied.error.unwrap_or("unauthorized").to_owned();
        entry.about.clone_from(&denied.about);
        Some(self.challenge(asked, &denied))
    }

    fn check_access(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        tool: Option<&str>,
        entry: &mut JournalEntry,
    ) -> Result<(), Denied> {
        // OAuth 2.1 forbids tokens in the address, because they end up in logs.
        if asked
            .query
            .split('&')
            .any(|pair| pair.starts_with("access_token="))
        {
            return Err(Denied::new(
                400,
                "invalid_request",
                "a token in the address",
            ));
        }
        if asked.headers.get_all("authorization").iter().count() > 1 {
            return Err(Denied::new(400, "invalid_request", "two tokens"));
        }
        // RFC 6750, 3.1: a request without a token gets a challenge without an error code.
        let Some(header) = asked.header("authorization") else {
            return Err(Denied {
                error: None,
                ..Denied::new(401, "", "the token is missing")
            });
        };
        let (scheme, token) = header.split_once(' ').unwrap_or((header, ""));
        let now = state.now();
        let Some(Access { grant, expires }) = state.access.get(token) else {
            return Err(Denied::token("the token is unknown or revoked"));
        };
        let (grant, expires) = (grant.clone(), *expires);
        entry.client = Some(grant.client.clone());
        // An expired token is refused like a revoked one: the client renews it.
        if expires <= now {
            return Err(Denied::token("the token has expired"));
        }
        // RFC 8707: a token is valid for the resource that it was requested for, and nowhere else.
        if grant
            .resource
            .as_ref()
            .is_some_and(|it| *it != asked.site.resource())
        {
            return Err(Denied::token("the token is for another server"));
        }
        // RFC 9449, 7.1: a bound token sent as a bearer token is refused.
        let is_right_scheme = match grant.key {
            Some(_) => scheme.eq_ignore_ascii_case("DPoP"),
            None => scheme.eq_ignore_ascii_case("Bearer"),
        };
        if !is_right_scheme {
            return Err(Denied::token("the token is of another type"));
        }
        if let Some(key) = &grant.key {
            self.check_bound(state, asked, token, key)?;
        }
        // After all real checks, so that the fault shows only with a token that would be accepted.
        if self.faults.strikes(FaultKind::Always401) {
            return Err(Denied::token("no token is good enough"));
        }
        self.check_scopes(state, &grant.scopes, tool)
    }

    fn check_bound(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        token: &str,
        key: &str,
    ) -> Result<(), Denied> {
        let invalid = |about: String| Denied::new(401, "invalid_dpop_proof", about);
        let text = asked.header("dpop");
        let text = text.ok_or_else(|| invalid("the proof is missing".to_owned()))?;
        let url = asked.site.resource();
        let proven = Proven {
            method: asked.method,
            url: &url,
            token: Some(token),
        };
        // The proof is for this method, this address and this token, and its key is that of the
        // token.
        let proof = check_proof(text, &proven).map_err(invalid)?;
        if proof.thumbprint != key {
            return Err(Denied::token("the token is bound to another key"));
        }
        if self.options.dpop_nonces {
            let is_good = state.take_nonce(proof.nonce.as_deref());
            if !is_good || self.faults.strikes(FaultKind::NonceLoop) {
                state.counts.nonce_challenges += 1;
                let loops = self.faults.has(FaultKind::NonceLoop);
                let nonce = if loops {
                    random("nonce-")
                } else {
                    state.nonce().to_owned()
                };
                return Err(Denied {
                    nonce: Some(nonce),
                    ..Denied::new(401, "use_dpop_nonce", "the proof needs a nonce")
                });
            }
        }
        if !state.seen_ids.insert(format!("proof {}", proof.id)) {
            return Err(invalid("its jti was used before".to_owned()));
        }
        Ok(())
    }

    fn check_scopes(
        &self,
        state: &mut State,
        scopes: &BTreeSet<String>,
        tool: Option<&str>,
    ) -> Result<(), Denied> {
        let lacks = |scope: &str| Denied {
            scope: Some(scope.to_owned()),
            ..Denied::new(403, "insufficient_scope", format!("{scope} is missing"))
        };
        // Faults before the real scopes: they demand more, whatever the token has.
        if self.faults.strikes(FaultKind::Always403) {
            let scope = self.options.scopes.first();
            return Err(lacks(scope.map_or("tools", String::as_str)));
        }
        if self.faults.strikes(FaultKind::ScopeLadder) {
            state.ladder += 1;
            return Err(lacks(&format!("rung-{}", state.ladder)));
        }
        let wanted = tool.and_then(|tool| self.options.tool_scopes.get(tool));
        match wanted.filter(|scope| !scopes.contains(*scope)) {
            Some(scope) => Err(lacks(scope)),
            None => Ok(()),
        }
    }

    fn challenge(&self, asked: &IssuerRequest<'_>, denied: &Denied) -> IssuerReply {
        let mut reply = IssuerReply::json(denied.status, Value::Null);
        reply.body = ReplyBody::Text(String::new());
        if let Some(nonce) = &denied.nonce {
            reply = reply.with("dpop-nonce", nonce);
        }
        // The nonce is a header of its own and stays; the challenge is left out.
        if self.faults.strikes(FaultKind::ChallengeMissing) {
            return reply;
        }
        let mut params = Vec::new();
        let mut put = |name: &str, value: &str| params.push(format!("{name}=\"{value}\""));
        if let Some(error) = denied.error {
            put("error", error);
            if self.faults.strikes(FaultKind::ChallengeRepeats) {
                put("error_description", &super::secrets::repeat(asked));
            } else {
                put("error_description", &denied.about);
            }
        }
        let scope = denied
            .scope
            .as_ref()
            .or(self.options.challenge_scope.as_ref());
        if let Some(scope) = scope {
            put("scope", scope);
        }
        if let Some(path) = self
            .resource_path(asked.site)
            .filter(|_| self.options.names_place)
        {
            put("resource_metadata", &format!("{}{path}", asked.site.origin));
        }
        // The scheme of the challenge tells the client which kind of token to get.
        let is_bound = denied.error.is_some_and(|error| error.contains("dpop"))
            || self.options.dpop == Dpop::Required;
        let scheme = if is_bound {
            put("algs", "ES256");
            "DPoP"
        } else {
            "Bearer"
        };
        let mut header = format!("{scheme} {}", params.join(", "));
        if params.is_empty() {
            scheme.clone_into(&mut header);
        }
        // Faults of the header strike after it is complete: they add to it or replace it.
        if self.faults.strikes(FaultKind::ChallengeMany) {
            header = format!("Basic realm=\"a, Bearer b\", Negotiate, {header}");
        }
        if self.faults.strikes(FaultKind::ChallengeHuge) {
            header = format!("{header}, filler=\"{}\"", "x".repeat(HUGE_CHALLENGE_BYTES));
        }
        let wanted = |effect| matches!(effect, Effect::Set(..));
        for effect in self.faults.effects(Endpoint::Challenge, wanted) {
            if let Effect::Set(_, text) = effect {
                text.clone_into(&mut header);
            }
        }
        reply.with("www-authenticate", header)
    }
}
