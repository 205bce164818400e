//! The key of stored logins, where the keyring of the system does not work.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;

use super::{Stage, answered};
use crate::run::Run;

/// Runs the program with a session bus at this address.
fn with_bus(stage: &Stage, bus: &str, args: &[&str]) -> Run {
    let mut command = stage.home.command(args);
    command.env("DBUS_SESSION_BUS_ADDRESS", bus);
    Run::of(command.output().unwrap()).checked(args)
}

#[test]
fn without_a_keyring_the_key_goes_into_a_file_and_that_is_said_once() {
    let stage = Stage::new(&[]);
    let bus = format!("unix:path={}", stage.home.path("no-bus").display());
    let begun = with_bus(&stage, &bus, &["login", "tickets", "--no-browser"]);
    assert_eq!(begun.code, Some(0), "{}", begun.stderr);
    let warning = "warning: the keyring does not work, so the key of your logins is in a file that only you can read: ";
    assert!(begun.stderr.contains(warning), "{}", begun.stderr);
    let key = stage.tokens().join("tokens.key");
    let mode = fs::metadata(&key).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let answer = answered(begun.stdout.trim());
    let done = with_bus(&stage, &bus, &["login", "tickets", "--finish", &answer]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(!done.stderr.contains("warning: "), "{}", done.stderr);
}

#[test]
fn logins_whose_keyring_does_not_answer_are_locked_and_not_gone() {
    let stage = Stage::new(&[]);
    stage.log_in(&[]);
    // As if the key had gone into the keyring.
    let key = stage.tokens().join("tokens.key");
    let kept = fs::read(&key).unwrap();
    fs::remove_file(&key).unwrap();
    let mark = stage.tokens().join("tokens.keyring");
    fs::write(&mark, "in the keyring\n").unwrap();
    fs::set_permissions(&mark, fs::Permissions::from_mode(0o600)).unwrap();
    let socket = stage.home.path("bus");
    // Connections are taken by the system, and nobody reads them.
    let _silent = UnixListener::bind(&socket).unwrap();
    let bus = format!("unix:path={}", socket.display());
    let status = with_bus(&stage, &bus, &["auth", "status", "tickets", "--json"]);
    assert_eq!(status.code, Some(6), "{}", status.stderr);
    let error = status.error();
    assert_eq!(
        error["message"],
        "the login is stored, but its key is locked"
    );
    let why = &error["facts"][0]["value"];
    assert_eq!(why, "the keyring did not answer within 2s");
    assert!(!key.exists(), "no other key was made");
    // With its key, the login is there still.
    fs::remove_file(&mark).unwrap();
    fs::write(&key, kept).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(stage.run(&["auth", "status", "tickets"]).code, Some(0));
}
