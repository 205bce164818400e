//! Answers what servers ask: a question to the person, and the folders that are theirs to use.
//!
//! `cargo run -p switchboard --example answers -- target/release/switchboard test-server`

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use switchboard::protocol::{
    ClientCapabilities, ElicitResult, ElicitationCapability, InputRequest, ListRootsResult, Raw,
    Root, RootsCapability,
};
use switchboard::session::{Refusal, Respond, Responding};
use switchboard::transport::Stdio;
use switchboard::{CallOptions, Limits, Server, ServerName, SessionOptions};

struct Desk {
    folder: String,
}

impl Respond for Desk {
    fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities {
            elicitation: Some(ElicitationCapability {
                form: true,
                url: false,
            }),
            roots: Some(RootsCapability::default()),
            ..ClientCapabilities::default()
        }
    }

    fn respond<'a>(&'a self, request: &'a InputRequest) -> Responding<'a> {
        Box::pin(async move {
            let answer = match request {
                InputRequest::Elicit(question) => {
                    println!("the server asks: {}", question.message());
                    let form = Raw::parse(r#"{"name": "Ada"}"#);
                    Raw::of(&ElicitResult::accept(form.ok()))
                }
                InputRequest::Roots => Raw::of(&ListRootsResult {
                    roots: vec![Root {
                        uri: format!("file://{}", self.folder),
                        name: None,
                    }],
                }),
                _ => return Err(Refusal::NotAvailable),
            };
            answer.map_err(|error| Refusal::Invalid(error.to_string()))
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_else(|| "switchboard".to_owned());
    let mut limits = Limits::default();
    limits.message_bytes = 1024 * 1024;
    limits.in_flight = 8;
    let transport = Stdio::new(command).args(words).limits(limits.clone());
    let desk = Desk {
        folder: "/tmp".to_owned(),
    };
    let options = SessionOptions::default().limits(limits).respond(desk);
    let server = Server::new(ServerName::parse("mine")?, transport, options);
    let result = server
        .call_tool("ask_name", None, CallOptions::default())
        .await?;
    println!("{:?}", result.content());
    server.close().await;
    Ok(())
}
