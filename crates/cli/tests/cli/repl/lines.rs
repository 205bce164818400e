//! Lines from a pipe, and from a terminal that can do nothing; and signals.

use serde_json::json;

use super::{READY, entry, home, open};
use crate::home::Home;
use crate::pty::Pty;
use crate::run::{Run, command};
use crate::script::Script;

fn piped(home: &Home, lines: &str) -> Run {
    Run::reading(home.command(&["repl"]), lines)
}

#[test]
fn a_script_is_read_line_by_line_and_told_what_failed() {
    let home = home(&json!({"one": entry(&[])}), &json!({}));
    let run = piped(
        &home,
        "call one/echo message=hello\n\ncall one/nothing\ncall one/add a=1 b=2\n",
    );
    assert_eq!(run.stdout, "hello\n3\n");
    assert!(
        run.stderr.contains("there is no tool named \"nothing\""),
        "{}",
        run.stderr
    );
    assert_eq!(run.code, Some(5));
    let run = piped(&home, "call one/echo message=hello\nexit\nnever\n");
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "hello\n"));
}

#[test]
fn nobody_is_asked_on_a_pipe() {
    let home = Home::new();
    let file = json!({"mcpServers": {"cloned": {"command": "sh", "args": ["-c", "x"]}}});
    home.write("p/.mcp.json", &file.to_string());
    let run = piped(
        &home,
        "/mcp\ntools cloned\ncall cloned/x\nreload\nservers\n",
    );
    assert_eq!(run.code, Some(7), "{}", run.stderr);
    assert!(!home.has_canary());
}

#[test]
fn without_a_terminal_nothing_opens_by_itself() {
    let run = Home::new().run(&[]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
}

#[test]
fn a_dumb_terminal_gets_plain_lines() {
    let home = home(&json!({"one": entry(&[])}), &json!({}));
    let mut command = home.command(&[]);
    command.env("TERM", "dumb");
    let mut pty = Pty::start(command, 80);
    pty.wait_for(READY);
    pty.send(b"call one/echo message=dumb\r");
    pty.wait_for("\ndumb\r\n");
    pty.wait_for(READY);
    pty.send(b"\x03");
    pty.wait_for("Ctrl-C again");
    pty.send(b"call one/echo message=on\r");
    pty.wait_for("\non\r\n");
    assert!(!pty.written().contains('\u{1b}'), "{:?}", pty.written());
    pty.send(b"\x04");
    assert_eq!(pty.finish().0, 0);
}

#[test]
fn signals_end_it_and_its_servers() {
    for (name, code) in [("TERM", 143), ("HUP", 129), ("INT", 130)] {
        let home = home(&json!({"one": entry(&["--instance", "first"])}), &json!({}));
        let mut pty = open(&home);
        super::enter(&mut pty, "call one/whoami");
        pty.wait_for("first");
        pty.wait_for(READY);
        let screen = pty.screen();
        let line = screen
            .lines()
            .rfind(|line| line.starts_with("first"))
            .unwrap();
        let server = line.split_whitespace().last().unwrap().to_owned();
        let kill = |signal: &str, pid: &str| {
            let done = std::process::Command::new("/bin/kill")
                .args([signal, pid])
                .output();
            done.unwrap().status.success()
        };
        assert!(kill(&format!("-{name}"), &pty.pid().to_string()));
        let (ended, _) = pty.finish();
        assert_eq!(ended, code, "{name}");
        assert!(!kill("-0", &server), "{name}: its server is gone");
    }
}

#[test]
fn a_failed_list_is_read_again_on_the_same_connection() {
    let server = Script::new(
        "LISTED = 0\ndef list_tools(request):\n    global LISTED\n    LISTED += 1\n    \
         if LISTED == 1:\n        refuse(request, -32000, 'warming up')\n    \
         else:\n        answer(request, {'tools': [tool('listed')]})\n\
         def call(request):\n    answer(request, text(f'listed {LISTED} times'))",
    );
    let line = server.command();
    let input = "tools stdio\n/mcp retry stdio\ntools stdio\ncall stdio/listed\n";
    let run = Run::reading(command(&["repl", "--stdio", &line]), input);
    // A new process would have refused its first list.
    let times = run.stdout.lines().find_map(|line| {
        let times = line.strip_prefix("listed ")?.strip_suffix(" times")?;
        times.parse::<u32>().ok()
    });
    assert!(times.is_some_and(|times| times >= 2), "{run:?}");
    assert!(run.stderr.matches("warming up").count() <= 2, "{run:?}");
}
