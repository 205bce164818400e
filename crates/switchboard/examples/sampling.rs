//! Lets servers ask a model of the program's choice: here one that always gives the same answer.
//!
//! `cargo run -p switchboard --example sampling -- switchboard test-server --asking-models`. A [`Sampler`]
//! does the same with a real model, within bounds and with a person's consent; `host::providers` makes one of
//! what the person's own config file says.
//!
//! [`Sampler`]: switchboard::talk::sampling::Sampler

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use serde_json::json;
use switchboard::Host;
use switchboard::protocol::{CreateMessageParams, CreateMessageResult};
use switchboard::spec::{ServerName, Settings};
use switchboard::talk::{Answering, Sample};
use switchboard::transport::Stdio;

struct Oracle;

impl Sample for Oracle {
    fn sample<'a>(
        &'a self,
        server: &'a ServerName,
        question: &'a CreateMessageParams,
    ) -> Answering<'a, CreateMessageResult> {
        println!("{server} asks for {} tokens", question.max_tokens());
        let answer = CreateMessageResult::text("oracle", "42");
        Box::pin(std::future::ready(Ok(answer)))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_else(|| "switchboard".to_owned());
    let server = Stdio::new(command).args(words);
    let mut settings = Settings::default();
    settings.sampling = true;
    let host = Host::builder()
        .sample(Oracle)
        .transport(ServerName::parse("mine")?, server, settings)
        .build()?;
    let result = host.call("mine/ask_model", json!({})).await?;
    println!("{}", result.text());
    host.shutdown().await;
    Ok(())
}
