//! An agent: a model behind any OpenAI-compatible URL, with every tool of an `mcp.json`.
//!
//! `API_KEY=... cargo run -p switchboard --example agent -- mcp.json https://api.example.com/v1 MODEL "What time is it?"`

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]
#![allow(clippy::indexing_slicing, reason = "a value that is not there is null")]

use serde_json::{Value, json};
use switchboard::{Host, formats::openai};

type Out<T> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Out<()> {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().ok_or("usage: agent FILE URL MODEL TASK");
    let (host, key) = (Host::open(word()?).await?, std::env::var("API_KEY")?);
    let (url, model, task) = (word()?, word()?, word()?);
    println!("{}", run(&host, &url, &key, &model, &task).await?);
    host.shutdown().await;
    Ok(())
}

pub(crate) async fn run(host: &Host, url: &str, key: &str, model: &str, task: &str) -> Out<String> {
    // The reqwest of this workspace has no cryptography of its own; with its default features it does.
    drop(rustls::crypto::ring::default_provider().install_default());
    let (http, url) = (reqwest::Client::new(), format!("{url}/chat/completions"));
    let tools: Vec<Value> = host.tools().iter().map(|tool| tool.to_openai()).collect();
    let mut messages = vec![json!({ "role": "user", "content": task })];
    loop {
        let body = json!({ "model": model, "messages": messages, "tools": tools }).to_string();
        let request = http.post(&url).bearer_auth(key).body(body);
        let request = request.header("content-type", "application/json");
        let answer = request.send().await?.error_for_status()?.text().await?;
        let answer: Value = serde_json::from_str(&answer)?;
        let message = answer["choices"][0]["message"].clone();
        let Some(calls) = message["tool_calls"].as_array().cloned() else {
            return Ok(message["content"].as_str().unwrap_or_default().to_owned());
        };
        messages.push(message);
        for call in calls {
            let call = openai::chat_call(&call)?;
            messages.push(match host.call_for_model(&call).await {
                Ok(result) => result.to_openai(&call.id),
                // The model reads why, and may try otherwise.
                Err(error) => {
                    json!({ "role": "tool", "tool_call_id": call.id, "content": error.to_string() })
                }
            });
        }
    }
}
