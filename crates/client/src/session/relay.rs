//! Calls on behalf of another client, whose answers the session does not know.

use switchboard_wire::{ClientCapabilities, InputRequired, Misfit, Raw};

use super::encode::Member;
use super::error::CallError;
use super::inbound::undeclared;

/// Passes the questions of a modern server on to the client that a call is made for.
///
/// With it in [`CallOptions::relay`](super::CallOptions), a modern server is told the capabilities of
/// that client in place of the session's. If it needs input first, its questions are not answered here:
/// the call ends with [`CallError::InputRequired`], and the client's repeated request is another call
/// with its [`answers`](Self::answers). A legacy server is called as without it.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct InputRelay {
    capabilities: Raw,
    responses: Option<Raw>,
    state: Option<Raw>,
}

impl InputRelay {
    /// Creates a relay for a client with these capabilities, which are declared verbatim.
    ///
    /// # Errors
    /// Fails if they are not an object.
    pub fn new(capabilities: Raw) -> Result<Self, Misfit> {
        if !capabilities.is_object() {
            return Err(Misfit::new("not an object"));
        }
        Ok(Self {
            capabilities,
            responses: None,
            state: None,
        })
    }

    /// Sets the `inputResponses` and the `requestState` of a repeated request, which are sent verbatim.
    #[must_use]
    pub fn answers(mut self, responses: Option<Raw>, state: Option<Raw>) -> Self {
        self.responses = responses;
        self.state = state;
        self
    }

    pub(crate) fn capabilities(&self) -> &str {
        self.capabilities.as_str()
    }

    /// Returns true if the server has seen an earlier round of the request.
    pub(crate) fn is_repeated(&self) -> bool {
        self.responses.is_some() || self.state.is_some()
    }

    /// The members that are added to the parameters.
    pub(crate) fn members(&self) -> Vec<Member<'_>> {
        let responses = self.responses.as_ref();
        let responses = responses.map(|responses| ("inputResponses", responses.as_str()));
        let state = self.state.as_ref();
        let state = state.map(|state| ("requestState", state.as_str()));
        responses.into_iter().chain(state).collect()
    }

    /// Returns the error that carries the questions of a server, or the one for questions that the
    /// client must not be asked.
    pub(crate) fn pass_on(&self, method: &str, needed: InputRequired, most: usize) -> CallError {
        if needed.requests.len() > most {
            return CallError::TooManyQuestions { limit: most };
        }
        // Capabilities that cannot be read declare nothing.
        let declared = serde_json::from_str::<ClientCapabilities>(self.capabilities());
        let declared = declared.unwrap_or_default();
        for (_, request) in &needed.requests {
            if let Some(why) = undeclared(request, &declared) {
                let method = request.method().to_owned();
                return CallError::InputRefused { method, why };
            }
        }
        CallError::InputRequired {
            method: method.to_owned(),
            raw: Box::new(needed.raw),
        }
    }
}
