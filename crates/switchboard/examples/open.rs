//! Every server of an `mcp.json` as tools for a model, and one call.
//!
//! `cargo run -p switchboard --example open` in a folder with an `mcp.json` that describes a server `demo`.

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use serde_json::json;
use switchboard::Host;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let host = Host::open("mcp.json").await?;
    for problem in host.problems() {
        println!("{problem}");
    }
    let tools: Vec<_> = host.tools().iter().map(|tool| tool.to_openai()).collect();
    println!("{} tools for a model", tools.len());
    let hello = json!({ "message": "hello" });
    let result = host.call("demo/echo", hello).await?;
    println!("{}", result.text());
    host.shutdown().await;
    Ok(())
}
