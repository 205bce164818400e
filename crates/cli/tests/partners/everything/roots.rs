//! `get-roots-list`: the folders of the entry.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{answered, enter, is_back, leave, open, run};
use crate::pty::Pty;
use crate::stage::Stage;

const CALL: [&str; 2] = ["call", "everything/get-roots-list"];

/// A server that is told of two folders, one of which has a name that has to be written otherwise in an address.
fn stage() -> (Stage, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let both = ["work", "my notes"].map(|name| folder.path().join(name));
    both.iter().for_each(|one| fs::create_dir(one).unwrap());
    (super::stage(json!({"roots": both}), json!({})), folder)
}

/// What the server was told.
fn told(stage: &Stage) -> Value {
    answered(stage, "roots/list")["result"]["roots"].clone()
}

fn wanted(folder: &TempDir) -> Value {
    let base = folder.path().canonicalize().unwrap();
    let base = base.display();
    json!([
        {"uri": format!("file://{base}/work"), "name": "work"},
        {"uri": format!("file://{base}/my%20notes"), "name": "my notes"},
    ])
}

fn shows(pty: &mut Pty) {
    pty.wait_for("Current MCP Roots (2 total):");
    pty.wait_for("1. work");
    pty.wait_for("2. my notes");
    pty.wait_for("/my%20notes");
}

#[test]
fn the_folders_of_the_entry_are_told_from_a_call() {
    let (stage, folder) = stage();
    let mut pty = run(&stage, &CALL);
    shows(&mut pty);
    assert_eq!(pty.finish().0, 0);
    assert_eq!(told(&stage), wanted(&folder));
}

#[test]
fn the_folders_of_the_entry_are_told_from_the_prompt() {
    let (stage, folder) = stage();
    let mut pty = open(&stage);
    // The server asks by itself once it is connected, and says in its log that it was told.
    pty.wait_for("* everything: info everything-server: Roots updated: 2 root(s) received");
    enter(&mut pty, &CALL.join(" "));
    shows(&mut pty);
    is_back(&mut pty);
    leave(pty);
    assert_eq!(told(&stage), wanted(&folder));
}

#[test]
fn without_folders_nothing_is_declared_and_the_server_has_no_such_tool() {
    let stage = super::stage(json!({}), json!({}));
    let mut pty = run(&stage, &CALL);
    pty.wait_for("get-roots-list");
    assert_eq!(pty.finish().0, 5);
}
