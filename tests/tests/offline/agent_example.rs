//! The example of an agent, against a strict API of a model and a real server.

#[expect(
    dead_code,
    reason = "the test calls the loop, not the program around it"
)]
#[path = "../../../crates/switchboard/examples/agent.rs"]
mod agent;

use serde_json::{Value, json};
use switchboard::Host;
use switchboard_testkit::Options;
use switchboard_testkit::models::{self, Asked, Given, KEY, ModelApi};

use crate::host_support::{With as _, testkit};

/// Asks for calls of two tools, one of which has wrong arguments, and then repeats what they answered.
fn model(asked: &Asked) -> Given {
    let judged = models::openai(asked);
    if judged.status != 200 {
        return judged;
    }
    let messages = asked.body["messages"].as_array().unwrap();
    let answers: Vec<&Value> = messages.iter().filter(|it| it["role"] == "tool").collect();
    let message = if answers.is_empty() {
        let call = |id: &str, tool: &str, arguments: &Value| {
            let function = json!({"name": tool, "arguments": arguments.to_string()});
            json!({"id": id, "type": "function", "function": function})
        };
        let calls = [
            call("1", "mcp__demo__echo", &json!({"message": "hello"})),
            call("2", "mcp__demo__add", &json!({"a": 1})),
        ];
        json!({"role": "assistant", "content": null, "tool_calls": calls})
    } else {
        let texts = answers.iter().map(|it| it["content"].as_str().unwrap());
        let texts = texts.collect::<Vec<_>>().join(" | ");
        json!({"role": "assistant", "content": texts})
    };
    Given::json(200, &json!({"choices": [{"index": 0, "message": message}]}))
}

#[tokio::test]
async fn the_example_of_an_agent_calls_what_its_model_asks_for() {
    let api = ModelApi::start(model).unwrap();
    let builder = Host::builder().with("demo", testkit(Options::default()));
    let host = builder.connect().await.unwrap();
    let url = format!("{}/v1", api.base());
    let said = agent::run(&host, &url, KEY, "gpt-small", "Say hello").await;
    let said = said.unwrap();
    let (echo, add) = said.split_once(" | ").unwrap();
    assert_eq!(echo, "hello");
    // The model learns why a call failed, and the agent goes on.
    assert!(add.contains("do not fit"), "{add}");
    let asked = api.requests();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].body["tools"].as_array().unwrap().len(), 7);
    let wrong = agent::run(&host, &url, "no key", "gpt-small", "Say hello").await;
    assert!(wrong.is_err());
    host.shutdown().await;
}
