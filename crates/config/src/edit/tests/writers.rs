//! Several writers at once, in threads and in processes, and one that dies.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::super::file::edit_with;
use super::super::{Access, EditLimits, edit};
use super::*;

/// Tells a test that it runs as a child of itself, and where the file is.
const FILE: &str = "SWITCHBOARD_TEST_EDIT_FILE";
/// The number of the child.
const WHO: &str = "SWITCHBOARD_TEST_EDIT_WHO";

const TEXT: &str = "{\n  // mine\n  \"mcpServers\": {\n    \"first\": {} // first\n  }\n}\n";

fn bounds() -> EditLimits {
    EditLimits {
        wait: Duration::from_secs(120),
        ..EditLimits::default()
    }
}

fn add_many(file: &Path, who: &str, count: usize) {
    for at in 0..count {
        let change = add(&format!("{who}-{at}"));
        edit(file, &change, Access::Private, &bounds()).unwrap();
    }
}

/// Takes the servers out again, one by one: who is there twice or not at all is found so.
fn assert_holds(file: &Path, writers: &[&str], count: usize) {
    let mut text = fs::read_to_string(file).unwrap();
    for who in writers {
        for at in 0..count {
            text = apply(&text, &remove(&format!("{who}-{at}")));
        }
    }
    assert_eq!(text, TEXT);
    let folder = file.parent().unwrap();
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
}

/// Runs a test of this file as a process of its own.
fn again(test: &str, file: &Path, who: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", &format!("edit::tests::writers::{test}")])
        .env(FILE, file)
        .env(WHO, who)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

#[test]
fn two_threads_lose_nothing_of_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    fs::write(&file, TEXT).unwrap();
    std::thread::scope(|scope| {
        for who in ["a", "b"] {
            let file = &file;
            scope.spawn(move || add_many(file, who, 50));
        }
    });
    assert_holds(&file, &["a", "b"], 50);
}

#[test]
fn several_processes_lose_nothing_of_each_other() {
    if let (Some(file), Ok(who)) = (std::env::var_os(FILE), std::env::var(WHO)) {
        return add_many(Path::new(&file), &who, 20);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    fs::write(&file, TEXT).unwrap();
    let writers = ["a", "b", "c", "d"];
    let children = writers.map(|who| {
        let mut child = again("several_processes_lose_nothing_of_each_other", &file, who);
        child.spawn().unwrap()
    });
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_holds(&file, &writers, 20);
}

#[test]
fn a_writer_that_dies_midway_leaves_the_old_file_and_no_lock() {
    if let Some(file) = std::env::var_os(FILE) {
        let _ = edit_with(
            Path::new(&file),
            &add("x"),
            Access::Private,
            &bounds(),
            |_, _| std::process::abort(),
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    fs::write(&file, TEXT).unwrap();
    let mut child = again(
        "a_writer_that_dies_midway_leaves_the_old_file_and_no_lock",
        &file,
        "dies",
    );
    assert!(!child.stderr(Stdio::null()).status().unwrap().success());
    assert_eq!(fs::read_to_string(&file).unwrap(), TEXT);
    edit(&file, &add("a-0"), Access::Private, &EditLimits::default()).unwrap();
    assert_holds(&file, &["a"], 1);
}
