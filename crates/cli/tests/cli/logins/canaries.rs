//! Every secret of a login, by every grant: none is in anything that is printed, traced, written down or kept, however
//! often issuers and servers repeat them. The issuer writes down what really passed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use switchboard::Limits;
use switchboard::auth::{KeyFile, SealedFile, TokenStore as _};

use super::{Stage, answered};
use crate::at_once;
use crate::pty::Pty;
use crate::run::Run;

/// A private key of these tests alone, and its public half.
const CLIENT_KEY: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJF3Yi/ZkPjT9vqcB
rBL4kZx3hHwJuRjuTFbdy6TG6AmhRANCAASvSGcNpLav7KBoRd6SHF3nWRt8vxGU
+eQK6JkGPSdGJl0BxE3jT6x1n8mDCfNFKiD+eoz/AzW7lVB5vT8XLa9m
-----END PRIVATE KEY-----
";
const PUBLIC_KEY: &str = r#"{"kty":"EC","crv":"P-256","x":"r0hnDaS2r-ygaEXekhxd51kbfL8RlPnkCuiZBj0nRiY","y":"XQHETeNPrHWfyYMJ80UqIP56jP8DNbuVUHm9Pxctr2Y"}"#;
/// The prompt that waits for a line.
const PROMPT: &str = "switchboard> ";
const CALL: [&str; 3] = ["call", "tickets/echo", "message=hello"];

/// The verbs that connect, and take `--events` and `--trace`.
const CONNECTING: &[&str] = &[
    "servers",
    "servers tickets",
    "tools",
    "tools tickets",
    "tool tickets/echo",
    "call tickets/echo message=hello",
    "call tickets/missing",
    "call tickets/fail",
    "resources tickets",
    "templates tickets",
    "prompts tickets",
    "read tickets test://nothing",
    "prompt tickets/nothing",
    "ping tickets",
    "logs tickets --for 50ms",
    "watch tickets file:///readme.txt --for 50ms",
];
/// The others.
const LOCAL: &[&str] = &[
    "doctor",
    "doctor tickets",
    "config show",
    "config check",
    "config path",
    "auth status",
    "auth status tickets",
    "login tickets",
    "export --to claude-code",
    "export --to codex",
    "export --to vscode",
    "trust list",
    "trust show tickets",
    "policy list",
    "policy why agent tickets/echo",
    "pins list",
    "lock",
    "verify",
    "leftovers",
];

/// A stage, the secrets of its logins, and everything that was shown.
struct Watch {
    stage: Stage,
    planted: BTreeMap<String, &'static str>,
    shown: Vec<(String, String)>,
}

impl Watch {
    /// An issuer with these settings and faults, and a server with this `oauth` block.
    fn new(settings: &[&str], faults: &[&str], oauth: &Value) -> Self {
        let passed = tempfile::NamedTempFile::new().unwrap();
        let (_, passed) = passed.keep().unwrap();
        let secrets = format!("secrets={}", passed.display());
        let settings = [settings, &[secrets.as_str()]].concat();
        let stage = Stage::with(&settings, faults);
        fs::rename(&passed, stage.home.path("passed")).unwrap();
        stage.describe(&oauth.to_string());
        Self {
            stage,
            planted: BTreeMap::new(),
            shown: Vec::new(),
        }
    }

    fn plant(&mut self, kind: &'static str, value: &str) {
        self.planted.insert(value.to_owned(), kind);
    }

    fn run(&mut self, args: &[&str]) -> Run {
        let mut command = self.stage.command(args);
        for (value, kind) in &self.planted {
            if *kind == "variable" {
                command.env("TICKETS_SECRET", value);
            }
        }
        let run = Run::of(command.output().unwrap());
        let place = args.join(" ");
        self.show(&format!("{place}, stdout"), &run.stdout);
        self.show(&format!("{place}, stderr"), &run.stderr);
        run
    }

    fn show(&mut self, place: &str, text: &str) {
        self.shown.push((place.to_owned(), text.to_owned()));
    }

    /// Begins a login that another process finishes. The address of the login has its state in it, and is what the
    /// person asked for; nothing else may be in it.
    fn begin(&mut self, more: &[&str]) -> Run {
        let args = [&["login", "tickets", "--no-browser"], more].concat();
        let begun = self.run(&args);
        let state = begun.stdout.split("&state=").nth(1).unwrap_or_default();
        let state: String = state
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || "-_.~".contains(*c))
            .collect();
        if !state.is_empty() {
            for (place, text) in &mut self.shown {
                if place.starts_with("login tickets --no-browser") {
                    *text = text.replace(&state, "STATE");
                }
            }
        }
        begun
    }

    fn log_in(&mut self, more: &[&str]) -> Run {
        let begun = self.begin(more);
        assert_eq!(begun.code, Some(0), "{}", begun.stderr);
        self.keep_stored();
        let answer = answered(begun.stdout.trim());
        let done = self.run_unnamed(&["login", "tickets", "--finish", &answer]);
        self.keep_stored();
        done
    }

    /// Runs a command whose own words are secret.
    fn run_unnamed(&mut self, args: &[&str]) -> Run {
        let run = Run::of(self.stage.command(args).output().unwrap());
        self.show("a command, stdout", &run.stdout);
        self.show("a command, stderr", &run.stderr);
        run
    }

    fn call(&mut self) {
        let called = self.run(&CALL);
        assert_eq!(called.stdout, "hello\n", "{}", called.stderr);
        self.keep_stored();
    }

    /// Runs every verb, plainly and with `--json`, with traces and events.
    fn run_all_verbs(&mut self) {
        let events = self.stage.home.path("events.jsonl");
        let trace = self.stage.home.path("trace.jsonl");
        let files = [
            "--events",
            events.to_str().unwrap(),
            "--trace",
            trace.to_str().unwrap(),
            "--log-level",
            "debug",
        ];
        for (line, more) in CONNECTING
            .iter()
            .map(|line| (line, &files[..]))
            .chain(LOCAL.iter().map(|line| (line, &[][..])))
        {
            let words: Vec<&str> = line.split(' ').collect();
            for json in [&[][..], &["--json"]] {
                let run = self.run(&[&words, more, json].concat());
                // A line that is not understood would show nothing.
                assert!(!run.stderr.contains("Usage: "), "{line}: {}", run.stderr);
            }
        }
        self.run(&[&CALL[..], &["--trace", "-"]].concat());
        self.complete();
        self.type_at_prompt(&[
            "/mcp",
            "servers tickets",
            "tools tickets",
            "call tickets/echo message=hello",
            "call tickets/missing",
            "auth status",
            "logs tickets --for 50ms",
            "help login",
        ]);
    }

    /// Has shells complete words after the commands that know servers, tools and logins.
    fn complete(&mut self) {
        for words in [
            &["call", "tickets/"][..],
            &["call", "tickets/echo", ""],
            &["read", "tickets", ""],
            &["logout", ""],
            &["login", "tickets", "--"],
        ] {
            let args = [&["--", "switchboard"], words].concat();
            let mut command = self.stage.command(&args);
            command.env("SWITCHBOARD_COMPLETE", "fish");
            let run = Run::of(command.output().unwrap());
            assert_eq!(run.code, Some(0), "{words:?}: {}", run.stderr);
            self.show(&format!("completion of {words:?}"), &run.stdout);
            self.show(&format!("completion of {words:?}, stderr"), &run.stderr);
        }
    }

    /// Types lines at the prompt, one after the other, and shows all that was drawn.
    fn type_at_prompt(&mut self, lines: &[&str]) {
        let trace = self.stage.home.path("prompt-trace.jsonl");
        let args = ["repl", "--trace", trace.to_str().unwrap()];
        let mut command = self.stage.command(&args);
        // Plain lines: nothing that is drawn is split by moves of the cursor.
        command.env("TERM", "dumb");
        let mut pty = Pty::start(command, 200);
        pty.wait_for(PROMPT);
        for line in lines {
            pty.send(format!("{line}\r").as_bytes());
            // A server that refuses has a login offered.
            pty.wait_until(|written| {
                let last = written.rsplit(line).next().unwrap_or_default();
                last.contains(PROMPT) || last.contains("[y/N]")
            });
            if !pty.written().ends_with(PROMPT) {
                pty.send(b"n\r");
                pty.wait_until(|written| written.ends_with(PROMPT));
            }
        }
        pty.send(b"exit\r");
        let (_, drawn) = pty.transcript();
        self.show("the prompt", &drawn);
    }

    /// Adds the secrets that are stored now.
    fn keep_stored(&mut self) {
        let folder = self.stage.tokens();
        let key = Arc::new(KeyFile::at(folder.clone()));
        let store = SealedFile::at(folder, key, &Limits::default());
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let set = runtime.unwrap().block_on(store.read()).unwrap();
        let document: Value = serde_json::from_str(set.to_json().expose()).unwrap();
        collect(&document, &mut self.planted);
    }

    /// The secrets that passed the issuer, with what they are and who sent them.
    fn passed(&self) -> Vec<(String, String, String)> {
        let text = self.stage.home.read("passed");
        let lines = text.lines().map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| line[name].as_str().unwrap().to_owned();
            (text("kind"), text("value"), text("from"))
        });
        lines.collect()
    }

    /// Looks for every secret in everything that was shown, and in every file. Returns how many of each kind there were.
    fn check(self) -> BTreeMap<String, BTreeSet<String>> {
        let (secrets, hits) = self.search();
        assert!(hits.is_empty(), "{} hits:\n{}", hits.len(), hits.join("\n"));
        secrets
    }

    /// Returns the secrets of each kind, and where they were found.
    fn search(mut self) -> (BTreeMap<String, BTreeSet<String>>, Vec<String>) {
        self.keep_files(&self.stage.home.path(""));
        let mut secrets: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (kind, value, _) in self.passed() {
            secrets.entry(kind).or_default().insert(value);
        }
        for (value, kind) in &self.planted {
            let of_kind = secrets.entry((*kind).to_owned()).or_default();
            of_kind.insert(value.clone());
        }
        let mut hits = Vec::new();
        for (kind, value) in secrets
            .iter()
            .flat_map(|(kind, values)| values.iter().map(move |value| (kind, value)))
        {
            assert!(value.len() >= 12, "{kind}: {value} could be anywhere");
            let encoded = STANDARD.encode(value);
            for (place, text) in &self.shown {
                if text.contains(value) || text.contains(encoded.trim_end_matches('=')) {
                    hits.push(format!("{kind} in {place}:\n{text}"));
                }
            }
        }
        (secrets, hits)
    }

    /// Adds the content of all files that the program wrote.
    fn keep_files(&mut self, folder: &Path) {
        let own = ["passed", "config", "bin", "key.pem", "assertion"];
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if folder == self.stage.home.path("") && own.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                self.keep_files(&path);
            } else {
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                self.show(&path.display().to_string(), &text);
            }
        }
    }
}

/// Collects the members of a document that are secrets.
fn collect(document: &Value, into: &mut BTreeMap<String, &'static str>) {
    const NAMES: [&str; 6] = [
        "access_token",
        "refresh_token",
        "client_secret",
        "dpop_key",
        "verifier",
        "state",
    ];
    match document {
        Value::Object(members) => {
            for (name, value) in members {
                let known = NAMES.iter().find(|known| *known == name);
                match (known, value.as_str()) {
                    (Some(kind), Some(text)) => {
                        into.insert(text.to_owned(), kind);
                    }
                    _ => collect(value, into),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
        _ => {}
    }
}

#[test]
fn a_secret_that_is_planted_in_any_sink_is_found() {
    let mut watch = Watch::new(&[], &[], &json!({}));
    let done = watch.log_in(&[]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    watch.keep_stored();
    let mut stored = watch.planted.iter();
    let (token, _) = stored.find(|(_, kind)| **kind == "access_token").unwrap();
    let token = token.clone();
    // Sinks that the program fills: the person's own words are theirs to see.
    let echoed = format!("message={token}");
    watch.run_unnamed(&["call", "tickets/echo", &echoed]);
    watch.run_unnamed(&["call", "tickets/fail", &echoed, "--json"]);
    watch.type_at_prompt(&[&format!("call tickets/echo {echoed}")]);
    // Those that it fills with nothing secret.
    let encoded = STANDARD.encode(&token);
    watch.stage.home.write("state/switchboard/left.txt", &token);
    watch
        .stage
        .home
        .write("state/switchboard/encoded.txt", &encoded);
    watch.show("completion", &format!("x\n{token}\n"));
    let (_, hits) = watch.search();
    for sink in [
        "in a command, stdout",
        "in the prompt",
        "left.txt",
        "encoded.txt",
        "in completion",
    ] {
        let is_found = hits.iter().any(|hit| hit.contains(sink));
        assert!(is_found, "{sink}: {}", hits.join("\n"));
    }
}

#[test]
fn no_secret_of_any_login_is_shown_written_down_or_kept_in_the_clear() {
    let stages: [fn() -> Watch; 9] = [
        registered,
        device,
        with_secret,
        with_key,
        bound,
        refused,
        refused_refresh,
        rejected,
        workload,
    ];
    let all = Mutex::new(BTreeMap::<String, BTreeSet<String>>::new());
    // Most of the time is that of processes which wait for one another.
    at_once::for_each(3, &stages, |stage| {
        for (kind, values) in stage().check() {
            let mut all = all.lock().unwrap();
            all.entry(kind).or_default().extend(values);
        }
    });
    let all = all.into_inner().unwrap();
    // They passed: the issuer saw them.
    let count = |kind: &str| all.get(kind).map_or(0, BTreeSet::len);
    let least = [
        ("code", 3),
        ("code_verifier", 3),
        ("state", 4),
        ("access_token", 8),
        ("refresh_token", 5),
        ("id_token", 2),
        ("client_secret", 3),
        ("registration_access_token", 3),
        ("client_assertion", 2),
        ("assertion", 1),
        ("device_code", 1),
        ("dpop", 4),
        ("dpop_key", 1),
        ("verifier", 3),
    ];
    for (kind, least) in least {
        assert!(count(kind) >= least, "{kind}: {}", count(kind));
    }
    let distinct: BTreeSet<&String> = all.values().flatten().collect();
    assert!(distinct.len() >= 40, "{}", distinct.len());
}

/// A client that registers itself and gets a secret; two logins, renewals, and one that is not finished.
fn registered() -> Watch {
    let settings = [
        "auth=client_secret_basic",
        "scopes=tools,openid",
        "resource-scopes=tools,openid",
    ];
    let mut watch = Watch::new(&settings, &[], &json!({}));
    for more in [&[][..], &["--force"]] {
        let done = watch.log_in(more);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        watch.call();
        watch.stage.expire();
        watch.call();
    }
    watch.begin(&["--force", "--json"]);
    watch.keep_stored();
    watch.run_all_verbs();
    watch.run(&["logout", "tickets", "--json"]);
    watch
}

/// A login on another device.
fn device() -> Watch {
    let mut watch = Watch::new(&["device-interval=0"], &[], &json!({}));
    let done = watch.run(&["login", "tickets", "--device", "--json"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    watch.call();
    watch.stage.expire();
    watch.call();
    watch.run(&["logout", "--all"]);
    watch
}

/// A client for itself, with a secret that is in a variable.
fn with_secret() -> Watch {
    let secret = "canary-client-secret-1";
    let client = format!("client=machine:{secret}");
    let oauth = json!({
        "grant": "client_credentials", "clientId": "machine", "clientSecret": "${TICKETS_SECRET}",
    });
    let mut watch = Watch::new(&[&client], &[], &oauth);
    watch.plant("variable", secret);
    watch.call();
    watch.run_all_verbs();
    watch
}

/// A client that signs assertions, with its key in the config file.
fn with_key() -> Watch {
    let client = format!("client-key=robot:{PUBLIC_KEY}");
    let oauth =
        json!({"grant": "client_credentials", "clientId": "robot", "clientKey": CLIENT_KEY});
    let mut watch = Watch::new(&[&client], &[], &oauth);
    for line in CLIENT_KEY.lines().filter(|line| !line.contains("-----")) {
        watch.plant("client key", line);
    }
    watch.call();
    watch.stage.expire();
    watch.call();
    watch.run_all_verbs();
    watch
}

/// Tokens that are bound to a key.
fn bound() -> Watch {
    let mut watch = Watch::new(&["dpop=required", "dpop-nonces=yes"], &[], &json!({}));
    let done = watch.log_in(&[]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    watch.call();
    watch.stage.expire();
    watch.call();
    watch.run_all_verbs();
    watch
}

/// An issuer that refuses a login and repeats all that it was sent.
fn refused() -> Watch {
    let secret = "canary-client-secret-2";
    let client = format!("client=app:{secret}");
    let oauth = json!({"clientId": "app", "clientSecret": secret});
    let mut watch = Watch::new(&[&client], &["token-repeats"], &oauth);
    watch.plant("client_secret", secret);
    let done = watch.log_in(&[]);
    assert_eq!(done.code, Some(3), "{}", done.stderr);
    assert!(done.stderr.contains("the issuer says: "), "{}", done.stderr);
    watch.run_all_verbs();
    watch
}

/// An issuer that refuses a renewal, and a server that refuses a token, and both repeat all that they were sent.
fn refused_refresh() -> Watch {
    let faults = ["refresh-repeats", "challenge-repeats"];
    let mut watch = Watch::new(&[], &faults, &json!({}));
    let done = watch.log_in(&[]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    watch.call();
    watch.stage.expire();
    let called = watch.run(&[&CALL[..], &["--json"]].concat());
    assert_eq!(called.code, Some(3), "{}", called.stderr);
    watch.run_all_verbs();
    watch
}

/// A server that refuses every token and repeats it.
fn rejected() -> Watch {
    let faults = ["always-401", "challenge-repeats"];
    let mut watch = Watch::new(&[], &faults, &json!({}));
    let done = watch.log_in(&[]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let called = watch.run(&CALL);
    assert_eq!(called.code, Some(3), "{}", called.stderr);
    watch
}

/// A workload, whose platform's token the issuer repeats.
fn workload() -> Watch {
    let assertion = "canary-assertion-of-the-platform";
    let mut watch = Watch::new(&["client=job"], &["token-repeats"], &json!({}));
    let file = watch.stage.home.path("assertion");
    watch.stage.home.write("assertion", assertion);
    let oauth = json!({"grant": "workload", "clientId": "job", "assertionFile": file});
    watch.stage.describe(&oauth.to_string());
    watch.plant("assertion", assertion);
    let called = watch.run(&CALL);
    assert_eq!(called.code, Some(3), "{}", called.stderr);
    let passed = watch.passed();
    assert!(
        passed.iter().any(|(_, value, _)| value == assertion),
        "{passed:?}"
    );
    watch.run_all_verbs();
    watch
}

/// A proxy that lets nobody through, and repeats what it was sent.
fn refusing_proxy() -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let keep = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut head = String::new();
            while stream.read_line(&mut head).is_ok_and(|read| read > 2) {}
            let told = head.replace("\r\n", " ");
            let answer = format!(
                "HTTP/1.1 407 {told}\r\nproxy-authenticate: Basic realm=\"{told}\"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
            keep.lock().unwrap().push(head);
            // Who asked may be gone.
            stream.get_mut().write_all(answer.as_bytes()).ok();
        }
    });
    (port, seen)
}

#[test]
fn the_password_of_a_proxy_is_not_shown_where_a_login_goes_through_it() {
    let (port, seen) = refusing_proxy();
    let password = "canary-password-of-the-proxy";
    let mut watch = Watch::new(&[], &[], &json!({}));
    let file = json!({
        "mcpServers": {"tickets": {"url": "https://tickets.example/mcp"}},
        "network": {"proxy": format!("http://person:{password}@127.0.0.1:{port}")},
    });
    let path: PathBuf = watch.stage.home.path("config/switchboard/mcp.json");
    fs::write(path, file.to_string()).unwrap();
    watch.plant("proxy password", password);
    let pair = STANDARD.encode(format!("person:{password}"));
    watch.plant("proxy header", &pair);
    let begun = watch.run(&["login", "tickets", "--no-browser", "--json"]);
    assert_ne!(begun.code, Some(0));
    watch.run_all_verbs();
    let heads = seen.lock().unwrap().join("\n");
    assert!(heads.contains(&pair), "{heads}");
    let secrets = watch.check();
    assert_eq!(secrets.len(), 2);
}
