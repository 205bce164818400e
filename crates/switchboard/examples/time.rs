//! One server without a host: lists its tools and calls one.
//!
//! `cargo run -p switchboard --example time` needs `uvx`, which fetches the server.

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use switchboard::protocol::Raw;
use switchboard::transport::Stdio;
use switchboard::{CallOptions, Server, ServerName, SessionOptions};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let time = Stdio::new("uvx").args(["mcp-server-time"]);
    let server = Server::new(ServerName::parse("time")?, time, SessionOptions::default());
    for tool in &server.list_tools().await?.items {
        println!(
            "{}: {}",
            tool.name(),
            tool.description().unwrap_or_default()
        );
    }
    let arguments = Raw::parse(r#"{"timezone": "Europe/Berlin"}"#)?;
    let result = server
        .call_tool("get_current_time", Some(arguments), CallOptions::default())
        .await?;
    println!("{:?}", result.content());
    server.close().await;
    Ok(())
}
