//! Our client with servers that others wrote: connect, agree, list everything, call, read.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use switchboard::protocol::{CallToolResult, Content, Era, GetPromptParams, Pairs, Raw, Version};
use switchboard::session::{CallOptions, Session, SessionOptions};
use switchboard::spec::Protocol;
use switchboard::transport::{Environment, Stdio};
use switchboard_tests::offer;
use switchboard_tests::partners::{self, Launch};

fn stdio(launch: &Launch) -> Stdio {
    let mut stdio = Stdio::new(launch.program.to_str().unwrap())
        .args(launch.args.clone())
        .environment(&Environment::of_process());
    for (name, value) in &launch.env {
        stdio = stdio.env(name, value);
    }
    match &launch.cwd {
        Some(folder) => stdio.cwd(folder),
        None => stdio,
    }
}

async fn connect(launch: &Launch, protocol: Protocol) -> Session {
    let options = SessionOptions::default().protocol(protocol);
    Session::connect(&stdio(launch), options)
        .await
        .unwrap_or_else(|error| panic!("{launch:?}: {error:?}"))
}

async fn call(session: &Session, tool: &str, arguments: Value) -> CallToolResult {
    let arguments = Raw::of(&arguments).unwrap();
    let result = session
        .call_tool(tool, Some(arguments), CallOptions::default())
        .await
        .unwrap();
    assert!(!result.is_error(), "{result:?}");
    result
}

fn text(result: &CallToolResult) -> &str {
    result.content().iter().find_map(Content::as_text).unwrap()
}

/// Lists all there is; every item fits and every list is whole.
async fn list_everything(session: &Session) -> Vec<String> {
    let tools = session.list_tools().await.unwrap();
    assert_eq!((tools.set_aside, tools.cut), (Vec::new(), None));
    let resources = session.list_resources().await.unwrap();
    assert_eq!((resources.set_aside, resources.cut), (Vec::new(), None));
    let templates = session.list_resource_templates().await.unwrap();
    assert_eq!((templates.set_aside, templates.cut), (Vec::new(), None));
    let prompts = session.list_prompts().await.unwrap();
    assert_eq!((prompts.set_aside, prompts.cut), (Vec::new(), None));
    tools
        .items
        .iter()
        .map(|tool| tool.name().to_owned())
        .collect()
}

/// What every partner of our own making offers, in the version that is expected of it.
async fn our_offer(launch: &Launch, protocol: Protocol, version: Version) {
    let session = connect(launch, protocol).await;
    assert_eq!(session.negotiated().version, version, "{launch:?}");
    assert_eq!(list_everything(&session).await, [offer::ECHO, offer::ADD]);

    let echo = call(&session, offer::ECHO, json!({"message": "grüße\n\"1\""})).await;
    assert_eq!(text(&echo), "grüße\n\"1\"");
    let sum = call(&session, offer::ADD, json!({"a": 2, "b": 3})).await;
    let structured: Value = sum.structured_content().unwrap().decode().unwrap();
    assert_eq!(structured, json!({"result": 5}));

    let read = session
        .read_resource(offer::RESOURCE_URI, CallOptions::default())
        .await
        .unwrap();
    assert_eq!(read.contents()[0].text(), Some(offer::RESOURCE_TEXT));

    let mut arguments = Pairs::new();
    arguments.insert("name", "Ada".to_owned());
    let params = GetPromptParams {
        name: offer::PROMPT.to_owned(),
        arguments,
    };
    let prompt = session
        .get_prompt(&params, CallOptions::default())
        .await
        .unwrap();
    let said = prompt.messages()[0].content()[0].as_text().unwrap();
    assert_eq!(said, offer::prompt_text("Ada"));

    session.ping().await.unwrap();
    session.close().await;
}

#[tokio::test]
async fn rmcp_3_8_in_the_modern_era() {
    let launch = partners::rmcp3(env!("CARGO_BIN_EXE_rmcp3-server"));
    our_offer(&launch, Protocol::Auto, Version::V2026_07_28).await;
    our_offer(&launch, Protocol::Modern, Version::V2026_07_28).await;
}

#[tokio::test]
async fn rmcp_3_8_in_the_legacy_era() {
    let launch = partners::rmcp3(env!("CARGO_BIN_EXE_rmcp3-server"));
    our_offer(&launch, Protocol::Legacy, Version::V2025_11_25).await;
    let launch = partners::rmcp3_legacy(env!("CARGO_BIN_EXE_rmcp3-server"));
    our_offer(&launch, Protocol::Auto, Version::V2025_11_25).await;
}

#[tokio::test]
async fn rmcp_1_8_which_exits_when_probed() {
    let launch = partners::rmcp1(env!("CARGO_BIN_EXE_rmcp1-server"));
    let session = connect(&launch, Protocol::Auto).await;
    assert_eq!(session.negotiated().era(), Era::Legacy);
    let version = session.negotiated().version;
    session.close().await;
    our_offer(&launch, Protocol::Auto, version).await;
}

#[tokio::test]
async fn python_mcp_1_30() {
    our_offer(&partners::python_v1(), Protocol::Auto, Version::V2025_11_25).await;
}

#[tokio::test]
async fn python_mcp_2_3() {
    our_offer(&partners::python_v2(), Protocol::Auto, Version::V2026_07_28).await;
    our_offer(
        &partners::python_v2(),
        Protocol::Legacy,
        Version::V2025_11_25,
    )
    .await;
}

#[tokio::test]
async fn server_everything() {
    let session = connect(&partners::everything(), Protocol::Auto).await;
    assert_eq!(session.negotiated().version, Version::V2025_11_25);
    let tools = list_everything(&session).await;
    assert!(tools.contains(&"echo".to_owned()), "{tools:?}");
    let echo = call(&session, "echo", json!({"message": "hello"})).await;
    assert!(text(&echo).contains("hello"));

    let resources = session.list_resources().await.unwrap().items;
    let uri = resources[0].uri();
    let read = session
        .read_resource(uri, CallOptions::default())
        .await
        .unwrap();
    assert_eq!(read.contents()[0].uri(), uri);

    // The same tool shows that progress reaches whoever watches.
    let (sender, mut watch) = switchboard::session::progress();
    let arguments = Raw::of(&json!({"duration": 0.4, "steps": 2})).unwrap();
    let options = CallOptions::default().progress(sender);
    let name = tools.iter().find(|name| name.contains("long")).unwrap();
    session
        .call_tool(name, Some(arguments), options)
        .await
        .unwrap();
    assert!(watch.borrow_and_update().as_ref().unwrap().progress >= 1.0);
    session.close().await;
}

#[tokio::test]
async fn server_filesystem() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("note.txt"), "written by a test").unwrap();
    let session = connect(&partners::filesystem(&root), Protocol::Auto).await;
    assert_eq!(session.negotiated().era(), Era::Legacy);
    let tools = list_everything(&session).await;
    assert!(tools.contains(&"read_text_file".to_owned()), "{tools:?}");
    let path = root.join("note.txt");
    let result = call(&session, "read_text_file", json!({"path": path})).await;
    assert_eq!(text(&result), "written by a test");
    session.close().await;
}

#[tokio::test]
async fn server_memory() {
    let folder = tempfile::tempdir().unwrap();
    let launch = partners::memory(&folder.path().join("graph.jsonl"));
    let session = connect(&launch, Protocol::Auto).await;
    assert_eq!(session.negotiated().era(), Era::Legacy);
    list_everything(&session).await;
    let entity = json!({"name": "Ada", "entityType": "person", "observations": ["wrote notes"]});
    call(&session, "create_entities", json!({"entities": [entity]})).await;
    let graph = call(&session, "read_graph", json!({})).await;
    assert!(text(&graph).contains("wrote notes"));
    session.close().await;
}

#[tokio::test]
async fn mcp_server_git() {
    let folder = tempfile::tempdir().unwrap();
    let repository = repository(folder.path());
    let session = connect(&partners::git(&repository), Protocol::Auto).await;
    assert_eq!(session.negotiated().version, Version::V2026_07_28);
    let tools = list_everything(&session).await;
    assert!(tools.contains(&"git_status".to_owned()), "{tools:?}");
    let status = call(&session, "git_status", json!({"repo_path": repository})).await;
    assert!(text(&status).contains("new.txt"), "{status:?}");
    session.close().await;
}

#[tokio::test]
async fn mcp_server_time() {
    let session = connect(&partners::time(), Protocol::Auto).await;
    assert_eq!(session.negotiated().version, Version::V2026_07_28);
    list_everything(&session).await;
    let now = call(&session, "get_current_time", json!({"timezone": "UTC"})).await;
    assert!(text(&now).contains("UTC"), "{now:?}");
    session.close().await;
}

/// A repository with one file that git does not know yet.
fn repository(folder: &Path) -> PathBuf {
    let git = |args: &[&str]| {
        let status = Command::new("git")
            .args(args)
            .current_dir(folder)
            .status()
            .unwrap();
        assert!(status.success());
    };
    git(&["init", "--quiet"]);
    std::fs::write(folder.join("new.txt"), "new").unwrap();
    folder.canonicalize().unwrap()
}
