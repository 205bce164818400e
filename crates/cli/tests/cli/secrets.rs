//! Two hundred secrets of configured servers that repeat them wherever they can: none is printed but in
//! results, which are as the server sent them unless `--mask` is given.

use std::collections::HashMap;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::at_once;
use crate::canned::Canned;
use crate::run::{Run, command};
use crate::script::Script;

const MANY: usize = 200;

/// The runs at once: most of them wait for a server most of their time.
const AT_ONCE: usize = 4;

/// What JSON, URLs and shells write otherwise.
const ODD: &[&str] = &[
    "", "/", "+", "%", "&", "=", "\"", "\\", "'", " ", "$", "<", "é", ":",
];

/// The parts of a secret, of which none may be seen.
fn halves(number: usize) -> [String; 2] {
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

fn canary(number: usize) -> String {
    let [first, second] = halves(number);
    match number % 7 {
        0 => first,
        _ => format!("{first}{}{second}", ODD[number % ODD.len()]),
    }
}

/// Whether a line shows a result of the server.
fn has_result(line: &[String]) -> bool {
    let words: Vec<&str> = line.iter().map(String::as_str).collect();
    matches!(
        words.as_slice(),
        ["call", "good/go" | "good/data" | "good/fail", ..]
            | ["read", "good", ..]
            | ["prompt", "good/p"]
    )
}

/// Where a secret is to be seen.
fn hits(run: &Run) -> Vec<String> {
    let secrets = (0..MANY).flat_map(|number| halves(number).map(|half| (half, number)));
    let secrets: HashMap<String, usize> = secrets.collect();
    let printed = format!("{}\n{}", run.stdout, run.stderr);
    let found = printed.match_indices(['Q', '7']).filter(|(at, _)| {
        let half = printed.get(*at..at + 8);
        half.is_some_and(|half| secrets.contains_key(half))
    });
    let near = |at: usize| {
        let before: String = printed[..at].chars().rev().take(100).collect();
        let before: String = before.chars().rev().collect();
        format!("{before}{}", &printed[at..at + 8])
    };
    found.map(|(at, _)| near(at)).collect()
}

/// Repeats its variables and arguments in everything that a server can say.
const PARROT: &str = r#"
WORDS = [os.environ[name] for name in sorted(os.environ) if name.startswith(("TOKEN", "OWN"))] + sys.argv[2:]
TOLD = " ".join(WORDS)
SHORT = " ".join(WORDS[:2])
sys.stderr.write(TOLD + "\n")
if sys.argv[1] == "crash":
    sys.exit(3)
TOOLS = [tool("say " + SHORT, description=TOLD, inputSchema={"type": "object", "properties": {SHORT: {"enum": [TOLD]}}}),
         {"name": "odd " + SHORT}, tool("odd", inputSchema=TOLD), tool("say " + SHORT),
         tool("go"), tool("data"), tool("fail"), tool("refuse"), tool("die"),
         tool("strict", inputSchema={"type": "object", "properties": {"a": {"enum": [TOLD]}}, "required": ["a"]})]
def initialize(request):
    if sys.argv[1] == "refuse":
        return refuse(request, -32000, TOLD, data=TOLD)
    info = {"name": TOLD, "version": TOLD}
    capabilities = {"tools": {}, "prompts": {}, "resources": {}}
    answer(request, {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info, "instructions": TOLD})
def heard(request):
    write(TOLD)
    method = request.get("method")
    if method == "prompts/list":
        answer(request, {"prompts": [{"name": "p", "description": TOLD}, {"name": SHORT}, {"no": TOLD}]})
    elif method == "resources/list":
        answer(request, {"resources": [{"uri": "file:///x", "name": TOLD}, {"uri": "file:///" + SHORT, "name": "y"}]})
    elif method == "resources/read":
        answer(request, {"contents": [{"uri": "file:///x", "text": TOLD}]})
    elif method == "prompts/get":
        answer(request, {"messages": [{"role": "user", "content": {"type": "text", "text": TOLD}}]})
def call(request):
    name = request["params"]["name"]
    if name == "data":
        answer(request, {"content": [], "structuredContent": {SHORT: [TOLD]}})
    elif name == "fail":
        answer(request, {**text(TOLD), "isError": True})
    elif name == "refuse":
        refuse(request, -32000, TOLD, data={SHORT: TOLD})
    elif name == "die":
        write(TOLD)
        os._exit(1)
    else:
        answer(request, {**text(TOLD), SHORT: TOLD})
"#;

struct Person {
    folder: TempDir,
    _server: Script,
    _canned: [Canned; 3],
}

impl Person {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Script::new(PARROT);
        let script = server.command();
        let script = script.trim_start_matches("python3 ").trim_matches('\'');
        let mut servers = serde_json::Map::new();
        for (share, mode) in ["good", "crash", "refuse"].iter().enumerate() {
            let of = |numbers: std::ops::Range<usize>| numbers.filter(move |n| n % 3 == share);
            let env = of(0..60).map(|n| (format!("TOKEN_{n}"), json!(canary(n))));
            let env: serde_json::Map<String, Value> = env.collect();
            let passed: Vec<String> = of(60..90).map(|n| format!("OWN_KEY_{n}")).collect();
            let mut args = vec![script.to_owned(), (*mode).to_owned()];
            for number in of(90..120) {
                let secret = canary(number);
                args.extend(match number / 3 % 4 {
                    0 => vec![format!("--token={secret}")],
                    1 => vec!["--api-key".to_owned(), secret],
                    2 => vec![format!(
                        "https://me:{}@example.com/?k=1",
                        halves(number).concat()
                    )],
                    _ => {
                        let file = folder.path().join(format!("secret-{number}"));
                        fs::write(&file, secret).unwrap();
                        vec![format!("${{file:{}}}", file.display())]
                    }
                });
            }
            let entry = json!({
                "command": "python3", "args": args, "env": env, "env_passthrough": passed,
            });
            servers.insert((*mode).to_owned(), entry);
        }
        let mut canned = Vec::new();
        for (share, status) in ["500 No", "401 No", "302 No"].iter().enumerate() {
            let of = |numbers: std::ops::Range<usize>| numbers.filter(move |n| n % 3 == share);
            let headers = of(120..180).map(|n| (format!("X-{n}"), canary(n).replace('é', "~")));
            let headers: Vec<(String, String)> = headers.collect();
            let query: Vec<String> = of(180..200).map(|n| halves(n).concat()).collect();
            let told = headers.iter().map(|(_, value)| value.as_str());
            let told: Vec<&str> = told.chain(query.iter().map(String::as_str)).collect();
            let more = format!(
                "X-Told: {0}\r\nWWW-Authenticate: Bearer realm=\"{0}\"\r\n\
                 Location: http://127.0.0.1:1/{0}\r\n",
                query.join("-")
            );
            let server = Canned::answering(status, &more, &told.join(" "));
            let address = server.url().replace("http://", "");
            let url = format!(
                "http://{}:{}@{address}?key={}",
                query[0],
                query[1],
                query.join("&key=")
            );
            let headers: serde_json::Map<String, Value> = headers
                .into_iter()
                .map(|(name, value)| (name, json!(value)))
                .collect();
            let entry = json!({"url": url, "headers": headers, "max_retries": 0});
            servers.insert(format!("web{share}"), entry);
            canned.push(server);
        }
        let file = folder.path().join("config/switchboard/mcp.json");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, json!({"mcpServers": servers}).to_string()).unwrap();
        Self {
            folder,
            _server: server,
            _canned: canned.try_into().ok().unwrap(),
        }
    }

    fn run(&self, args: &[&str]) -> Run {
        let own = (60..90).map(|number| (format!("OWN_KEY_{number}"), canary(number)));
        let mut command = command(args);
        command
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.folder.path().join("config"))
            .env("XDG_STATE_HOME", self.folder.path().join("state"))
            .envs(own);
        Run::of(command.output().unwrap())
    }
}

#[test]
fn no_secret_of_a_configured_server_is_printed() {
    let person = Person::new();
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut add = |words: &str| lines.push(words.split(' ').map(str::to_owned).collect());
    for verb in ["servers", "tools", "resources", "templates", "prompts"] {
        add(verb);
        for name in ["good", "crash", "refuse", "web0", "web1", "web2"] {
            add(&format!("{verb} {name}"));
        }
    }
    for tool in [
        "go", "data", "fail", "refuse", "die", "strict", "odd", "missing",
    ] {
        add(&format!("call good/{tool}"));
    }
    add("tool good/strict");
    add("tool good/missing");
    add("call good/strict a=x");
    add("call mcp__good__missing");
    for rest in ["crash/x", "refuse/x", "web0/x", "web1/x"] {
        add(&format!("call {rest}"));
        add(&format!("prompt {rest}"));
    }
    add("read good file:///x");
    add("read crash file:///x");
    add("prompt good/p");
    add("prompt good/missing");
    add("leftovers");
    let events = person.folder.path().join("events.jsonl");
    let (masks, results) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let all = Mutex::new(Vec::new());
    at_once::for_each(AT_ONCE, &lines, |line| {
        for json in [false, true] {
            let mut args: Vec<&str> = line.iter().map(String::as_str).collect();
            if json {
                args.push("--json");
            }
            if line[0] != "leftovers" {
                args.extend(["--events", events.to_str().unwrap()]);
            }
            let mut seen = Vec::new();
            if has_result(line) {
                let whole = person.run(&args);
                results.fetch_add(usize::from(!hits(&whole).is_empty()), Relaxed);
                let (stdout, stderr) = (String::new(), whole.stderr);
                let beside = Run {
                    code: None,
                    stdout,
                    stderr,
                };
                seen.extend(hits(&beside));
                args.push("--mask");
            }
            let run = person.run(&args);
            masks.fetch_add(usize::from(format!("{run:?}").contains("***")), Relaxed);
            seen.extend(hits(&run));
            let seen = seen.into_iter().map(|hit| format!("{args:?}: {hit}"));
            all.lock().unwrap().extend(seen);
        }
    });
    let mut all = all.into_inner().unwrap();
    let (masks, results) = (masks.into_inner(), results.into_inner());
    let journal = Run {
        code: None,
        stdout: fs::read_to_string(&events).unwrap(),
        stderr: String::new(),
    };
    all.extend(
        hits(&journal)
            .into_iter()
            .map(|hit| format!("events: {hit}")),
    );
    let first = all
        .iter()
        .take(12)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n\n");
    assert!(all.is_empty(), "{} hits:\n{first}", all.len());
    // The parrots were heard: it is the secrets that are missing, not what they said.
    assert!(masks > 40, "{masks}");
    // Results are whole: five of them, in text and in JSON.
    assert_eq!(results, 10);
}
