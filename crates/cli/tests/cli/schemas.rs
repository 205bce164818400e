//! What `--json`, `--events` and `--trace` print, held against the schemas of `docs/schemas`.
//!
//! Every run of these tests that says `--json` is checked; here are the verbs that no other test runs, and that no
//! verb and no schema is without the other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::home::Home;
use crate::run::{Run, switchboard};
use crate::script::Script;

/// Which schema is for which verb; `repl` and `test-server` print nothing of their own.
const VERBS: &[(&str, &str)] = &[
    ("servers", "servers"),
    ("tools", "tools"),
    ("tool", "tool"),
    ("call", "call"),
    ("resources", "resources"),
    ("templates", "templates"),
    ("read", "read"),
    ("context", "context"),
    ("prompts", "prompts"),
    ("prompt", "prompt"),
    ("ping", "ping"),
    ("logs", "logs"),
    ("watch", "watch"),
    ("login", "login"),
    ("logout", "logout"),
    ("auth status", "auth-status"),
    ("add", "edit"),
    ("remove", "edit"),
    ("enable", "edit"),
    ("disable", "edit"),
    ("import", "import"),
    ("trust list", "trust-list"),
    ("trust show", "trust-show"),
    ("trust approve", "trust-approve"),
    ("trust revoke", "trust-revoke"),
    ("config show", "config-show"),
    ("config check", "config-check"),
    ("config path", "config-path"),
    ("policy why", "policy-why"),
    ("policy list", "policy-list"),
    ("policy revoke", "policy-revoke"),
    ("pins list", "pins-list"),
    ("pins diff", "pins-diff"),
    ("pins approve", "pins-approve"),
    ("pins revoke", "pins-revoke"),
    ("lock", "lock"),
    ("verify", "verify"),
    ("doctor", "doctor"),
    ("export", "export"),
    ("token add", "token-text"),
    ("token rotate", "token-text"),
    ("token list", "token-list"),
    ("token revoke", "token-revoke"),
    ("install", "install"),
    ("leftovers", "leftovers"),
    ("status", "status"),
];

/// Schemas of what is not the result of a verb.
const OTHERS: [&str; 3] = ["error", "events", "trace"];

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schemas"))
}

static SCHEMAS: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(|| {
    let files = fs::read_dir(folder())
        .unwrap()
        .map(|file| file.unwrap().path());
    let schemas = files.map(|file| {
        let schema: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, jsonschema::validator_for(&schema).unwrap())
    });
    schemas.collect()
});

fn verb_of(args: &[&str]) -> Option<&'static str> {
    let fits = |verb: &str| {
        let mut words = verb.split(' ').zip(args);
        words.all(|(word, arg)| word == *arg) && args.len() >= verb.split(' ').count()
    };
    let found = VERBS.iter().find(|(verb, _)| fits(verb));
    found.map(|(_, schema)| *schema)
}

/// Holds what a run printed against the schemas of its verb and of errors.
pub(crate) fn check(args: &[&str], run: &Run) {
    // What follows `--` belongs to the server.
    let mut own = args.iter().take_while(|arg| **arg != "--");
    if !own.any(|arg| *arg == "--json") {
        return;
    }
    if let Some(schema) = verb_of(args) {
        run.stdout.lines().for_each(|line| fits(schema, line, args));
    }
    let errors = run
        .stderr
        .lines()
        .filter(|line| line.starts_with("{\"exit\":"));
    errors.for_each(|line| fits("error", line, args));
}

/// Holds a line against a schema.
fn fits(schema: &str, line: &str, what: &[&str]) {
    let value: Value = match serde_json::from_str(line) {
        Ok(value) => value,
        // A server may send numbers that `Value` cannot hold, and results are printed as they were sent.
        Err(error) if schema == "call" && error.to_string().contains("out of range") => return,
        Err(error) => panic!("{what:?} {schema}: {error} {line}"),
    };
    let errors: Vec<String> = SCHEMAS[schema]
        .iter_errors(&value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{what:?} {schema}: {errors:#?} {line}");
}

#[test]
fn every_verb_with_json_has_a_schema_and_every_schema_is_used() {
    fn verbs(prefix: &[&str]) -> Vec<String> {
        let help = switchboard(&[prefix, &["--help"]].concat()).stdout;
        let mut lines = help
            .lines()
            .skip_while(|line| *line != "Commands:")
            .skip(1)
            .peekable();
        if lines.peek().is_none() {
            let has_json = help
                .lines()
                .any(|line| line.trim_start().starts_with("--json"));
            return has_json.then(|| prefix.join(" ")).into_iter().collect();
        }
        let rows = lines.take_while(|line| !line.is_empty());
        // Commands are indented by two; what is said about one may go on below it.
        let rows = rows.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let names = rows.filter_map(|line| line.split_whitespace().next());
        let names: Vec<&str> = names.filter(|name| *name != "help").collect();
        names
            .iter()
            .flat_map(|name| verbs(&[prefix, &[*name]].concat()))
            .collect()
    }
    let all: BTreeSet<String> = verbs(&[])
        .into_iter()
        .filter(|verb| verb != "repl")
        .collect();
    let known: BTreeSet<String> = VERBS.iter().map(|(verb, _)| (*verb).to_owned()).collect();
    assert_eq!(all, known);
    let files: BTreeSet<&str> = SCHEMAS.keys().map(String::as_str).collect();
    let used = VERBS.iter().map(|(_, schema)| *schema).chain(OTHERS);
    assert_eq!(files, used.collect());
}

#[test]
fn our_own_objects_have_no_other_members_and_are_snake_case() {
    fn walk(value: &Value, file: &str) {
        if let Some(properties) = value["properties"].as_object() {
            let is_protocol = value["description"]
                .as_str()
                .is_some_and(|text| text.starts_with("As the server sent it"));
            assert!(
                is_protocol || value["additionalProperties"] == false,
                "{file}: {value}"
            );
            let is_snake = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            for name in properties.keys().filter(|_| !is_protocol) {
                assert!(is_snake(name), "{file}: {name}");
            }
        }
        let inner: Vec<&Value> = match value {
            Value::Object(members) => members.values().collect(),
            Value::Array(items) => items.iter().collect(),
            _ => Vec::new(),
        };
        inner.into_iter().for_each(|value| walk(value, file));
    }
    for name in SCHEMAS.keys() {
        let text = fs::read_to_string(folder().join(format!("{name}.json"))).unwrap();
        walk(&serde_json::from_str(&text).unwrap(), name);
    }
}

const MINE: &str = "config/switchboard/mcp.json";

/// A home with servers in all states, agents, and a project of others.
fn home() -> Home {
    let home = Home::new();
    let own = env!("CARGO_BIN_EXE_switchboard");
    let config = json!({
        "agents": {"one": {"level": "yolo", "grants": ["mcp:good:*"]}},
        "mcpServers": {
            "good": {"command": own, "args": ["test-server"]},
            "gone": {"command": "no-such-command-anywhere"},
            "loud": {"command": "/bin/sh", "args": ["-c", "echo hi >&2; exit 3"]},
            "off": {"command": own, "disabled": true},
            "bad": {"comand": "x"},
        },
    });
    home.write(MINE, &config.to_string());
    let theirs = json!({"theirs": {"command": "sh", "args": ["-c", "x"]}});
    home.write("p/.mcp.json", &json!({"mcpServers": theirs}).to_string());
    home
}

#[test]
fn every_verb_prints_what_its_schema_says() {
    let home = home();
    // Each is checked where it is run; here is what must have printed something.
    for (line, code) in [
        ("servers", 0),
        ("servers good", 0),
        ("servers off", 0),
        ("servers gone", 4),
        ("servers theirs", 7),
        ("tools", 0),
        ("tools good", 0),
        ("tool good/echo", 0),
        ("call good/echo message=hi", 0),
        ("resources", 0),
        ("resources good", 0),
        ("templates good", 0),
        ("read good file:///readme.txt", 0),
        ("prompts", 0),
        ("prompts good", 0),
        ("prompt good/greeting name=Ada", 0),
        ("ping", 0),
        ("ping good", 0),
        ("logs loud", 4),
        ("doctor", 6),
        ("config show", 0),
        ("config check", 6),
        ("config path", 0),
        ("trust list", 0),
        ("trust show theirs", 0),
        ("trust approve theirs --yes", 0),
        ("trust list", 0),
        ("trust revoke theirs", 0),
        ("policy why one good/echo", 0),
        ("policy list", 0),
        ("policy revoke --all", 0),
        ("pins approve good --yes", 0),
        ("pins list", 0),
        ("pins diff good", 0),
        ("pins revoke good", 0),
        ("export good off --to cursor", 0),
        ("leftovers", 0),
        ("status", 0),
        ("auth status", 0),
        ("logout --all", 0),
        ("add new -- sh -c x", 0),
        ("disable new", 0),
        ("enable new", 0),
        ("remove new", 0),
        ("import .mcp.json --dry-run", 0),
        (
            "token add ci --grants mcp:good:* --level yolo --expires 1d",
            0,
        ),
        ("token rotate ci", 0),
        ("token list", 0),
        ("token revoke ci", 0),
        ("install --to cursor", 0),
        ("install --to cursor --undo", 0),
    ] {
        // What follows `--` is the server's.
        let (verb, rest) = line.split_once(" -- ").unwrap_or((line, ""));
        let mut args: Vec<&str> = verb.split(' ').chain(["--json"]).collect();
        if !rest.is_empty() {
            args.push("--");
            args.extend(rest.split(' '));
        }
        let run = home.run(&args);
        assert_eq!(run.code, Some(code), "{line}: {run:?}");
        assert_ne!(run.stdout, "", "{line}: {run:?}");
    }
    assert!(!home.has_canary());
}

#[test]
fn locks_events_and_traces_fit_their_schemas() {
    let home = Home::new();
    let own = env!("CARGO_BIN_EXE_switchboard");
    let servers = json!({"good": {"command": own, "args": ["test-server"]}});
    home.write("p/a.json", &json!({"mcpServers": servers}).to_string());
    for verb in ["lock", "verify"] {
        let run = home.run(&[verb, "--config", "a.json", "--json"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_ne!(run.stdout, "", "{run:?}");
    }
    let files = [
        "--events",
        "events",
        "--trace",
        "trace",
        "--log-level",
        "debug",
    ];
    let args = [
        "call",
        "good/echo",
        "message=hi",
        "--config",
        "a.json",
        "--json",
    ];
    assert_eq!(home.run(&[&args[..], &files].concat()).code, Some(0));
    for (file, least) in [("events", 4), ("trace", 4)] {
        let lines = home.read(&format!("p/{file}"));
        assert!(lines.lines().count() >= least, "{file}: {lines}");
        lines.lines().for_each(|line| fits(file, line, &[file]));
    }
}

#[test]
fn a_line_of_watch_fits_its_schema() {
    let script = Script::new(
        r#"
def initialize(request):
    info = {"name": "changing", "version": "1"}
    capabilities = {"resources": {"subscribe": True}}
    answer(request, {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info})

def heard(message):
    if message.get("method") == "resources/subscribe":
        answer(message, {})
        params = {"uri": message["params"]["uri"]}
        write(json.dumps({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params}))
        message["method"] = "done"
        del message["id"]
"#,
    );
    let mut command = crate::run::command(&[
        "watch",
        "--stdio",
        &script.command(),
        "file:///a",
        "--protocol",
        "legacy",
        "--json",
    ]);
    command.stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    fits("watch", &line, &["watch"]);
    child.kill().unwrap();
    child.wait().unwrap();
}
