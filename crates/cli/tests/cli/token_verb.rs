//! `switchboard token`, and a gateway that takes the tokens.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::home::Home;
use crate::run::{Run, said};
use crate::serve_verb::{hello, home, post, serve_http};

fn token(home: &Home, args: &[&str]) -> Run {
    home.run(&[&["token"], args].concat())
}

/// Makes a token; returns its text.
fn made(home: &Home, args: &[&str]) -> String {
    let run = token(home, args);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains("is not shown again"), "{run:?}");
    run.stdout.trim().to_owned()
}

#[test]
fn tokens_are_made_listed_rotated_and_revoked() {
    let home = Home::new();
    assert_eq!(token(&home, &["list"]), said(0, "", ""));
    let args = ["add", "ci", "--grants", "mcp:github:get_*", "--grants"];
    let rest = ["mcp:notes:*", "--level", "trusted", "--expires", "30d"];
    let first = made(&home, &[&args[..], &rest].concat());
    assert_eq!(first.len(), 43);
    made(&home, &["add", "laptop"]);
    let laptop = "laptop  made ..\n";
    let bounds = "trusted  mcp:github:get_*, mcp:notes:*";
    let listed = format!("ci  made ..  expires ..  {bounds}\n{laptop}");
    assert_eq!(token(&home, &["list"]), said(0, &listed, ""));

    let second = made(&home, &["rotate", "ci"]);
    assert_ne!(first, second);
    let listed = format!("ci  made ..  rotated ..  expires ..  {bounds}\n{laptop}");
    assert_eq!(token(&home, &["list"]), said(0, &listed, ""));
    assert_eq!(
        token(&home, &["revoke", "laptop"]),
        said(0, "revoked laptop\n", "")
    );
    assert_eq!(token(&home, &["list"]).stdout.lines().count(), 1);
    let file = "state/switchboard/gateway-tokens/tokens.json";
    let mode = std::fs::metadata(home.path(file)).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    let text = home.read(file);
    assert!(!text.contains(&first) && !text.contains(&second), "{text}");
}

#[test]
fn mistakes_about_tokens_are_named_and_change_nothing() {
    let home = Home::new();
    made(&home, &["add", "ci"]);
    for (args, code, says) in [
        (&["add", "ci"][..], 6, "switchboard token rotate ci"),
        (&["revoke", "cd"], 6, "known: ci"),
        (&["rotate", "cd"], 6, "no token called cd"),
        (&["add", "a b"], 2, "cannot be the name of a token"),
        (&["add", "x", "--grants", "mcp:a"], 2, "--grants: grant 1"),
        (&["add", "x", "--level", "root"], 2, "unknown level"),
        (&["add", "x", "--expires", "soon"], 2, "such as 12h, 30d"),
        (&["add", "x", "--expires", "2001-01-01"], 2, "in the past"),
        (&["add"], 2, "NAME"),
    ] {
        let run = token(&home, args);
        assert_eq!(run.code, Some(code), "{args:?}: {run:?}");
        assert!(run.stderr.contains(says), "{args:?}: {run:?}");
        assert_eq!(run.stdout, "", "{args:?}");
    }
    assert_eq!(token(&home, &["list"]).stdout.lines().count(), 1);
    home.write("state/switchboard/gateway-tokens/tokens.json", "{}");
    let broken = token(&home, &["list"]);
    assert_eq!(broken.code, Some(6), "{broken:?}");
    assert!(broken.stderr.contains("move the file away"), "{broken:?}");
    let serve = home.run(&["serve", "--http", "0"]);
    assert_eq!(serve.code, Some(6), "{serve:?}");
}

#[test]
fn a_gateway_that_serves_takes_tokens_until_they_are_revoked() {
    let home = home(&["one"], &json!({}));
    let (gateway, told) = serve_http(&home, &[]);
    let laptop = made(&home, &["add", "laptop"]);
    let answer = post(&told, Some(&laptop), &hello());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let rotated = made(&home, &["rotate", "laptop"]);
    // The gateway looks four times a second.
    while post(&told, Some(&laptop), &hello()).starts_with("HTTP/1.1 200") {}
    let answer = post(&told, Some(&rotated), &hello());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(token(&home, &["revoke", "laptop"]).code, Some(0));
    let revoked = Instant::now();
    while post(&told, Some(&rotated), &hello()).starts_with("HTTP/1.1 200") {}
    let took = revoked.elapsed();
    assert!(took < Duration::from_secs(1), "it took {took:?}");
    drop(gateway);
}
