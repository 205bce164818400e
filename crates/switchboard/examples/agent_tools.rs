//! Every server of an `mcp.json` as tools for a model: lists them, calls one, and prints the problems.
//!
//! `cargo run -p switchboard --example agent_tools -- mcp.json demo/echo '{"message": "hello"}'`

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use serde_json::Value;
use switchboard::{Host, keeper};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Nothing that is started outlives this program, however it ends.
    keeper::run_if_asked();
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (file, tool) = (words.next().ok_or("a file")?, words.next().ok_or("a tool")?);
    let arguments: Value = serde_json::from_str(&words.next().unwrap_or_else(|| "{}".to_owned()))?;
    let host = Host::builder()
        .file(file)?
        .keeper(std::env::current_exe()?)
        .connect()
        .await?;
    for problem in host.problems() {
        println!("{problem}");
    }
    for tool in host.tools() {
        println!("{}", tool.to_openai());
    }
    let result = host.call(&tool, arguments).await?;
    println!("{}", result.text());
    host.shutdown().await;
    Ok(())
}
