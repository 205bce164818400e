//! A function of the program as a tool among those of servers.
//!
//! `cargo run -p switchboard --example local_tools`

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use serde_json::{Value, json};
use switchboard::Host;
use switchboard::host::LocalTool;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let host = Host::builder().build()?;
    let schema = json!({ "type": "object", "required": ["text"] });
    let count = LocalTool::new("count", "Counts words", schema, async |given: Value| {
        let text = given.get("text").and_then(Value::as_str);
        let text = text.ok_or("`text` has to be a text")?;
        Ok::<_, &str>(json!({ "words": text.split_whitespace().count() }))
    });
    let count = host.register_tool("mine", count).await?;
    println!("{}", count.call(json!({ "text": "one two" })).await?.text());
    host.remove_tool("mine", "count").await?;
    host.shutdown().await;
    Ok(())
}
