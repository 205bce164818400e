//! Lets a person answer what servers ask.
//!
//! `cargo run -p switchboard --example elicit -- target/release/switchboard test-server`

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use switchboard::protocol::{ElicitParams, ElicitResult};
use switchboard::spec::{ServerName, ServerSpec};
use switchboard::talk::{Answering, Answers, Elicit};
use switchboard::transport::Environment;
use switchboard::{Caller, Host};

struct Desk;

impl Elicit for Desk {
    fn elicit<'a>(
        &'a self,
        server: &'a ServerName,
        question: &'a ElicitParams,
    ) -> Answering<'a, ElicitResult> {
        println!("{server} asks: {}", question.message());
        // Here a program would show `Form::read(question, &self.bounds())` to somebody.
        Box::pin(async move {
            Answers::new()
                .text("name", "Ada")
                .elicit(server, question)
                .await
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_else(|| "switchboard".to_owned());
    let host = Host::builder()
        .environment(&Environment::of_process())
        .server(ServerSpec::stdio("mine", command)?.args(words))
        .elicit(Desk)
        .build()?;
    let tool = host.view(Caller::owner()).find("mine/ask_name").await?;
    println!("{}", tool.call(serde_json::json!({})).await?.text());
    host.shutdown().await;
    Ok(())
}
