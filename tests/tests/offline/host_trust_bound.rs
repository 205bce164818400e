//! What an approval is bound to besides the entry: the program that a reference names, the file of variables, and the
//! content of files.

use std::path::PathBuf;

use serde_json::json;
use switchboard::ErrorKind;
use switchboard::Operator;
use switchboard::config::Config;
use switchboard::host::Host;
use switchboard::spec::Layer;
use switchboard::transport::Environment;
use switchboard::trust::{Bind, Question, Reason, ServerApproval, Store};

use crate::host_support::cloned::{Cloned, Person, builder, host, tried};

/// Says yes, and changes a file while it is asked.
struct Meddler {
    file: PathBuf,
    text: &'static str,
}

impl Operator for Meddler {
    async fn approve_server(&self, _question: Question) -> ServerApproval {
        std::fs::write(&self.file, self.text).unwrap();
        ServerApproval::Approve
    }
}

#[tokio::test]
async fn a_changed_env_file_asks_again_and_says_what_it_sets() {
    let cloned = Cloned::new();
    let mut entry = cloned.touch("one");
    entry["envFile"] = json!("own.env");
    cloned.write_one(&entry);
    let file = cloned.folder().join("own.env");
    cloned.write(&file, "MODE=quiet\n");
    let yes = Person::trusting(&["one"]);
    assert_eq!(tried(&cloned, &yes).await, (true, 1));
    assert_eq!(tried(&cloned, &Person::default()).await, (true, 0));
    let shown = yes.asked()[0].lines();
    let sets = format!("sets from {}: MODE", file.display());
    assert!(shown.contains(&sets), "{shown:#?}");
    for (text, name) in [
        ("MODE=canary\n", None),
        ("MODE=quiet\nMORE=canary\n", None),
        (
            "MODE=quiet\nLD_PRELOAD=./canary.so\n",
            Some("LD_PRELOAD changes which code runs"),
        ),
        (
            "MODE=quiet\nNODE_OPTIONS=-r=./canary\n",
            Some("NODE_OPTIONS changes which code runs"),
        ),
        (
            "MODE=quiet\nHTTPS_PROXY=canary\n",
            Some("HTTPS_PROXY redirects traffic"),
        ),
    ] {
        cloned.write(&file, text);
        let no = Person::default();
        assert_eq!(tried(&cloned, &no).await, (false, 1), "{text}");
        let question = &no.asked()[0];
        assert_eq!(question.changes[0].pointer, "env_file");
        let lines = question.lines().join("\n");
        assert!(
            !lines.contains("canary.so") && !lines.contains("=canary"),
            "{lines}"
        );
        if let Some(name) = name {
            assert!(lines.contains(&format!("careful: {name}")), "{lines}");
        }
    }
    std::fs::remove_file(&file).unwrap();
    assert_eq!(tried(&cloned, &Person::default()).await, (false, 1));
    cloned.write(&file, "MODE=quiet\n");
    assert_eq!(tried(&cloned, &Person::default()).await, (true, 0));
}

#[tokio::test]
async fn the_env_file_that_was_approved_is_the_one_that_is_used() {
    let cloned = Cloned::new();
    let canary = cloned.path("canaries").display().to_string();
    let line = format!("touch {canary}/$MODE");
    cloned.write_one(&json!({"command": "sh", "args": ["-c", line], "env_file": "own.env"}));
    let file = cloned.folder().join("own.env");
    cloned.write(&file, "MODE=approved\n");
    let meddler = Meddler {
        file: file.clone(),
        text: "MODE=evil\n",
    };
    let host = builder(&cloned).operator(meddler).build().unwrap();
    host.connect("one").await.unwrap_err();
    host.restart("one").await.unwrap_err();
    assert_eq!(cloned.canaries(), ["approved"]);
    cloned.clear();
    // The next run sees another file, and asks.
    assert_eq!(tried(&cloned, &Person::default()).await, (false, 1));
}

#[tokio::test]
async fn a_path_of_the_env_file_decides_which_program_is_shown_and_run() {
    let cloned = Cloned::new();
    cloned.write_program(&cloned.folder().join("own/tool"), "of-the-file");
    cloned.write_program(&cloned.path("bin/tool"), "of-the-host");
    cloned.write_one(&json!({"command": "tool", "env_file": "own.env"}));
    let path = cloned.folder().join("own").display().to_string();
    cloned.write(&cloned.folder().join("own.env"), &format!("PATH={path}\n"));
    let person = Person::trusting(&["one"]);
    host(&cloned, &person).connect("one").await.unwrap_err();
    let question = &person.asked()[0];
    assert_eq!(
        question.claim.program,
        Some(cloned.folder().join("own/tool"))
    );
    assert_eq!(question.hooks, ["PATH"]);
    assert_eq!(cloned.canaries(), ["of-the-file"]);
}

#[tokio::test]
async fn a_program_that_a_reference_names_is_shown_and_bound() {
    let cloned = Cloned::new();
    cloned.write_program(&cloned.path("bin/good"), "good");
    cloned.write_program(&cloned.path("bin/evil"), "evil");
    cloned.write_one(&json!({"command": "${TOOL:-good}"}));
    let with = |tool: Option<&str>, person: &Person| {
        let path = cloned.path("bin").display().to_string();
        let tool = tool.map(|tool| ("TOOL".to_owned(), tool.to_owned()));
        let all = [("PATH".to_owned(), path)].into_iter().chain(tool);
        let environment: Environment = all.collect();
        let builder = builder(&cloned).environment(&environment);
        builder.operator(person.clone()).build().unwrap()
    };
    let yes = Person::trusting(&["one"]);
    with(None, &yes).connect("one").await.unwrap_err();
    assert_eq!(cloned.canaries(), ["good"]);
    cloned.clear();
    let program = cloned.path("bin/good");
    assert_eq!(yes.asked()[0].claim.program.as_ref(), Some(&program));
    let line = format!("program: {}", program.display());
    assert!(yes.asked()[0].lines().contains(&line));
    // The same program by another way is the same; another one asks.
    with(Some("good"), &Person::default())
        .connect("one")
        .await
        .unwrap_err();
    assert_eq!(cloned.canaries(), ["good"]);
    cloned.clear();
    let no = Person::default();
    let error = with(Some("evil"), &no).connect("one").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Untrusted);
    assert_eq!(no.asked()[0].changes[0].pointer, "program");
    // One that is not there is not started, whatever was approved.
    let error = with(Some("gone"), &Person::trusting(&["one"]))
        .connect("one")
        .await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Connect);
    assert_eq!(cloned.canaries(), [""; 0]);
}

#[tokio::test]
async fn a_program_in_the_workspace_is_shown_and_bound() {
    let cloned = Cloned::new();
    let program = cloned.folder().join("run");
    cloned.write_program(&program, "run");
    cloned.write_one(&json!({"command": "${workspaceFolder}/run"}));
    let yes = Person::trusting(&["one"]);
    assert_eq!(tried(&cloned, &yes).await, (true, 1));
    assert_eq!(yes.asked()[0].claim.program, Some(program));
    assert_eq!(tried(&cloned, &Person::default()).await, (true, 0));
}

#[tokio::test]
async fn a_command_that_has_to_be_asked_for_is_not_started() {
    let cloned = Cloned::new();
    cloned.write_one(&json!({"command": "${input:tool}"}));
    let host = host(&cloned, &Person::trusting(&["one"]));
    let error = host.connect("one").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
}

/// A host that binds content.
fn strict(cloned: &Cloned, person: &Person) -> Host {
    let builder = builder(cloned).bind_approvals(Bind::Content);
    builder.operator(person.clone()).build().unwrap()
}

#[tokio::test]
async fn content_that_is_bound_asks_again_when_it_changes() {
    let cloned = Cloned::new();
    let (program, script) = (cloned.path("bin/tool"), cloned.folder().join("server.js"));
    cloned.write_program(&program, "good");
    cloned.write(&script, "good\n");
    cloned.write_one(&json!({"command": "tool", "args": ["--require=./server.js", "more"]}));
    let yes = Person::trusting(&["one"]);
    let first = strict(&cloned, &yes);
    first.connect("one").await.unwrap_err();
    assert_eq!(cloned.canaries(), ["good"]);
    cloned.clear();
    let paths: Vec<PathBuf> = yes.asked()[0]
        .claim
        .contents
        .iter()
        .map(|c| c.path.clone())
        .collect();
    assert_eq!(paths, [program.clone(), script.clone()]);
    strict(&cloned, &Person::default())
        .connect("one")
        .await
        .unwrap_err();
    assert_eq!(cloned.canaries(), ["good"]);
    cloned.clear();
    cloned.write(&script, "evil\n");
    // A host that has it approved does not start it either.
    let error = first.restart("one").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect, "{error}");
    assert_eq!(cloned.canaries(), [""; 0]);
    let no = Person::default();
    let error = strict(&cloned, &no).connect("one").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Untrusted);
    let changes = &no.asked()[0].changes;
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(
        changes[0].pointer,
        format!("content of {}", script.display())
    );
    cloned.write(&script, "good\n");
    cloned.write_program(&program, "evil");
    let no = Person::default();
    strict(&cloned, &no).connect("one").await.unwrap_err();
    assert_eq!(
        no.asked()[0].changes[0].pointer,
        format!("content of {}", program.display())
    );
    assert_eq!(cloned.canaries(), [""; 0]);
}

#[tokio::test]
async fn an_approval_without_content_says_why_it_is_not_enough() {
    let cloned = Cloned::new();
    cloned.write_one(&cloned.touch("one"));
    assert_eq!(tried(&cloned, &Person::trusting(&["one"])).await, (true, 1));
    let no = Person::default();
    strict(&cloned, &no).connect("one").await.unwrap_err();
    let question = &no.asked()[0];
    assert_eq!(question.reason, Reason::BindsMore);
    assert!(
        question
            .lines()
            .join("\n")
            .contains("asked again: you approved this entry before")
    );
    assert_eq!(cloned.canaries(), [""; 0]);
}

#[test]
fn the_persons_own_file_says_what_is_bound_and_a_projects_does_not() {
    let cloned = Cloned::new();
    let of = |own: &str, project: &str| {
        let servers = json!({"one": cloned.touch("one")});
        let project = format!(r#"{{"mcpServers": {servers}{project}}}"#);
        cloned.write(&cloned.folder().join(".mcp.json"), &project);
        let own_file = cloned.path("home/.config/switchboard/mcp.json");
        cloned.write(&own_file, own);
        let config = Config::load(&cloned.places());
        assert!(
            config.files().iter().any(|file| file.layer == Layer::User),
            "{config:?}"
        );
        let host = Host::builder()
            .environment(&cloned.environment())
            .config(&config);
        let host = host.trust(Store::in_memory()).build().unwrap();
        let question = host.question("one").unwrap().unwrap();
        (question.claim.contents.len(), host.config_problems().len())
    };
    assert_eq!(of("{}", "").0, 0);
    assert_eq!(of(r#"{"approvals": "content"}"#, ""), (1, 0));
    assert_eq!(of(r#"{"approvals": {"bind": "content"}}"#, ""), (1, 0));
    assert_eq!(of(r#"{"approvals": "entry"}"#, ""), (0, 0));
    // What is not understood binds the most, and is said.
    assert_eq!(of(r#"{"approvals": "contnet"}"#, ""), (1, 1));
    let (bound, problems) = of(r#"{"approvals": "content"}"#, r#", "approvals": "entry""#);
    assert_eq!((bound, problems > 0), (1, true));
}

#[tokio::test]
async fn a_name_like_one_of_the_persons_own_servers_is_marked() {
    let cloned = Cloned::new();
    let own_file = cloned.path("home/.config/switchboard/mcp.json");
    cloned.write(
        &own_file,
        &json!({"mcpServers": {"github": {"command": "sh"}}}).to_string(),
    );
    let text = json!({"mcpServers": {"githib": cloned.touch("githib")}}).to_string();
    cloned.write(&cloned.folder().join(".mcp.json"), &text);
    let host = host(&cloned, &Person::default());
    let lines = host.question("githib").unwrap().unwrap().lines();
    let line = "careful: the name githib is one letter away from your own server github";
    assert!(lines.contains(&line.to_owned()), "{lines:#?}");
}
