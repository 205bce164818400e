//! Questions that come while a line is being typed, or several at once.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use switchboard_testkit::models::{self, KEY, ModelApi};

use super::{READY, enter, leave};
use crate::home::Home;
use crate::pty::Pty;
use crate::script::Script;

/// Sends each line of the file `say` once it is there, and writes what comes back to the file `heard`.
const LATER: &str = r#"
import threading

def initialize(request):
    info = {"name": "script", "version": "1"}
    answer(request, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info})

def heard(message):
    if "method" not in message:
        with open("heard", "a") as file:
            file.write(json.dumps(message, sort_keys=True) + "\n")

def later():
    told = 0
    while True:
        time.sleep(0.01)
        if os.path.exists("say"):
            lines = open("say").read().splitlines()
            for line in lines[told:]:
                write(line)
            told = len(lines)

threading.Thread(target=later, daemon=True).start()
"#;

/// A prompt with one server, `mine`, which is connected and says what it is told to.
struct Stage {
    home: Home,
    pty: Pty,
    said: Vec<String>,
    _script: Script,
}

impl Stage {
    fn new(entry: Value, sections: Value, env: &[(&str, &str)]) -> Self {
        let script = Script::new(LATER);
        let home = Home::new();
        let command = script.command();
        let path = command.trim_start_matches("python3 ").trim_matches('\'');
        let mut server = json!({"command": "python3", "args": [path], "cwd": home.path("p")});
        extend(&mut server, entry);
        let mut file = json!({"mcpServers": {"mine": server}});
        extend(&mut file, sections);
        home.write("config/switchboard/mcp.json", &file.to_string());
        let mut command = home.command(&[]);
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.envs(env.iter().copied());
        let mut pty = Pty::start(command, 100);
        pty.wait_for(READY);
        enter(&mut pty, "call mine/go");
        pty.wait_for("went");
        pty.wait_for(READY);
        Self {
            home,
            pty,
            said: Vec::new(),
            _script: script,
        }
    }

    /// Types a part of a command.
    fn begin_a_line(&mut self) {
        self.pty.send(b"call mine/g");
        self.is_half_typed();
    }

    fn is_half_typed(&self) {
        self.pty
            .wait_until(|screen| screen.ends_with("> call mine/g"));
    }

    /// Finds that part as it was, types the rest, and leaves.
    fn goes_on(mut self) {
        self.is_half_typed();
        self.pty.send(b"o\r");
        self.pty.wait_for("went");
        self.pty.wait_for(READY);
        assert_eq!(leave(self.pty).0, 0);
    }

    /// Has the server say these messages, all at once.
    fn say(&mut self, messages: &[Value]) {
        self.said.extend(messages.iter().map(Value::to_string));
        let text = self.said.join("\n") + "\n";
        self.home.write("p/said", &text);
        fs::rename(self.home.path("p/said"), self.home.path("p/say")).unwrap();
    }

    /// Waits until it has heard so many answers, and gives them.
    fn heard(&self, count: usize) -> Vec<Value> {
        let file = self.home.path("p/heard");
        let read = |file: &Path| fs::read_to_string(file).unwrap_or_default();
        while read(&file).lines().count() < count {
            std::thread::yield_now();
        }
        let lines = read(&file);
        let lines = lines.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

fn extend(one: &mut Value, other: Value) {
    if let (Value::Object(one), Value::Object(other)) = (one, other) {
        one.extend(other);
    }
}

fn form(id: &str, fields: &[&str]) -> Value {
    let fields: serde_json::Map<String, Value> = fields
        .iter()
        .map(|name| ((*name).to_owned(), json!({"type": "string"})))
        .collect();
    let schema = json!({"type": "object", "properties": fields});
    let params = json!({"message": format!("about {id}"), "requestedSchema": schema});
    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params})
}

#[test]
fn a_line_that_is_being_typed_waits_until_all_is_answered() {
    let mut stage = Stage::new(json!({}), json!({}), &[]);
    stage.begin_a_line();
    stage.say(&[form("first", &["one", "two"])]);
    stage
        .pty
        .wait_for("The server \"mine\" asks:\r\n  | about first\r\n");
    stage.pty.wait_for("Answer it?");
    let before = stage.pty.written().len();
    stage.pty.send(b"y\r");
    for (question, typed) in [("one: ", "1"), ("two: ", "2"), ("Send it?", "y")] {
        stage.pty.wait_for(question);
        stage.pty.send(format!("{typed}\r").as_bytes());
    }
    let heard = stage.heard(1);
    assert_eq!(
        heard[0]["result"]["content"],
        json!({"one": "1", "two": "2"})
    );
    stage.pty.wait_for(READY);
    let meanwhile = stage.pty.written().split_off(before);
    assert_eq!(meanwhile.matches(READY).count(), 1, "{meanwhile:?}");
    // It goes on where it was.
    stage.goes_on();
}

#[test]
fn ctrl_c_at_a_question_that_comes_by_itself_goes_back_to_the_line() {
    let mut stage = Stage::new(json!({}), json!({}), &[]);
    stage.begin_a_line();
    stage.say(&[form("first", &["one"])]);
    stage.pty.wait_for("Answer it?");
    stage.pty.send(b"y\r");
    stage.pty.wait_for("one: ");
    stage.pty.send(b"\x03");
    assert_eq!(stage.heard(1)[0]["result"], json!({"action": "cancel"}));
    stage.goes_on();
}

#[test]
fn questions_of_all_kinds_take_turns() {
    let api = ModelApi::start(models::openai).unwrap();
    let provider = json!({
        "type": "openai", "base_url": format!("{}/v1", api.base()), "model": "gpt-small",
        "api_key": "${MODEL_KEY}",
    });
    let mut stage = Stage::new(
        json!({"sampling": true}),
        json!({"providers": {"own": provider}}),
        &[("MODEL_KEY", KEY)],
    );
    let content = json!({"type": "text", "text": "what is up"});
    let params = json!({"messages": [{"role": "user", "content": content}], "maxTokens": 9});
    let model = json!({"jsonrpc": "2.0", "id": "model", "method": "sampling/createMessage", "params": params});
    stage.say(&[form("first", &["one"]), model, form("second", &["one"])]);
    // They come in any order, and each is a whole one.
    let mut is_asked = ["about first", "asks the model", "about second"].map(|what| (what, false));
    for _ in 0..3 {
        stage.pty.wait_for("The server \"mine\" ");
        stage.pty.wait_for(": \u{1b}");
        let written = stage.pty.written();
        let fresh = is_asked
            .iter_mut()
            .filter(|(what, is_asked)| !is_asked && written.contains(what));
        let fresh: Vec<_> = fresh.collect();
        assert_eq!(fresh.len(), 1, "one at a time: {written:?}");
        for (what, is_asked) in fresh {
            *is_asked = true;
            let no = if *what == "asks the model" {
                "n\r"
            } else {
                "d\r"
            };
            stage.pty.send(no.as_bytes());
        }
    }
    let heard = stage.heard(3);
    let answer = |id: &str| heard.iter().find(|heard| heard["id"] == id).unwrap();
    assert_eq!(answer("first")["result"], json!({"action": "decline"}));
    assert_eq!(answer("second")["result"], json!({"action": "decline"}));
    assert_eq!(answer("model")["error"]["code"], -1);
    assert_eq!(api.requests().len(), 0);
    stage.pty.wait_for(READY);
    assert_eq!(leave(stage.pty).0, 0);
}

#[test]
fn a_question_that_is_taken_back_leaves_nothing_behind() {
    let mut stage = Stage::new(json!({}), json!({}), &[]);
    stage.say(&[form("first", &["one"])]);
    stage.pty.wait_for("Answer it?");
    stage.pty.send(b"y\r");
    stage.pty.wait_for("one: ");
    stage.pty.send(b"half of it");
    stage
        .pty
        .wait_until(|screen| screen.ends_with("half of it"));
    let back = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "first"}});
    stage.say(&[back]);
    stage.pty.wait_for("(the question was withdrawn)");
    stage.pty.wait_for(READY);
    stage.say(&[form("second", &["one"])]);
    stage.pty.wait_for("Answer it?");
    stage.pty.send(b"y\r");
    stage.pty.wait_for("one: ");
    stage.pty.send(b"all\r");
    stage.pty.wait_for("Send it?");
    stage.pty.send(b"y\r");
    assert_eq!(
        stage.heard(1)[0]["result"]["content"],
        json!({"one": "all"})
    );
    stage.pty.wait_for(READY);
    assert_eq!(leave(stage.pty).0, 0);
}

#[test]
fn what_was_meant_for_a_question_is_no_answer_to_the_one_in_its_place() {
    let mut stage = Stage::new(json!({}), json!({}), &[]);
    stage.say(&[form("first", &["one"])]);
    stage.pty.wait_for("Answer it?");
    let back = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "first"}});
    stage.say(&[back, form("second", &["one"])]);
    stage.pty.wait_for("(the question was withdrawn)");
    stage.pty.send(b"y\r");
    stage.pty.wait_for("about second");
    stage.pty.wait_for("Answer it?");
    stage.pty.send(b"d\r");
    assert_eq!(stage.heard(1)[0]["result"], json!({"action": "decline"}));
    stage.pty.wait_for(READY);
    assert_eq!(leave(stage.pty).0, 0);
}
