//! A registry of servers for several agents: owners, levels of trust, and reconnection.
//!
//! `cargo run -p switchboard --example registry -- COMMAND` with the bundled test server: it is told to
//! die when the tool `fail` is called, and to have no tools.

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use std::time::Duration;

use serde_json::json;
use switchboard::policy::{UseApproval, UseRequest};
use switchboard::{AgentPolicy, Event, Host, Level, ServerSpec};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let command = std::env::args().nth(1).ok_or("usage: registry COMMAND")?;
    let host = Host::builder()
        .agent("main", AgentPolicy::everything(Level::Yolo))
        .agent("helper", AgentPolicy::everything(Level::Trusted))
        .agent("guest", AgentPolicy::everything(Level::Sandboxed))
        .on_approve_use(async |request: UseRequest| {
            println!("asked: {request}");
            UseApproval::Server
        })
        .build()?;

    // All agents share one server; the other belongs to `main`.
    let shared = ServerSpec::stdio("shared", &command)?;
    host.connect_new(shared).shared().await?;
    let private = ServerSpec::stdio("private", &command)?
        .args(["--chaos", "die-on-call=fail"])
        .max_reconnect_attempts(3);
    let main = host.connect_new(private).private_to("main");
    let main = main.timeout(Duration::from_secs(30)).await?;

    // The level of an agent decides how it uses what it was granted.
    for agent in ["main", "helper", "guest"] {
        let view = host.agent(agent)?;
        println!("{agent} sees {:?}", view.servers());
        match view.call("shared/echo", json!({ "message": agent })).await {
            Ok(result) => println!("{agent}: {}", result.text()),
            Err(error) => println!("{agent}: {error}"),
        }
    }
    let tool = main.tool("mcp__private__add")?;
    println!("{} is {}/{}", tool.name(), tool.server(), tool.raw_name());

    // The process of a server dies in a call; the next use starts it again.
    let mut events = host.events();
    if let Err(error) = main.call("private/fail", json!({})).await {
        println!("{:?}, sent: {}", error.kind(), error.was_sent());
    }
    println!("{}", tool.call(json!({ "a": 2, "b": 3 })).await?.text());
    while let Ok(event) = events.recv().await {
        if let Event::Connected { is_reconnect, .. } = event {
            println!("connected, again: {is_reconnect}");
            break;
        }
    }

    // A server without tools is refused where it has to have some, and nothing of it is kept.
    let empty = ServerSpec::stdio("empty", &command)?
        .args(["--chaos", "10k-tools=0"])
        .fail_if_no_tools(true);
    if let Err(error) = host.connect_new(empty).await {
        println!("{error}");
    }
    host.remove("private").await?;
    for status in host.servers() {
        println!("{}: {}", status.name, status.state.word());
    }
    host.shutdown().await;
    Ok(())
}
