//! A manager of servers: capabilities of an agent, tools without a server, results as one text.
//!
//! `cargo run -p switchboard --example manager -- COMMAND` with the bundled test server.

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use serde_json::json;
use switchboard::catalog::split_exposed;
use switchboard::protocol::CallToolResult;
use switchboard::{AgentPolicy, Grants, Host, Level, ServerSpec, ToolResult};

/// Tools as a server listed them once.
const TOOLS: &str = r#"[{"name": "run", "inputSchema": {"type": "object", "required": ["sql"]}}]"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let command = std::env::args().nth(1).ok_or("usage: manager COMMAND")?;
    let granted = Grants::parse(["mcp:files:echo", "mcp:database:*"])?;
    let host = Host::builder()
        .server(ServerSpec::stdio("files", command)?)
        .server(ServerSpec::stdio("broken", "no-such-program")?)
        .offline("database", serde_json::from_str(TOOLS)?)
        .agent("reader", AgentPolicy::new(Level::Yolo).grants(granted))
        .build()?;
    for status in host.connect_all().await {
        println!("{}: {}", status.name, status.is_ready());
    }

    // The agent sees and calls what it was granted. A tool without a server is checked, and cannot run.
    let reader = host.agent("reader")?;
    for tool in reader.tools() {
        println!("{} is {:?}", tool.name(), split_exposed(tool.name())?);
    }
    for (tool, arguments) in [
        ("mcp__files__echo", json!({ "message": "hello" })),
        ("mcp__files__add", json!({ "a": 2, "b": 3 })),
        ("mcp__database__run", json!({ "sql": "select 1" })),
        ("mcp__database__run", json!({})),
    ] {
        match reader.call(tool, arguments).await {
            Ok(result) => println!("{}", result.text()),
            Err(error) => println!("{:?}: {error}", error.kind()),
        }
    }

    // Results in all shapes that servers send become one text.
    for result in [
        r#"{ "content": [{ "type": "text", "text": "one" }, { "type": "text", "text": "two" }] }"#,
        r#"{ "text": "three" }"#,
        r#"{ "result": "four" }"#,
    ] {
        let result: CallToolResult = serde_json::from_str(result)?;
        println!("{:?}", ToolResult::from(result).text());
    }
    host.disconnect_all().await;
    Ok(())
}
