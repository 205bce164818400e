//! Faults of the lines.

use serde_json::{Map, Value, json};

use super::fault::Form;
use super::{Act, Chaos, Fault, Flag, ServerMessage, notification};

const MIB: u64 = 1024 * 1024;

/// A fault of the lines.
pub(super) struct Framing {
    chaos: Chaos,
    /// The first call has been answered.
    struck: bool,
}

impl Framing {
    pub(super) fn new(chaos: &Chaos) -> Self {
        Self {
            chaos: chaos.clone(),
            struck: false,
        }
    }

    /// Changes the answer to a call.
    fn answer(&mut self, saying: &mut ServerMessage) {
        // Huge and deep answers strike once: a client should be seen to recover.
        let first = !std::mem::replace(&mut self.struck, true);
        match self.chaos.flag() {
            Flag::InvalidUtf8 => {
                saying.text.pop();
                saying
                    .text
                    .extend_from_slice(b",\"note\":\"\xff\xfe\xe2\x28\"}");
            }
            Flag::TwoPerLine => {
                let params = json!({"level": "info", "data": "on the same line"});
                let second = notification("notifications/message", &params);
                saying.text.extend_from_slice(second.as_bytes());
            }
            Flag::HugeLine if first => {
                let count = self.chaos.number().saturating_mul(MIB);
                saying.fill(vec![Act::Fill(b"x", count)], Form::Text);
            }
            Flag::Deep if first => {
                let levels = self.chaos.number();
                let nested = vec![Act::Fill(b"[", levels), Act::Fill(b"]", levels)];
                saying.fill(nested, Form::Json);
            }
            Flag::DupKeys => {
                let id = saying.message.get("id").unwrap_or(&Value::Null);
                let decoy = json!([{"type": "text", "text": "the first of two results"}]);
                let mut text =
                    format!(r#"{{"id":{id},"result":{{"content":{decoy}}},"#).into_bytes();
                text.extend(saying.text.iter().skip(1));
                saying.text = text;
            }
            Flag::CaseKeys => saying.edit(|members| {
                let spelled = std::mem::take(members).into_iter().map(|(key, value)| {
                    let mut letters = key.chars();
                    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
                    (first.into_iter().chain(letters).collect(), value)
                });
                *members = spelled.collect::<Map<String, Value>>();
            }),
            Flag::Batch => {
                saying.text.insert(0, b'[');
                saying.text.push(b']');
            }
            _ => {}
        }
    }
}

impl Fault for Framing {
    fn start(&mut self) -> Vec<Act> {
        match self.chaos.flag() {
            Flag::NoiseBefore => {
                let line = |number| format!("starting up, step {number} of many");
                vec![Act::Repeat(self.chaos.number(), Box::new(line))]
            }
            Flag::Bom => vec![Act::line("\u{feff}", "")],
            _ => Vec::new(),
        }
    }

    fn on_server_message(&mut self, saying: &mut ServerMessage) {
        if saying.answers_call_of(self.chaos.tool()) {
            self.answer(saying);
        }
        match self.chaos.flag() {
            Flag::NoiseBetween => saying
                .before
                .push(Act::line("INFO about to say something", "\n")),
            Flag::NulBytes => saying.before.push(Act::line("\0\0\0\0", "\n")),
            Flag::BlankLines => {
                saying.before.push(Act::Repeat(
                    self.chaos.number(),
                    Box::new(|_| String::new()),
                ));
            }
            Flag::Crlf => saying.end = "\r\n",
            Flag::SplitEveryByte => saying.bytewise = true,
            Flag::NeverNewline if self.struck => saying.end = "",
            _ => {}
        }
    }
}
