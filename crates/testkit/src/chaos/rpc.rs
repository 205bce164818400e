//! Faults of the messages.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{Act, Chaos, ClientMessage, Fault, Flag, ServerMessage, request};

/// A fault of the messages.
pub(super) struct Rpc(Chaos);

impl Rpc {
    pub(super) fn new(chaos: &Chaos) -> Self {
        Self(chaos.clone())
    }
}

impl Fault for Rpc {
    fn on_client_message(&mut self, heard: &mut ClientMessage) {
        if self.0.flag() != Flag::ReplyToCancelled {
            return;
        }
        let cancelled = heard.cancels.as_ref();
        if let Some(call) = cancelled.filter(|request| request.is_call_of(self.0.tool())) {
            let content = json!([{"type": "text", "text": "too late"}]);
            let result = Map::from_iter([("content".to_owned(), content)]);
            heard.acts.push(Act::line(call.answer(result), "\n"));
        }
    }

    fn on_server_message(&mut self, saying: &mut ServerMessage) {
        if !saying.answers_call_of(self.0.tool()) {
            return;
        }
        match self.0.flag() {
            Flag::NoReply => saying.silent = true,
            Flag::ReplyTwice => {
                let again = String::from_utf8_lossy(&saying.text).into_owned();
                saying.after.push(Act::line(again, "\n"));
            }
            Flag::WrongId => with_id(saying, |_| json!("an id that was never used")),
            Flag::StringId => with_id(saying, |id| match id {
                Value::Number(number) => Value::String(number.to_string()),
                id => id,
            }),
            Flag::FloatId => with_id(saying, |id| id.as_f64().map_or(id, Value::from)),
            Flag::NullId => with_id(saying, |_| Value::Null),
            Flag::OtherInflightId => {
                if let Some(other) = saying.others.first().cloned() {
                    with_id(saying, |_| other);
                }
            }
            Flag::ResultAndError => saying.edit(|members| {
                let error = json!({"code": -32603, "message": "there is a result as well"});
                members.insert("error".to_owned(), error);
            }),
            Flag::Neither => saying.edit(|members| {
                members.shift_remove("result");
                members.shift_remove("error");
            }),
            Flag::OutOfOrder => saying.hold = Some(Duration::from_millis(self.0.number())),
            Flag::UnknownResultType => saying.edit_result(|result| {
                result.insert("resultType".to_owned(), "surprise".into());
            }),
            Flag::RequestFlood => flood(saying, self.0.number(), "roots/list"),
            Flag::PingFlood => flood(saying, self.0.number(), "ping"),
            _ => {}
        }
    }
}

fn with_id(saying: &mut ServerMessage, change: impl FnOnce(Value) -> Value) {
    saying.edit(|members| {
        if let Some(id) = members.get_mut("id") {
            *id = change(id.take());
        }
    });
}

fn flood(saying: &mut ServerMessage, count: u64, method: &'static str) {
    let line = move |number| request(&format!("flood-{number}"), method, &json!({}));
    saying.before.push(Act::Repeat(count, Box::new(line)));
}
