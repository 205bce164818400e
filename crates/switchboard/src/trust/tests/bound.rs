//! What an approval is bound to besides the entry, and approvals of releases that bound less.

use serde_json::json;

use super::claim;
use crate::trust::{Claim, Content, EnvFile, Fingerprint, Question, Reason, Standing, Store};

/// A claim whose command refers to a variable, with the program that this was found to be.
fn referring() -> Claim {
    let mut claim = claim(json!({"command": "${TOOL:-npx}", "args": ["x"]}));
    claim.program = Some("/usr/bin/npx".into());
    claim.references = vec!["${TOOL}".to_owned()];
    claim
}

/// A claim with a file of variables.
fn with_variables(text: &str) -> Claim {
    let mut claim = claim(json!({"command": "npx", "env_file": "own.env"}));
    claim.program = Some("/usr/bin/npx".into());
    claim.references = vec!["${file:/src/app/own.env}".to_owned()];
    let names = text.lines().filter_map(|line| line.split_once('='));
    let names = names.map(|(name, _)| name.to_owned()).collect();
    claim.env_file = Some(EnvFile::read("/src/app/own.env", names, text));
    claim
}

/// The claim as earlier releases made it of the same entry.
fn earlier(claim: &Claim) -> Claim {
    let mut earlier = claim.clone();
    earlier.env_file = None;
    earlier.contents.clear();
    if claim.names_program_by_reference() {
        earlier.program = None;
    }
    earlier
}

#[test]
fn a_program_that_a_reference_names_is_bound() {
    let store = Store::in_memory();
    store.approve(&referring()).unwrap();
    assert_eq!(store.standing(&referring()).unwrap(), Standing::Approved);
    let mut other = referring();
    other.program = Some("/tmp/evil".into());
    let Standing::Changed(changes) = store.standing(&other).unwrap() else {
        panic!("it is another program");
    };
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].pointer, "program");
    let mut gone = referring();
    gone.program = None;
    assert_ne!(gone.fingerprint(), referring().fingerprint());
    let lines = Question::new(referring(), Vec::new()).lines();
    assert!(
        lines.contains(&"runs: ${TOOL:-npx} x".to_owned()),
        "{lines:#?}"
    );
    assert!(
        lines.contains(&"program: /usr/bin/npx".to_owned()),
        "{lines:#?}"
    );
}

#[test]
fn names_and_content_of_the_env_file_are_bound() {
    let store = Store::in_memory();
    let good = with_variables("MODE=a\nDEBUG=1\n");
    store.approve(&good).unwrap();
    assert_eq!(store.standing(&good).unwrap(), Standing::Approved);
    for (text, expected) in [
        (
            "MODE=b\nDEBUG=1\n",
            r#"changed: env_file: "MODE DEBUG" -> "MODE DEBUG" (another value)"#,
        ),
        (
            "MODE=a\nDEBUG=1\nLD_PRELOAD=x.so\n",
            r#"changed: env_file: "MODE DEBUG" -> "MODE DEBUG LD_PRELOAD""#,
        ),
    ] {
        let other = with_variables(text);
        let standing = store.standing(&other).unwrap();
        let question = Question::with_standing(other, standing);
        assert_eq!(question.reason, Reason::Changed);
        let lines = question.lines();
        assert!(lines.contains(&expected.to_owned()), "{lines:#?}");
    }
    let mut unreadable = good.clone();
    unreadable.env_file = Some(EnvFile::unreadable("/src/app/own.env", "there is none"));
    assert_ne!(unreadable.fingerprint(), good.fingerprint());
}

#[test]
fn the_env_file_is_shown_by_its_names_and_never_by_its_values() {
    let text =
        "MODE=canary\nLD_PRELOAD=canary\nHTTPS_PROXY=canary\nHOME=canary\nP\u{410}TH=canary\n";
    let question = Question::new(with_variables(text), Vec::new());
    assert_eq!(question.hooks, ["LD_PRELOAD", "HTTPS_PROXY", "HOME"]);
    let lines = question.lines();
    for line in [
        r#"variables from: "own.env""#,
        "sets from /src/app/own.env: MODE LD_PRELOAD HTTPS_PROXY HOME P\u{410}TH",
        "careful: LD_PRELOAD changes which code runs",
        "careful: HTTPS_PROXY redirects traffic",
        "careful: HOME changes where programs find their settings, keys and packages",
        "careful: the variable P\u{410}TH has letters of another script (U+0410) and reads as PATH",
    ] {
        assert!(lines.contains(&line.to_owned()), "{line}: {lines:#?}");
    }
    let shown = format!("{lines:?} {question:?}");
    assert!(!shown.contains("canary"), "{shown}");
}

#[test]
fn the_content_of_files_is_bound_where_that_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server.js");
    let of = |text: &str| {
        std::fs::write(&script, text).unwrap();
        let mut claim = claim(json!({"command": "node", "args": ["server.js"]}));
        claim.program = Some("/usr/bin/node".into());
        claim.contents = vec![Content::of(&script)];
        claim
    };
    let store = Store::in_memory();
    let good = of("good");
    store.approve(&good).unwrap();
    assert_eq!(store.standing(&good).unwrap(), Standing::Approved);
    let evil = of("evil");
    assert!(good.contents[0].has_changed());
    let Standing::Changed(changes) = store.standing(&evil).unwrap() else {
        panic!("it has another content");
    };
    assert_eq!(
        changes[0].pointer,
        format!("content of {}", script.display())
    );
    let lines = Question::new(evil.clone(), changes).lines();
    let hash = evil.contents[0].hash.clone().unwrap();
    let bound = format!("binds content: {} {hash}", script.display());
    assert!(lines.contains(&bound), "{lines:#?}");
    // An approval that was given without it says why it is not enough.
    let store = Store::in_memory();
    store.approve(&earlier(&good)).unwrap();
    let question = Question::with_standing(good.clone(), store.standing(&good).unwrap());
    assert_eq!(question.reason, Reason::BindsMore);
    let why = "asked again: you approved this entry before Switchboard also bound the content of its files";
    assert!(
        question.lines().contains(&why.to_owned()),
        "{:#?}",
        question.lines()
    );
}

#[test]
fn approvals_of_a_release_that_bound_less_count_where_nothing_more_is_bound() {
    // The texts that were hashed then, word for word.
    let plain = r#"{"entry":{"command":"npx"},"file":"/src/app/.mcp.json","program":"/usr/bin/npx","references":[],"server":"github","version":1}"#;
    let referring_then = r#"{"entry":{"args":["x"],"command":"${TOOL:-npx}"},"file":"/src/app/.mcp.json","program":null,"references":["${TOOL}"],"server":"github","version":1}"#;
    let variables_then = r#"{"entry":{"command":"npx","env_file":"own.env"},"file":"/src/app/.mcp.json","program":"/usr/bin/npx","references":["${file:/src/app/own.env}"],"server":"github","version":1}"#;
    let mut same = claim(json!({"command": "npx"}));
    same.program = Some("/usr/bin/npx".into());
    assert_eq!(same.fingerprint(), Fingerprint::of(plain));
    for (now, then, bound) in [
        (referring(), referring_then, "the program"),
        (with_variables("A=1\n"), variables_then, "the env file"),
    ] {
        let then = Fingerprint::of(then);
        assert_eq!(now.description(), then);
        assert_ne!(now.fingerprint(), then);
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let store = Store::at(&state);
        store.approve(&earlier(&now)).unwrap();
        // As the release before wrote it: the same record with its own fingerprint.
        let file = state.join("trust.json");
        let text = std::fs::read_to_string(&file).unwrap();
        let written = earlier(&now).fingerprint().to_string();
        let text = text.replace(&written, &then.to_string());
        std::fs::write(&file, text).unwrap();
        let standing = store.standing(&now).unwrap();
        assert!(matches!(standing, Standing::BoundLess(_)), "{standing:?}");
        let question = Question::with_standing(now.clone(), standing);
        let why =
            format!("asked again: you approved this entry before Switchboard also bound {bound}");
        assert!(question.lines().contains(&why), "{:#?}", question.lines());
        // Another entry is a change, whatever was bound.
        let mut changed = now.clone();
        changed.entry["args"] = json!(["evil"]);
        let standing = store.standing(&changed).unwrap();
        assert!(matches!(standing, Standing::Changed(_)), "{standing:?}");
        store.approve(&now).unwrap();
        assert_eq!(store.standing(&now).unwrap(), Standing::Approved);
    }
}

/// A server at a URL that is sent the token of a login.
fn with_login() -> Claim {
    let mut claim = claim(json!({"url": "https://example.com/mcp"}));
    claim.uses_login = true;
    claim
}

#[test]
fn an_approval_from_before_logins_were_used_is_asked_about_again() {
    let store = Store::in_memory();
    let mut before = with_login();
    before.uses_login = false;
    store.approve(&before).unwrap();
    let claim = with_login();
    assert_ne!(claim.fingerprint(), before.fingerprint());
    assert_eq!(claim.description(), before.description());
    let standing = store.standing(&claim).unwrap();
    assert!(matches!(standing, Standing::BoundLess(_)), "{standing:?}");
    let question = Question::with_standing(claim.clone(), standing);
    let lines = question.lines().join("\n");
    assert!(
        lines.contains("also bound the use of your logins"),
        "{lines}"
    );
    assert!(
        lines.contains("uses login: where you have logged in to this URL"),
        "{lines}"
    );
    store.approve(&claim).unwrap();
    assert_eq!(store.standing(&claim).unwrap(), Standing::Approved);
}

#[test]
fn the_block_of_a_login_is_part_of_what_is_approved() {
    let entry = |issuer: &str| {
        claim(json!({"url": "https://example.com/mcp", "oauth": {"issuer": issuer}}))
    };
    let (one, other) = (
        entry("https://id.example.com"),
        entry("https://evil.example"),
    );
    assert_ne!(one.fingerprint(), other.fingerprint());
    let lines = Question::with_standing(other, Standing::New)
        .lines()
        .join("\n");
    assert!(
        lines.contains("/oauth/issuer = \"https://evil.example\""),
        "{lines}"
    );
}
