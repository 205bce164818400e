//! The interface of faults: they see every message in both directions and change it.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::output::Act;

/// One fault of the server.
pub(crate) trait Fault: Send {
    /// Returns acts to perform before anything is read.
    fn start(&mut self) -> Vec<Act> {
        Vec::new()
    }

    /// Changes a message of the client before the server receives it.
    fn on_client_message(&mut self, _heard: &mut ClientMessage) {}

    /// Changes a message of the server before the client receives it.
    fn on_server_message(&mut self, _saying: &mut ServerMessage) {}
}

/// A request of the client.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClientRequest {
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
}

impl ClientRequest {
    pub(crate) fn is_call_of(&self, tool: Option<&str>) -> bool {
        let named = || self.params.get("name").and_then(Value::as_str);
        self.method == "tools/call" && (tool.is_none() || tool == named())
    }

    /// Returns true if it has the `_meta` of the modern era.
    pub(crate) fn is_modern(&self) -> bool {
        let meta = self.params.get("_meta").and_then(Value::as_object);
        meta.is_some_and(|meta| meta.contains_key("io.modelcontextprotocol/protocolVersion"))
    }

    /// The progress token of the request.
    pub(crate) fn progress_token(&self) -> Option<&Value> {
        self.params.get("_meta")?.get("progressToken")
    }

    /// Builds an answer to it, with the members that its era demands in every result.
    pub(crate) fn answer(&self, mut result: Map<String, Value>) -> String {
        if self.is_modern() && !result.contains_key("resultType") {
            result.insert("resultType".to_owned(), "complete".into());
        }
        json!({"jsonrpc": "2.0", "id": self.id, "result": result}).to_string()
    }
}

/// The state of the input after a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Then {
    #[default]
    ReadOn,
    /// The pipe stays open and fills up.
    StopReading,
    CloseInput,
}

/// A message of the client.
#[derive(Debug)]
pub(crate) struct ClientMessage {
    pub(crate) message: Value,
    /// The message as a request, if it is one.
    pub(crate) request: Option<ClientRequest>,
    /// The request that it cancels.
    pub(crate) cancels: Option<ClientRequest>,
    /// The message differs from the line that was read.
    pub(crate) changed: bool,
    /// The message is withheld from the server.
    pub(crate) kept: bool,
    pub(crate) then: Then,
    pub(crate) acts: Vec<Act>,
}

/// The form of a filler in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// More text, between the same quotes.
    Text,
    /// A value of its own.
    Json,
}

/// A message of the server.
#[derive(Debug)]
pub(crate) struct ServerMessage {
    pub(crate) message: Value,
    pub(crate) text: Vec<u8>,
    pub(crate) end: &'static str,
    /// The request that it answers.
    pub(crate) answers: Option<ClientRequest>,
    /// The ids of other requests that have no answer yet.
    pub(crate) others: Vec<Value>,
    pub(crate) silent: bool,
    pub(crate) bytewise: bool,
    pub(crate) delay: Duration,
    /// Held back until the next answer, or for this long.
    pub(crate) hold: Option<Duration>,
    pub(crate) before: Vec<Act>,
    /// Acts that replace the text.
    pub(crate) instead: Option<Vec<Act>>,
    pub(crate) after: Vec<Act>,
}

impl ServerMessage {
    /// Returns true if it answers a call of the tool.
    pub(crate) fn answers_call_of(&self, tool: Option<&str>) -> bool {
        self.answers
            .as_ref()
            .is_some_and(|request| request.is_call_of(tool))
    }

    /// Changes the members of the message.
    pub(crate) fn edit(&mut self, change: impl FnOnce(&mut Map<String, Value>)) {
        if let Some(members) = self.message.as_object_mut() {
            change(members);
            self.text = self.message.to_string().into_bytes();
        }
    }

    /// Changes the members of its result; an error has none.
    pub(crate) fn edit_result(&mut self, change: impl FnOnce(&mut Map<String, Value>)) {
        self.edit(|members| {
            if let Some(result) = members.get_mut("result").and_then(Value::as_object_mut) {
                change(result);
            }
        });
    }

    /// Gives the answer a text whose middle part is written by acts.
    pub(crate) fn fill(&mut self, middle: Vec<Act>, form: Form) {
        const MARK: &str = "@filled@";
        let block = json!([{"type": "text", "text": MARK}]);
        self.edit_result(|result| {
            result.insert("content".to_owned(), block);
        });
        let text = String::from_utf8_lossy(&self.text).into_owned();
        let mark = match form {
            Form::Text => MARK.to_owned(),
            Form::Json => format!("\"{MARK}\""),
        };
        if let Some((head, tail)) = text.split_once(&mark) {
            let mut acts = vec![Act::line(head, "")];
            acts.extend(middle);
            acts.push(Act::line(tail, ""));
            self.instead = Some(acts);
        }
    }

    /// Converts the message to the acts that write it.
    pub(crate) fn into_acts(self) -> Vec<Act> {
        let mut acts = self.before;
        if let Some(instead) = self.instead {
            acts.extend(instead);
            acts.push(Act::line("", self.end));
        } else if !self.silent {
            let mut bytes = self.text;
            bytes.extend_from_slice(self.end.as_bytes());
            acts.push(if self.bytewise {
                Act::Bytewise(bytes)
            } else {
                Act::Bytes(bytes)
            });
        }
        acts.extend(self.after);
        acts
    }
}

/// A notification as text.
pub(crate) fn notification(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

/// A request of the server as text.
pub(crate) fn request(id: &str, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}
