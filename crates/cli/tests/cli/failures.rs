//! Servers that do not start, do not answer, die, or break the protocol.

use crate::run::{said, switchboard};
use crate::script::Script;

#[test]
fn a_command_that_is_not_there_cannot_be_connected_to() {
    let run = switchboard(&["tools", "gone", "--stdio", "no-such-command-here --flag"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(4), ""));
    assert!(
        run.stderr.starts_with(
            "error: command \"no-such-command-here\" was not found\n  server: gone\n  \
             command: no-such-command-here --flag\n  searched: "
        ),
        "{}",
        run.stderr
    );
}

#[test]
fn a_server_that_ends_at_once_shows_its_last_words() {
    let run = switchboard(&["tools", "--stdio", "sh -c 'echo \"no config\" >&2; exit 3'"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(4), ""));
    assert!(
        run.stderr
            .starts_with("error: the server ended with exit code 3 in the handshake\n"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr
            .contains("  last lines of stderr:\n    | no config\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_handshake_that_takes_too_long_is_no_connection() {
    let server = Script::new("def initialize(request):\n    pass");
    let args = [
        "tools",
        "--stdio",
        &server.command(),
        "--timeout",
        "700ms",
        "--json",
    ];
    let run = switchboard(&args);
    assert_eq!((run.code, run.stdout.as_str()), (Some(4), ""));
    assert_eq!(run.error()["kind"], "connect");
    assert_eq!(run.error()["exit"], 4);
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let run = switchboard(&["tools", "demo", "--cwd", "/nowhere/at/all"]);
    assert_eq!(
        run,
        said(
            4,
            "",
            "error: the working folder /nowhere/at/all does not exist\n  server: demo\n  \
             command: [switchboard] test-server\n  what to do:\n    \
             - create it: `mkdir -p /nowhere/at/all`\n    - or change `--cwd`\n"
        )
    );
}

#[test]
fn a_listing_that_takes_too_long_is_a_timeout() {
    let server = Script::new("def list_tools(request):\n    pass");
    let stdio = server.command();
    for args in [["tools", "s"], ["call", "s/go"]] {
        let run = switchboard(&[
            args[0],
            args[1],
            "--stdio",
            &stdio,
            "--timeout",
            "2s",
            "--json",
        ]);
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (Some(9), ""),
            "{}",
            run.stderr
        );
        assert_eq!(run.error()["kind"], "timeout");
    }
}

#[test]
fn a_call_that_takes_too_long_is_a_timeout() {
    let args = [
        "call",
        "demo/slow_operation",
        "duration=60",
        "steps=1",
        "--timeout",
        "1",
    ];
    let run = switchboard(&args);
    assert_eq!((run.code, run.stdout.as_str()), (Some(9), ""));
    assert!(
        run.stderr
            .starts_with("error: no answer to tools/call within 1"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr
            .contains("  sent: yes, so it may have taken effect\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_server_that_dies_during_a_call_is_told_from_one_that_never_started() {
    let server = Script::new(
        r#"
def call(request):
    sys.stderr.write("out of cheese\n")
    sys.stderr.flush()
    os._exit(42)
"#,
    );
    let run = switchboard(&["call", "dying/go", "--stdio", &server.command()]);
    assert_eq!(
        (
            run.code,
            run.stdout.as_str(),
            server.filtered(&run.stderr).as_str()
        ),
        (
            Some(10),
            "",
            "error: the server ended with exit code 42 during the call\n  server: dying\n  \
             command: python3 [folder]/server.py\n  sent: yes, so it may have taken effect\n  \
             last lines of stderr:\n    | out of cheese\n  possible causes:\n    \
             - see its output above\n  what to do:\n    \
             - check that it still starts: `switchboard tools --stdio \"python3 [folder]/server.py\"`\n"
        )
    );
}

#[test]
fn an_answer_over_the_limit_is_a_violation() {
    let server = Script::new(
        r#"
def call(request):
    answer(request, text("x" * (11 * 1024 * 1024)))
"#,
    );
    let run = switchboard(&["call", "--stdio", &server.command(), "go", "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(11), ""));
    assert_eq!(run.error()["message"], "the answer is too large");
    assert_eq!(run.error()["kind"], "protocol");
}

#[test]
fn an_answer_that_is_no_result_is_a_violation() {
    let server = Script::new("def call(request):\n    answer(request, {\"content\": 5})");
    let run = switchboard(&["call", "--stdio", &server.command(), "go"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(11), ""),
        "{}",
        run.stderr
    );
}

#[test]
fn an_error_of_the_server_is_shown_whole_to_a_program() {
    let server = Script::new(
        r#"
def call(request):
    refuse(request, -32603, "it broke", data={"z": 1.5, "a": [None]}, later=True)
"#,
    );
    let stdio = server.command();
    let run = switchboard(&["call", "s/go", "--stdio", &stdio, "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(5), ""));
    assert_eq!(
        server.filtered(&run.stderr),
        concat!(
            r#"{"exit":5,"kind":"rpc","server":"s","identity":"stdio:python3:[folder]/server.py","#,
            r#""message":"the server answered with an error: it broke","source":null,"#,
            r#""facts":[{"name":"code","value":"-32603"},"#,
            r#"{"name":"data","value":"{\"z\": 1.5, \"a\": [null]}"}],"evidence":[],"causes":[],"#,
            r#""hints":[],"rpc":{"code": -32603, "message": "it broke", "#,
            r#""data": {"z": 1.5, "a": [null]}, "later": true}}"#,
            "\n"
        )
    );
}

#[test]
#[cfg(unix)]
fn a_message_names_its_server_once() {
    let home = crate::home::Home::new();
    let own = env!("CARGO_BIN_EXE_switchboard");
    let shell = |line: &str| serde_json::json!({"command": "/bin/sh", "args": ["-c", line]});
    let servers = serde_json::json!({
        "good": {"command": own, "args": ["test-server"]},
        "gone": {"command": "no-such-command-anywhere"},
        "loud": shell("echo loud: loud >&2; exit 3"),
        "mute": shell("cat > /dev/null"),
        "off": {"command": own, "disabled": true},
    });
    let file = serde_json::json!({ "mcpServers": servers }).to_string();
    home.write("config/switchboard/mcp.json", &file);
    let names = ["good", "gone", "loud", "mute", "off"];
    let mut commands: Vec<Vec<&str>> = ["servers", "tools", "resources", "prompts", "context"]
        .iter()
        .map(|verb| vec![*verb])
        .collect();
    for name in names {
        commands.push(vec!["tools", name]);
        commands.push(vec!["ping", name]);
        commands.push(vec!["read", name, "no:thing"]);
    }
    for mut command in commands {
        command.extend(["--timeout", "2s"]);
        let run = home.run(&command);
        for line in format!("{}\n{}", run.stdout, run.stderr).lines() {
            // The server's own words are quoted behind a bar.
            let is_quoted = line.trim_start().starts_with('|');
            let twice = |name: &&&str| line.contains(&format!("{name}: {name}: "));
            let found = names.iter().find(twice).filter(|_| !is_quoted);
            assert_eq!(found, None, "{command:?}: {line}");
        }
    }
}
