//! Placeholders: what fills them, what does not, and that nothing of it is told.

use std::fs;
use std::path::{Path, PathBuf};

use switchboard::config::{Config, Entry, Expansion, Problem, ProblemKind, Reference};
use switchboard::spec::{Endpoint, Layer, Process, ServerSpec};
use switchboard::transport::Environment;

fn host(variables: &[(&str, &str)]) -> Environment {
    let variables = variables.iter();
    variables
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn entry(text: &str, file: &Path, layer: Layer) -> Entry {
    let text = format!("{{\"mcpServers\": {{\"a\": {text}}}}}");
    let config = Config::read(&text, file, layer);
    assert!(
        config.problems().iter().all(|problem| !problem.is_error()),
        "{config:?}"
    );
    config.entries()[0].clone()
}

fn expand(text: &str, host: &Environment) -> Result<ServerSpec, Problem> {
    let with = Expansion::new(host, Path::new("/shop")).home(Some(Path::new("/home/me")));
    entry(text, Path::new("/etc/x/mcp.json"), Layer::User).expand(&with)
}

fn process(spec: &ServerSpec) -> &Process {
    match &spec.endpoint {
        Endpoint::Process(process) => process,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_placeholder_is_filled_in_every_text() {
    let host = host(&[("A", "1"), ("EMPTY", ""), ("T", "5s"), ("N", "B")]);
    let spec = expand(
        r#"{
            "command": "${userHome}/bin/x",
            "args": ["${A}${env:A}", "${NO:-d}", "${EMPTY:-d}", "[${EMPTY}]", "${workspaceFolder}", "$A {A} $", "${workspaceFolderBasename}"],
            "env": { "K": "x${A}y" },
            "env_passthrough": ["${N}"],
            "cwd": "${A}/y",
            "timeout": "${T}",
            "allowed_tools": ["get_${A}"],
            "roots": ["${userHome}/r"]
        }"#,
        &host,
    )
    .unwrap();
    let mut expected = ServerSpec::stdio("a", "/home/me/bin/x")
        .unwrap()
        .args(["11", "d", "d", "[]", "/shop", "$A {A} $", "shop"])
        .env("K", "x1y")
        .env_passthrough(["B"])
        .cwd("/etc/x/1/y");
    expected.origin = spec.origin.clone();
    expected.settings.tools.allow = Some(vec!["get_1".to_owned()]);
    expected.settings.roots = vec![PathBuf::from("/home/me/r")];
    expected.settings.timeouts = spec.settings.timeouts;
    assert_eq!(spec.settings.timeouts.connect.idle.as_secs(), 5);
    assert_eq!(spec, expected);
}

#[test]
fn nothing_is_filled_twice() {
    let host = host(&[("A", "${B}"), ("B", "canary")]);
    let spec = expand(r#"{"command": "x", "args": ["${A}"]}"#, &host).unwrap();
    assert_eq!(process(&spec).args, ["${B}"]);
}

#[test]
fn an_unset_variable_is_named_with_its_place() {
    let problem = expand(
        r#"{"command": "x", "env": {"K": "${MISSING}"}}"#,
        &host(&[]),
    )
    .unwrap_err();
    assert_eq!(problem.kind(), ProblemKind::UnsetVariable);
    assert_eq!(
        problem.to_string(),
        "/etc/x/mcp.json:1:52: server \"a\": the variable `MISSING` is not set"
    );
    assert_eq!(problem.server(), Some("a"));
    assert_eq!(problem.hints().len(), 1);
}

#[test]
fn an_input_without_an_answer_and_a_home_without_a_folder_are_named() {
    let problem = expand(r#"{"command": "x", "args": ["${input:key}"]}"#, &host(&[])).unwrap_err();
    assert_eq!(problem.kind(), ProblemKind::Unanswered);
    assert!(problem.message().contains("\"key\""), "{problem}");
    let host = host(&[]);
    let with = Expansion::new(&host, Path::new("/shop"));
    let entry = entry(
        r#"{"command": "${userHome}"}"#,
        Path::new("/x.json"),
        Layer::User,
    );
    let problem = entry.expand(&with).unwrap_err();
    assert_eq!(problem.kind(), ProblemKind::UnsetVariable);
}

#[test]
fn a_file_is_read_when_it_is_filled_in_and_not_before() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(".switchboard/mcp.json");
    let text = r#"{"command": "./x", "env": {"K": "${file:secret}"}, "env_file": "v.env"}"#;
    let entry = entry(text, &file, Layer::Project);
    let host = host(&[]);
    let with = Expansion::new(&host, Path::new("/shop"));
    let problem = entry.expand(&with).unwrap_err();
    assert_eq!(problem.kind(), ProblemKind::UnreadableReference);
    assert!(problem.message().contains("it does not exist"), "{problem}");
    fs::write(folder.path().join("secret"), "s3\r\n").unwrap();
    fs::write(folder.path().join("v.env"), "V=1\nK=file\n").unwrap();
    let spec = entry.expand(&with).unwrap();
    let process = process(&spec);
    let env: Vec<(&str, &str)> = process
        .env
        .iter()
        .map(|(name, value)| (name.as_str(), value.expose().as_str()))
        .collect();
    assert_eq!(env, [("K", "s3"), ("V", "1")]);
    assert_eq!(Path::new(&process.command), folder.path().join("x"));
    let expected = ["secret", "v.env"].map(|name| Reference::File(folder.path().join(name)));
    assert_eq!(entry.references(), expected);
    fs::create_dir(folder.path().join("d")).unwrap();
    let text = r#"{"command": "x", "args": ["${file:d}"]}"#;
    let problem = self::entry(text, &file, Layer::Project)
        .expand(&with)
        .unwrap_err();
    assert!(
        problem.message().contains("not a regular file"),
        "{problem}"
    );
}

#[test]
fn an_entry_of_a_project_means_that_project() {
    let host = host(&[]);
    let with = Expansion::new(&host, Path::new("/shop/deep"));
    let text = r#"{"command": "x", "cwd": "${workspaceFolder}"}"#;
    let layer = Layer::Ancestor(PathBuf::from("/shop"));
    let spec = entry(text, Path::new("/shop/.mcp.json"), layer)
        .expand(&with)
        .unwrap();
    assert_eq!(process(&spec).cwd.as_deref(), Some(Path::new("/shop")));
    let spec = entry(text, Path::new("/x/mcp.json"), Layer::Named)
        .expand(&with)
        .unwrap();
    assert_eq!(process(&spec).cwd.as_deref(), Some(Path::new("/shop/deep")));
}

#[test]
fn references_are_known_before_anything_is_filled_in() {
    let entry = entry(
        r#"{"command": "x", "args": ["${A}", "${A}", "${B:-b}"], "env": {"K": "${input:i}${userHome}"},
            "cwd": "${workspaceFolder}", "unheard_of": "${C}"}"#,
        Path::new("/x.json"),
        Layer::Project,
    );
    let variable = |name: &str, has_default| Reference::Variable {
        name: name.to_owned(),
        has_default,
    };
    assert_eq!(
        entry.references(),
        [
            variable("A", false),
            variable("B", true),
            Reference::Input("i".to_owned()),
            Reference::UserHome,
            Reference::WorkspaceFolder,
        ]
    );
}

#[test]
fn what_is_filled_in_is_judged_and_not_told() {
    let host = host(&[
        ("URL", "canary"),
        ("H", "canary\r\nX: y"),
        ("T", "canary"),
        ("N", "a\0canary"),
    ]);
    for (text, kind) in [
        (r#"{"url": "${URL}"}"#, ProblemKind::BadUrl),
        (
            r#"{"url": "http://a/", "headers": {"X": "${H}"}}"#,
            ProblemKind::BadHeader,
        ),
        (
            r#"{"command": "x", "timeout": "${T}"}"#,
            ProblemKind::WrongType,
        ),
        (
            r#"{"command": "x", "env": {"X": "${N}"}}"#,
            ProblemKind::BadVariable,
        ),
    ] {
        let problem = expand(text, &host).unwrap_err();
        assert_eq!(problem.kind(), kind, "{text}");
        let told = format!("{problem} {problem:?} {:?}", problem.excerpt());
        assert!(!told.contains("canary"), "{told}");
    }
}

/// Two hundred secrets in all the places where people put them.
#[test]
fn no_secret_of_a_good_or_bad_entry_is_told() {
    let mut entries = Vec::new();
    for n in 0..50 {
        let (a, b, c, d) = (4 * n, 4 * n + 1, 4 * n + 2, 4 * n + 3);
        entries.push(match n % 5 {
            0 => format!(
                r#""s{n}": {{"command": "x", "args": ["--token", "canary{a}x"], "env": {{"K": "canary{b}x"}}, "cwd": 5, "comand": ["--token", "canary{c}x", "--api-key", "canary{d}x"]}}"#
            ),
            1 => format!(
                r#""s{n}": {{"url": "https://u:canary{a}x@example.com/?k=canary{b}x", "headers": {{"X": "canary{c}x", "Y": ["canary{d}x"]}}}}"#
            ),
            2 => format!(
                r#""s{n}": {{"url": "ftp://u:canary{a}x@h", "args": ["--token", "canary{b}x"], "type": 5, "headers": {{"A": "canary{c}x", "B": "canary{d}x"}}}}"#
            ),
            3 => format!(
                r#""s{n}": {{"command": "x", "args": ["--token", "canary{a}x", "--api-key=canary{b}x"], "headers": {{"A": "canary{c}x"}}, "protocol": 5, "env": {{"B": "canary{d}x"}}}}"#
            ),
            _ => format!(
                r#""s{n}": {{"command": "x", "args": ["--token", "canary{a}x", {{"canary{b}x": 1}}], "env": {{"A": {{"canary{c}x": "canary{d}x"}}}}}}"#
            ),
        });
    }
    let text = format!("{{\"mcpServers\": {{\n{}\n}}}}", entries.join(",\n"));
    assert_eq!(text.matches("canary").count(), 200);
    let whole = Config::read(&text, Path::new("/x.json"), Layer::User);
    assert!(whole.problems().len() >= 50, "{}", whole.problems().len());
    let broken = text
        .replacen("}}\n}}", "\n}}", 1)
        .replacen(": {\"url\"", " {\"url\"", 1);
    let broken = Config::read(&broken, Path::new("/x.json"), Layer::User);
    for config in [whole, broken] {
        let mut told = format!("{config:?}");
        for problem in config.problems() {
            told += &format!("{problem} {problem:?} {:?}\n", problem.expected());
            told += &problem.hints().join("\n");
            told += &problem.excerpt().join("\n");
        }
        let found: Vec<&str> = told
            .lines()
            .filter(|line| line.contains("canary"))
            .collect();
        assert_eq!(found, [""; 0]);
    }
}
