//! The files of stored logins: for the person alone, and never lost to a full disk or to another writer.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{Stage, answered};
use crate::run::Run;

const CALL: [&str; 3] = ["call", "tickets/echo", "message=hello"];

/// The bytes that files may have on a disk that is full: none, or as many as a key needs and no login.
const FULL: [&str; 2] = ["0", "1"];

/// Runs the program from a shell that does something first, with a word of its own as `$0`.
fn run_after(stage: &Stage, script: &str, word: &str, args: &[&str]) -> Run {
    let inner = stage.command(args);
    let script = format!("{script} || exit 99; exec \"$@\"");
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", &script, word])
        .arg(inner.get_program())
        .args(inner.get_args())
        .env_clear()
        .current_dir(inner.get_current_dir().unwrap());
    for (name, value) in inner.get_envs() {
        command.env(name, value.unwrap());
    }
    Run::of(command.output().unwrap())
}

/// Runs the program where no file can have more than so many blocks of 512 bytes.
fn run_on_full_disk(stage: &Stage, blocks: &str, args: &[&str]) -> Run {
    // An error and not a signal, as on a disk that is full.
    run_after(stage, r#"trap '' XFSZ; ulimit -f "$0""#, blocks, args)
}

fn assert_full(run: &Run, stage: &Stage) {
    assert_eq!(run.code, Some(6), "{}", run.stderr);
    let stderr = stage.home.hide(&run.stderr);
    assert!(stderr.contains("File too large"), "{stderr}");
}

fn assert_private(folder: &Path) {
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder), 0o700, "{}", folder.display());
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        files += 1;
    }
    assert!(files > 2, "only {files} files");
}

#[test]
fn stored_logins_are_for_the_person_alone_whatever_the_umask_is() {
    for umask in ["000", "022", "077"] {
        let stage = Stage::new(&[]);
        let run = |args: &[&str]| run_after(&stage, r#"umask "$0""#, umask, args);
        let begun = run(&["login", "tickets", "--no-browser"]);
        assert_eq!(begun.code, Some(0), "{umask}: {}", begun.stderr);
        assert_private(&stage.tokens());
        let answer = answered(begun.stdout.trim());
        let done = run(&["login", "tickets", "--finish", &answer]);
        assert_eq!(done.code, Some(0), "{umask}: {}", done.stderr);
        stage.expire();
        assert_eq!(run(&CALL).stdout, "hello\n");
        assert_private(&stage.tokens());
    }
}

#[test]
fn a_login_on_a_full_disk_says_so_and_can_be_finished_later() {
    for blocks in FULL {
        let stage = Stage::new(&[]);
        let begun = run_on_full_disk(&stage, blocks, &["login", "tickets", "--no-browser"]);
        assert_full(&begun, &stage);
        let begun = stage.run(&["login", "tickets", "--no-browser"]);
        assert_eq!(begun.code, Some(0), "{}", begun.stderr);
        let answer = answered(begun.stdout.trim());
        let finish = ["login", "tickets", "--finish", &answer];
        assert_full(&run_on_full_disk(&stage, blocks, &finish), &stage);
        // Neither the login that was begun nor its code is used up.
        let done = stage.run(&finish);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        assert_eq!(stage.run(&CALL).stdout, "hello\n");
        assert_eq!(stage.count("logins"), 1);
        assert_private(&stage.tokens());
    }
}

#[test]
fn a_login_that_is_there_survives_a_full_disk() {
    for blocks in FULL {
        let stage = Stage::new(&[]);
        stage.log_in(&[]);
        let kept = fs::read(stage.tokens().join("tokens.json")).unwrap();
        // A login of another account, a renewal and a logout.
        let other = ["login", "tickets", "--profile", "work", "--no-browser"];
        assert_full(&run_on_full_disk(&stage, blocks, &other), &stage);
        stage.expire();
        let called = run_on_full_disk(&stage, blocks, &CALL);
        assert_full(&called, &stage);
        let out = run_on_full_disk(&stage, blocks, &["logout", "tickets"]);
        assert_ne!(out.code, Some(0), "{}", out.stdout);
        let found = fs::read(stage.tokens().join("tokens.json")).unwrap();
        assert_eq!(found, kept, "{blocks}");
        assert_private(&stage.tokens());
    }
}

#[test]
fn a_token_that_expires_on_a_full_disk_is_renewed_later() {
    for blocks in FULL {
        let stage = Stage::new(&[]);
        stage.log_in(&[]);
        for _ in 0..3 {
            stage.expire();
            assert_full(&run_on_full_disk(&stage, blocks, &CALL), &stage);
        }
        let called = stage.run(&CALL);
        assert_eq!(called.stdout, "hello\n", "{}", called.stderr);
        assert_eq!((stage.count("logins"), stage.count("refreshes")), (1, 1));
        assert_eq!(stage.count("stale_refreshes"), 0);
    }
}

#[test]
fn processes_that_log_in_at_once_lose_none_of_their_logins() {
    const PROFILES: usize = 8;
    let stage = Stage::new(&[]);
    let profiles: Vec<String> = (0..PROFILES).map(|at| format!("account-{at}")).collect();
    let finish = |profile: &String| {
        let begun = stage.run(&["login", "tickets", "--profile", profile, "--no-browser"]);
        assert_eq!(begun.code, Some(0), "{}", begun.stderr);
        let answer = answered(begun.stdout.trim());
        let args = [
            "login",
            "tickets",
            "--profile",
            profile,
            "--finish",
            &answer,
        ];
        let done = stage.run(&args);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
    };
    std::thread::scope(|scope| {
        for profile in &profiles {
            scope.spawn(|| finish(profile));
        }
    });
    assert_eq!(stage.count("logins"), PROFILES as u64);
    let called = |profile: &String| {
        let run = stage.run(&[&CALL[..], &["--profile", profile]].concat());
        assert_eq!(run.stdout, "hello\n", "{profile}: {}", run.stderr);
        let args = ["auth", "status", "tickets", "--profile", profile, "--json"];
        let status: Value = serde_json::from_str(&stage.run(&args).stdout).unwrap();
        assert_eq!(status["state"], "logged_in", "{profile}");
    };
    // Each renews its own token meanwhile.
    stage.expire();
    std::thread::scope(|scope| {
        for profile in &profiles {
            scope.spawn(|| called(profile));
        }
    });
    assert_eq!(stage.count("refreshes"), PROFILES as u64);
    assert_eq!(stage.count("stale_refreshes"), 0);
}
