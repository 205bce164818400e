//! Secrets that can be found again, and servers that repeat all that they were told.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::parrot::{OVER_HTTP, OVER_STDIO, PARROT};

/// How many there are.
pub(crate) const MANY: usize = 200;

/// What stands between the two halves of a secret: whatever JSON, URLs and shells write otherwise.
const ODD: &[&str] = &[
    "", "", "/", "+", "%", "&", "=", "\"", "\\", "'", " ", "$", "<", "é", "%2F", ":", "?", "#", ";",
];

/// A secret like no other: one in seven of eight letters, the others two halves with something odd
/// between them.
pub(crate) fn canary(number: usize) -> String {
    let [first, second] = halves(number);
    match number % 7 {
        0 => first,
        _ => format!("{first}{}{second}", ODD[number % ODD.len()]),
    }
}

/// The same, where no letter means anything to anybody.
pub(crate) fn plain_canary(number: usize) -> String {
    halves(number).concat()
}

/// The parts of which none may be seen.
pub(crate) fn halves(number: usize) -> [String; 2] {
    const LETTERS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789";
    let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(number as u64 + 7);
    let mut half = |first: char| {
        let mut text = String::from(first);
        while text.len() < 8 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let at = usize::try_from(state % LETTERS.len() as u64).unwrap();
            text.push(char::from(LETTERS[at]));
        }
        text
    };
    [half('Q'), half('7')]
}

/// Everything that was shown, and where.
#[derive(Default)]
pub(crate) struct Shown(Vec<(String, String)>);

impl Shown {
    pub(crate) fn add(&mut self, place: impl Into<String>, text: impl Into<String>) {
        self.0.push((place.into(), text.into()));
    }

    /// All of it.
    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// Where a secret is to be seen.
    pub(crate) fn hits(&self) -> Vec<String> {
        let secrets = (0..MANY).flat_map(|number| halves(number).map(|half| (half, number)));
        let secrets: HashMap<String, usize> = secrets.collect();
        let mut hits = Vec::new();
        for (place, text) in &self.0 {
            for (at, _) in text.match_indices(['Q', '7']) {
                let number = text.get(at..at + 8).and_then(|half| secrets.get(half));
                if let Some(number) = number {
                    let before: String = text[..at].chars().rev().take(120).collect();
                    let before: String = before.chars().rev().collect();
                    let behind: String = text[at..].chars().take(40).collect();
                    hits.push(format!("{place}: no. {number}: {before}{behind}"));
                }
            }
        }
        hits
    }
}

/// Everything that is traced, at every level and by everybody.
#[derive(Clone, Default)]
pub(crate) struct Traced(pub(crate) Arc<Mutex<String>>);

struct Fields<'a>(&'a mut String);

impl tracing::field::Visit for Fields<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        self.0.push_str(&format!(" {field}={value:?}"));
    }
}

impl tracing::Subscriber for Traced {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        let mut text = self.0.lock().unwrap();
        text.push_str(&format!("\nspan {}", span.metadata().name()));
        span.record(&mut Fields(&mut text));
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, values: &tracing::span::Record<'_>) {
        values.record(&mut Fields(&mut self.0.lock().unwrap()));
    }

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut text = self.0.lock().unwrap();
        text.push_str(&format!("\n{}", event.metadata().target()));
        event.record(&mut Fields(&mut text));
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

/// What the servers that are started make of it.
const STARTED: [&str; 5] = ["good", "escaped", "crash", "refuse", "no-list"];

/// What those at URLs do.
const REMOTE: [&str; 8] = [
    "good", "refuse", "no-list", "status", "login", "moved", "page", "torn",
];

/// The servers, and what has to be there for them.
pub(crate) struct Parrots {
    pub(crate) folder: TempDir,
    http: Child,
    port: u16,
}

impl Parrots {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, rest: &str| {
            std::fs::write(folder.path().join(name), format!("{PARROT}{rest}")).unwrap();
        };
        write("stdio.py", OVER_STDIO);
        write("web.py", OVER_HTTP);
        let mut http = Command::new("python3")
            .arg(folder.path().join("web.py"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(http.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let port = line.trim().parse().unwrap();
        Self { folder, http, port }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The variables of the person that servers are let see.
    pub(crate) fn variables() -> Vec<(String, String)> {
        let numbers = (30..45).chain(190..200);
        let own = numbers.map(|number| (format!("OWN_{number}_KEY"), canary(number)));
        own.collect()
    }

    /// A server that is started, with its share of one half of the secrets.
    pub(crate) fn started(&self, mode: &str) -> Value {
        let share = STARTED.iter().position(|known| *known == mode).unwrap();
        let of = |numbers: std::ops::Range<usize>| {
            numbers.filter(move |number| number % STARTED.len() == share)
        };
        let mut env = serde_json::Map::new();
        for number in of(0..30) {
            env.insert(format!("TOKEN_{number}"), json!(canary(number)));
        }
        for number in of(190..200) {
            let reference = format!("x ${{OWN_{number}_KEY}}");
            env.insert(format!("TOKEN_{number}"), json!(reference));
        }
        let lines =
            of(45..50).map(|number| format!("FILED_KEY_{number}='{}'\n", plain_canary(number)));
        let file = self.path(&format!("{mode}.env"));
        std::fs::write(&file, lines.collect::<String>()).unwrap();
        let passed: Vec<String> = of(30..45)
            .map(|number| format!("OWN_{number}_KEY"))
            .collect();
        let mut args = vec![json!(self.path("stdio.py")), json!(mode)];
        for number in of(50..100) {
            let (odd, plain) = (canary(number), plain_canary(number));
            let more = match number / 5 % 10 {
                0 => vec![format!("--token={odd}")],
                1 => vec!["--api-key".to_owned(), odd],
                2 => vec![format!("API_KEY={odd}")],
                3 => vec![format!("https://me:{plain}@example.com/x?token={plain}")],
                4 => vec![format!("Authorization: Bearer {plain}")],
                5 => vec!["--password".to_owned(), odd],
                6 => vec![format!("ghp_{plain}{plain}")],
                7 => vec!["--header".to_owned(), format!("X-Api-Key: {plain}")],
                8 => {
                    let file = self.path(&format!("secret-{number}"));
                    std::fs::write(&file, format!("{odd}\n")).unwrap();
                    vec![format!("--key-file-content=${{file:{}}}", file.display())]
                }
                _ => {
                    let file = self.path(&format!("secret-{number}"));
                    std::fs::write(&file, &odd).unwrap();
                    vec![format!("${{file:{}}}", file.display())]
                }
            };
            args.extend(more.into_iter().map(Value::from));
        }
        json!({
            "command": "python3", "args": args, "env": env, "env_passthrough": passed,
            "envFile": file, "timeout": "20s",
        })
    }

    /// A server at a URL, with its share of the other half.
    pub(crate) fn remote(&self, mode: &str) -> Value {
        let share = REMOTE.iter().position(|known| *known == mode).unwrap();
        let of = |numbers: std::ops::Range<usize>| {
            numbers.filter(move |number| number % REMOTE.len() == share)
        };
        let mut headers = serde_json::Map::new();
        for number in of(100..160) {
            // Headers are ASCII.
            let value = canary(number).replace('é', "~");
            let value = match number % 3 {
                0 => format!("Bearer {value}"),
                _ => value,
            };
            headers.insert(format!("X-Value-{number}"), json!(value));
        }
        let query = of(160..187).map(|number| {
            let value: String = url_form(&canary(number));
            format!("key{number}={value}")
        });
        let query = query.collect::<Vec<_>>().join("&");
        let (path, name) = (plain_canary(187).repeat(2), plain_canary(188));
        let password = plain_canary(189);
        let port = self.port;
        let url = format!("http://{name}:{password}@127.0.0.1:{port}/{mode}/{path}/mcp?{query}");
        json!({"url": url, "headers": headers, "timeout": "20s"})
    }

    /// All servers there are.
    pub(crate) fn servers(&self) -> Value {
        let mut servers = serde_json::Map::new();
        for mode in STARTED {
            servers.insert(format!("started-{mode}"), self.started(mode));
        }
        for mode in REMOTE {
            servers.insert(format!("remote-{mode}"), self.remote(mode));
        }
        Value::Object(servers)
    }
}

impl Drop for Parrots {
    fn drop(&mut self) {
        self.http.kill().ok();
        self.http.wait().ok();
    }
}

/// Writes a text as a value of a query.
fn url_form(text: &str) -> String {
    let byte = |byte: u8| match byte.is_ascii_alphanumeric() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// A file of the person's own.
pub(crate) fn write(file: &Path, servers: &Value) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, json!({"mcpServers": servers}).to_string()).unwrap();
}
