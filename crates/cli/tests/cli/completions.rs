//! Completions: the scripts, what they ask the program, and what it never does to answer.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::home::Home;

const MINE: &str = "config/switchboard/mcp.json";
const CACHE: &str = "state/switchboard/catalog/catalog.json";

fn server() -> Value {
    json!({"command": env!("CARGO_BIN_EXE_switchboard"), "args": ["test-server"]})
}

/// A home with a server that was listed once.
fn home() -> Home {
    let home = Home::new();
    home.write(MINE, &json!({"mcpServers": {"mine": server()}}).to_string());
    assert_eq!(home.run(&["tools"]).code, Some(0));
    home
}

/// What the program answers when a shell asks, in the way that its script does.
fn asked(home: &Home, shell: &str, words: &[&str]) -> Vec<String> {
    let mut all = vec!["--", "switchboard"];
    all.extend_from_slice(words);
    let mut command = home.command(&all);
    command.env("SWITCHBOARD_COMPLETE", shell);
    if shell != "fish" {
        command.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
        command.env("_CLAP_IFS", "\n");
    }
    let output = command.output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines();
    // What behind it is help.
    let words = lines.map(|line| match shell {
        "zsh" => line.split(':').next().unwrap_or_default(),
        _ => line.split('\t').next().unwrap_or_default(),
    });
    let words = words.filter(|word| !word.starts_with('-'));
    words.map(str::to_owned).collect()
}

const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

#[test]
fn names_of_servers_tools_prompts_and_arguments_are_completed() {
    let home = home();
    for shell in SHELLS {
        assert_eq!(
            asked(&home, shell, &["tools", ""]),
            ["mine", "demo"],
            "{shell}"
        );
        assert_eq!(asked(&home, shell, &["enable", "m"]), ["mine"], "{shell}");
        assert_eq!(
            asked(&home, shell, &["trust", "show", "m"]),
            ["mine"],
            "{shell}"
        );
        assert_eq!(
            asked(&home, shell, &["call", "mine/e"]),
            ["mine/echo"],
            "{shell}"
        );
        assert_eq!(
            asked(&home, shell, &["call", "mine/echo", ""]),
            ["message="],
            "{shell}"
        );
        assert_eq!(
            asked(&home, shell, &["call", "mine/add", "a=1", ""]),
            ["b="],
            "{shell}"
        );
        assert_eq!(
            asked(&home, shell, &["prompt", "mine/g"]),
            ["mine/greeting"],
            "{shell}"
        );
        let arguments = asked(&home, shell, &["prompt", "mine/greeting", ""]);
        assert_eq!(arguments, ["name=", "formal="], "{shell}");
        assert_eq!(asked(&home, shell, &["doc"]), ["doctor"], "{shell}");
        let shells = asked(&home, shell, &["completions", ""]);
        assert!(
            shells.iter().any(|one| one.starts_with("bash")),
            "{shells:?}"
        );
        // A new name, which nobody knows.
        assert_eq!(asked(&home, shell, &["add", "m"]), [""; 0], "{shell}");
    }
}

#[test]
fn a_call_forgets_no_prompts() {
    let home = home();
    let run = home.run(&["call", "mine/echo", "message=x"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let prompts = asked(&home, "fish", &["prompt", "mine/g"]);
    assert_eq!(prompts, ["mine/greeting"]);
    // And of a server that was only called, the tools are known.
    let home = Home::new();
    assert_eq!(home.run(&["call", "demo/echo", "message=x"]).code, Some(0));
    assert_eq!(asked(&home, "fish", &["call", "demo/e"]), ["demo/echo"]);
}

#[test]
fn a_server_that_took_the_name_of_another_has_none_of_its_tools() {
    let home = home();
    assert!(!asked(&home, "fish", &["call", "mine/"]).is_empty());
    let mut other = server();
    other["args"] = json!(["test-server", "--paginate"]);
    home.write(
        "p/.mcp.json",
        &json!({"mcpServers": {"mine": other}}).to_string(),
    );
    assert_eq!(asked(&home, "fish", &["call", "mine/"]), [""; 0]);
}

#[test]
fn the_file_is_the_persons_alone_and_stays_within_bounds() {
    let home = home();
    let mode = |path: &str| fs::metadata(home.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(CACHE), 0o600);
    assert_eq!(mode("state/switchboard/catalog"), 0o700);
    let text = home.read(CACHE);
    assert!(text.len() < 2000, "{text}");
    // The same list again is nothing new.
    let before = fs::metadata(home.path(CACHE)).unwrap().modified().unwrap();
    assert_eq!(home.run(&["tools"]).code, Some(0));
    assert_eq!(
        fs::metadata(home.path(CACHE)).unwrap().modified().unwrap(),
        before
    );
}

#[test]
fn a_file_that_is_not_to_be_relied_on_is_one_without_names() {
    let home = home();
    let good = home.read(CACHE);
    let large = format!("{good}{}", " ".repeat(2 * 1024 * 1024));
    let newer = good.replace("\"version\":1", "\"version\":2");
    for bad in ["", "{", "[]", "{\"version\":1}", "\u{0}", &newer, &large] {
        home.write(CACHE, bad);
        assert_eq!(
            asked(&home, "bash", &["call", "mine/"]),
            [""; 0],
            "{bad:.40}"
        );
        assert_eq!(asked(&home, "bash", &["tools", "m"]), ["mine"], "{bad:.40}");
    }
    home.write(CACHE, &good);
    assert!(!asked(&home, "bash", &["call", "mine/"]).is_empty());
    let set = |mode| fs::set_permissions(home.path(CACHE), fs::Permissions::from_mode(mode));
    // Anybody could have written it.
    set(0o666).unwrap();
    assert_eq!(asked(&home, "bash", &["call", "mine/"]), [""; 0]);
    set(0o600).unwrap();
    fs::rename(home.path(CACHE), home.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(home.path("elsewhere"), home.path(CACHE)).unwrap();
    assert_eq!(asked(&home, "bash", &["call", "mine/"]), [""; 0]);
    // And a command works whatever is there.
    assert_eq!(home.run(&["tools"]).code, Some(0));
}

#[test]
fn names_that_a_shell_would_obey_are_left_out() {
    let home = home();
    let good = home.read(CACHE);
    let bad = good
        .replace("\"echo\"", "\"$(touch canary)\"")
        .replace("\"add\"", "\"`x`\"");
    home.write(CACHE, &bad);
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(home.path(CACHE), mode).unwrap();
    let name = "$(touch${IFS}canary)";
    let text = json!({"mcpServers": {name: {"command": "sh"}, "a;b": {"command": "sh"}}});
    home.write("p/.mcp.json", &text.to_string());
    home.write("p/$(touch canary)", "");
    for shell in SHELLS {
        for words in [
            &["tools", ""][..],
            &["call", ""],
            &["config", "check", ""],
            &["tools", "--config", ""],
        ] {
            let found = asked(&home, shell, words);
            let is_safe = |word: &String| !word.contains(['$', '`', ';', '(', ' ']);
            assert!(found.iter().all(is_safe), "{shell} {words:?} {found:?}");
        }
    }
    assert!(!home.has_canary());
}

#[test]
fn nothing_of_a_cloned_project_is_started_by_completing() {
    let home = home();
    let before = home.read(CACHE);
    let text = r#"{"mcpServers": {"theirs": {"command": "sh", "args": ["-c", "touch canary"],
        "env": {"K": "${file:/dev/zero}"}}, "x": {"command": "./run"}}}"#;
    home.write("p/.mcp.json", text);
    home.write("p/run", "#!/bin/sh\ntouch canary\n");
    let run = fs::Permissions::from_mode(0o755);
    fs::set_permissions(home.path("p/run"), run).unwrap();
    for shell in SHELLS {
        assert_eq!(asked(&home, shell, &["tools", "t"]), ["theirs"], "{shell}");
        for words in [
            &["call", "theirs/"][..],
            &["call", "theirs/x", ""],
            &["prompt", "theirs/"],
            &["read", "theirs", ""],
            &["doctor", "x"],
            &["trust", "approve", ""],
        ] {
            asked(&home, shell, words);
        }
    }
    assert!(!home.has_canary());
    assert_eq!(home.read(CACHE), before);
}

#[test]
fn a_shell_that_nobody_knows_gets_nothing() {
    let home = home();
    assert_eq!(asked(&home, "tcsh", &["tools", ""]), [""; 0]);
    let mut command = home.command(&["tools"]);
    let output = command
        .env("SWITCHBOARD_COMPLETE", "bash")
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"");
}

#[test]
fn the_scripts_ask_the_program_by_its_name() {
    let home = Home::new();
    for (shell, part) in [
        ("bash", "complete -o nospace"),
        ("zsh", "#compdef switchboard"),
        (
            "fish",
            "complete --keep-order --exclusive --command switchboard",
        ),
    ] {
        let run = home.run(&["completions", shell]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
        assert!(run.stdout.contains(part), "{}", run.stdout);
        assert!(
            run.stdout.contains("SWITCHBOARD_COMPLETE="),
            "{}",
            run.stdout
        );
        assert!(!run.stdout.contains("target"), "{}", run.stdout);
    }
    assert_eq!(home.run(&["completions", "tcsh"]).code, Some(2));
}

#[test]
fn a_real_bash_completes_with_the_script() {
    let home = home();
    let bin = home.path("links");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_switchboard"), bin.join("switchboard")).unwrap();
    let script = r#"
        eval "$(switchboard completions bash)"
        offered() {
            COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_TYPE=9
            _clap_complete_switchboard switchboard "${COMP_WORDS[COMP_CWORD]}"
            echo "${COMPREPLY[0]}"
        }
        offered switchboard too
        offered switchboard call mine/ec
        offered switchboard call mine/echo me
    "#;
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", script])
        .env_clear()
        .env("HOME", home.path(""))
        .env("PATH", path)
        .env("XDG_CONFIG_HOME", home.path("config"))
        .env("XDG_STATE_HOME", home.path("state"))
        .current_dir(home.path("p"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "tools\nmine/echo\nmessage=\n");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn the_manual_lists_every_verb_and_each_has_its_page() {
    let home = Home::new();
    let run = home.run(&["man"]);
    assert_eq!(run.code, Some(0));
    assert!(run.stdout.contains(".TH switchboard 1"), "{}", run.stdout);
    for verb in ["tools", "call", "doctor", "export", "trust"] {
        assert!(
            run.stdout.contains(&format!("switchboard\\-{verb}(1)")),
            "{verb}"
        );
    }
    let pages = home.path("pages");
    fs::create_dir(&pages).unwrap();
    assert_eq!(home.run(&["man", "--dir", "../pages"]).code, Some(0));
    for page in [
        "switchboard.1",
        "switchboard-tools.1",
        "switchboard-trust-approve.1",
    ] {
        let text = home.read(&format!("pages/{page}"));
        // What a line of roff begins with is a request, or text.
        let is_known = |line: &str| {
            let request = line
                .strip_prefix('.')
                .and_then(|line| line.split(' ').next());
            request.is_none_or(|request| {
                [
                    "TH", "SH", "SS", "PP", "TP", "RS", "RE", "IP", "br", "ie", "el", "nf", "fi",
                    "B", "I", "BR", "IR",
                ]
                .contains(&request)
            })
        };
        let odd: Vec<&str> = text.lines().filter(|line| !is_known(line)).collect();
        assert_eq!(odd, [""; 0], "{page}");
        assert!(
            text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"),
            "{page}"
        );
    }
    assert_eq!(home.run(&["man", "--dir", "../no"]).code, Some(1));
}
