//! The faults of one connection, and the requests that have no answer yet.

use std::time::Duration;

use serde_json::{Map, Value};

use super::fault::Then;
use super::{Act, Chaos, ClientMessage, ClientRequest, Fault, ServerMessage, fault};

/// Shows each message to each fault.
pub(crate) struct Player {
    faults: Vec<Box<dyn Fault>>,
    waiting: Vec<ClientRequest>,
    /// An answer that is held back until the next one.
    held: Option<Vec<Act>>,
}

/// Acts to perform, and their time.
pub(crate) struct Cue {
    pub(crate) acts: Vec<Act>,
    pub(crate) delay: Duration,
    /// The latest time at which the held answer is written.
    pub(crate) release: Option<Duration>,
}

impl Player {
    pub(crate) fn new(chaos: &[Chaos]) -> Self {
        let mut chaos: Vec<&Chaos> = chaos.iter().collect();
        // The order of the groups, not of the command line.
        chaos.sort_by_key(|chaos| chaos.flag().group());
        Self {
            faults: chaos.into_iter().map(fault).collect(),
            waiting: Vec::new(),
            held: None,
        }
    }

    pub(crate) fn start(&mut self) -> Vec<Act> {
        self.faults
            .iter_mut()
            .flat_map(|fault| fault.start())
            .collect()
    }

    /// Shows a line of the client to the faults; `None` if it is not JSON, so the server handles
    /// it.
    pub(crate) fn hear(&mut self, line: &str) -> Option<ClientMessage> {
        let message: Value = serde_json::from_str(line).ok()?;
        let request = as_request(&message);
        let cancels = (message.get("method").and_then(Value::as_str)
            == Some("notifications/cancelled"))
        .then(|| message.get("params")?.get("requestId"))
        .flatten()
        .and_then(|id| self.take(id));
        // Registered before the faults see it: some answer under the id of another waiting request.
        self.waiting.extend(request.clone());
        let mut heard = ClientMessage {
            message,
            request,
            cancels,
            changed: false,
            kept: false,
            then: Then::ReadOn,
            acts: Vec::new(),
        };
        for fault in &mut self.faults {
            fault.on_client_message(&mut heard);
        }
        Some(heard)
    }

    /// Shows a line of the server to the faults, and returns the acts that write it.
    pub(crate) fn say(&mut self, line: String) -> Cue {
        let saying = self.change(line, None);
        let is_answer = saying.answers.is_some();
        let (delay, hold) = (saying.delay, saying.hold);
        let mut acts = saying.into_acts();
        // Only one answer is held at a time; the next answer lets it go.
        let release = hold.filter(|_| self.held.is_none());
        if release.is_some() {
            self.held = Some(std::mem::take(&mut acts));
        } else if is_answer {
            acts.extend(self.release());
        }
        Cue {
            acts,
            delay,
            release,
        }
    }

    /// Applies the faults to a line of the server. `answered` is the request that it answers, if
    /// that is known from elsewhere than its id.
    pub(crate) fn change(
        &mut self,
        line: String,
        answered: Option<ClientRequest>,
    ) -> ServerMessage {
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        let found = message
            .get("id")
            .filter(|_| message.get("method").is_none())
            .and_then(|id| self.take(id));
        let mut saying = ServerMessage {
            message,
            text: line.into_bytes(),
            end: "\n",
            answers: answered.or(found),
            others: self
                .waiting
                .iter()
                .map(|request| request.id.clone())
                .collect(),
            silent: false,
            bytewise: false,
            delay: Duration::ZERO,
            hold: None,
            before: Vec::new(),
            instead: None,
            after: Vec::new(),
        };
        for fault in &mut self.faults {
            fault.on_server_message(&mut saying);
        }
        saying
    }

    /// Returns the answer that was held back.
    pub(crate) fn release(&mut self) -> Vec<Act> {
        self.held.take().unwrap_or_default()
    }

    fn take(&mut self, id: &Value) -> Option<ClientRequest> {
        let at = self.waiting.iter().position(|request| request.id == *id)?;
        Some(self.waiting.swap_remove(at))
    }
}

fn as_request(message: &Value) -> Option<ClientRequest> {
    let params = message.get("params").and_then(Value::as_object);
    Some(ClientRequest {
        id: message.get("id")?.clone(),
        method: message.get("method")?.as_str()?.to_owned(),
        params: params.map_or_else(Map::new, Clone::clone),
    })
}
