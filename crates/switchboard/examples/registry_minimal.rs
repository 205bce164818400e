//! A registry with one server, which belongs to one agent: its tools, and one call.
//!
//! `cargo run -p switchboard --example registry_minimal -- COMMAND` with the bundled test server.

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use serde_json::json;
use switchboard::{AgentPolicy, Host, Level, ServerSpec};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let command = std::env::args().nth(1).ok_or("no command given")?;
    let everything = AgentPolicy::everything(Level::Yolo);
    let host = Host::builder().agent("main", everything).build()?;
    let server = ServerSpec::stdio("demo", command)?;
    let main = host.connect_new(server).private_to("main").await?;
    let sum = main.call("demo/add", json!({ "a": 2, "b": 3 })).await?;
    println!("{} tools, 2 + 3 = {}", main.tools().len(), sum.text());
    host.shutdown().await;
    Ok(())
}
