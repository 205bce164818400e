//! The agents that the guide shows side by side: ours, with rmcp and with fastmcp, each as a program, with the same
//! model and the same server.

use std::process::Stdio;

use serde_json::{Value, json};
use switchboard_testkit::models::{self, Asked, Given, KEY, ModelApi};
use switchboard_tests::partners::{Launch, fastmcp_agent};
use tokio::process::Command;

/// The bundled server as a process.
const SERVER: &str = env!("CARGO_BIN_EXE_endure-server");

/// Asks for two calls, one of which lacks an argument, and then repeats the first answer.
///
/// Each library gives tools a name of its own, which ends with that of the server's tool.
fn model(asked: &Asked) -> Given {
    let judged = models::openai(asked);
    if judged.status != 200 {
        return judged;
    }
    let tools = asked.body["tools"].as_array().unwrap();
    let named = |tool: &str| {
        let names = tools.iter().map(|it| &it["function"]["name"]);
        let mut names = names.filter_map(Value::as_str);
        names.find(|name| name.ends_with(tool)).unwrap()
    };
    let messages = asked.body["messages"].as_array().unwrap();
    let mut answers = messages.iter().filter(|it| it["role"] == "tool");
    let message = if let Some(first) = answers.next() {
        json!({"role": "assistant", "content": first["content"]})
    } else {
        let call = |id: &str, tool: &str, arguments: &Value| {
            let function = json!({"name": named(tool), "arguments": arguments.to_string()});
            json!({"id": id, "type": "function", "function": function})
        };
        let calls = [
            call("1", "echo", &json!({"message": "hello"})),
            call("2", "add", &json!({"a": 1})),
        ];
        json!({"role": "assistant", "content": null, "tool_calls": calls})
    };
    Given::json(200, &json!({"choices": [{"index": 0, "message": message}]}))
}

/// Runs an agent. Returns its output, and what the model read about the call without an argument.
async fn run(agent: Launch) -> (String, String) {
    let api = ModelApi::start(model).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    let servers = json!({"mcpServers": {"demo": {"command": SERVER}}});
    std::fs::write(&file, servers.to_string()).unwrap();
    let url = format!("{}/v1", api.base());
    let output = Command::new(&agent.program)
        .args(&agent.args)
        .args([file.to_str().unwrap(), &url, "gpt-small", "Say hello"])
        .env("API_KEY", KEY)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{agent:?}: {complaints}");
    let asked = api.requests();
    assert_eq!(asked.len(), 2, "{agent:?}");
    assert_eq!(asked[0].body["tools"].as_array().unwrap().len(), 7);
    let messages = asked[1].body["messages"].as_array().unwrap();
    let wrong = messages.iter().find(|it| it["tool_call_id"] == "2");
    let wrong = wrong.unwrap()["content"].as_str().unwrap().to_owned();
    (String::from_utf8(output.stdout).unwrap(), wrong)
}

#[tokio::test]
async fn the_agents_of_the_guide_give_the_same_answer() {
    let ours = Launch::program(env!("CARGO_BIN_EXE_example-agent"));
    let (output, wrong) = run(ours).await;
    assert_eq!(output, "hello\n");
    // Nothing was sent: these are not the words of the server.
    assert!(wrong.contains("do not fit"), "{wrong}");
    let rmcp = Launch::program(env!("CARGO_BIN_EXE_agent-rmcp"));
    for agent in [rmcp, fastmcp_agent()] {
        let (output, wrong) = run(agent).await;
        assert_eq!(output, "hello\n");
        // The words of the server.
        assert!(wrong.contains("missing required argument b"), "{wrong}");
    }
}
