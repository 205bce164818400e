//! Servers that others wrote, and servers that fail, behind one gateway.

use std::process::Command;

use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};
use switchboard_tests::partners;
use switchboard_tests::rmcp_client::{Opening, connect, connect_http, rmcp};

use crate::front::{Front, OWN};

use super::{entry, launch};

/// The bundled server that fails in some way.
fn failing(args: &[&str]) -> Value {
    let args = [&["test-server"], args].concat();
    json!({"command": OWN, "args": args})
}

/// A repository with nothing in it.
fn repository(folder: &std::path::Path) {
    let made = Command::new("git")
        .args(["init", "-q"])
        .arg(folder)
        .output();
    assert!(made.unwrap().status.success());
}

/// One tool of each server, with arguments.
const CALLS: [(&str, &str, &str); 6] = [
    ("everything__echo", r#"{"message": "hello"}"#, "hello"),
    (
        "filesystem__list_directory",
        r#"{"path": "FILES"}"#,
        "note.txt",
    ),
    ("memory__read_graph", "{}", "entities"),
    (
        "git__git_status",
        r#"{"repo_path": "REPOSITORY"}"#,
        "No commits yet",
    ),
    ("python1__echo", r#"{"message": "hello"}"#, "hello"),
    (
        "fastmcp__count",
        r#"{"steps": 2, "pause": 0}"#,
        "counted to 2",
    ),
];

#[tokio::test]
async fn six_servers_work_beside_a_broken_a_hanging_and_a_crashing_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().canonicalize().unwrap().join(name);
    let (files, repo) = (path("files"), path("repository"));
    std::fs::create_dir(&files).unwrap();
    std::fs::write(files.join("note.txt"), "a note").unwrap();
    repository(&repo);
    let front = Front::new(&json!({
        "everything": entry(&partners::everything()),
        "filesystem": entry(&partners::filesystem(&files)),
        "memory": entry(&partners::memory(&path("graph.json"))),
        "git": entry(&partners::git(&repo)),
        "python1": entry(&partners::python_v1()),
        "fastmcp": entry(&partners::fastmcp_talking()),
        "broken": failing(&["--chaos", "exit-3"]),
        "hanging": failing(&["--chaos", "no-reply"]),
        "crashing": failing(&["--chaos", "crash-after-init"]),
    }));
    let stdio = launch(&front, &["--first-list", "30s"]);
    for opening in [Opening::Legacy, Opening::Modern] {
        let client = connect(&stdio, opening).await.unwrap();
        let tools = client.list_all_tools().await.unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        for (tool, ..) in CALLS {
            assert!(names.contains(&tool), "{tool}: {names:?}");
        }
        for failing in ["broken__", "crashing__"] {
            assert!(
                !names.iter().any(|name| name.starts_with(failing)),
                "{names:?}"
            );
        }
        // The one that hangs does not keep the others waiting.
        let hanging = CallToolRequestParams::new("hanging__get_time");
        let hanging = client.call_tool(hanging);
        let others = async {
            for (tool, arguments, expected) in CALLS {
                let arguments = arguments.replace("FILES", files.to_str().unwrap());
                let arguments = arguments.replace("REPOSITORY", repo.to_str().unwrap());
                let params = CallToolRequestParams::new(tool);
                let params = params.with_arguments(serde_json::from_str(&arguments).unwrap());
                let result = client.call_tool(params).await;
                let result = result.unwrap_or_else(|error| panic!("{opening:?}, {tool}: {error}"));
                let result = serde_json::to_string(&result).unwrap();
                assert!(result.contains(expected), "{tool}: {result}");
            }
        };
        tokio::select! {
            _ = hanging => panic!("the hanging server has answered"),
            () = others => {}
        }
        client.cancel().await.unwrap();
        // The definitions are known now, so a client over HTTP gets the same list at once.
        let gateway = front.http();
        let client = connect_http(&gateway.url, opening).await.unwrap();
        let listed = client.list_all_tools().await.unwrap();
        let listed: Vec<&str> = listed.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(listed, names);
        client.cancel().await.unwrap();
    }
}
