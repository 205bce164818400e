//! What the server logs: that it was told of folders, and of who watches what; and once `toggle-simulated-logging`
//! was called, a message of any level every 5 seconds.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    answered, crossed, enter, is_back, is_ready, leave, open, replied, run, switched_on, wire,
};
use crate::pty::Pty;
use crate::stage::Stage;

const ROOTS: &str = "info everything-server: Roots updated: 1 root(s) received from client";
const TOGGLE: &str = "call everything/toggle-simulated-logging";

/// A server that has a folder, and logs that it was told of it.
fn stage() -> (Stage, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let stage = super::stage(json!({"roots": [folder.path()]}), json!({}));
    (stage, folder)
}

/// Whether a line is what is logged every 5 seconds.
fn is_simulated(line: &str) -> bool {
    line.contains("-level message") || line.contains("Alert level-message")
}

/// How many lines are news of what is logged every 5 seconds.
fn news(screen: &str) -> usize {
    let news = screen
        .lines()
        .filter(|line| line.starts_with("* everything: "));
    news.filter(|line| is_simulated(line)).count()
}

/// Waits until the server logs from this level on.
fn is_set(stage: &Stage, level: &str) {
    replied(stage, "logging/setLevel", 1);
    crossed(stage, |_, message| {
        message["method"] == "logging/setLevel" && message["params"]["level"] == level
    });
}

#[test]
fn logs_shows_what_is_logged_until_ctrl_c() {
    let (stage, _folder) = stage();
    let mut pty = run(&stage, &["logs", "everything", "--level", "info"]);
    pty.wait_for("stderr: Starting default (STDIO) server...");
    pty.wait_for(ROOTS);
    pty.send(b"\x03");
    assert_eq!(pty.finish().0, 130);
    is_set(&stage, "info");
}

#[test]
fn logs_shows_messages_of_every_level() {
    let stage = switched_on();
    let mut pty = run(&stage, &["logs", "everything", "--level", "debug"]);
    pty.wait_until(|screen| screen.lines().filter(|line| is_simulated(line)).count() >= 2);
    pty.send(b"\x03");
    assert_eq!(pty.finish().0, 130);
    is_set(&stage, "debug");
}

#[test]
fn logs_shows_nothing_below_its_level() {
    let (stage, _folder) = stage();
    let mut pty = run(&stage, &["logs", "everything", "--level", "error"]);
    is_set(&stage, "error");
    answered(&stage, "roots/list");
    pty.send(b"\x03");
    let (code, screen) = pty.finish();
    assert_eq!(code, 130);
    assert!(!screen.contains("Roots updated"), "{screen}");
}

#[test]
fn a_call_has_the_server_log() {
    let (stage, _folder) = stage();
    let mut pty = run(&stage, &["call", "everything/toggle-simulated-logging"]);
    pty.wait_for("Started simulated, random-leveled logging");
    assert_eq!(pty.finish().0, 0);
    crossed(&stage, |is_in, message| {
        is_in && message["method"] == "notifications/message" && is_simulated(&message.to_string())
    });
}

#[test]
fn what_is_logged_is_news_at_the_prompt() {
    let (stage, _folder) = stage();
    let mut pty = open(&stage);
    pty.wait_for(&format!("* everything: {ROOTS}"));
    enter(&mut pty, TOGGLE);
    pty.wait_for("Started simulated, random-leveled logging");
    // One in eight is of a level that only `logs` tells of.
    pty.wait_until(|screen| news(screen) > 0);
    is_ready(&pty);
    // The line that is being typed stays what it is.
    let line = "call everything/toggle-simulated-log";
    pty.send(line.as_bytes());
    let before = news(&pty.screen());
    pty.wait_until(|screen| news(screen) > before && screen.trim_end().ends_with(line));
    enter(&mut pty, "ging");
    pty.wait_for("Stopped simulated logging");
    is_back(&mut pty);
    leave(pty);
}

#[test]
fn logs_shows_messages_of_every_level_at_the_prompt() {
    let (stage, _folder) = stage();
    let mut pty = open(&stage);
    enter(&mut pty, TOGGLE);
    pty.wait_for("Started simulated, random-leveled logging");
    is_ready(&pty);
    enter(&mut pty, "logs everything --level debug");
    is_set(&stage, "debug");
    // What is shown is no news besides.
    pty.wait_until(|screen| {
        let after = screen.rsplit("--level debug").next().unwrap_or_default();
        let mut shown = after.lines().filter(|line| is_simulated(line));
        shown.any(|line| !line.starts_with('*'))
    });
    pty.send(b"\x03");
    pty.wait_for("cancelled");
    is_back(&mut pty);
    leave(pty);
}

/// Watches something, which the server logs, and gives it up once it is watched.
fn watch(pty: &mut Pty, stage: &Stage, times: usize) {
    enter(pty, "watch everything demo://resource/dynamic/text/1");
    replied(stage, "resources/subscribe", times);
    pty.send(b"\x03");
    pty.wait_for("cancelled");
    is_back(pty);
}

#[test]
fn a_level_is_set_at_the_prompt_and_kept_by_the_server() {
    let (stage, _folder) = stage();
    let mut pty = open(&stage);
    pty.wait_for(&format!("* everything: {ROOTS}"));
    watch(&mut pty, &stage, 1);
    enter(&mut pty, "logs everything --level error");
    is_set(&stage, "error");
    pty.send(b"\x03");
    pty.wait_for("cancelled");
    is_back(&mut pty);
    watch(&mut pty, &stage, 2);
    assert!(
        pty.written()
            .contains("* everything: info: Received Subscribe")
    );
    leave(pty);
    let is_logged = |message: &Value| message.to_string().contains("Received Subscribe");
    let wire = wire(&stage);
    let logged = wire.iter().filter(|(_, message)| is_logged(message));
    assert_eq!(logged.count(), 1);
}
