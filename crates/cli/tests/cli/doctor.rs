//! `doctor`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::home::Home;
use crate::run::Run;

const MINE: &str = "config/switchboard/mcp.json";

/// The test server with arguments.
fn server(args: &[&str]) -> Value {
    let args = [&["test-server"], args].concat();
    json!({"command": env!("CARGO_BIN_EXE_switchboard"), "args": args})
}

fn home(servers: &Value) -> Home {
    let home = Home::new();
    home.write(MINE, &json!({"mcpServers": servers}).to_string());
    home
}

fn document(run: &Run) -> Value {
    assert_eq!(run.stderr, "", "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

/// The state of each server.
fn states(document: &Value) -> Vec<(String, String)> {
    let servers = document["servers"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    servers
        .map(|server| (text(&server["server"]), text(&server["state"])))
        .collect()
}

/// The findings about one server, by what was looked at.
fn findings<'d>(document: &'d Value, server: &str, check: &str) -> Vec<&'d Value> {
    let mut servers = document["servers"].as_array().unwrap().iter();
    let found = servers.find(|one| one["server"] == *server).unwrap();
    let found = found["findings"].as_array().unwrap().iter();
    found.filter(|one| one["check"] == *check).collect()
}

#[test]
fn a_server_that_works_is_all_well() {
    for era in ["legacy", "modern"] {
        let home = home(&json!({"good": server(&["--era", era])}));
        let run = home.run(&["doctor"]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
        let lines: Vec<&str> = run.stdout.lines().collect();
        assert!(lines[0].starts_with("   SERVER  STATUS"), "{run:?}");
        assert!(lines[1].starts_with("ok good    connected  20"), "{run:?}");
        assert_eq!(lines[2..], ["", "1 server: connected"], "{run:?}");
        let all = document(&home.run(&["doctor", "good", "--json"]));
        assert_eq!((&all["exit"], &all["findings"]), (&json!(0), &json!([])));
        let good = &all["servers"][0];
        assert_eq!(good["state"], "connected");
        assert_eq!(good["tools"], 7);
        assert!(
            good["latency_ms"].is_u64() && good["took_ms"].is_u64(),
            "{good}"
        );
        assert_eq!(good["source"]["layer"], "user");
    }
}

#[test]
fn each_server_has_its_own_state_and_a_fix_and_the_worst_is_the_exit() {
    let home = home(&json!({
        "good": server(&[]),
        "gone": {"command": "npx", "args": ["-y", "some-package"]},
        "off": {"command": "sh", "disabled": true},
        "bad": {"comand": "sh"},
        "noisy": server(&["--chaos", "noise-between"]),
        "mute": server(&["--chaos", "exit-3"]),
    }));
    home.write(
        "p/.mcp.json",
        r#"{"mcpServers": {"theirs": {"command": "sh", "args": ["-c", "x"]}}}"#,
    );
    let run = home.run(&["doctor", "--json"]);
    let all = document(&run);
    let found = states(&all);
    let state = |name: &str| {
        let found = found.iter().find(|(server, _)| server == name);
        found.map(|(_, state)| state.as_str()).unwrap()
    };
    assert_eq!(state("good"), "connected");
    assert_eq!(state("gone"), "failed");
    assert_eq!(state("off"), "disabled");
    assert_eq!(state("bad"), "failed");
    assert_eq!(state("theirs"), "needs_approval");
    assert_eq!(state("noisy"), "connected");
    assert_eq!(state("mute"), "failed");
    let said = findings(&all, "mute", "start")[0]["message"].to_string();
    assert!(said.contains("exit code 3"), "{said}");
    // Configuration is the worst of them.
    assert_eq!((run.code, &all["exit"]), (Some(6), &json!(6)));
    let gone = findings(&all, "gone", "start");
    assert_eq!(gone[0]["message"], "command \"npx\" was not found");
    assert_eq!(gone[0]["exit"], 4);
    assert!(gone[0]["hints"].to_string().contains("Node"), "{gone:?}");
    assert_eq!(findings(&all, "gone", "packages").len(), 1);
    let off = findings(&all, "off", "config");
    assert_eq!(off[0]["hints"], json!(["switchboard enable off"]));
    let hints = &findings(&all, "theirs", "approval")[0]["hints"];
    assert_eq!(
        *hints,
        json!([
            "switchboard trust show theirs",
            "switchboard trust approve theirs"
        ])
    );
    assert!(!home.has_canary());
    // Everything that is broken has something to do about it.
    for server in all["servers"].as_array().unwrap() {
        for one in server["findings"].as_array().unwrap() {
            let is_mended = one["broken"] == false
                || one["hints"]
                    .as_array()
                    .is_some_and(|hints| !hints.is_empty());
            assert!(is_mended, "{one}");
        }
    }
    assert_eq!(home.run(&["doctor", "gone"]).code, Some(4));
    assert_eq!(home.run(&["doctor", "theirs"]).code, Some(7));
    assert_eq!(home.run(&["doctor", "off"]).code, Some(0));
    assert!(!home.has_canary());
}

#[test]
fn a_server_that_hangs_delays_nobody_beyond_its_own_time() {
    let mut hanging = server(&["--start-delay", "60000"]);
    hanging["connect_timeout"] = json!(1);
    let home = home(&json!({"good": server(&[]), "hangs": hanging, "hangs-too": hanging}));
    let before = Instant::now();
    let run = home.run(&["doctor", "--json", "--protocol", "legacy"]);
    // Both at once, and the time that ends them.
    assert!(
        before.elapsed() < Duration::from_secs(20),
        "{:?}",
        before.elapsed()
    );
    let all = document(&run);
    assert_eq!(run.code, Some(4));
    let wanted = [
        ("good", "connected"),
        ("hangs", "failed"),
        ("hangs-too", "failed"),
    ];
    let wanted = wanted.map(|(name, state)| (name.to_owned(), state.to_owned()));
    assert_eq!(states(&all), wanted);
}

#[test]
fn what_is_wrong_with_files_is_said_once() {
    let home = home(&json!({"good": server(&[])}));
    home.write("p/.mcp.json", "{\n  \"mcpServers\": nonsense\n}");
    let run = home.run(&["doctor"]);
    assert_eq!(run.code, Some(6), "{run:?}");
    assert!(
        run.stdout
            .contains("\n\ngeneral\n  ! config: ~/p/.mcp.json:2:"),
        "{run:?}"
    );
    assert!(run.stdout.ends_with("\n\n1 server: connected\n"), "{run:?}");
    assert_eq!(run.stderr, "");
}

#[test]
fn folders_that_others_can_write_are_told_with_what_mends_them() {
    let home = home(&json!({"good": server(&[])}));
    assert_eq!(home.run(&["doctor"]).code, Some(0));
    let trust = home.path("state/switchboard/trust");
    fs::create_dir_all(&trust).unwrap();
    fs::set_permissions(&trust, fs::Permissions::from_mode(0o777)).unwrap();
    let run = home.run(&["doctor", "--json"]);
    let all = document(&run);
    assert_eq!(run.code, Some(7), "{run:?}");
    assert_eq!(all["findings"][0]["check"], "state");
    let fix = all["findings"][0]["hints"][0].as_str().unwrap();
    assert!(fix.starts_with("chmod go= "), "{fix}");
    assert!(fix.contains("~/state/switchboard/trust"), "{fix}");
}

#[test]
fn odd_definitions_are_remarks() {
    for (chaos, check) in [
        ("bad-item", "definitions"),
        ("dup-names", "definitions"),
        ("unicode-names", "names"),
        ("noise-between", "messages"),
    ] {
        let home = home(&json!({"odd": server(&["--chaos", chaos])}));
        let run = home.run(&["doctor", "--json"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let all = document(&run);
        assert_eq!(states(&all)[0].1, "connected", "{chaos} {all}");
        assert_eq!(findings(&all, "odd", check).len(), 1, "{chaos} {all}");
    }
}

#[test]
fn it_is_for_the_owner_and_for_servers_that_there_are() {
    let home = home(&json!({"good": server(&[])}));
    assert_eq!(home.run(&["doctor", "--as", "a"]).code, Some(2));
    let run = home.run(&["doctor", "goood"]);
    assert_eq!(run.code, Some(6), "{run:?}");
    assert!(
        run.stderr
            .contains("did you mean `switchboard doctor good`?"),
        "{run:?}"
    );
    let line = format!("{} test-server", env!("CARGO_BIN_EXE_switchboard"));
    let run = home.run(&["doctor", "--stdio", &line]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains("\nok stdio   connected"), "{run:?}");
}

#[test]
fn nothing_that_a_terminal_obeys_and_no_secret_is_printed() {
    let mut entry =
        json!({"command": "sh", "args": ["\u{1b}[2J"], "env": {"API_TOKEN": "hunter2hunter2"}});
    entry["command"] = json!("/no/hunter2hunter2\u{1b}[31m");
    let home = home(&json!({"x\u{202e}y": entry, "z": entry}));
    for json in [&[][..], &["--json"]] {
        let run = home.run(&[&["doctor"], json].concat());
        let all = format!("{}{}", run.stdout, run.stderr);
        let is_bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!all.contains(is_bad), "{all:?}");
    }
}
