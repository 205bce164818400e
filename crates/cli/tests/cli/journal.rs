//! `switchboard test-server --journal`.

use std::path::Path;
use std::process::{Command, Output, Stdio};

const OWN: &str = env!("CARGO_BIN_EXE_switchboard");

fn call(journal: &Path) -> Output {
    let stdio = format!("'{OWN}' test-server --journal '{}'", journal.display());
    let mut command = Command::new(OWN);
    command.args(["call", "--stdio", &stdio, "echo", "message=hello"]);
    command.stdin(Stdio::null()).output().unwrap()
}

#[test]
fn calls_are_added_to_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    assert!(call(&journal).status.success());
    assert!(call(&journal).status.success());
    let line = "{\"tool\":\"echo\",\"arguments\":{\"message\":\"hello\"}}\n";
    assert_eq!(std::fs::read_to_string(journal).unwrap(), line.repeat(2));
}

#[test]
fn a_journal_that_cannot_be_written_is_named_before_anything_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(OWN);
    command
        .args(["test-server", "--journal"])
        .arg(folder.path());
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the journal cannot be opened"), "{said}");
    assert!(said.contains(folder.path().to_str().unwrap()), "{said}");
}
