//! `login`, `logout` and `auth status` without a terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::{Stage, answered, assert_no_token_below, assert_no_token_in};

#[test]
fn a_login_is_begun_in_one_process_and_finished_in_another() {
    let stage = Stage::new(&[]);
    let begun = stage.run(&["login", "tickets", "--no-browser", "--json"]);
    assert_eq!(begun.code, Some(0), "{}", begun.stderr);
    let document: Value = serde_json::from_str(&begun.stdout).unwrap();
    assert_eq!(
        document["finish"],
        "switchboard login tickets --finish ADDRESS"
    );
    let answer = answered(document["url"].as_str().unwrap());
    let state = document["state"].as_str().unwrap();
    assert!(answer.contains(state));
    // An answer with another state is not one to this login, which stays.
    let forged = answer.replace(state, "forged");
    let refused = stage.run(&["login", "tickets", "--finish", &forged]);
    assert_eq!(refused.code, Some(3), "{}", refused.stderr);
    assert!(
        refused
            .stderr
            .contains("begin again: `switchboard login tickets`")
    );
    let done = stage.run(&["login", "tickets", "--finish", &answer, "--json"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let login: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(
        (&login["server"], &login["state"]),
        (&"tickets".into(), &"logged_in".into())
    );
    assert_eq!(
        stage.run(&["call", "tickets/echo", "message=hello"]).stdout,
        "hello\n"
    );
    let again = stage.run(&["login", "tickets", "--finish", &answer]);
    assert_eq!(again.code, Some(3), "{}", again.stderr);
}

#[test]
fn a_login_on_another_device_shows_a_code_and_waits() {
    let stage = Stage::new(&[]);
    let run = stage.run(&["login", "tickets", "--device"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stderr.contains("and enter the code: "),
        "{}",
        run.stderr
    );
    assert!(
        run.stdout.starts_with("logged in to tickets at "),
        "{}",
        run.stdout
    );
    assert_eq!(
        stage.run(&["call", "tickets/echo", "message=hello"]).stdout,
        "hello\n"
    );
    let none = Stage::new(&["device=no"]);
    let refused = none.run(&["login", "tickets", "--device", "--json"]);
    assert_eq!(refused.error()["exit"], 11);
    assert_eq!(refused.error()["hints"][0], "`switchboard login tickets`");
}

#[test]
fn a_login_that_is_there_is_kept_unless_another_is_forced() {
    let stage = Stage::new(&[]);
    stage.log_in(&[]);
    let again = stage.run(&["login", "tickets"]);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(
        again
            .stderr
            .contains("`switchboard login tickets --force` logs in again")
    );
    assert_eq!(stage.count("logins"), 1);
    stage.log_in(&["--force"]);
    assert_eq!(stage.count("logins"), 2);
}

#[test]
fn logins_of_two_profiles_are_kept_apart() {
    let stage = Stage::new(&[]);
    stage.log_in(&[]);
    let call = ["call", "tickets/echo", "message=hello", "--profile", "work"];
    let refused = stage.run(&call);
    assert_eq!(refused.code, Some(3));
    let command = "`switchboard login tickets --profile work`";
    assert!(refused.stderr.contains(command), "{}", refused.stderr);
    let begun = stage.run(&["login", "tickets", "--profile", "work", "--no-browser"]);
    let answer = answered(begun.stdout.trim());
    let done = stage.run(&["login", "tickets", "--profile", "work", "--finish", &answer]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_eq!(stage.run(&call).stdout, "hello\n");
    assert_eq!(stage.run(&["logout", "tickets"]).code, Some(0));
    assert_eq!(stage.run(&call).stdout, "hello\n");
}

#[test]
fn a_server_of_the_command_line_is_logged_in_to_by_its_url() {
    let stage = Stage::new(&[]);
    let url = stage.issuer.url();
    let call = ["call", "--url", url, "echo", "message=hello"];
    let refused = stage.run(&call);
    assert_eq!(refused.code, Some(3));
    let command = format!("`switchboard login --url {url}`");
    assert!(refused.stderr.contains(&command), "{}", refused.stderr);
    let begun = stage.run(&["login", "--url", url, "--no-browser"]);
    let answer = answered(begun.stdout.trim());
    let done = stage.run(&["login", "--url", url, "--finish", &answer]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_eq!(stage.run(&call).stdout, "hello\n");
}

#[test]
fn a_logout_revokes_and_forgets_also_where_the_issuer_is_gone() {
    let stage = Stage::new(&[]);
    stage.log_in(&[]);
    let out = stage.run(&["logout", "tickets"]);
    assert_eq!(out.code, Some(0), "{}", out.stderr);
    assert_eq!(
        out.stdout,
        "tickets: logged out, and revoked at the issuer\n"
    );
    assert_eq!(stage.count("revocations"), 1);
    assert_eq!(
        stage.run(&["call", "tickets/echo", "message=hello"]).code,
        Some(3)
    );
    let none = stage.run(&["logout", "tickets"]);
    assert_eq!(
        (none.code, none.stdout.as_str()),
        (Some(0), "tickets: no login was stored\n")
    );
    stage.log_in(&[]);
    let Stage { home, issuer } = stage;
    let url = issuer.url().to_owned();
    drop(issuer);
    let mut command = home.command(&["logout", "tickets", "--json"]);
    command.env("SWITCHBOARD_KEYRING", "off");
    let out = crate::run::Run::of(command.output().unwrap()).checked(&["logout", "--json"]);
    assert_eq!(out.code, Some(0), "{}", out.stderr);
    let document: Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!(document["outcome"], "not_revoked", "{url}");
    let mut status = home.command(&["auth", "status", "tickets"]);
    status.env("SWITCHBOARD_KEYRING", "off");
    assert_eq!(status.output().unwrap().status.code(), Some(3));
}

#[test]
fn all_logins_go_also_where_they_cannot_be_opened() {
    let stage = Stage::new(&[]);
    stage.log_in(&[]);
    let out = stage.run(&["logout", "--all", "--json"]);
    assert_eq!(out.code, Some(0), "{}", out.stderr);
    let document: Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!(document["logins"][0]["outcome"], "revoked");
    assert!(!stage.tokens().join("tokens.key").exists());
    stage.log_in(&[]);
    let key = stage.tokens().join("tokens.key");
    let text = fs::read_to_string(&key).unwrap();
    let first = text.chars().next().unwrap();
    let other = if first == 'A' { 'B' } else { 'A' };
    fs::write(&key, format!("{other}{}", &text[1..])).unwrap();
    let broken = stage.run(&["call", "tickets/echo", "message=hello", "--json"]);
    assert_eq!(broken.error()["exit"], 6, "{}", broken.stderr);
    let status = stage.run(&["auth", "status", "tickets"]);
    assert_eq!(status.code, Some(6), "{}", status.stderr);
    assert!(
        status.stderr.contains("`switchboard logout --all`"),
        "{}",
        status.stderr
    );
    let out = stage.run(&["logout", "--all"]);
    assert_eq!(out.code, Some(0), "{}", out.stderr);
    stage.log_in(&[]);
}

#[test]
fn no_token_is_shown_or_stored_in_the_clear_and_files_are_private() {
    let stage = Stage::new(&[]);
    stage.log_in(&[]);
    for args in [
        &["auth", "status"] as &[&str],
        &["auth", "status", "tickets"],
        &["auth", "status", "--json"],
        &["auth", "status", "tickets", "--json", "-v"],
        &["login", "tickets", "--json"],
    ] {
        let run = stage.run(args);
        assert_eq!(run.code, Some(0), "{args:?} {}", run.stderr);
        assert!(run.stdout.contains("http://127.0.0.1:"), "{}", run.stdout);
        assert_no_token_in(&run.stdout);
        assert_no_token_in(&run.stderr);
    }
    assert_no_token_below(&stage.home.path("state"));
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&stage.tokens()), 0o700);
    for entry in fs::read_dir(stage.tokens()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn the_status_says_issuer_scopes_end_and_store() {
    let stage = Stage::new(&["scopes=read,write", "access-life=3600"]);
    let before = stage.run(&["auth", "status", "tickets"]);
    assert_eq!(before.code, Some(3), "{}", before.stderr);
    assert!(
        before.stdout.starts_with("tickets: not logged in\n"),
        "{}",
        before.stdout
    );
    stage.log_in(&["--scopes", "read,write"]);
    let after = stage.run(&["auth", "status", "tickets"]);
    let text = stage.home.hide(&after.stdout);
    for part in [
        "tickets: logged in\n  issuer: http://127.0.0.1:",
        "  scopes: read write\n",
        "  expires: .., renewed automatically\n",
        "  last refresh: .., or the login itself\n",
        "  store: ~/state/switchboard/tokens/tokens.json, sealed with the key file ~/state/switchboard/tokens/tokens.key\n",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn a_client_for_itself_never_needs_a_login_also_once_its_token_has_expired() {
    let stage = Stage::new(&["client=machine:secret", "access-life=1"]);
    stage.describe(
        r#"{"grant": "client_credentials", "clientId": "machine", "clientSecret": "secret"}"#,
    );
    for is_stored in [false, true] {
        let status = stage.run(&["auth", "status", "tickets"]);
        assert_eq!(status.code, Some(0), "{}", status.stdout);
        let state = "tickets: no login needed: tokens are obtained automatically\n";
        assert!(status.stdout.starts_with(state), "{}", status.stdout);
        let end = ", then a new token is requested\n";
        assert_eq!(status.stdout.contains(end), is_stored, "{}", status.stdout);
        let called = stage.run(&["call", "tickets/echo", "message=hello"]);
        assert_eq!(called.stdout, "hello\n", "{}", called.stderr);
        // Only time ends the token here, as it is stored.
        std::thread::sleep(std::time::Duration::from_secs(2));
    }
}

#[test]
fn a_server_that_is_removed_leaves_a_note_about_its_login() {
    let stage = Stage::new(&[]);
    stage.log_in(&[]);
    let removed = stage.run(&["remove", "tickets"]);
    assert_eq!(removed.code, Some(0), "{}", removed.stderr);
    let url = stage.issuer.url();
    let note = format!("`switchboard logout --url {url}` forgets it");
    assert!(removed.stderr.contains(&note), "{}", removed.stderr);
    let out = stage.run(&["logout", "--url", url]);
    assert!(
        out.stdout.contains("revoked at the issuer"),
        "{}",
        out.stdout
    );
}

#[test]
fn a_server_that_is_removed_at_a_terminal_can_take_its_login_along() {
    let stage = Stage::new(&[]);
    stage.log_in(&[]);
    let mut pty = stage.pty(&["remove", "tickets"]);
    pty.wait_for("Forget the login of tickets, too? [y/N] ");
    pty.send(b"y\r");
    pty.wait_for("its login is forgotten");
    assert_eq!(pty.finish().0, 0);
    assert_eq!(stage.count("revocations"), 1);
}

#[test]
fn a_login_asks_the_server_once_and_tries_no_login_that_it_replaces() {
    let stage = Stage::new(&[]);
    let begun = stage.run(&["login", "tickets", "--no-browser"]);
    assert_eq!(begun.code, Some(0), "{}", begun.stderr);
    assert_eq!((stage.count("challenges"), stage.count("admitted")), (1, 0));
    stage.log_in(&[]);
    let before = (stage.count("challenges"), stage.count("admitted"));
    for option in [&["--force"] as &[&str], &["--scopes", "read"]] {
        let args = [&["login", "tickets", "--no-browser"], option].concat();
        let begun = stage.run(&args);
        assert_eq!(begun.code, Some(0), "{}", begun.stderr);
    }
    let after = (stage.count("challenges"), stage.count("admitted"));
    assert_eq!(after, (before.0 + 2, before.1));
}
