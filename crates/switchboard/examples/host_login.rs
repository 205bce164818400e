//! A host whose server at a URL wants OAuth: logs in where that is needed, and keeps the login in a sealed file.
//!
//! `cargo run -p switchboard --example host_login -- https://mcp.example.com/mcp FOLDER`

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use std::path::PathBuf;
use std::sync::Arc;

use switchboard::auth::{Authorizer, CallbackListener, KeyFile, Login, LoginOptions, SealedFile};
use switchboard::spec::ServerSpec;
use switchboard::{Caller, Host, Limits};

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
        .build()?;
    if let Err(error) = host.connect("theirs").await {
        if error.needs_login().is_none() {
            return Err(error.into());
        }
        log_in(&host.authorizer("theirs").await?).await?;
        host.connect("theirs").await?;
    }
    for tool in host.view(Caller::owner()).tools() {
        println!("{}", tool.name());
    }
    host.shutdown().await;
    Ok(())
}

async fn log_in(authorizer: &Authorizer) -> Outcome<()> {
    let listener = CallbackListener::bind(authorizer.settings().callback_port).await?;
    let login = Login::new(authorizer);
    let options = LoginOptions::default().redirect_uri(listener.redirect_uri());
    let request = login.begin(options).await?;
    println!(
        "{} asks you to log in: {}",
        request.issuer,
        request.url.expose()
    );
    let callback = listener.wait(&request.state).await?;
    login.finish(callback.expose()).await?;
    Ok(())
}
