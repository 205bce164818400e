//! The agent of `crates/switchboard/examples/agent.rs` with rmcp, for the comparison in `docs/library.md`.

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]
#![allow(clippy::indexing_slicing, reason = "a value that is not there is null")]

// This package has version 1 of the crate as well; a program that has one calls it `rmcp`.
extern crate rmcp3 as rmcp;

use std::collections::BTreeMap;

use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};
use tokio::process::Command;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().ok_or("usage: agent FILE URL MODEL TASK");
    let config: Value = serde_json::from_str(&std::fs::read_to_string(word()?)?)?;
    let (url, model, task) = (word()?, word()?, word()?);
    let key = std::env::var("API_KEY")?;
    let (mut clients, mut tools) = (BTreeMap::new(), Vec::new());
    for (server, entry) in config["mcpServers"].as_object().into_iter().flatten() {
        let mut command = Command::new(entry["command"].as_str().ok_or("no command")?);
        let args = entry["args"].as_array().into_iter().flatten();
        command.args(args.filter_map(Value::as_str));
        let client = ().serve(TokioChildProcess::new(command)?).await?;
        for tool in client.list_all_tools().await? {
            let name = format!("{server}__{}", tool.name);
            let (description, parameters) = (tool.description, tool.input_schema);
            let function =
                json!({ "name": name, "description": description, "parameters": parameters });
            tools.push(json!({ "type": "function", "function": function }));
        }
        clients.insert(server.clone(), client);
    }
    // The reqwest of this workspace has no cryptography of its own; with its default features it does.
    drop(rustls::crypto::ring::default_provider().install_default());
    let (http, url) = (reqwest::Client::new(), format!("{url}/chat/completions"));
    let mut messages = vec![json!({ "role": "user", "content": task })];
    loop {
        let body = json!({ "model": model, "messages": messages, "tools": tools }).to_string();
        let request = http.post(&url).bearer_auth(&key).body(body);
        let request = request.header("content-type", "application/json");
        let answer = request.send().await?.error_for_status()?.text().await?;
        let answer: Value = serde_json::from_str(&answer)?;
        let message = answer["choices"][0]["message"].clone();
        let Some(calls) = message["tool_calls"].as_array().cloned() else {
            println!("{}", message["content"].as_str().unwrap_or_default());
            break;
        };
        messages.push(message);
        for call in calls {
            let name = call["function"]["name"].as_str().unwrap_or_default();
            let (server, tool) = name.split_once("__").ok_or("no such tool")?;
            let client = clients.get(server).ok_or("no such server")?;
            let arguments = call["function"]["arguments"].as_str().unwrap_or("{}");
            let params = CallToolRequestParams::new(tool.to_owned());
            let params = params.with_arguments(serde_json::from_str(arguments)?);
            let content = match client.call_tool(params).await {
                Ok(result) => {
                    let texts = result.content.iter().filter_map(|block| block.as_text());
                    let texts: Vec<_> = texts.map(|block| block.text.as_str()).collect();
                    texts.join("\n")
                }
                // The model reads why, and may try otherwise.
                Err(error) => error.to_string(),
            };
            messages
                .push(json!({ "role": "tool", "tool_call_id": call["id"], "content": content }));
        }
    }
    for client in clients.into_values() {
        client.cancel().await?;
    }
    Ok(())
}
