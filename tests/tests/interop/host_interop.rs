//! A host with servers that others wrote, out of an `mcp.json`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};
use switchboard::host::{Caller, Host, View};
use switchboard::protocol::Era;
use switchboard::{ErrorKind, explain};
use switchboard_tests::offer;
use switchboard_tests::partners::{self, Launch};

/// What nothing here takes, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn entry(launch: &Launch) -> Value {
    let env: Map<String, Value> = launch
        .env
        .iter()
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect();
    json!({"command": launch.program, "args": launch.args, "env": env})
}

async fn call(view: &View, tool: &str, arguments: Value) -> String {
    let tool = view.tool(tool).unwrap();
    let result = tool.call(arguments).await.unwrap();
    assert!(!result.is_error(), "{}", result.text());
    result.text()
}

#[tokio::test]
async fn a_file_with_servers_of_three_makers_and_a_broken_one_gives_all_that_work() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    let rmcp = partners::rmcp3(env!("CARGO_BIN_EXE_rmcp3-server"));
    let config = json!({"mcpServers": {
        "everything": entry(&partners::everything()),
        "time": entry(&partners::time()),
        "rmcp": entry(&rmcp),
        "broken": {"command": "there-is-no-such-program"},
    }});
    std::fs::write(&file, config.to_string()).unwrap();
    let host = Host::builder().file(&file).unwrap().build().unwrap();
    assert_eq!(host.problems().len(), 0, "{:?}", host.problems());
    let statuses = tokio::time::timeout(PATIENCE, host.connect_all()).await;
    let statuses = statuses.unwrap();
    let states: Vec<_> = statuses
        .iter()
        .map(|status| (status.name.as_str(), status.state.word()))
        .collect();
    let expected = [
        ("broken", "failed"),
        ("everything", "connected"),
        ("rmcp", "connected"),
        ("time", "connected"),
    ];
    assert_eq!(states, expected, "{statuses:?}");
    assert_eq!(statuses[2].version.unwrap().era(), Era::Modern);

    let error = statuses[0].error().unwrap();
    assert_eq!(error.kind(), ErrorKind::Connect, "{error}");
    assert_eq!(error.server().unwrap().as_str(), "broken");
    let diagnosis = format!("{:?}", explain(error));
    assert!(
        diagnosis.contains("there-is-no-such-program"),
        "{diagnosis}"
    );

    let view = host.view(Caller::owner());
    let tools = view.tools();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
    for name in [
        "mcp__everything__echo",
        "mcp__rmcp__echo",
        "mcp__rmcp__add",
        "mcp__time__get_current_time",
        "mcp__time__convert_time",
    ] {
        assert!(names.contains(&name), "{name} is missing: {names:?}");
    }
    assert!(names.iter().all(|name| !name.contains("broken")));

    let said = call(&view, "mcp__everything__echo", json!({"message": "hello"})).await;
    assert!(said.contains("hello"), "{said}");
    let said = call(&view, "mcp__rmcp__echo", json!({"message": "grüße"})).await;
    assert_eq!(said, "grüße");
    let zone = json!({"timezone": "UTC"});
    let said = call(&view, "mcp__time__get_current_time", zone).await;
    assert!(said.contains("UTC"), "{said}");
    // Arguments are held against the schemas of others, too.
    let convert = view.tool("time/convert_time").unwrap();
    let error = convert.call(json!({})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Arguments, "{error}");

    let read = view.read("rmcp", offer::RESOURCE_URI).await.unwrap();
    assert_eq!(read.contents()[0].text(), Some(offer::RESOURCE_TEXT));
    let resources = view.resources();
    let of_everything = resources
        .iter()
        .find(|resource| resource.server().as_str() == "everything");
    let uri = of_everything.unwrap().uri();
    let read = view.read("everything", uri).await.unwrap();
    assert!(!read.contents().is_empty());
    let arguments = BTreeMap::from([("name".to_owned(), "Ada".to_owned())]);
    let prompt = format!("rmcp/{}", offer::PROMPT);
    let prompt = view.prompt(&prompt, arguments).await.unwrap();
    let said = prompt.messages()[0].content()[0].as_text().unwrap();
    assert_eq!(said, offer::prompt_text("Ada"));
    view.read("time", "file:///nothing").await.unwrap_err();

    // The one that is broken is asked no sooner than it rests, and says why again.
    let error = view.find("broken/anything").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect, "{error}");
    tokio::time::timeout(PATIENCE, host.shutdown())
        .await
        .unwrap();
    assert!(host.servers().iter().all(|status| !status.is_ready()));
}
