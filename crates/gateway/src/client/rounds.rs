//! Questions of modern servers for modern clients.
//!
//! A server's `input_required` passes to the client as it is, but for its `requestState`: that is sealed
//! for the principal, the server, the method, the name, the arguments and a time. The answers come back
//! with the repeated request; what was asked of one client, or about other arguments, opens for no other.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ring::digest::{Context, SHA256};
use switchboard::{Error, ServerName};
use switchboard_wire::canonical::canonical;
use switchboard_wire::{Era, Raw, RpcError};

use super::params::{Params, invalid};
use super::result::{Answer, Outcome};
use super::{Asked, Client};
use crate::seal::Purpose;

/// What the rounds of one request have in common.
pub(super) struct Round<'a> {
    method: &'static str,
    server: &'a ServerName,
    name: &'a str,
    arguments: &'a Raw,
}

/// Bytes of the time and of the digest, before the state itself.
const TIME: usize = 8;
const DIGEST: usize = 32;

impl<'a> Round<'a> {
    /// A request of that method to that server, by the server's own name and with those arguments.
    pub(super) fn new(
        method: &'static str,
        server: &'a ServerName,
        name: &'a str,
        arguments: &'a Raw,
    ) -> Self {
        Self {
            method,
            server,
            name,
            arguments,
        }
    }

    /// A digest of everything that a state belongs to besides its principal.
    fn digest(&self) -> Vec<u8> {
        let arguments = canonical(self.arguments);
        let mut context = Context::new(&SHA256);
        for part in [self.method, self.server.as_str(), self.name, &arguments] {
            // With their lengths: the parts cannot be shifted against each other.
            context.update(&part.len().to_be_bytes());
            context.update(part.as_bytes());
        }
        context.finish().as_ref().to_vec()
    }

    /// The content of a sealed state.
    fn content(&self, expires: u64, state: &Raw) -> Vec<u8> {
        let text = state.as_str().as_bytes();
        [&expires.to_be_bytes()[..], &self.digest(), text].concat()
    }

    /// The server's own state in an opened one; `None` if it is of another request or too old.
    fn state(&self, now: u64, content: &[u8]) -> Option<Raw> {
        let (expires, rest) = content.split_first_chunk::<TIME>()?;
        let (digest, state) = rest.split_first_chunk::<DIGEST>()?;
        // The seal proves that we made it; these checks tie it to this request and its time.
        if u64::from_be_bytes(*expires) < now || digest[..] != self.digest() {
            return None;
        }
        Raw::parse(std::str::from_utf8(state).ok()?).ok()
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or(Duration::ZERO).as_secs()
}

impl Client {
    /// The answers of a repeated request, with the server's own state.
    ///
    /// # Errors
    /// Fails if the state is not one that this client got for this request.
    pub(super) fn answers(
        &self,
        params: &Params,
        round: &Round<'_>,
    ) -> Result<(Option<Raw>, Option<Raw>), RpcError> {
        // A server need not send a state, so answers may come without one.
        let Some(sealed) = &params.request_state else {
            return Ok((params.input_responses.clone(), None));
        };
        let seal = &self.gateway.0.seal;
        let open = |text: String| {
            let content = seal.open(Purpose::RequestState, self.identity.principal(), &text)?;
            round.state(now(), &content)
        };
        let state = sealed.as_text().and_then(open);
        // A state that does not open is refused here: servers rely on getting back what they sent.
        let state = state.ok_or_else(|| {
            invalid("requestState is not one that was given for this request, or is too old")
        })?;
        Ok((params.input_responses.clone(), Some(state)))
    }

    /// The questions of a server, if that is what the error brings.
    pub(super) fn relayed(
        &self,
        asked: &Asked<'_>,
        round: &Round<'_>,
        error: &Error,
    ) -> Option<Outcome> {
        let questions = super::upstream::questions(error)?;
        // A client of the legacy era would take them for a result, even if they only ask for a repetition.
        if asked.version.era() == Era::Legacy {
            return None;
        }
        Some(Ok(Answer::own(self.with_sealed_state(round, questions))))
    }

    /// The questions as the server wrote them, with its state sealed.
    fn with_sealed_state(&self, round: &Round<'_>, questions: &Raw) -> Raw {
        let state = questions.member("requestState");
        let Some(state) = state.filter(|state| !state.is_null()) else {
            return questions.clone();
        };
        let time = self.gateway.0.options.limits.round_time.as_secs();
        let content = round.content(now().saturating_add(time), &state);
        let principal = self.identity.principal();
        let sealed = self
            .gateway
            .0
            .seal
            .seal(Purpose::RequestState, principal, &content);
        super::result::replaced(questions, "requestState", &format!("\"{sealed}\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text).unwrap()
    }

    #[test]
    fn a_state_opens_for_its_own_request_and_in_its_time_alone() {
        let server = ServerName::parse("git").unwrap();
        let arguments = raw(r#"{"a":1,"b":2}"#);
        let round = Round::new("tools/call", &server, "commit", &arguments);
        let state = raw(r#""\u0041""#);
        let content = round.content(100, &state);
        assert_eq!(round.state(100, &content), Some(state.clone()));
        assert_eq!(round.state(101, &content), None);
        // The same arguments, written in another way.
        let again = raw(r#"{ "b": 2, "a": 1 }"#);
        let same = Round::new("tools/call", &server, "commit", &again);
        assert_eq!(same.state(1, &content), Some(state));
        let other = raw(r#"{"a":1}"#);
        let elsewhere = ServerName::parse("gi").unwrap();
        for round in [
            Round::new("prompts/get", &server, "commit", &arguments),
            Round::new("tools/call", &elsewhere, "tcommit", &arguments),
            Round::new("tools/call", &server, "push", &arguments),
            Round::new("tools/call", &server, "commit", &other),
        ] {
            assert_eq!(round.state(1, &content), None);
        }
        assert_eq!(round.state(1, &content[..39]), None);
    }
}
