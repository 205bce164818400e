//! Tells a server of folders, hears what it logs, has a value completed, and watches a resource.
//!
//! `cargo run -p switchboard --example talking -- target/release/switchboard test-server --talking --growing`

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use serde_json::json;
use switchboard::host::Said;
use switchboard::protocol::{CompleteParams, CompletionArgument, CompletionRef, LogLevel};
use switchboard::transport::Watched;
use switchboard::{Caller, Host, ServerSpec, View};

type Done<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Prints what servers log, as long as there is a host.
fn hear(host: &Host) {
    let mut logs = host.logs();
    tokio::spawn(async move {
        while let Some(heard) = logs.next().await {
            if let Watched::Item(log) = heard
                && let Said::Message { data, .. } = &log.said
            {
                println!("{} logs {}", log.server, data.as_str());
            }
        }
    });
}

/// What an argument of a prompt may become.
async fn complete(view: &View, prompt: &str, argument: &str) -> Done<Vec<String>> {
    let wanted = CompleteParams {
        target: CompletionRef::Prompt {
            name: prompt.to_owned(),
        },
        argument: CompletionArgument {
            name: argument.to_owned(),
            value: String::new(),
        },
        context: None,
    };
    Ok(view.complete("mine", &wanted).await?.values)
}

/// Waits until a resource has changed, which a tool of the server brings about.
async fn watch(view: &View, uri: &str) -> Done {
    let mut watching = view.watch("mine", uri).await?;
    view.call("mine/touch_resource", json!({ "uri": uri }))
        .await?;
    println!("{:?}", watching.next().await);
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Done {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_else(|| "switchboard".to_owned());
    let host = Host::builder()
        .server(ServerSpec::stdio("mine", command)?.args(words))
        .roots([std::env::current_dir()?])
        .log_level(LogLevel::Info)
        .build()?;
    let view = host.view(Caller::owner());
    hear(&host);
    for tool in ["list_roots", "log"] {
        let result = host.call(&format!("mine/{tool}"), json!({})).await?;
        println!("{}", result.text());
    }
    println!("{}", complete(&view, "travel", "country").await?.join(", "));
    watch(&view, "file:///readme.txt").await?;
    host.shutdown().await;
    Ok(())
}
