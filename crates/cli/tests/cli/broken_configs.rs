//! Exit code 6 for config files that cannot be used, and the code of the cause where nothing worked.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::home::Home;
use crate::run::{Run, switchboard};
use crate::script::Script;

const MINE: &str = "config/switchboard/mcp.json";

/// Every verb that connects to servers, with a server named `one` and without one.
const VERBS: &[&str] = &[
    "servers",
    "servers one",
    "tools",
    "tools one",
    "tool one/echo",
    "call one/echo message=hi",
    "call mcp__one__echo message=hi",
    "resources",
    "resources one",
    "templates",
    "read one file:///readme.txt",
    "prompts",
    "prompt one/greeting name=Ada",
    "ping",
    "ping one",
    "logs --for 1ms",
    "watch one file:///readme.txt --for 1ms",
    "pins diff one",
    "pins approve one --yes",
    "lock",
    "verify",
    "repl",
    "doctor",
    "doctor one",
];

const FLAGS: &[&[&str]] = &[&[], &["-q"], &["--json"], &["-q", "--json"]];

/// Makes a file that cannot be used.
type Break = fn(&std::path::Path);

/// Puts a file there that cannot be used, for each reason that there is.
const BROKEN: &[(&str, Break)] = &[
    ("empty", |file| fs::write(file, "").unwrap()),
    ("blank", |file| fs::write(file, " \n\t\n").unwrap()),
    ("cut", |file| fs::write(file, "{\"mcpServers\": {").unwrap()),
    ("a list", |file| fs::write(file, "[]").unwrap()),
    ("misshapen", |file| {
        fs::write(file, "{\"mcpServers\": 5}").unwrap();
    }),
    ("not text", |file| {
        fs::write(file, [0xff, 0xfe, 0x7b]).unwrap();
    }),
    ("a folder", |file| fs::create_dir(file).unwrap()),
    ("too long", |file| {
        fs::write(file, " ".repeat(2 * 1024 * 1024)).unwrap();
    }),
    ("writable by all", |file| {
        fs::write(file, "{}").unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o666)).unwrap();
    }),
];

fn server() -> Value {
    json!({"command": env!("CARGO_BIN_EXE_switchboard"), "args": ["test-server"]})
}

fn words<'a>(verb: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    verb.split(' ').chain(more.iter().copied()).collect()
}

/// The one error of a run: the object of `--json`, or all of stderr. `doctor` has it in its result.
fn error_of(args: &[&str], run: &Run) -> String {
    match args.contains(&"--json") && args[0] != "doctor" {
        true => {
            let error = run.error();
            assert_eq!(error["exit"], 6, "{args:?} {run:?}");
            error.to_string()
        }
        false => format!("{}{}", run.stdout, run.stderr),
    }
}

#[test]
fn a_named_config_that_is_broken_is_6_for_every_verb() {
    let home = Home::new();
    let mut files = vec![("missing", "p/missing.json".to_owned())];
    for (at, (kind, make)) in BROKEN.iter().enumerate() {
        let file = format!("p/broken{at}.json");
        make(&home.path(&file));
        files.push((kind, file));
    }
    for (at, (kind, file)) in files.iter().enumerate() {
        let path = home.path(file);
        let shown = home.hide(path.to_str().unwrap());
        for verb in VERBS {
            // All flags for two kinds, and one of them in turn for the others.
            let flags = match *kind {
                "missing" | "cut" => FLAGS,
                _ => &FLAGS[at % FLAGS.len()..=at % FLAGS.len()],
            };
            for flags in flags {
                let args = words(
                    verb,
                    &[&["--config", path.to_str().unwrap()], *flags].concat(),
                );
                let run = home.run(&args);
                assert_eq!(run.code, Some(6), "{kind}: {args:?} {run:?}");
                let error = error_of(&args, &run);
                assert!(error.contains(&shown), "{kind}: {args:?} {run:?}");
                if !verb.starts_with("doctor") {
                    assert_eq!(run.stdout, "", "{kind}: {args:?}");
                }
            }
        }
    }
}

#[test]
fn the_bundled_server_never_stands_in_for_a_broken_file() {
    for (kind, make) in BROKEN {
        let home = Home::new();
        fs::create_dir_all(home.path("config/switchboard")).unwrap();
        make(&home.path(MINE));
        for verb in [
            "tools",
            "servers",
            "ping",
            "tools demo",
            "call demo/echo message=hi",
            "call mcp__demo__echo message=hi",
            "repl",
            "doctor",
        ] {
            for flags in FLAGS {
                let args = words(verb, flags);
                let run = home.run(&args);
                assert_eq!(run.code, Some(6), "{kind}: {args:?} {run:?}");
                let error = error_of(&args, &run);
                assert!(error.contains(&format!("~/{MINE}")), "{args:?} {run:?}");
                let used = ["mcp__demo__echo", "switchboard-testkit", "hi\n"];
                let is_used = used.iter().any(|used| run.stdout.contains(used));
                assert!(!is_used, "{kind}: {args:?} {run:?}");
            }
        }
    }
}

#[test]
fn the_good_ones_among_broken_files_are_used_and_it_is_6() {
    for (kind, make) in BROKEN {
        let home = Home::new();
        home.write(MINE, &json!({"mcpServers": {"one": server()}}).to_string());
        make(&home.path("p/.mcp.json"));
        // Every verb for one kind of file, and some of them for the others.
        let verbs = match *kind {
            "cut" => VERBS,
            _ => &["servers", "call one/echo message=hi"],
        };
        for verb in verbs {
            for flags in FLAGS {
                let args = words(verb, flags);
                let run = home.run(&args);
                assert_eq!(run.code, Some(6), "{kind}: {args:?} {run:?}");
                let error = error_of(&args, &run);
                assert!(error.contains("~/p/.mcp.json"), "{kind}: {args:?} {run:?}");
                let is_silent = ["lock", "verify", "repl", "pins", "logs", "watch"]
                    .iter()
                    .any(|verb| args[0] == *verb);
                let has_result = !run.stdout.is_empty();
                assert!(has_result || is_silent, "{kind}: {args:?} {run:?}");
            }
        }
        assert!(!home.path("p/mcp.lock").exists(), "{kind}");
    }
}

#[test]
fn the_bundled_server_never_stands_in_for_a_wrong_entry() {
    let home = Home::new();
    home.write(MINE, r#"{"servers": {"bad": {"command": 5}}}"#);
    for verb in ["servers", "tools", "ping", "logs --for 1ms"] {
        for flags in FLAGS {
            let args = words(verb, flags);
            let run = home.run(&args);
            assert_eq!(run.code, Some(6), "{args:?} {run:?}");
            assert!(!run.stdout.contains("demo"), "{args:?} {run:?}");
        }
    }
}

#[test]
fn a_wrong_entry_is_not_left_out_of_a_lock() {
    let home = Home::new();
    let servers = |two: Value| json!({"mcpServers": {"one": server(), "two": two}}).to_string();
    home.write("p/named.json", &servers(server()));
    assert_eq!(home.run(&["lock", "--config", "named.json"]).code, Some(0));
    let lock = home.read("p/mcp.lock");
    home.write("p/named.json", &servers(json!({"command": 5})));
    for verb in ["lock", "verify"] {
        for flags in FLAGS {
            let args = words(verb, &[&["--config", "named.json"], *flags].concat());
            let run = home.run(&args);
            assert_eq!(run.code, Some(6), "{args:?} {run:?}");
            let error = error_of(&args, &run);
            assert!(error.contains("`command` is a number"), "{args:?} {run:?}");
            assert_eq!(home.read("p/mcp.lock"), lock, "{args:?}");
        }
    }
}

#[test]
fn logs_of_disabled_servers_is_6() {
    let home = Home::new();
    let off = json!({"command": "true", "disabled": true});
    home.write(MINE, &json!({"mcpServers": {"off": off}}).to_string());
    let run = home.run(&["logs", "--for", "1ms"]);
    assert_eq!(run.code, Some(6), "{run:?}");
    assert!(run.stderr.contains("no server is enabled"), "{run:?}");
}

#[test]
fn an_object_without_servers_is_a_valid_config() {
    let home = Home::new();
    home.write("p/none.json", "{}");
    for verb in ["servers", "tools", "resources", "prompts", "ping", "doctor"] {
        for flags in FLAGS {
            let args = words(verb, &[&["--config", "none.json"], *flags].concat());
            assert_eq!(home.run(&args).code, Some(0), "{args:?}");
        }
    }
    home.write(MINE, "{}");
    let run = home.run(&["call", "demo/echo", "message=hi"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "hi\n"));
}

#[test]
fn a_policy_that_cannot_be_read_is_6_for_who_acts_as_an_agent() {
    let home = Home::new();
    home.write(MINE, "{");
    let line = format!("{} test-server", env!("CARGO_BIN_EXE_switchboard"));
    let run = home.run(&["tools", "--stdio", &line, "--as", "one"]);
    assert_eq!(run.code, Some(6), "{run:?}");
    assert_eq!(home.run(&["tools", "--stdio", &line]).code, Some(0));
}

/// Servers of which nothing works, and the code of each cause.
fn causes() -> Vec<(&'static str, u8, Script)> {
    let list = |body: &str| format!("def list_tools(request):\n    {body}\n");
    vec![
        ("dies", 4, Script::new("sys.exit(3)")),
        (
            "refuses",
            5,
            Script::new(&list("refuse(request, -32603, \"the database is locked\")")),
        ),
        ("ends", 10, Script::new(&list("sys.exit(3)"))),
        (
            "breaks",
            11,
            Script::new(&list("answer(request, {\"tools\": 5})")),
        ),
        ("hangs", 9, Script::new(&list("time.sleep(600)"))),
    ]
}

#[test]
fn where_nothing_worked_it_is_the_code_of_the_cause() {
    let folder = tempfile::tempdir().unwrap();
    let entry = |script: &Script| {
        let mut entry = script.entry();
        entry["discovery_timeout"] = json!("500ms");
        entry["protocol"] = json!("legacy");
        entry
    };
    let causes = causes();
    let code = |name: &str, servers: Value| {
        let file = folder.path().join(format!("{name}.json"));
        fs::write(&file, json!({"mcpServers": servers}).to_string()).unwrap();
        let file = file.to_str().unwrap();
        let runs = [
            vec!["tools", "--config", file],
            vec!["servers", "--config", file, "-q", "--json"],
        ];
        let codes = runs.map(|args| {
            let run = switchboard(&args);
            (run.code.unwrap(), args[0].to_owned(), run)
        });
        for (code, verb, run) in &codes {
            assert_eq!(*code, codes[0].0, "{name} {verb} {run:?}");
        }
        codes[0].0
    };
    for (name, wanted, script) in &causes {
        let wanted = i32::from(*wanted);
        assert_eq!(code(name, json!({"a": entry(script)})), wanted, "{name}");
        // The same cause twice is that cause; one that is switched off is none.
        let twice = json!({"a": entry(script), "b": entry(script), "off": {"command": "x", "disabled": true}});
        assert_eq!(code(name, twice), wanted, "{name} twice");
    }
    for pair in causes.windows(2) {
        let several = json!({"a": entry(&pair[0].2), "b": entry(&pair[1].2)});
        assert_eq!(code("several", several), 4, "{} {}", pair[0].0, pair[1].0);
    }
    // One that works is enough.
    let works = Script::new("");
    let some = json!({"a": entry(&causes[1].2), "b": entry(&works)});
    assert_eq!(code("some", some), 0);
}
