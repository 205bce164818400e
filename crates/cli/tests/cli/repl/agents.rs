//! Acting as an agent, and the questions that come with it.

use serde_json::json;

use super::{enter, entry, home, leave, open, shows};
use crate::home::Home;

fn agents() -> serde_json::Value {
    json!({"agents": {
        "planner": {"level": "trusted", "grants": ["mcp:one:*"]},
        "other": {"level": "yolo", "grants": ["mcp:one:*"]},
    }})
}

#[test]
fn an_agent_is_asked_about_in_place_and_ctrl_c_is_a_no() {
    let home = home(&json!({"one": entry(&[])}), &agents());
    let mut pty = open(&home);
    enter(&mut pty, "as planner");
    shows(&pty, "switchboard (planner)>");
    enter(&mut pty, "call one/echo message=first");
    pty.wait_for("Allow?");
    // The question shows the arguments.
    pty.wait_until(|screen| screen.contains("message: \"first\""));
    pty.send(b"\x03");
    shows(&pty, "the call was denied: you did not allow agent planner");
    enter(&mut pty, "call one/echo message=second");
    pty.wait_for("Allow?");
    enter(&mut pty, "server");
    shows(&pty, "\nsecond\n");
    enter(&mut pty, "call one/echo message=third");
    shows(&pty, "\nthird\n");
    enter(&mut pty, "as me");
    enter(&mut pty, "call one/echo message=mine");
    shows(&pty, "\nmine\n");
    assert_eq!(leave(pty).0, 0);
}

#[test]
fn allow_all_skips_the_question() {
    let home = home(&json!({"one": entry(&[])}), &agents());
    let mut pty = open(&home);
    enter(&mut pty, "as planner");
    enter(&mut pty, "/mcp connect one --allow-all");
    shows(&pty, "7 tools");
    enter(&mut pty, "call one/echo message=unasked");
    shows(&pty, "\nunasked\n");
    assert!(!pty.written().contains("Allow?"));
    assert_eq!(leave(pty).0, 0);
}

#[test]
fn what_an_agent_connects_is_its_own_until_it_is_shared() {
    let home = home(&json!({"one": entry(&[])}), &agents());
    let mut pty = open(&home);
    enter(&mut pty, "as planner");
    enter(&mut pty, "/mcp connect one");
    shows(&pty, "7 tools");
    enter(&mut pty, "as other");
    shows(&pty, "switchboard (other)>");
    enter(&mut pty, "call one/echo message=private");
    shows(&pty, "there is no");
    assert!(!pty.screen().contains("\nprivate\n"));
    enter(&mut pty, "as planner");
    enter(&mut pty, "/mcp connect one --shared");
    shows(&pty, "7 tools");
    enter(&mut pty, "as other");
    enter(&mut pty, "call one/echo message=shared");
    shows(&pty, "\nshared\n");
    assert_eq!(leave(pty).0, 0);
}

#[test]
fn what_came_with_a_folder_is_asked_about_before_it_runs() {
    let home = Home::new();
    let file = json!({"mcpServers": {"cloned": entry(&["--instance", "cloned"])}});
    home.write("p/.mcp.json", &file.to_string());
    let mut pty = crate::pty::Pty::start(home.command(&[]), 100);
    pty.wait_for("needs approval: cloned");
    pty.wait_for(super::READY);
    for no in ["n\r", "\x03"] {
        enter(&mut pty, "/mcp connect cloned");
        pty.wait_for("Approve?");
        pty.send(no.as_bytes());
        pty.wait_for("the server is not approved");
        pty.wait_for(super::READY);
    }
    enter(&mut pty, "call cloned/whoami");
    pty.wait_for("Approve?");
    enter(&mut pty, "once");
    pty.wait_until(|screen| screen.lines().any(|line| line.starts_with("cloned ")));
    assert_eq!(leave(pty).0, 0);
}

/// Opens a prompt for an agent.
fn open_as(home: &Home, agent: &str) -> crate::pty::Pty {
    let mut pty = crate::pty::Pty::start(home.command(&["repl", "--as", agent]), 100);
    pty.wait_for("Ctrl-D exits");
    pty.wait_for(&format!("switchboard ({agent})> "));
    pty
}

#[test]
fn an_agent_at_its_own_prompt_is_asked_nothing_and_approves_nothing() {
    let home = home(&json!({"one": entry(&[])}), &agents());
    let file = json!({"mcpServers": {"cloned": entry(&["--instance", "cloned"])}});
    home.write("p/.mcp.json", &file.to_string());
    let mut pty = open_as(&home, "planner");
    // A trusted agent would have the person asked about it.
    enter(&mut pty, "call one/echo message=unasked");
    shows(&pty, "only after asking");
    for line in [
        "/mcp connect one --allow-all",
        "/mcp connect one --shared",
        "/mcp roots one /",
        "trust approve cloned --yes",
        "trust approve --all --yes",
        "pins approve one --yes",
        "pins revoke one",
        "policy revoke --all",
        "policy why other one/echo",
        "add two -- sh",
        "remove one",
        "config show",
        "call one/echo message=escaped --as other",
        "call --stdio sh tool",
        "tools --config elsewhere.json",
        "import claude-code --yes",
    ] {
        enter(&mut pty, line);
        pty.wait_for("only the person can");
    }
    let screen = pty.written();
    assert_eq!(leave(pty).0, 0, "{screen}");
    for question in ["Allow?", "Approve?", "[y/N]"] {
        assert!(!screen.contains(question), "{screen}");
    }
    assert!(
        !screen.contains("\nunasked\n") && !screen.contains("\nescaped\n"),
        "{screen}"
    );
    let kept = home.path("state/switchboard");
    for file in ["trust/trust.json", "approvals/approvals.json"] {
        assert!(!kept.join(file).exists(), "{file}");
    }
}

#[test]
fn an_agent_at_its_own_prompt_cannot_put_its_role_down() {
    let home = home(&json!({"one": entry(&[])}), &agents());
    let mut pty = open_as(&home, "planner");
    for line in ["as me", "as other", "as owner"] {
        enter(&mut pty, line);
        pty.wait_for("only the person can");
        pty.wait_for("switchboard (planner)> ");
    }
    enter(&mut pty, "reload");
    pty.wait_for("switchboard (planner)> ");
    enter(&mut pty, "call one/echo message=still");
    shows(&pty, "only after asking");
    assert_eq!(leave(pty).0, 0);
}

#[test]
fn an_agents_prompt_names_no_server_that_the_agent_may_not_know() {
    let mut sections = agents();
    sections["audience"] = json!({"hidden-typo": ["other"]});
    let servers = json!({
        "one": entry(&[]),
        "hidden": {"command": "npx", "args": ["-y", "hidden-package"], "comand": "x"},
    });
    let home = home(&servers, &sections);
    home.write("p/.npmrc", "registry=https://example.invalid/\n");
    let mut pty = open_as(&home, "planner");
    for (line, shown) in [
        ("/mcp", "/mcp connect NAME"),
        ("servers", "one"),
        ("reload", "1 server"),
        ("tools", "echo"),
        ("/mcp tools", "echo"),
    ] {
        enter(&mut pty, line);
        pty.wait_for(shown);
    }
    let written = pty.written();
    assert_eq!(leave(pty).0, 0, "{written}");
    assert!(!written.contains("hidden"), "{written}");
}

#[test]
fn an_agent_at_its_own_prompt_reads_and_writes_no_files_of_the_person() {
    let home = home(&json!({"one": entry(&[])}), &agents());
    home.write("p/diary.txt", "dear diary");
    let history = "call one/echo message=typed-by-the-person\n";
    home.write("state/switchboard/history", history);
    let mut pty = open_as(&home, "other");
    // Up.
    pty.send(b"\x1b[A");
    for line in [
        "call one/echo message=@diary.txt",
        "prompt one/greeting name=@diary.txt",
        "call one/echo message=hi --output new.txt",
        "call one/echo message=hi --save new",
        "read one file:///readme.txt --output new.txt",
        "prompt one/greeting name=Ada --save new",
    ] {
        enter(&mut pty, line);
        pty.wait_for("only the person can");
    }
    // What is no file is still a value.
    enter(&mut pty, "call one/echo message=a=@b");
    shows(&pty, "\na=@b\n");
    let written = pty.written();
    assert_eq!(leave(pty).0, 0, "{written}");
    assert!(
        !written.contains("dear diary") && !written.contains("typed-by-the-person"),
        "{written}"
    );
    assert_eq!(home.read("state/switchboard/history"), history);
    assert!(!home.path("p/new.txt").exists() && !home.path("p/new").exists());
}
