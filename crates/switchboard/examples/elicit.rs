//! Lets a person answer what servers ask.
//!
//! `cargo run -p switchboard --example elicit -- target/release/switchboard test-server`

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use serde_json::json;
use switchboard::protocol::ElicitResult;
use switchboard::session::Refusal;
use switchboard::talk::{Answers, ElicitRequest, ElicitSupport};
use switchboard::{Host, Operator, ServerSpec};

struct Desk;

impl Operator for Desk {
    fn elicit_support(&self) -> ElicitSupport {
        ElicitSupport::Forms
    }

    async fn elicit(&self, request: ElicitRequest) -> Result<ElicitResult, Refusal> {
        println!("{} asks: {}", request.server, request.params.message());
        // Here a program would show `Form::read(&request.params, &self.elicit_limits())`.
        Answers::new().text("name", "Ada").elicit(request).await
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_else(|| "switchboard".to_owned());
    let host = Host::builder()
        .server(ServerSpec::stdio("mine", command)?.args(words))
        .operator(Desk)
        .build()?;
    let result = host.call("mine/ask_name", json!({})).await?;
    println!("{}", result.text());
    host.shutdown().await;
    Ok(())
}
