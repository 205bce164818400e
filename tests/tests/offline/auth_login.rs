//! Logging in to a server whose issuer is strict, and what becomes of the tokens.

use std::sync::Arc;

use switchboard::auth::{
    Authorizer, CallbackListener, Login, LoginOptions, LoginReason, MemoryStore, OAuthSettings,
};
use switchboard::protocol::Raw;
use switchboard::spec::ServerName;
use switchboard::transport::{Header, Http, HttpAuthFetch};
use switchboard::{CallOptions, Limits, Server, ServerError, SessionOptions};
use switchboard_testkit::http::Server as Running;
use switchboard_tests::browser::Browser;
use switchboard_tests::issuers::start;

use crate::support::text_of;

fn authorizer(running: &Running) -> Authorizer {
    let fetch = Arc::new(HttpAuthFetch::new());
    let store = Arc::new(MemoryStore::new());
    let settings = OAuthSettings::default();
    Authorizer::new(&running.url(), settings, fetch, store, &Limits::default()).unwrap()
}

fn connect(running: &Running, authorizer: &Authorizer) -> Server {
    let transport = Http::new(&running.url()).unwrap();
    let transport = transport.authorization(Arc::new(authorizer.clone()));
    let name = ServerName::parse("theirs").unwrap();
    Server::new(name, transport, SessionOptions::default())
}

async fn echo(server: &Server, words: &str) -> Result<String, ServerError> {
    let arguments = Raw::of(&serde_json::json!({"message": words})).unwrap();
    let called = server.call_tool("echo", Some(arguments), CallOptions::default());
    called.await.map(|result| text_of(&result).to_owned())
}

fn reason(error: &ServerError) -> LoginReason {
    let needed = error.auth_error().and_then(|error| error.needs_login());
    needed.unwrap_or_else(|| panic!("{error:?}")).reason
}

/// Logs in as a person does: the browser is sent to the issuer and comes back to the listener.
async fn log_in(authorizer: &Authorizer) {
    let listener = CallbackListener::bind(None).await.unwrap();
    let login = Login::new(authorizer);
    let options = LoginOptions::default().redirect_uri(listener.redirect_uri());
    let request = login.begin(options).await.unwrap();
    let url = request.url.expose().to_string();
    let browser = tokio::task::spawn_blocking(move || Browser::default().visit(&url));
    let callback = listener.wait(&request.state).await.unwrap();
    login.finish(callback.expose()).await.unwrap();
    assert_eq!(browser.await.unwrap().unwrap().status, 200);
}

#[tokio::test]
async fn a_login_is_followed_by_calls_whose_tokens_renew_unnoticed() {
    let (issuer, running) = start(&[]).await;
    let authorizer = authorizer(&running);
    let server = connect(&running, &authorizer);
    let refused = server.list_tools().await.unwrap_err();
    assert_eq!(reason(&refused), LoginReason::NoToken);
    log_in(&authorizer).await;
    assert_eq!(echo(&server, "first").await.unwrap(), "first");
    for round in 0..5 {
        // The next request meets 401 and is made again with a new token.
        issuer.expire_access_tokens();
        let words = format!("round {round}");
        assert_eq!(echo(&server, &words).await.unwrap(), words);
    }
    let counts = issuer.counts();
    assert_eq!((counts.logins, counts.prompts), (1, 1));
    assert_eq!((counts.refreshes, counts.stale_refreshes), (5, 0));
    server.close().await;
    running.shutdown().await;
}

#[tokio::test]
async fn calls_at_once_share_one_renewal() {
    let (issuer, running) = start(&[]).await;
    let authorizer = authorizer(&running);
    let server = connect(&running, &authorizer);
    log_in(&authorizer).await;
    assert_eq!(echo(&server, "first").await.unwrap(), "first");
    issuer.expire_access_tokens();
    let calls = (0..8).map(|at| {
        let server = server.clone();
        tokio::spawn(async move { echo(&server, &at.to_string()).await })
    });
    let calls: Vec<_> = calls.collect();
    for (at, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap().unwrap(), at.to_string());
    }
    let counts = issuer.counts();
    assert_eq!((counts.refreshes, counts.stale_refreshes), (1, 0));
    server.close().await;
    running.shutdown().await;
}

#[tokio::test]
async fn a_revoked_login_asks_for_another_and_works_again() {
    let (issuer, running) = start(&[]).await;
    let authorizer = authorizer(&running);
    let server = connect(&running, &authorizer);
    log_in(&authorizer).await;
    assert_eq!(echo(&server, "before").await.unwrap(), "before");
    issuer.revoke_all();
    let refused = echo(&server, "between").await.unwrap_err();
    assert_eq!(reason(&refused), LoginReason::Revoked);
    log_in(&authorizer).await;
    assert_eq!(echo(&server, "after").await.unwrap(), "after");
    assert_eq!(issuer.counts().logins, 2);
    server.close().await;
    running.shutdown().await;
}

#[tokio::test]
async fn a_configured_header_wins_over_stored_tokens() {
    let (issuer, running) = start(&[]).await;
    let authorizer = authorizer(&running);
    log_in(&authorizer).await;
    let admitted = issuer.counts().admitted;
    let transport = Http::new(&running.url()).unwrap();
    let transport = transport
        .authorization(Arc::new(authorizer.clone()))
        .header(Header::parse("Authorization: Bearer of-the-person").unwrap())
        .unwrap();
    let name = ServerName::parse("theirs").unwrap();
    let server = Server::new(name, transport, SessionOptions::default());
    // The issuer does not know that token, and the good one is not sent in its place.
    let refused = server.list_tools().await.unwrap_err();
    assert!(refused.auth_error().is_none(), "{refused:?}");
    assert_eq!(issuer.counts().admitted, admitted);
    server.close().await;
    running.shutdown().await;
}
