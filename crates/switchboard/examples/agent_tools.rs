//! Every server of an `mcp.json` as tools for a model: lists them, calls one, says what is broken.
//!
//! `cargo run -p switchboard --example agent_tools -- mcp.json mcp__demo__echo '{"message": "hello"}'`

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use switchboard::config::Places;
use switchboard::protocol::Raw;
use switchboard::transport::Environment;
use switchboard::{CallOptions, Caller, Host, explain, keeper};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Nothing that is started outlives this program, however it ends.
    keeper::run_if_asked();
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (file, tool) = (words.next().ok_or("a file")?, words.next().ok_or("a tool")?);
    let arguments = Raw::parse(&words.next().unwrap_or_else(|| "{}".to_owned()))?;
    let host = Host::from_config(&Places::only(file), &Environment::of_process())?;
    for status in host.connect_all().await {
        if let Some(error) = status.error() {
            println!("{} is broken: {}", status.name, explain(error).title);
        }
    }
    let view = host.view(Caller::owner());
    for tool in view.tools() {
        println!("{}", tool.openai_chat().value);
    }
    let tool = view.tool(&tool)?;
    let result = tool.call_with(arguments, CallOptions::default()).await?;
    println!("{} says: {}", tool.name(), result.text());
    host.shutdown().await;
    Ok(())
}
