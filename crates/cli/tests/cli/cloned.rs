//! A project that somebody cloned: no command runs anything of it before it is approved.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::run::{Run, command};

/// A home folder with a project in it, and everything that the project could reach.
struct Cloned {
    root: TempDir,
    listener: TcpListener,
}

impl Cloned {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let cloned = Self { root, listener };
        for folder in ["canaries", "home/work/clone", "state", "config"] {
            fs::create_dir_all(cloned.path(folder)).unwrap();
        }
        cloned
    }

    fn path(&self, below: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(below)
    }

    fn write(&self, file: &str, servers: &Value) {
        let file = self.path(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, json!({"mcpServers": servers}).to_string()).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    }

    /// `sh -c 'touch canary'`.
    fn touch(&self, name: &str) -> Value {
        let line = format!("touch {}", self.path("canaries").join(name).display());
        json!({"command": "sh", "args": ["-c", line]})
    }

    fn canaries(&self) -> Vec<String> {
        let found = fs::read_dir(self.path("canaries")).unwrap();
        let names = found.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    /// Every file of a project that is read, with traps in it.
    fn trapped() -> Self {
        let cloned = Self::new();
        let fifo = cloned.path("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        let url = format!("http://{}/mcp", cloned.listener.local_addr().unwrap());
        let mut read = cloned.touch("read");
        // Whoever opened it would wait for ever.
        read["env"] = json!({"KEY": format!("${{file:{}}}", fifo.display())});
        read["envFile"] = json!(fifo);
        let mut hooked = cloned.touch("hooked");
        hooked["env"] = json!({"LD_PRELOAD": "./evil.so", "PATH": cloned.path("home/work/clone")});
        hooked["env_passthrough"] = json!(["OWN_TOKEN"]);
        let servers = json!({
            "plain": cloned.touch("plain"),
            "demo": cloned.touch("demo"),
            "read": read,
            "hooked": hooked,
            "dialled": {"url": url},
            "dialled-old": {"type": "sse", "url": url},
        });
        cloned.write("home/work/clone/.mcp.json", &servers);
        for (file, name) in [
            ("home/work/clone/.switchboard/mcp.json", "own"),
            ("home/work/.mcp.json", "above"),
            ("home/work/.switchboard/mcp.json", "above-own"),
            ("home/.mcp.json", "above-all"),
            ("home/work/clone/.vscode/mcp.json", "vscode"),
            ("home/work/clone/.cursor/mcp.json", "cursor"),
            ("home/work/clone/.roo/mcp.json", "roo"),
            ("home/work/clone/.gemini/settings.json", "gemini"),
            ("home/work/clone/.nexus3/mcp.json", "nexus3"),
        ] {
            cloned.write(file, &json!({name: cloned.touch(name)}));
        }
        cloned
    }

    /// Adds a server of the person's own, which works.
    fn with_own(self) -> Self {
        let program = env!("CARGO_BIN_EXE_switchboard");
        let own = json!({"mine": {"command": program, "args": ["test-server"]}});
        self.write("config/switchboard/mcp.json", &own);
        self
    }

    fn run(&self, args: &[&str]) -> Run {
        let mut command = command(args);
        command
            .current_dir(self.path("home/work/clone"))
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("OWN_TOKEN", "x9");
        Run::of(command.output().unwrap())
    }

    fn assert_untouched(&self) {
        assert_eq!(self.canaries(), [""; 0]);
        assert!(self.listener.accept().is_err(), "it was dialled");
    }
}

const NAMES: [&str; 10] = [
    "plain",
    "demo",
    "read",
    "hooked",
    "dialled",
    "dialled-old",
    "own",
    "above",
    "above-own",
    "above-all",
];

#[test]
fn no_command_touches_a_server_that_is_not_approved() {
    let cloned = Cloned::trapped().with_own();
    for name in NAMES {
        let item = format!("{name}/x");
        for args in [
            vec!["servers", name],
            vec!["tools", name],
            vec!["call", &item],
            vec!["call", &item, "a=b"],
            vec!["resources", name],
            vec!["read", name, "file:///x"],
            vec!["prompts", name],
            vec!["prompt", &item],
        ] {
            for json in [&[][..], &["--json"]] {
                let args = [&args, json].concat();
                let run = cloned.run(&args);
                assert_eq!(run.code, Some(7), "{args:?} {run:?}");
                match args[0] {
                    "servers" => {
                        let state = run.stdout.replace(' ', "_");
                        assert!(state.contains("needs_approval"), "{run:?}");
                    }
                    _ => assert_eq!(run.stdout, "", "{args:?}"),
                }
                let said = match json.is_empty() {
                    true => run.stderr.clone(),
                    false => run.error().to_string(),
                };
                assert!(said.contains("--trust sha256:"), "{args:?} {said}");
                assert!(said.contains("not approved"), "{args:?} {said}");
            }
        }
    }
    cloned.assert_untouched();
}

#[test]
fn commands_over_all_servers_use_those_that_may_be_used() {
    let lists = ["servers", "tools", "resources", "prompts"];
    let cloned = Cloned::trapped().with_own();
    for verb in lists {
        let run = cloned.run(&[verb]);
        assert_eq!(run.code, Some(0), "{verb} {run:?}");
        let said = format!("{}{}", run.stdout, run.stderr);
        for name in NAMES {
            let told = said
                .lines()
                .any(|line| line.contains(name) && line.contains("approved"));
            assert!(told, "{verb} {name}: {said}");
        }
        assert_eq!(cloned.run(&[verb, "--json"]).code, Some(0), "{verb}");
    }
    assert_eq!(cloned.run(&["leftovers"]).code, Some(0));
    assert_eq!(cloned.run(&["leftovers", "--json"]).code, Some(0));
    // Names that say no server: whoever has it is looked for among those that may be used.
    for args in [["call", "mcp__plain__x"], ["prompt", "x"]] {
        let run = cloned.run(&args);
        assert!(![Some(0), Some(1)].contains(&run.code), "{run:?}");
    }
    let run = cloned.run(&["call", "mcp__mine__echo", "message=hello"]);
    assert_eq!((run.code, &*run.stdout), (Some(0), "hello\n"), "{run:?}");
    cloned.assert_untouched();
    let cloned = Cloned::trapped();
    for verb in lists {
        for json in [&[][..], &["--json"]] {
            let args = [&[verb], json].concat();
            let run = cloned.run(&args);
            assert_eq!(run.code, Some(7), "{args:?} {run:?}");
        }
    }
    cloned.assert_untouched();
}

#[test]
fn looking_over_and_exporting_touches_nothing_that_is_not_approved() {
    let cloned = Cloned::trapped().with_own();
    for name in NAMES {
        // By its own PATH there is no such program, which is known without starting it.
        let code = if name == "hooked" { 4 } else { 7 };
        assert_eq!(cloned.run(&["doctor", name]).code, Some(code), "{name}");
        let run = cloned.run(&["export", name, "--to", "claude"]);
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    for json in [&[][..], &["--json"]] {
        let run = cloned.run(&[&["doctor"], json].concat());
        assert_eq!(run.code, Some(4), "{run:?}");
        assert!(run.stdout.contains("mine"), "{run:?}");
        let run = cloned.run(&[&["export", "--to", "vscode"], json].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    cloned.assert_untouched();
    let hash = fingerprint(&cloned.run(&["tools", "plain"]));
    let run = cloned.run(&["doctor", "plain", "--trust", &hash]);
    // It is no server, and that is found out by starting it.
    assert_eq!(run.code, Some(4), "{run:?}");
    assert_eq!(cloned.canaries(), ["plain"]);
}

/// The fingerprint that a refusal shows.
fn fingerprint(run: &Run) -> String {
    let (_, rest) = run.stderr.split_once("--trust ").unwrap();
    rest.chars().take("sha256:".len() + 64).collect()
}

#[test]
fn a_hash_runs_exactly_what_it_stands_for_and_once() {
    let cloned = Cloned::trapped().with_own();
    let hash = fingerprint(&cloned.run(&["tools", "plain"]));
    let mut wrong = hash.clone();
    let last = if wrong.pop() == Some('0') { '1' } else { '0' };
    wrong.push(last);
    let other = fingerprint(&cloned.run(&["tools", "own"]));
    for bad in [&wrong, &other] {
        let run = cloned.run(&["tools", "plain", "--trust", bad]);
        assert_eq!(run.code, Some(7), "{run:?}");
    }
    // Cut short it is no hash at all.
    let run = cloned.run(&["tools", "plain", "--trust", &hash[..20]]);
    assert_eq!(run.code, Some(2), "{run:?}");
    cloned.assert_untouched();
    let run = cloned.run(&["servers", "--trust", &hash]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(cloned.canaries(), ["plain"]);
    fs::remove_file(cloned.path("canaries/plain")).unwrap();
    assert_eq!(cloned.run(&["tools", "plain"]).code, Some(7));
    let mut changed = cloned.touch("plain");
    changed["env_passthrough"] = json!(["OWN_TOKEN"]);
    cloned.write("home/work/clone/.mcp.json", &json!({"plain": changed}));
    let run = cloned.run(&["tools", "plain", "--trust", &hash]);
    assert_eq!(run.code, Some(7), "{run:?}");
    assert!(
        run.stderr.contains("lets through: \"OWN_TOKEN\""),
        "{run:?}"
    );
    cloned.assert_untouched();
}

#[test]
fn the_whole_command_is_shown_and_nothing_that_a_terminal_obeys() {
    let cloned = Cloned::new();
    let padding = "x".repeat(5000);
    let line = format!(": {padding}\u{1b}[2J\u{202e}\r\n; touch end-of-the-line");
    let mut entry = json!({"command": "sh", "args": ["-c", line]});
    entry["env"] = json!({"PS4": format!("{padding}-end-of-the-variable")});
    cloned.write("home/work/clone/.mcp.json", &json!({"long": entry}));
    for verb in ["servers", "tools"] {
        for name in [&[][..], &["long"]] {
            let run = cloned.run(&[&[verb], name].concat());
            assert_eq!(run.code, Some(7), "{run:?}");
            if verb == "servers" && name.is_empty() {
                // A table has a line for each; the command is shown by name.
                continue;
            }
            for part in ["; touch end-of-the-line", "-end-of-the-variable", &padding] {
                assert!(run.stderr.contains(part), "{verb} {name:?} {}", run.stderr);
            }
            let is_bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!run.stderr.contains(is_bad), "{:?}", run.stderr);
        }
    }
    let run = cloned.run(&["tools", "long", "--json"]);
    let said = run.error().to_string();
    assert!(said.contains("; touch end-of-the-line"), "{said}");
}

#[test]
fn what_is_to_be_typed_next_does_no_harm_where_it_is_pasted() {
    let cloned = Cloned::new();
    let name = "$(touch${IFS}canaries)'`id`";
    cloned.write(
        "home/work/clone/.mcp.json",
        &json!({name: {"command": "true"}}),
    );
    let run = cloned.run(&["tools", name]);
    assert_eq!(run.code, Some(7), "{run:?}");
    let line = run
        .stderr
        .lines()
        .find(|line| line.contains("trust approve"));
    let line = line.unwrap();
    assert!(!line.contains("approve $("), "{line}");
    assert!(
        line.contains(r"approve '$(touch${IFS}canaries)'\''`id`'"),
        "{line}"
    );
}
