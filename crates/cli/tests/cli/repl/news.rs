//! What happens while a line is being typed.

use serde_json::json;

use super::{READY, enter, entry, home, leave, open, shows};
use crate::home::Home;

#[test]
fn a_crash_is_told_above_the_line_that_is_being_typed() {
    let home = home(&json!({"one": entry(&["--instance", "first"])}), &json!({}));
    let mut pty = open(&home);
    enter(&mut pty, "call one/whoami");
    pty.wait_for("first");
    pty.wait_for(READY);
    let screen = pty.screen();
    let line = screen
        .lines()
        .rfind(|line| line.starts_with("first"))
        .unwrap();
    let pid = line.split_whitespace().last().unwrap().to_owned();
    pty.send(b"call one/echo mess");
    pty.wait_until(|screen| screen.ends_with("> call one/echo mess"));
    let killed = std::process::Command::new("/bin/kill")
        .args(["-9", &pid])
        .status();
    assert!(killed.unwrap().success());
    pty.wait_until(|screen| {
        screen.contains("* one: disconnected") && screen.ends_with("> call one/echo mess")
    });
    // The line goes on where it was, and the server comes back.
    pty.send(b"age=again\r");
    shows(&pty, "\nagain\n");
    assert_eq!(leave(pty).0, 0);
}

#[test]
fn a_server_that_does_not_start_is_told_and_the_others_work() {
    let broken = json!({"command": "/bin/false"});
    let home = home(&json!({"broken": broken, "one": entry(&[])}), &json!({}));
    let mut pty = open(&home);
    pty.wait_until(|screen| screen.contains("* broken: ") && screen.contains("`servers broken`"));
    enter(&mut pty, "call one/echo message=fine");
    shows(&pty, "\nfine\n");
    enter(&mut pty, "/mcp connect broken");
    shows(&pty, "the server ended with exit code 1");
    assert_eq!(leave(pty).0, 0);
}

#[test]
fn what_servers_log_is_told() {
    let home = home(
        &json!({"one": entry(&["--chaos", "log-flood=3@echo"])}),
        &json!({}),
    );
    let mut pty = open(&home);
    enter(&mut pty, "call one/echo message=logged");
    pty.wait_until(|screen| {
        screen.matches("* one: ").count() >= 3 && screen.contains("\nlogged\n")
    });
    assert_eq!(leave(pty).0, 0);
}

#[test]
fn a_change_of_what_a_server_offers_is_told() {
    let home = home(&json!({"one": entry(&["--growing"])}), &json!({}));
    let mut pty = open(&home);
    // What it offers at first is no news, and how long that takes nobody knows.
    for number in 0..1000 {
        enter(&mut pty, &format!("call one/add_tool name=new{number}"));
        shows(&pty, &format!("name=new{number}\n"));
        if pty.written().contains("* one: tool new") {
            assert_eq!(leave(pty).0, 0);
            return;
        }
    }
    panic!("nothing was told:\n{}", pty.screen());
}

#[test]
fn an_edited_file_is_taken_above_the_line_that_is_being_typed() {
    let home = home(&json!({"one": entry(&[])}), &json!({}));
    let mut pty = open(&home);
    enter(&mut pty, "call one/echo message=first");
    shows(&pty, "\nfirst\n");
    pty.send(b"call two/echo mess");
    pty.wait_until(|screen| screen.ends_with("> call two/echo mess"));
    let config = json!({"mcpServers": {"one": entry(&[]), "two": entry(&[])}});
    home.write("config/switchboard/mcp.json", &config.to_string());
    pty.wait_until(|screen| {
        screen.contains("* the config was read again: added two")
            && screen.ends_with("> call two/echo mess")
    });
    // The line goes on where it was.
    pty.send(b"age=second\r");
    shows(&pty, "\nsecond\n");
    home.write("config/switchboard/mcp.json", "{\n  \"mcpServers\": [\n");
    pty.wait_until(|screen| {
        screen.contains("mcp.json:") && screen.contains("the servers stay as they are")
    });
    enter(&mut pty, "call two/echo message=third");
    shows(&pty, "\nthird\n");
    let config = json!({"mcpServers": {"one": entry(&[])}});
    home.write("config/switchboard/mcp.json", &config.to_string());
    pty.wait_until(|screen| screen.contains("* the config was read again: removed two"));
    assert_eq!(leave(pty).0, 0);
}

#[test]
fn the_bundled_server_goes_when_the_first_server_is_configured() {
    let home = Home::new();
    let mut pty = open(&home);
    enter(&mut pty, "call demo/echo message=bundled");
    shows(&pty, "\nbundled\n");
    let config = json!({"mcpServers": {"one": entry(&[])}});
    home.write("config/switchboard/mcp.json", &config.to_string());
    pty.wait_until(|screen| screen.contains("* the config was read again: added one"));
    enter(&mut pty, "servers --json");
    pty.wait_until(|screen| screen.contains("\"one\""));
    enter(&mut pty, "call demo/echo message=again");
    shows(&pty, "there is no server named \"demo\"");
    assert_eq!(leave(pty).0, 0);
}
