//! What `switchboard serve` asks the person, and what it tells them and its clients of servers that are not ready.

use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::home::Home;
use crate::logins::Stage;
use crate::pty::Pty;
use crate::serve_verb::{Gateway, post_with, serve};

const OWN: &str = env!("CARGO_BIN_EXE_switchboard");

/// A home with a server that writes down what it is called for, and an agent that is asked about.
fn trusting() -> Home {
    let home = Home::new();
    let journal = home.path("journal");
    let config = json!({
        "mcpServers": {"one": {"command": OWN, "args": ["test-server", "--journal", journal]}},
        "agents": {"gateway": {"level": "trusted"}},
    });
    home.write("config/switchboard/mcp.json", &config.to_string());
    home
}

/// The number of calls that have reached its server.
fn calls(home: &Home) -> usize {
    let text = std::fs::read_to_string(home.path("journal")).unwrap_or_default();
    text.lines().count()
}

fn echo(message: &str) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    let params = json!({"name": "one__echo", "arguments": {"message": message}, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

/// Makes a call over HTTP in a thread, which ends with the whole answer.
fn begin(told: &str, message: &'static str) -> JoinHandle<String> {
    let told = told.to_owned();
    std::thread::spawn(move || {
        let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
                       Mcp-Name: one__echo\r\n";
        post_with(&told, headers, &echo(message))
    })
}

#[test]
fn a_person_at_the_terminal_of_a_gateway_is_asked_about_its_clients() {
    let home = trusting();
    let args = ["serve", "--http", "0", "--no-auth", "--first-list", "30s"];
    // Wide, so that no address is wrapped.
    let mut pty = Pty::start(home.command(&args), 300);
    pty.wait_until(|screen| screen.contains("serving at http://") && screen.contains("Gemini"));
    let told = pty.screen();
    let first = begin(&told, "one");
    pty.wait_for("gateway");
    pty.wait_for("Allow? [o]nce");
    assert_eq!(calls(&home), 0, "nothing is called before the answer");
    pty.send(b"o\r");
    let answer = first.join().unwrap();
    assert!(answer.contains(r#""text":"one""#), "{answer}");
    // Once was for that call alone.
    let second = begin(&told, "two");
    pty.wait_for("Allow? [o]nce");
    pty.send(b"n\r");
    let answer = second.join().unwrap();
    assert!(
        !answer.contains("two") && answer.contains("error"),
        "{answer}"
    );
    let third = begin(&told, "three");
    pty.wait_for("Allow? [o]nce");
    pty.send(b"s\r");
    assert!(third.join().unwrap().contains(r#""text":"three""#));
    let fourth = begin(&told, "four").join().unwrap();
    assert!(fourth.contains(r#""text":"four""#), "{fourth}");
    assert_eq!(calls(&home), 3);
    pty.send(b"\x03");
    assert_eq!(pty.finish().0, 0);
}

#[test]
fn without_a_terminal_a_use_that_needs_a_question_is_denied() {
    let home = trusting();
    let mut gateway = serve(&home, &["--first-list", "30s"]);
    gateway.shake_hands();
    assert!(gateway.tools().iter().any(|tool| tool == "one__echo"));
    let call = json!({"name": "one__echo", "arguments": {"message": "hello"}});
    let answer = gateway.ask("tools/call", &call);
    let told = json!({"reason": "denied", "server": "one", "rule": "not approved by the owner"});
    assert_eq!(answer["error"]["data"], told, "{answer}");
    assert_eq!(calls(&home), 0);
    assert_eq!(gateway.end().0, Some(0));
}

#[test]
fn a_server_that_is_late_is_named_and_announced_once_it_is_there() {
    let home = Home::new();
    let slow = json!({"command": OWN, "args": ["test-server", "--start-delay", "1500"]});
    let config = json!({"mcpServers": {"slow": slow}});
    home.write("config/switchboard/mcp.json", &config.to_string());
    let mut gateway = serve(&home, &["--first-list", "10ms"]);
    gateway.shake_hands();
    let listed = gateway.ask("tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"], json!([]), "{listed}");
    let left_out = &listed["result"]["_meta"]["switchboard/leftOut"];
    assert_eq!(
        *left_out,
        json!([{"server": "slow", "reason": "connecting"}])
    );
    // Nothing is asked for until the list is announced.
    gateway.wait_for_change();
    let listed = gateway.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "slow__echo"));
    assert_eq!(listed["result"].get("_meta"), None, "{listed}");
    assert_eq!(gateway.end().0, Some(0));
}

#[test]
fn a_server_that_needs_a_login_is_left_out_and_named_with_the_command() {
    let stage = Stage::new(&[]);
    let mut gateway = Gateway::start(stage.command(&["serve", "--first-list", "30s"]));
    gateway.shake_hands();
    let listed = gateway.ask("tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"], json!([]), "{listed}");
    let command = "switchboard login tickets";
    let left_out = &listed["result"]["_meta"]["switchboard/leftOut"];
    let expected = json!([{"server": "tickets", "reason": "needs_login", "command": command}]);
    assert_eq!(*left_out, expected);
    let told = gateway.told_until("tickets");
    let line = format!("tickets is left out, because it needs a login: {command}");
    assert!(told.contains(&line), "{told}");
    drop(gateway);
    // The command that was named is the one that helps.
    stage.log_in(&[]);
    let mut gateway = Gateway::start(stage.command(&["serve", "--first-list", "30s"]));
    gateway.shake_hands();
    assert!(gateway.tools().iter().any(|tool| tool == "tickets__echo"));
    assert_eq!(gateway.end().0, Some(0));
}
