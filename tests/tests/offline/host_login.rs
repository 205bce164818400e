//! Logins through the host: stored tokens, needed logins, and what the person sees of them.

use std::sync::{Arc, Mutex};

use serde_json::json;
#[cfg(unix)]
use switchboard::Limits;
use switchboard::auth::{
    Authorizer, CallbackListener, Login, LoginOptions, LoginReason, MemoryStore, TokenStore,
};
#[cfg(unix)]
use switchboard::auth::{KeyFile, NamedBy, SealedFile};
use switchboard::events::{Events, write_line};
use switchboard::host::{Caller, Host, HostBuilder, State};
use switchboard::policy::{AgentPolicy, Grants, Level, Policy};
use switchboard::spec::ServerSpec;
use switchboard::talk::{LoginDecision, LoginRequest};
use switchboard::{Error, ErrorKind};
use switchboard_testkit::http::Server as Running;
use switchboard_tests::browser::Browser;
use switchboard_tests::issuers::start;

use crate::host_support::agents::{EVERYTHING, told};
#[cfg(unix)]
use crate::host_support::cloned::{self, Cloned, Person};

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

/// The lines of the events so far.
fn lines(events: &mut Events) -> Vec<String> {
    let events = std::iter::from_fn(|| events.try_recv().ok());
    let line = |event| {
        let mut line = String::new();
        write_line(&event, &mut line);
        line
    };
    events.map(line).collect()
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

/// A host whose operator opens the page of a login in a browser, unless the person refuses.
fn host_with_operator(running: &Running, decision: LoginDecision) -> (Host, Asked) {
    let asked = Asked::default();
    let seen = Arc::clone(&asked);
    let host = builder(running).on_login(move |request: LoginRequest| {
        let page = request.page.expose().to_string();
        seen.lock().unwrap().push(request);
        async move {
            if decision == LoginDecision::PageOpened {
                tokio::task::spawn_blocking(move || Browser::default().visit(&page));
            }
            decision
        }
    });
    (host.build().unwrap(), asked)
}

/// The logins that an operator was asked for.
type Asked = Arc<Mutex<Vec<LoginRequest>>>;

#[tokio::test]
async fn the_operator_is_asked_for_the_login_that_a_connection_needs() {
    let (issuer, running) = start(&[]).await;
    let (host, asked) = host_with_operator(&running, LoginDecision::PageOpened);
    host.connect("theirs").await.unwrap();
    assert_eq!(echo(&host, "after").await.unwrap(), "after");
    {
        let asked = asked.lock().unwrap();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].server.as_str(), "theirs");
        assert!(running.url().starts_with(&asked[0].issuer), "{asked:?}");
        // The page has the state of the login in it, which is not for logs.
        let page = asked[0].page.expose();
        let state = page.query_pairs().find(|(name, _)| name == "state");
        let (_, state) = state.unwrap();
        assert!(!format!("{:?}", asked[0]).contains(&*state));
    }
    assert_eq!(issuer.counts().logins, 1);
    // Once more on request, as for another account.
    host.log_in("theirs").await.unwrap();
    assert_eq!(
        (issuer.counts().logins, asked.lock().unwrap().len()),
        (2, 2)
    );
    assert_eq!(echo(&host, "again").await.unwrap(), "again");
    host.shutdown().await;
    running.shutdown().await;
}

#[tokio::test]
async fn an_operator_who_refuses_a_login_leaves_the_server_without_one() {
    let (issuer, running) = start(&[]).await;
    let (host, asked) = host_with_operator(&running, LoginDecision::Refuse);
    let refused = host.connect("theirs").await.unwrap_err();
    assert_eq!(reason(&refused), LoginReason::NoToken);
    assert_eq!(asked.lock().unwrap().len(), 1);
    // A call, of the owner or of an agent, fails at once and asks for nothing.
    assert!(echo(&host, "without").await.is_err());
    assert_eq!(
        (issuer.counts().logins, asked.lock().unwrap().len()),
        (0, 1)
    );
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

#[tokio::test]
async fn expired_tokens_of_a_host_are_renewed_unnoticed() {
    let (issuer, running) = start(&[]).await;
    let host = host_of(&running);
    log_in_through(&host).await;
    let mut events = host.events();
    for round in 0..3 {
        issuer.expire_access_tokens();
        let words = format!("round {round}");
        assert_eq!(echo(&host, &words).await.unwrap(), words);
    }
    assert_eq!(word(&host), "connected");
    let counts = issuer.counts();
    assert_eq!((counts.logins, counts.stale_refreshes), (1, 0));
    let seen = lines(&mut events);
    let renewed: Vec<&String> = seen
        .iter()
        .filter(|line| line.contains("token_renewed"))
        .collect();
    assert_eq!(renewed.len() as u64, counts.refreshes);
    assert!(
        renewed[0].contains(r#""issuer":"http://127.0.0.1:"#),
        "{renewed:?}"
    );
    assert!(
        !seen.iter().any(|line| line.contains("login_needed")),
        "{seen:?}"
    );
    host.shutdown().await;
    running.shutdown().await;
}

#[tokio::test]
async fn a_live_server_that_rejects_its_login_needs_another() {
    let (issuer, running) = start(&[]).await;
    let host = host_of(&running);
    log_in_through(&host).await;
    assert_eq!(echo(&host, "before").await.unwrap(), "before");
    issuer.revoke_all();
    let refused = echo(&host, "between").await.unwrap_err();
    assert_eq!(reason(&refused), LoginReason::Revoked);
    let status = host.server("theirs").unwrap();
    assert_eq!(status.state.word(), "needs_login");
    assert_eq!(status.error().map(reason), Some(LoginReason::Revoked));
    log_in_through(&host).await;
    assert_eq!(echo(&host, "after").await.unwrap(), "after");
    assert_eq!(word(&host), "connected");
    host.shutdown().await;
    running.shutdown().await;
}

#[tokio::test]
async fn a_tool_that_needs_more_scopes_leaves_the_server_usable() {
    let settings = [
        "scopes=read,write",
        "challenge-scope=read",
        "tool-scope=echo:write",
    ];
    let (issuer, running) = start(&settings).await;
    let host = host_of(&running);
    log_in_through(&host).await;
    let refused = echo(&host, "first").await.unwrap_err();
    assert_eq!(reason(&refused), LoginReason::InsufficientScope);
    assert_eq!(refused.needs_login().unwrap().scopes, ["read", "write"]);
    let status = host.server("theirs").unwrap();
    assert!(status.is_ready(), "{status:?}");
    let notices = status.notices.join("\n");
    assert!(
        notices.contains("a login with more scopes is needed"),
        "{notices}"
    );
    let add = host.view(Caller::owner()).find("theirs/add").await.unwrap();
    add.call(json!({"a": 1, "b": 2})).await.unwrap();
    // The next login asks for both.
    log_in_through(&host).await;
    assert_eq!(echo(&host, "after").await.unwrap(), "after");
    assert_eq!(host.server("theirs").unwrap().notices, [""; 0]);
    assert_eq!(issuer.counts().logins, 2);
    host.shutdown().await;
    running.shutdown().await;
}

#[tokio::test]
async fn a_needed_login_is_told_once_and_a_failed_one_each_time() {
    let (_, running) = start(&[]).await;
    let host = host_of(&running);
    let mut events = host.events();
    for _ in 0..3 {
        assert!(host.connect("theirs").await.is_err());
    }
    let login = Login::new(&host.authorizer("theirs").await.unwrap());
    for _ in 0..2 {
        let finished = login.finish("http://127.0.0.1/callback?state=x&code=canary-code");
        assert!(finished.await.is_err());
    }
    let seen = lines(&mut events);
    let of = |name: &str| {
        seen.iter()
            .filter(|line| line.contains(name))
            .collect::<Vec<_>>()
    };
    let needed = of("\"login_needed\"");
    assert_eq!(needed.len(), 1, "{seen:?}");
    assert!(needed[0].contains(r#""server":"theirs""#), "{needed:?}");
    assert!(needed[0].contains(r#""reason":"no_token""#), "{needed:?}");
    assert_eq!(of("\"login_failed\"").len(), 2, "{seen:?}");
    assert!(of("canary").is_empty(), "{seen:?}");
    host.shutdown().await;
    running.shutdown().await;
}

#[cfg(unix)]
#[tokio::test]
async fn hosts_that_share_a_sealed_file_renew_once_and_adopt() {
    let (issuer, running) = start(&[]).await;
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let at = folder.path().join("tokens");
        let key = Arc::new(KeyFile::at(at.clone()));
        let store = SealedFile::at(at, key, &Limits::default());
        builder(&running)
            .token_store(Arc::new(store))
            .build()
            .unwrap()
    };
    let (first, second) = (open(), open());
    log_in_through(&first).await;
    for round in 0..3 {
        let words = format!("round {round}");
        let (one, two) = tokio::join!(echo(&first, &words), echo(&second, &words));
        assert_eq!((one.unwrap(), two.unwrap()), (words.clone(), words));
        issuer.expire_access_tokens();
    }
    let counts = issuer.counts();
    assert_eq!((counts.logins, counts.refreshes), (1, 2));
    assert_eq!((counts.stale_refreshes, counts.revoked_families), (0, 0));
    first.shutdown().await;
    second.shutdown().await;
    running.shutdown().await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_projects_server_gets_a_stored_token_only_once_that_is_approved() {
    let (issuer, running) = start(&[]).await;
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
    let own = builder(&running)
        .token_store(Arc::clone(&store))
        .build()
        .unwrap();
    log_in_through(&own).await;
    let admitted = issuer.counts().admitted;
    let cloned = Cloned::new();
    cloned.write_one(&json!({"url": running.url()}));
    let open = |person: &Person| {
        let builder = cloned::builder(&cloned).operator(person.clone());
        builder.token_store(Arc::clone(&store)).build().unwrap()
    };
    let nobody = Person::default();
    let host = open(&nobody);
    let refused = host.connect("one").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Untrusted);
    let refused = host.authorizer("one").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Untrusted);
    assert_eq!(issuer.counts().admitted, admitted);
    let lines = nobody.asked()[0].lines().join("\n");
    assert!(lines.contains("uses login: "), "{lines}");
    let host = open(&Person::trusting(&["one"]));
    assert!(host.connect("one").await.unwrap().is_ready());
    assert!(issuer.counts().admitted > admitted);
    let settings = host.authorizer("one").await.unwrap();
    assert_eq!(settings.settings().named_by, NamedBy::Project);
    assert_eq!(issuer.counts().logins, 1);
    host.shutdown().await;
    own.shutdown().await;
    running.shutdown().await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_projects_file_cannot_have_secrets_sent_to_its_own_issuer() {
    let cloned = Cloned::new();
    let url = "https://mcp.example/mcp";
    for oauth in [
        json!({"clientId": "a", "clientSecret": "${OWN_TOKEN}", "issuer": "https://evil.example"}),
        json!({"clientId": "${OWN_TOKEN}", "issuer": "https://evil.example"}),
        json!({"scopes": ["${OWN_TOKEN}"], "deviceAuthorizationEndpoint": "https://evil.example/d",
               "authorizationEndpoint": "https://evil.example/a", "tokenEndpoint": "https://evil.example/t"}),
        json!({"grant": "workload", "assertionFile": "../../.ssh/id_ed25519"}),
    ] {
        cloned.write_one(&json!({"url": url, "oauth": oauth}));
        let host = cloned::host(&cloned, &Person::trusting(&["one"]));
        let refused = host.authorizer("one").await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Configuration, "{oauth}");
        assert!(
            refused.to_string().contains("a project's file cannot"),
            "{refused}"
        );
    }
    // What the person is shown to be read may go where the server's own metadata leads.
    let oauth = json!({"clientId": "a", "clientSecret": "${OWN_TOKEN}"});
    cloned.write_one(&json!({"url": url, "oauth": oauth}));
    let person = Person::trusting(&["one"]);
    let host = cloned::host(&cloned, &person);
    host.authorizer("one").await.unwrap();
    let lines = person.asked()[0].lines().join("\n");
    assert!(lines.contains("reads: ${OWN_TOKEN}"), "{lines}");
}

#[tokio::test]
async fn agents_learn_that_a_login_is_needed_and_cannot_make_one() {
    let (issuer, running) = start(&[]).await;
    let all = AgentPolicy::new(Level::Yolo).grants(Grants::parse(EVERYTHING).unwrap());
    let host = builder(&running).policy(Policy::none().others(all));
    let host = host.build().unwrap();
    log_in_through(&host).await;
    let view = host.view(Caller::agent("planner").unwrap());
    let tool = view.find("theirs/echo").await.unwrap();
    let mut events = view.events();
    issuer.revoke_all();
    let refused = tool.call(json!({"message": "x"})).await.unwrap_err();
    assert_eq!(reason(&refused), LoginReason::Revoked);
    assert_eq!(issuer.counts().prompts, 1);
    // Why a server cannot be used is for its owner.
    let heard = told(&mut events).await;
    assert!(
        heard.iter().any(|event| event.name() == "call_failed"),
        "{heard:?}"
    );
    let is_about_logins = |name: &str| name.contains("login") || name.contains("token");
    assert!(
        !heard.iter().any(|event| is_about_logins(event.name())),
        "{heard:?}"
    );
    host.shutdown().await;
    running.shutdown().await;
}

#[tokio::test]
async fn tokens_that_were_got_by_a_login_are_known_as_secrets() {
    let (issuer, running) = start(&[]).await;
    let store = Arc::new(MemoryStore::new());
    let host = builder(&running).token_store(Arc::clone(&store) as Arc<dyn TokenStore>);
    let host = host.build().unwrap();
    log_in_through(&host).await;
    assert_eq!(echo(&host, "first").await.unwrap(), "first");
    let secrets = host.secrets();
    for _ in 0..2 {
        let stored = store.read().await.unwrap().to_json();
        let stored: serde_json::Value = serde_json::from_str(stored.expose()).unwrap();
        for name in ["access_token", "refresh_token"] {
            let token = stored["credentials"][0][name].as_str().unwrap();
            assert_eq!(secrets.redact(token), "***", "{name}");
        }
        issuer.expire_access_tokens();
        assert_eq!(echo(&host, "again").await.unwrap(), "again");
    }
    host.shutdown().await;
    running.shutdown().await;
}
