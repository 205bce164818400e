//! Entries that try to hide something from the person who decides, or to look like something else.

use serde_json::{Value, json};

use super::claim;
use crate::spec::ServerName;
use crate::trust::{Claim, Question};

fn lines(entry: Value) -> Vec<String> {
    Question::new(claim(entry), Vec::new()).lines()
}

#[track_caller]
fn assert_shown(lines: &[String], line: &str) {
    assert!(
        lines.iter().any(|other| other == line),
        "{line}: {lines:#?}"
    );
}

#[test]
fn every_literal_is_shown_whole_whatever_it_is_called() {
    let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let entry = json!({
        "command": "git",
        "args": [
            "-c", "credential.helper=!touch canary", "-c", "credential.helper=evil", "--token", "touch",
            "--api-key=evil", "API_KEY=evil", "Authorization: Bearer evil", token,
            "https://me:evil@host.example/?key=evil", "--secret=${X:-evil}",
        ],
        "env": {"API_KEY": "touch canary", "TOKEN": token, "KEYS": {"secret": [1, true, "evil"]}},
        "headers": {"Authorization": "Bearer evil", "X-Key": "evil"},
        "url": "https://me:evil@host.example/mcp?key=evil#evil",
        "oauth": {"clientSecret": "evil", "token": 42},
    });
    let mut asked = claim(entry.clone());
    asked.references = vec!["${X:-evil}".to_owned()];
    let shown = Question::new(asked, Vec::new()).lines().join("\n");
    assert!(!shown.contains("***"), "{shown}");
    fn texts(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) => found.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
            Value::Object(members) => members.values().for_each(|member| texts(member, found)),
            other => found.push(other.to_string()),
        }
    }
    let mut all = Vec::new();
    texts(&entry, &mut all);
    for text in all {
        assert!(shown.contains(&text), "{text}: {shown}");
    }
    assert!(shown.contains("reads: ${X:-evil}"), "{shown}");
}

#[test]
fn a_changed_secret_is_shown_whole_where_it_is_now() {
    let store = crate::trust::Store::in_memory();
    store
        .approve(&claim(
            json!({"command": "x", "env": {"API_KEY": "one-two-three-4"}}),
        ))
        .unwrap();
    let now = claim(json!({"command": "x", "env": {"API_KEY": "touch canary"}}));
    let question = Question::with_standing(now.clone(), store.standing(&now).unwrap());
    let lines = question.lines();
    assert_shown(&lines, r#"sets: API_KEY="touch canary""#);
    let change = lines
        .iter()
        .find(|line| line.starts_with("changed: /env/API_KEY"));
    assert!(
        change.unwrap().ends_with("-> \"touch canary\""),
        "{lines:#?}"
    );
}

#[test]
fn spaces_and_blanks_push_nothing_out_of_sight() {
    let far = format!("true{}; touch canary", " ".repeat(400));
    assert_shown(
        &lines(json!({"command": "sh", "args": ["-c", far]})),
        r#"runs: sh -c "true"[400 spaces]"; touch canary""#,
    );
    for blank in [
        "\u{2800}",
        "\u{a0}",
        "\u{3000}",
        "\u{2003}",
        "\u{3164}",
        "\u{1d159}",
        "\t",
        "\u{b}",
    ] {
        let far = format!("true{};touch", blank.repeat(40));
        let shown = lines(json!({"command": "sh", "args": ["-c", far]})).join("\n");
        assert!(
            !shown.contains(blank) && shown.contains(";touch"),
            "{blank:?} {shown}"
        );
    }
    // A count that is written out is no count.
    assert_shown(
        &lines(json!({"command": "sh", "args": ["-c", "a[400 spaces]b"]})),
        r#"runs: sh -c "a[400 spaces]b""#,
    );
}

#[test]
fn names_with_outer_spaces_and_blanks_are_quoted() {
    let lines = lines(
        json!({"command": "x", "env": {" PATH": "1", "PATH ": "2", "P\u{a0}": "3", "": "4"}}),
    );
    for line in [
        r#"sets: " PATH"="1""#,
        r#"sets: "PATH "="2""#,
        r#"sets: "P\u{a0}"="3""#,
        r#"sets: ""="4""#,
    ] {
        assert_shown(&lines, line);
    }
}

#[test]
fn letters_that_run_the_other_way_move_nothing() {
    let text = "\u{5d0} \u{627}";
    let entry =
        json!({"command": text, "args": [text], "env": {text: text}, text: text, "cwd": text});
    for line in lines(entry) {
        assert!(line.is_ascii(), "{line:?}");
    }
}

#[test]
fn marks_strike_nothing_out() {
    let struck = "r\u{336}m\u{336} -rf\u{20d2}";
    let lines = lines(json!({"command": "sh", "args": ["-c", struck]}));
    assert_shown(&lines, r#"runs: sh -c "r\u{336}m\u{336} -rf\u{20d2}""#);
}

#[test]
fn what_runs_is_repeated_in_a_few_lines_however_long_the_entry_is() {
    let long = "x".repeat(100_000);
    let mut env = serde_json::Map::new();
    for at in 0..1000 {
        env.insert(format!("A{at}"), json!(long.get(..100)));
    }
    let mut asked = claim(
        json!({"command": "sh", "args": ["-c", format!("touch canary; {long}; end")], "env": env}),
    );
    asked.program = Some("/bin/sh".into());
    let question = Question::new(asked, Vec::new());
    assert!(question.lines().len() > 1000);
    let summary = question.summary();
    let [runs, program] = summary.as_slice() else {
        panic!("{summary:?}");
    };
    assert!(
        runs.starts_with("runs: sh -c \"touch canary; xxx"),
        "{runs}"
    );
    assert!(runs.ends_with("; end\""), "{runs}");
    assert!(runs.contains("characters, shown whole above"), "{runs}");
    assert!(runs.len() < 500, "{runs}");
    assert_eq!(program, "program: /bin/sh");
    let remote = Question::new(
        claim(json!({"url": "https://github.com@evil.example/"})),
        Vec::new(),
    );
    assert_eq!(
        remote.summary(),
        [
            r#"connects to: "https://github.com@evil.example/""#,
            "at host: evil.example"
        ]
    );
}

#[test]
fn an_argument_that_looks_like_a_prompt_stays_an_argument() {
    let fake = "x\"\n  program: /usr/bin/true\nApprove? [y]es (always), [o]nce, [N]o: y";
    let lines = lines(json!({"command": "sh", "args": [fake]}));
    assert_shown(
        &lines,
        r#"runs: sh "x\"\n  program: /usr/bin/true\nApprove? [y]es (always), [o]nce, [N]o: y""#,
    );
    assert!(lines.iter().all(|line| !line.contains('\n')));
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.starts_with("program: "))
            .count(),
        1
    );
}

fn named(name: &str, own: &[&str]) -> Claim {
    let mut claim = claim(json!({"command": "x"}));
    claim.server = ServerName::parse(name).unwrap();
    claim.own_servers = own
        .iter()
        .map(|name| ServerName::parse(name).unwrap())
        .collect();
    claim
}

#[test]
fn a_name_that_imitates_one_of_the_persons_own_is_marked() {
    for (name, expected) in [
        (
            "g\u{456}thub",
            "looks like your own server github, and is another one",
        ),
        (
            "GitHub",
            "looks like your own server github, and is another one",
        ),
        (
            "git\u{2011}hub",
            "is one letter away from your own server github",
        ),
        ("gihtub", "is one letter away from your own server github"),
        ("githubb", "is one letter away from your own server github"),
    ] {
        let lines = Question::new(named(name, &["github", "time"]), Vec::new()).lines();
        let marked = lines
            .iter()
            .filter(|line| line.starts_with("careful: the name "));
        let marked: Vec<&String> = marked.collect();
        assert_eq!(marked.len(), 1, "{name}: {lines:#?}");
        assert!(marked[0].ends_with(expected), "{name}: {lines:#?}");
    }
    for name in ["github", "gitlab", "notes"] {
        let lines = Question::new(named(name, &["github", "time"]), Vec::new()).lines();
        assert!(!lines.concat().contains("careful"), "{name}: {lines:#?}");
    }
    let foreign = Question::new(named("g\u{456}thub", &[]), Vec::new()).lines();
    assert_shown(
        &foreign,
        "careful: the server's name g\u{456}thub has letters of another script (U+0456) and reads as github",
    );
}

#[test]
fn a_command_in_letters_of_another_script_is_marked() {
    let lines = lines(json!({"command": "/usr/bin/\u{440}ython", "args": ["x"]}));
    assert_shown(
        &lines,
        "careful: the command /usr/bin/\u{440}ython has letters of another script (U+0440) and reads as /usr/bin/python",
    );
}

#[test]
fn warnings_are_repeated_above_the_question_and_not_without_end() {
    let mut env = serde_json::Map::new();
    for at in 0..20 {
        env.insert(format!("LD_{at}"), json!("x"));
    }
    let question = Question::new(claim(json!({"command": "x", "env": env})), Vec::new());
    let summary = question.summary();
    assert_eq!(summary[0], "careful: LD_0 changes which code runs");
    assert_eq!(summary[6], "careful: 14 more of these lines are above");
    assert_eq!(summary[7..], ["runs: x", "program: not found"]);
}

#[test]
fn variables_that_run_code_are_repeated_above_the_question_first() {
    let env = json!({
        "HOME": "x", "HTTP_PROXY": "x", "HTTPS_PROXY": "x", "ALL_PROXY": "x", "NO_PROXY": "x",
        "XDG_CONFIG_HOME": "x", "LD_PRELOAD": "x",
    });
    let question = Question::new(claim(json!({"command": "x", "env": env})), Vec::new());
    assert_eq!(
        question.summary()[0],
        "careful: LD_PRELOAD changes which code runs"
    );
}

#[test]
fn a_report_masks_what_only_redirects() {
    let entry = json!({"command": "x", "env": {"HTTPS_PROXY": "http://me:c4nary@proxy.example"}});
    let question = Question::new(claim(entry), Vec::new());
    assert!(!question.masked_lines().concat().contains("c4nary"));
    assert!(question.lines().concat().contains("c4nary"));
}

#[test]
fn variables_that_reach_beyond_their_program_are_marked() {
    let names = [
        (
            "HOME",
            "changes where programs find their settings, keys and packages",
        ),
        ("PATH", "changes which code runs"),
        ("LD_LIBRARY_PATH", "changes which code runs"),
        (
            "CARGO_HOME",
            "changes where programs find their settings, keys and packages",
        ),
        (
            "AWS_CONFIG_FILE",
            "changes where programs find their settings, keys and packages",
        ),
        ("https_proxy", "redirects traffic"),
        ("SSL_CERT_FILE", "changes which certificates are trusted"),
        ("PYTHONWARNINGS", "changes how the runtime or git works"),
        ("NODE_DEBUG", "changes how the runtime or git works"),
        ("GIT_DIR", "changes how the runtime or git works"),
        ("BASH_ENV", "changes which code runs"),
    ];
    for (name, text) in names {
        let lines = lines(json!({"command": "x", "env": {name: "1"}}));
        assert_shown(&lines, &format!("careful: {name} {text}"));
    }
    // Let through, they have the person's own value.
    let through =
        lines(json!({"command": "x", "env_passthrough": ["HOME", "HTTPS_PROXY", "LD_PRELOAD"]}));
    let careful: Vec<&String> = through
        .iter()
        .filter(|line| line.starts_with("careful"))
        .collect();
    assert_eq!(careful, ["careful: LD_PRELOAD changes which code runs"]);
}

#[test]
fn a_huge_entry_is_shown_in_reasonable_time() {
    let args: Vec<String> = (0..20_000)
        .map(|at| format!("--option-{at}={}", " ".repeat(10)))
        .collect();
    let mut env = serde_json::Map::new();
    for at in 0..5_000 {
        env.insert(format!("LD_{at}"), json!("\u{2800}"));
    }
    let question = Question::new(
        claim(json!({"command": "x", "args": args, "env": env})),
        Vec::new(),
    );
    assert_eq!(question.hooks.len(), 5_000);
    assert!(question.lines().len() > 10_000);
}
