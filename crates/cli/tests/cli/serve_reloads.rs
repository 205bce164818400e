//! `switchboard serve` while its config files are edited: a real process and a raw client.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::ChildStderr;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::home::Home;
use crate::pins_verbs::change;
use crate::serve_verb::{Gateway, home, serve};
use crate::serving::Serving;

const OWN: &str = env!("CARGO_BIN_EXE_switchboard");
const FILE: &str = "config/switchboard/mcp.json";

/// Replaces the person's own file in one step, as editors do.
fn edit(home: &Home, servers: &[&str]) {
    let entry = json!({"command": OWN, "args": ["test-server"]});
    let servers = servers.iter();
    let servers = servers.map(|name| ((*name).to_owned(), entry.clone()));
    let config = json!({"mcpServers": serde_json::Map::from_iter(servers)});
    replace(home, &config.to_string());
}

fn replace(home: &Home, text: &str) {
    home.write("config/switchboard/new", text);
    fs::rename(home.path("config/switchboard/new"), home.path(FILE)).unwrap();
}

fn has(tools: &[String], name: &str) -> bool {
    tools.iter().any(|tool| tool == name)
}

fn stderr(gateway: &mut Gateway) -> BufReader<ChildStderr> {
    BufReader::new(gateway.child.stderr.take().unwrap())
}

/// Reads stderr up to a text, and returns what was read.
fn told(stderr: &mut BufReader<ChildStderr>, text: &str) -> String {
    let mut all = String::new();
    while !all.contains(text) {
        assert!(stderr.read_line(&mut all).unwrap() > 0, "{text}: {all}");
    }
    all
}

fn echo(gateway: &mut Gateway, tool: &str) -> Value {
    let call = json!({"name": tool, "arguments": {"message": "hello"}});
    gateway.ask("tools/call", &call)
}

fn works(gateway: &mut Gateway, tool: &str) {
    let answer = echo(gateway, tool);
    assert_eq!(answer["result"]["content"][0]["text"], "hello", "{answer}");
}

#[test]
fn a_gateway_follows_its_file_and_its_clients_are_told() {
    let home = home(&["one", "two"], &json!({}));
    let mut gateway = serve(&home, &[]);
    gateway.shake_hands();
    assert!(has(&gateway.tools(), "two__echo"));
    edit(&home, &["one", "three"]);
    gateway.tools_until(|tools| has(tools, "three__echo") && !has(tools, "two__echo"));
    works(&mut gateway, "three__echo");
    works(&mut gateway, "one__echo");
    let (code, stderr) = gateway.end();
    assert_eq!(code, Some(0));
    let line = "switchboard: the config was read again: added three; removed two\n";
    assert_eq!(stderr, line);
}

#[test]
fn a_file_that_breaks_keeps_the_servers_and_says_where() {
    let home = home(&["one"], &json!({}));
    let mut gateway = serve(&home, &[]);
    gateway.shake_hands();
    assert!(has(&gateway.tools(), "one__echo"));
    let mut stderr = stderr(&mut gateway);
    replace(&home, "{\n  \"mcpServers\": {\n    \"one\" }\n}\n");
    let said = told(&mut stderr, "the servers stay as they are until");
    assert!(said.contains("mcp.json:3:"), "{said}");
    works(&mut gateway, "one__echo");
    edit(&home, &["one", "two"]);
    told(&mut stderr, "the config was read again: added two\n");
    gateway.tools_until(|tools| has(tools, "two__echo"));
    // A single entry that is wrong costs itself alone.
    let config = json!({"mcpServers": {
        "one": {"command": OWN, "args": ["test-server"]},
        "two": {"command": 5},
    }});
    replace(&home, &config.to_string());
    let said = told(&mut stderr, "the config was read again: changed two\n");
    assert!(said.contains("warning") && said.contains("two"), "{said}");
    gateway.tools_until(|tools| !has(tools, "two__echo"));
    works(&mut gateway, "one__echo");
}

#[test]
fn a_project_file_that_appears_counts_and_still_needs_approval() {
    let home = home(&["one"], &json!({}));
    let mut gateway = serve(&home, &[]);
    gateway.shake_hands();
    gateway.tools();
    let mut stderr = stderr(&mut gateway);
    let project = json!({"mcpServers": {"theirs": {"command": OWN, "args": ["test-server"]}}});
    home.write("p/.switchboard/mcp.json", &project.to_string());
    told(
        &mut stderr,
        "theirs is left out, because it is not approved",
    );
    assert!(!has(&gateway.tools(), "theirs__echo"));
    let run = home.run(&["trust", "approve", "theirs", "--yes"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    gateway.tools_until(|tools| has(tools, "theirs__echo"));
}

#[test]
fn an_entry_that_leads_back_stays_out_when_it_is_added_later() {
    let home = home(&["one"], &json!({}));
    let mut gateway = serve(&home, &[]);
    gateway.shake_hands();
    gateway.tools();
    let config = json!({"mcpServers": {
        "one": {"command": OWN, "args": ["test-server"]},
        "two": {"command": OWN, "args": ["test-server"]},
        "self": {"command": OWN, "args": ["serve"]},
    }});
    replace(&home, &config.to_string());
    gateway.tools_until(|tools| has(tools, "two__echo"));
    assert!(!gateway.tools().iter().any(|tool| tool.starts_with("self")));
    let (_, stderr) = gateway.end();
    assert!(stderr.contains("read again: added two\n"), "{stderr}");
}

#[test]
fn with_no_watch_a_hangup_has_the_files_read_again() {
    let home = home(&["one"], &json!({}));
    let mut gateway = serve(&home, &["--no-watch"]);
    gateway.shake_hands();
    gateway.tools();
    let mut stderr = stderr(&mut gateway);
    edit(&home, &["two"]);
    gateway.signal(Signal::HUP);
    told(
        &mut stderr,
        "the config was read again: added two; removed one\n",
    );
    gateway.tools_until(|tools| has(tools, "two__echo"));
    // Any number of them ends nothing.
    for _ in 0..3 {
        gateway.signal(Signal::HUP);
        told(&mut stderr, "the servers stay as they are\n");
    }
    works(&mut gateway, "two__echo");
    gateway.signal(Signal::TERM);
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert_eq!(gateway.child.wait().unwrap().code(), Some(0), "{rest}");
}

#[test]
fn what_agents_may_do_follows_the_file() {
    let home = home(&["one"], &json!({}));
    let mut gateway = serve(&home, &[]);
    gateway.shake_hands();
    assert!(has(&gateway.tools(), "one__add"));
    let config = json!({
        "mcpServers": {"one": {"command": OWN, "args": ["test-server"]}},
        "agents": {"gateway": {"level": "yolo", "grants": ["mcp:one:echo"]}},
    });
    replace(&home, &config.to_string());
    gateway.tools_until(|tools| *tools == ["one__echo"]);
    let answer = echo(&mut gateway, "one__add");
    assert!(answer["error"].is_object(), "{answer}");
    let (_, stderr) = gateway.end();
    let line = "switchboard: the config was read again: the servers stay as they are\n";
    assert_eq!(stderr, line);
}

/// Has a server work for as many seconds, as call 99, and returns once the call is in flight.
fn begin_slow(gateway: &mut Gateway, tool: &str, seconds: u32) {
    let call = json!({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": {
        "name": tool, "arguments": {"duration": seconds, "steps": 1},
    }});
    gateway.send(&call);
    // A ping is answered after the call was taken: messages take effect in their order.
    drop(gateway.ask("ping", &json!({})));
}

#[test]
fn a_call_in_flight_finishes_while_its_server_changes() {
    let home = home(&["one"], &json!({}));
    let mut gateway = serve(&home, &[]);
    gateway.shake_hands();
    gateway.tools();
    let mut stderr = stderr(&mut gateway);
    begin_slow(&mut gateway, "one__slow_operation", 2);
    let config = json!({"mcpServers": {
        "one": {"command": OWN, "args": ["test-server"], "env": {"CHANGED": "1"}},
    }});
    replace(&home, &config.to_string());
    told(&mut stderr, "the config was read again: changed one\n");
    let answer = gateway.answer(99);
    assert!(answer["result"].is_object(), "{answer}");
    works(&mut gateway, "one__echo");
}

#[test]
fn a_call_right_after_a_change_waits_for_the_server() {
    let home = home(&["one"], &json!({}));
    let mut gateway = serve(&home, &["--first-list", "60s"]);
    gateway.shake_hands();
    gateway.tools();
    let mut stderr = stderr(&mut gateway);
    for change in 0..5 {
        let env = json!({"CHANGED": change.to_string()});
        let entry = json!({"command": OWN, "args": ["test-server"], "env": env});
        replace(&home, &json!({"mcpServers": {"one": entry}}).to_string());
        told(&mut stderr, "the config was read again: changed one\n");
        works(&mut gateway, "one__echo");
    }
}

/// A home with a server of a project, which is approved.
fn approved_home() -> Home {
    let home = home(&["one"], &json!({}));
    let project = json!({"mcpServers": {"theirs": {"command": OWN, "args": ["test-server"]}}});
    home.write("p/.mcp.json", &project.to_string());
    let run = home.run(&["trust", "approve", "theirs", "--yes"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    home
}

#[test]
fn an_approval_that_is_revoked_stops_calls_at_once() {
    let home = approved_home();
    let mut gateway = serve(&home, &[]);
    gateway.shake_hands();
    let mut stderr = stderr(&mut gateway);
    gateway.tools_until(|tools| has(tools, "theirs__echo"));
    begin_slow(&mut gateway, "theirs__slow_operation", 3600);
    let run = home.run(&["trust", "revoke", "theirs"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let answer = gateway.answer(99);
    assert!(!answer["result"]["content"].is_array() || answer["result"]["isError"] == true);
    gateway.tools_until(|tools| !has(tools, "theirs__echo"));
    let answer = echo(&mut gateway, "theirs__echo");
    assert!(answer["error"].is_object(), "{answer}");
    works(&mut gateway, "one__echo");
    // Both lines, in either order, before it comes back: what is over at once is not told.
    let line = "the config was read again: approval revoked of theirs\n";
    let told_first = told(
        &mut stderr,
        "theirs is left out, because it is not approved",
    );
    if !told_first.contains(line) {
        told(&mut stderr, line);
    }
    // It may come back.
    let run = home.run(&["trust", "approve", "theirs", "--yes"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    gateway.tools_until(|tools| has(tools, "theirs__echo"));
    works(&mut gateway, "theirs__echo");
}

#[test]
fn an_approval_that_is_revoked_counts_while_a_file_is_broken() {
    let home = approved_home();
    let mut gateway = serve(&home, &[]);
    gateway.shake_hands();
    gateway.tools_until(|tools| has(tools, "theirs__echo"));
    let mut stderr = stderr(&mut gateway);
    // The file of the server itself, as the server could break it.
    home.write("p/.mcp.json", "{ \"mcpServers\": {");
    told(&mut stderr, "the servers stay as they are until");
    works(&mut gateway, "theirs__echo");
    let run = home.run(&["trust", "revoke", "theirs"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    told(&mut stderr, "switchboard: approval revoked of theirs\n");
    gateway.tools_until(|tools| !has(tools, "theirs__echo"));
    works(&mut gateway, "one__echo");
}

#[test]
fn an_approval_that_is_revoked_ends_a_server_that_only_finishes_its_calls() {
    let home = approved_home();
    let mut gateway = serve(&home, &[]);
    gateway.shake_hands();
    gateway.tools_until(|tools| has(tools, "theirs__echo"));
    let mut stderr = stderr(&mut gateway);
    begin_slow(&mut gateway, "theirs__slow_operation", 3600);
    home.write("p/.mcp.json", "{}");
    told(&mut stderr, "the config was read again: removed theirs\n");
    let run = home.run(&["trust", "revoke", "theirs"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let answer = gateway.answer(99);
    assert!(!answer["result"]["content"].is_array() || answer["result"]["isError"] == true);
}

#[test]
fn definitions_that_are_approved_elsewhere_are_offered_again() {
    let server = Serving::start(&["--growing"]);
    let home = Home::new();
    let config = json!({"mcpServers": {"demo": {"url": server.url()}}, "pins": "block"});
    home.write(FILE, &config.to_string());
    let mut gateway = serve(&home, &[]);
    gateway.shake_hands();
    gateway.tools_until(|tools| has(tools, "demo__echo"));
    change(&server, "echo");
    gateway.tools_until(|tools| !has(tools, "demo__echo"));
    let run = home.run(&["pins", "approve", "demo", "echo", "--yes"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    gateway.tools_until(|tools| has(tools, "demo__echo"));
    works(&mut gateway, "demo__echo");
}

#[test]
fn a_profile_that_is_edited_offers_what_it_names_now() {
    let profile = |tools: &str| json!({"profiles": {"work": {"tools": [tools]}}});
    let home = home(&["one", "two"], &profile("one/echo"));
    let mut gateway = serve(&home, &["--profile", "work"]);
    gateway.shake_hands();
    assert_eq!(gateway.tools(), ["one__echo"]);
    let entry = json!({"command": OWN, "args": ["test-server"]});
    let mut config = profile("two/add");
    config["mcpServers"] = json!({"one": entry, "two": entry});
    replace(&home, &config.to_string());
    gateway.tools_until(|tools| *tools == ["two__add"]);
    // Nothing else is.
    let answer = echo(&mut gateway, "one__echo");
    assert!(answer["error"].is_object(), "{answer}");
}
