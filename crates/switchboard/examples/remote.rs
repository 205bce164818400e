//! A server at a URL.
//!
//! `cargo run -p switchboard --example remote -- http://127.0.0.1:8808/mcp TOKEN`

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use switchboard::transport::{Header, Http};
use switchboard::{Server, ServerName, SessionOptions};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let mut words = std::env::args().skip(1);
    let (Some(url), Some(token)) = (words.next(), words.next()) else {
        return Err("a URL and a token are needed".into());
    };
    let server = connect(&url, &token)?;
    for tool in &server.list_tools().await?.items {
        println!("{}", tool.name());
    }
    server.close().await;
    Ok(())
}

fn connect(url: &str, token: &str) -> Outcome<Server> {
    let header = Header::new("Authorization", format!("Bearer {token}"))?;
    let transport = Http::new(url)?.header(header)?;
    let name = ServerName::parse("theirs")?;
    Ok(Server::new(name, transport, SessionOptions::default()))
}
