//! Servers that the program describes: stored and read with serde, filtered, cached, retried.
//!
//! `cargo run -p switchboard --example descriptions -- COMMAND URL OLDER_URL` with the bundled test
//! server three times: as a command, over streamable HTTP and over HTTP+SSE.

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]
#![allow(clippy::indexing_slicing, reason = "a value that is not there is null")]

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use switchboard::{AgentPolicy, Caller, Host, Level, ServerSpec};

#[derive(serde::Deserialize)]
struct Sum {
    sum: f64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut word = || {
        words
            .next()
            .ok_or("usage: descriptions COMMAND URL OLDER_URL")
    };
    let local = ServerSpec::stdio("local", word()?)?
        .env("API_KEY", "s3cret-1")
        .allow_tools(["echo", "add", "slow_*"])
        .block_tools(["slow_operation"])
        .clean_arguments(true)
        .timeout(Duration::from_secs(60));
    let remote = ServerSpec::http("remote", &word()?)?
        .header("Authorization", "Bearer s3cret-2")
        .cache_tools_list(true)
        .idempotent_tools(["echo"])
        .max_retries(5)
        .retry_backoff(Duration::from_millis(20));
    let specs = [local, remote, ServerSpec::sse("older", &word()?)?];

    // Stored with references in place of secrets, which are filled in when it is read.
    let stored = serde_json::to_string(&specs)?;
    println!("{stored}");
    let secrets = specs.iter().flat_map(ServerSpec::secret_variables);
    let secrets: BTreeMap<_, _> = secrets.collect();
    let mut host = Host::builder();
    for spec in serde_json::from_str::<Vec<ServerSpec>>(&stored)? {
        println!("{}", spec.identifier());
        let secret = |name: &str| Some(secrets.get(name)?.expose().clone());
        host = host.server(spec.fill_variables(secret)?);
    }

    // A filter over the definition of a tool and the context of its use, beside the lists above.
    let host = host
        .agent("writer", AgentPolicy::everything(Level::Yolo))
        .filter_tools(|tool, context| {
            tool["name"] != "fail" || context["agent"]["attributes"]["role"] == "admin"
        })
        .build()?;
    host.connect_all().await;
    for role in ["reader", "admin"] {
        let view = host.view(Caller::agent("writer")?.attribute("role", role));
        println!("{role}: {} tools", view.tools().len());
    }

    // Lists as last read, or read anew; calls with types, and one that is sent again.
    let cached = host.tools_of("remote").await?;
    let fresh = host.tools_of("remote").fresh().await?;
    println!("{} cached, {} fresh", cached.len(), fresh.len());
    let numbers = json!({ "a": 2, "b": 3, "unused": null });
    let sum: Sum = host.call("local/add", numbers).typed().await?;
    let echo = host
        .call("remote/echo", json!({ "message": "again" }))
        .await?;
    println!("{} {}", sum.sum, echo.text());
    let prompt = host
        .prompt("remote/greeting", json!({ "name": "Ada" }))
        .await?;
    println!("{} messages of a prompt", prompt.messages().len());
    host.shutdown().await;
    Ok(())
}
