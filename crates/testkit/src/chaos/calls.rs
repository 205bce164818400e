//! Faults of calls.

use std::time::Duration;

use serde_json::{Value, json};

use super::fault::{Form, Then};
use super::output::Ending;
use super::{Act, Chaos, ClientMessage, Fault, Flag, ServerMessage, notification, request};

const MIB: u64 = 1024 * 1024;

/// The prefix of the ids of our questions.
const QUESTION: &str = "question-";

/// Pause before each of them.
const PAUSE: Duration = Duration::from_millis(20);

/// A fault of calls.
pub(super) struct Calls {
    chaos: Chaos,
    /// The number of calls answered, or of questions asked.
    count: u64,
}

impl Calls {
    pub(super) fn new(chaos: &Chaos) -> Self {
        Self {
            chaos: chaos.clone(),
            count: 0,
        }
    }

    /// Sends an elicitation to a legacy client.
    fn question(&mut self) -> Act {
        self.count += 1;
        let params = json!({
            "message": "And what else?",
            "requestedSchema": {"type": "object", "properties": {"more": {"type": "string"}}},
        });
        let id = format!("{QUESTION}{}", self.count);
        // Delayed: a client that refuses automatically must not be kept busy by it.
        Act::Later(PAUSE, request(&id, "elicitation/create", &params))
    }
}

impl Fault for Calls {
    fn on_client_message(&mut self, heard: &mut ClientMessage) {
        let flag = self.chaos.flag();
        let id = heard.message.get("id").and_then(Value::as_str);
        if flag == Flag::InputRequiredForever
            && heard.request.is_none()
            && id.is_some_and(|id| id.starts_with(QUESTION))
        {
            heard.kept = true;
            let question = self.question();
            heard.acts.push(question);
            return;
        }
        let request = heard.request.as_ref();
        if !request.is_some_and(|request| request.is_call_of(self.chaos.tool())) {
            return;
        }
        match flag {
            Flag::DieOnCall => {
                heard.kept = true;
                heard.acts.push(Act::End(Ending::Exit(1)));
            }
            Flag::CloseStdout => {
                heard.kept = true;
                heard.acts.push(Act::CloseOutput);
            }
            Flag::CloseStdin => heard.then = Then::CloseInput,
            Flag::StopReading => heard.then = Then::StopReading,
            _ => {}
        }
    }

    fn on_server_message(&mut self, saying: &mut ServerMessage) {
        let Some(call) = saying.answers.clone() else {
            return;
        };
        if !call.is_call_of(self.chaos.tool()) {
            return;
        }
        let number = self.chaos.number();
        match self.chaos.flag() {
            Flag::Delay => saying.delay = Duration::from_secs(number),
            Flag::DieAfterN => {
                self.count += 1;
                if self.count == number {
                    saying.after.push(Act::End(Ending::Exit(1)));
                }
            }
            Flag::ProgressForever => {
                saying.silent = true;
                if let Some(token) = call.progress_token().cloned() {
                    let time = Duration::from_millis(number.max(1));
                    let line = move |step| progress(&token, step);
                    saying.after.push(Act::Every(time, Box::new(line)));
                }
            }
            Flag::ProgressBackwards => {
                if let Some(token) = call.progress_token() {
                    let lines = [3, 2, 1].map(|step| Act::line(progress(token, step), "\n"));
                    saying.before.extend(lines);
                }
            }
            Flag::LogFlood => {
                let line = |number| {
                    let params = json!({"level": "info", "data": format!("message {number}")});
                    notification("notifications/message", &params)
                };
                saying.before.push(Act::Repeat(number, Box::new(line)));
            }
            Flag::StderrFlood => saying.before.push(Act::Stderr(number.saturating_mul(MIB))),
            Flag::BigResult => {
                let text = Act::Fill(b"x", number.saturating_mul(MIB));
                saying.fill(vec![text], Form::Text);
            }
            Flag::StructuredMismatch => saying.edit_result(|result| {
                let content = json!({"sum": "many", "time": 7, "unexpected": true});
                result.insert("structuredContent".to_owned(), content);
            }),
            Flag::InputRequiredForever if call.is_modern() => saying.edit_result(|result| {
                result.clear();
                result.insert("resultType".to_owned(), "input_required".into());
                result.insert("requestState".to_owned(), "not yet".into());
            }),
            Flag::InputRequiredForever => {
                saying.silent = true;
                let question = self.question();
                saying.after.push(question);
            }
            _ => {}
        }
    }
}

fn progress(token: &Value, step: u64) -> String {
    let params = json!({"progressToken": token, "progress": step});
    notification("notifications/progress", &params)
}
