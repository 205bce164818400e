//! A host with a server that the program describes itself, its events, and a call of a model.
//!
//! `cargo run -p switchboard --example host -- target/release/switchboard test-server`

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use serde_json::json;
use switchboard::events::write_line;
use switchboard::formats::openai;
use switchboard::{Host, ServerSpec};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let command = words.next().ok_or("a command that starts a server")?;
    let spec = ServerSpec::stdio("mine", command)?
        .args(words)
        .env("LOG_LEVEL", "debug");
    let host = Host::builder().server(spec).build()?;
    let mut events = host.events();
    tokio::spawn(async move {
        while let Ok(event) = events.recv().await {
            let mut line = String::new();
            write_line(&event, &mut line);
            println!("{line}");
        }
    });
    host.connect("mine").await?;
    if let Ok(tool) = host.tool("mine/get_time") {
        // As a model would ask for it.
        let wanted = json!({
            "id": "call_1",
            "type": "function",
            "function": {"name": tool.name(), "arguments": "{}"},
        });
        let model_call = openai::chat_call(&wanted)?;
        let result = host.call_for_model(&model_call).await?;
        println!("{}", result.to_openai(&model_call.id));
    }
    host.shutdown().await;
    Ok(())
}
