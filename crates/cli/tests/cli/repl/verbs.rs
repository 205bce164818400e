//! Every `/mcp` command, and the verbs without the prefix.

use serde_json::json;

use super::{READY, enter, entry, home, leave, open, shows};
use crate::home::Home;
use crate::pty::Pty;

#[test]
fn without_any_config_the_demo_server_is_offered() {
    let home = Home::new();
    let mut pty = Pty::start(home.command(&[]), 100);
    pty.wait_for("No servers are configured");
    pty.wait_for("call demo/echo message=hello");
    pty.wait_for(READY);
    enter(&mut pty, "call demo/echo message=hello");
    shows(&pty, "\nhello\n");
    assert_eq!(leave(pty).0, 0);
}

#[test]
fn every_slash_command_works() {
    let home = home(
        &json!({"one": entry(&[]), "two": entry(&["--instance", "second"])}),
        &json!({}),
    );
    let mut pty = open(&home);
    enter(&mut pty, "/mcp");
    shows(&pty, "/mcp retry NAME");
    enter(&mut pty, "/mcp connect two");
    shows(&pty, "8 tools");
    enter(&mut pty, "/mcp tools two");
    shows(&pty, "whoami");
    enter(&mut pty, "/mcp resources one");
    shows(&pty, "file:///readme.txt");
    enter(&mut pty, "/mcp prompts one");
    shows(&pty, "greeting(name");
    enter(&mut pty, "/mcp prompt one/greeting name=Ada");
    shows(&pty, "Ada");
    enter(&mut pty, "/mcp disconnect two");
    shows(&pty, "two: disconnected");
    enter(&mut pty, "/mcp retry two");
    shows(&pty, "8 tools");
    enter(&mut pty, "/mcp connect three");
    shows(&pty, "there is no server named \"three\"");
    enter(&mut pty, "/mcp conect two");
    shows(&pty, "unrecognized subcommand 'conect'");
    enter(&mut pty, "/mcp help");
    shows(&pty, "/mcp prompt SERVER/NAME");
    assert_eq!(leave(pty).0, 0);
}

#[test]
fn verbs_work_on_servers_that_stay_connected() {
    let home = home(&json!({"one": entry(&["--instance", "first"])}), &json!({}));
    let mut pty = open(&home);
    let mut pids = Vec::new();
    for _ in 0..2 {
        enter(&mut pty, "call one/whoami");
        pty.wait_for("first");
        pty.wait_for("\n");
        pty.wait_for(READY);
        let screen = pty.screen();
        let line = screen
            .lines()
            .rfind(|line| line.starts_with("first"))
            .unwrap();
        pids.push(line.to_owned());
    }
    assert_eq!(pids[0], pids[1], "the same process answers");
    enter(&mut pty, "tools one --json");
    shows(&pty, "\"exposed\"");
    enter(&mut pty, "call one/add a=1");
    shows(&pty, "argument \"b\"");
    enter(&mut pty, "call one/nothing");
    shows(&pty, "there is no tool named \"nothing\"");
    enter(&mut pty, "servers");
    shows(&pty, "connected");
    enter(&mut pty, "read one file:///readme.txt");
    shows(&pty, "This is a server to test clients against");
    assert_eq!(leave(pty).0, 0);
}

#[test]
fn what_is_added_can_be_used_at_once_and_reloading_keeps_what_was_connected() {
    let home = home(&json!({"one": entry(&[])}), &json!({}));
    let mut pty = open(&home);
    let own = env!("CARGO_BIN_EXE_switchboard");
    enter(
        &mut pty,
        &format!("add two -- {own} test-server --instance second"),
    );
    shows(&pty, "2 servers");
    enter(&mut pty, "call two/whoami");
    shows(&pty, "\nsecond");
    enter(&mut pty, "remove two");
    shows(&pty, "1 server");
    enter(&mut pty, "call two/whoami");
    shows(&pty, "there is no server named \"two\"");
    enter(&mut pty, "reload");
    shows(&pty, "1 server\n");
    enter(&mut pty, "call one/echo message=still-here");
    shows(&pty, "\nstill-here\n");
    assert_eq!(leave(pty).0, 0);
}

#[test]
fn what_is_not_understood_is_said_with_a_way_on() {
    let mut pty = open(&Home::new());
    enter(&mut pty, "tolls");
    shows(&pty, "did you mean `tools`?");
    enter(&mut pty, "tools | head");
    shows(&pty, "no pipes or redirections here");
    enter(&mut pty, "call 'unfinished");
    shows(&pty, "a quote is not closed");
    enter(&mut pty, "help call");
    shows(&pty, "key:=JSON");
    enter(&mut pty, "test-server");
    shows(&pty, "this command does not run at the prompt");
    enter(&mut pty, "help");
    shows(&pty, "reload");
    assert_eq!(leave(pty).0, 0);
}
