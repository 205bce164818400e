//! A server at a URL that wants OAuth: logs in with a browser that the person opens.
//!
//! `cargo run -p switchboard --example login -- https://mcp.example.com/mcp`

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use std::sync::Arc;

use switchboard::auth::{
    Authorizer, CallbackListener, Login, LoginOptions, MemoryStore, OAuthSettings,
};
use switchboard::transport::{Http, HttpAuthFetch};
use switchboard::{Limits, Server, ServerName, SessionOptions};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let url = std::env::args().nth(1).ok_or("a URL is needed")?;
    let authorizer = authorizer(&url)?;
    let server = connect(&url, &authorizer)?;
    let listed = server.list_tools().await;
    let tools = match listed {
        Err(error)
            if error
                .auth_error()
                .is_some_and(|error| error.needs_login().is_some()) =>
        {
            log_in(&authorizer).await?;
            server.list_tools().await?
        }
        listed => listed?,
    };
    for tool in &tools.items {
        println!("{}", tool.name());
    }
    server.close().await;
    Ok(())
}

fn authorizer(url: &str) -> Outcome<Authorizer> {
    let fetch = Arc::new(HttpAuthFetch::new());
    let store = Arc::new(MemoryStore::new());
    let settings = OAuthSettings::default();
    Ok(Authorizer::new(
        url,
        settings,
        fetch,
        store,
        &Limits::default(),
    )?)
}

fn connect(url: &str, authorizer: &Authorizer) -> Outcome<Server> {
    let transport = Http::new(url)?.authorization(Arc::new(authorizer.clone()));
    let name = ServerName::parse("theirs")?;
    Ok(Server::new(name, transport, SessionOptions::default()))
}

async fn log_in(authorizer: &Authorizer) -> Outcome<()> {
    let listener = CallbackListener::bind(None).await?;
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
