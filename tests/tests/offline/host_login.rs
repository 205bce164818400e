//! Logins through the host: stored tokens, needed logins, and what the person sees of them.

use std::sync::Arc;

use serde_json::json;
use switchboard::auth::{
    Authorizer, CallbackListener, Login, LoginOptions, LoginReason, MemoryStore, TokenStore,
};
use switchboard::host::{Caller, Host, HostBuilder, State};
use switchboard::spec::ServerSpec;
use switchboard::{Error, ErrorKind};
use switchboard_testkit::http::{Http as TestServer, Server as Running};
use switchboard_testkit::issuer::{Issuer, IssuerOptions};
use switchboard_tests::browser::Browser;

/// A test server behind a strict issuer with these settings.
async fn start(settings: &[&str]) -> (Issuer, Running) {
    let mut options = IssuerOptions::default();
    for setting in settings {
        options.set(setting).unwrap();
    }
    let issuer = Issuer::new(options).unwrap();
    let running = TestServer::default().oauth(issuer.clone()).serve().await;
    (issuer, running.unwrap())
}

fn builder(running: &Running) -> HostBuilder {
    Host::builder().server(ServerSpec::http("theirs", &running.url()).unwrap())
}

fn host_of(running: &Running) -> Host {
    builder(running).build().unwrap()
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

async fn log_in_through(host: &Host) {
    log_in(&host.authorizer("theirs").await.unwrap()).await;
}

async fn echo(host: &Host, words: &str) -> Result<String, Error> {
    let tool = host.view(Caller::owner()).find("theirs/echo").await?;
    let result = tool.call(json!({"message": words})).await?;
    Ok(result.text())
}

fn reason(error: &Error) -> LoginReason {
    let needed = error.needs_login();
    needed.unwrap_or_else(|| panic!("{error:?}")).reason
}

fn word(host: &Host) -> &'static str {
    host.server("theirs").unwrap().state.word()
}

#[tokio::test]
async fn a_server_that_needs_a_login_says_so_and_works_after_it() {
    let (issuer, running) = start(&[]).await;
    let host = host_of(&running);
    let refused = host.connect("theirs").await.unwrap_err();
    assert_eq!(reason(&refused), LoginReason::NoToken);
    assert_eq!(refused.kind(), ErrorKind::Authorization);
    let status = host.server("theirs").unwrap();
    assert!(matches!(status.state, State::NeedsLogin(_)), "{status:?}");
    assert_eq!(status.state.word(), "needs_login");
    assert_eq!(status.error().map(reason), Some(LoginReason::NoToken));
    log_in_through(&host).await;
    assert_eq!(echo(&host, "after").await.unwrap(), "after");
    assert_eq!(word(&host), "connected");
    assert_eq!(issuer.counts().logins, 1);
    host.shutdown().await;
    running.shutdown().await;
}

#[tokio::test]
async fn a_server_that_needs_a_login_is_not_asked_again_before_it() {
    let (issuer, running) = start(&[]).await;
    let host = host_of(&running);
    assert!(echo(&host, "first").await.is_err());
    let asked = issuer.events().len();
    for _ in 0..20 {
        let refused = echo(&host, "again").await.unwrap_err();
        assert_eq!(reason(&refused), LoginReason::NoToken);
    }
    assert_eq!(issuer.events().len(), asked);
    // Asked for outright, it is tried.
    assert!(host.connect("theirs").await.is_err());
    assert!(issuer.events().len() > asked);
    host.shutdown().await;
    running.shutdown().await;
}

#[tokio::test]
async fn a_login_of_one_host_counts_for_another_with_the_same_store() {
    let (issuer, running) = start(&[]).await;
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
    let first = builder(&running).token_store(Arc::clone(&store)).build();
    let second = builder(&running).token_store(Arc::clone(&store)).build();
    let other = builder(&running).token_store(store).login_profile("work");
    let (first, second, other) = (first.unwrap(), second.unwrap(), other.build().unwrap());
    assert!(echo(&second, "before").await.is_err());
    log_in_through(&first).await;
    // It was refused before, and takes over what was stored since.
    assert_eq!(echo(&second, "after").await.unwrap(), "after");
    assert_eq!(echo(&first, "first").await.unwrap(), "first");
    // The logins of another profile are not seen.
    let refused = echo(&other, "other").await.unwrap_err();
    assert_eq!(reason(&refused), LoginReason::NoToken);
    assert_eq!(issuer.counts().logins, 1);
    for host in [first, second, other] {
        host.shutdown().await;
    }
    running.shutdown().await;
}

#[tokio::test]
async fn a_configured_header_is_sent_and_nothing_is_logged_in_to() {
    let (issuer, running) = start(&[]).await;
    let spec = ServerSpec::http("theirs", &running.url()).unwrap();
    let spec = spec.header("authorization", "Bearer of-the-person");
    let host = Host::builder().server(spec).build().unwrap();
    let error = host.authorizer("theirs").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert!(error.to_string().contains("`Authorization`"), "{error}");
    let refused = host.connect("theirs").await.unwrap_err();
    assert!(refused.auth_error().is_none(), "{refused:?}");
    assert_eq!(word(&host), "failed");
    assert_eq!(issuer.counts().admitted, 0);
    host.shutdown().await;
    running.shutdown().await;
}

#[tokio::test]
async fn a_server_that_is_started_has_no_login() {
    let spec = ServerSpec::stdio("local", "true").unwrap();
    let host = Host::builder().server(spec).build().unwrap();
    let error = host.authorizer("local").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert!(error.to_string().contains("URL"), "{error}");
    assert!(host.authorizer("other").await.is_err());
}
