//! A host whose server at a URL wants OAuth: logs in where that is needed, and keeps the login in a sealed file.
//!
//! `cargo run -p switchboard --example host_login -- https://mcp.example.com/mcp FOLDER`

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use std::path::PathBuf;
use std::sync::Arc;

use switchboard::auth::{KeyFile, SealedFile};
use switchboard::talk::{LoginDecision, LoginRequest};
use switchboard::{Caller, Host, Limits, ServerSpec};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1);
    let url = args.next().ok_or("a URL is needed")?;
    let folder = PathBuf::from(args.next().ok_or("a folder for logins is needed")?);
    let key = Arc::new(KeyFile::at(folder.clone()));
    let store = SealedFile::at(folder, key, &Limits::default());
    let host = Host::builder()
        .server(ServerSpec::http("theirs", &url)?)
        .token_store(Arc::new(store))
        .on_login(async |request: LoginRequest| {
            let page = request.page.expose();
            println!("{} asks you to log in: {page}", request.issuer);
            LoginDecision::PageOpened
        })
        .build()?;
    host.connect("theirs").await?;
    for tool in host.view(Caller::owner()).tools() {
        println!("{}", tool.name());
    }
    host.shutdown().await;
    Ok(())
}
