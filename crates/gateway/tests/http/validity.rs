//! Credentials that stop to count while their clients are connected.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use switchboard::policy::{AgentPolicy, Caller, Grants, Level};
use switchboard_gateway::http::{
    AuthFuture, AuthRefusal, Authenticate, Credentials, HttpAuth, bearer,
};
use switchboard_gateway::{ClientIdentity, Scope, Validity};

use crate::support::{Ask, Connection, Front, front_with, until, within};

/// Credentials by their text. All of them are of one principal.
#[derive(Clone, Default)]
struct Issued(Arc<Mutex<BTreeMap<String, Validity>>>);

impl Issued {
    fn issue(&self, text: &str) -> Validity {
        let validity = Validity::until_ended();
        let mut all = self.0.lock().unwrap();
        all.insert(text.to_owned(), validity.clone());
        validity
    }
}

impl Authenticate for Issued {
    fn authenticate<'a>(&'a self, credentials: Credentials<'a>) -> AuthFuture<'a> {
        let text = bearer(credentials.headers).and_then(|text| str::from_utf8(text).ok());
        let validity = text.and_then(|text| self.0.lock().unwrap().get(text).cloned());
        Box::pin(async move {
            let validity = validity.ok_or(AuthRefusal {
                status: "401".parse().unwrap(),
                challenge: None,
                why: "not one of ours".to_owned(),
            })?;
            let caller = Caller::agent("ann").unwrap();
            let caller = caller.acts_as("gateway".parse().unwrap());
            Ok(ClientIdentity::remote(caller, "ann").valid(validity))
        })
    }
}

async fn issuing() -> (Front, Issued) {
    let issued = Issued::default();
    let auth = HttpAuth::Custom(Arc::new(issued.clone()));
    let front = front_with(|http, gateway| {
        http.auth = auth;
        gateway.limits.stream_after = Duration::from_millis(20);
    })
    .await;
    (front, issued)
}

fn with(ask: Ask, token: &str) -> Ask {
    ask.replace("Authorization", &format!("Bearer {token}"))
}

fn slow() -> serde_json::Value {
    let arguments = json!({"duration": 600, "steps": 1});
    json!({"name": "demo__slow_operation", "arguments": arguments})
}

async fn streaming(front: &Front, ask: &Ask) -> Connection {
    let mut stream = front.connect().await;
    stream.send(&ask.bytes()).await;
    let head = stream.head().await.unwrap();
    assert_eq!(head.status, 200, "{head:?}");
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    stream
}

#[tokio::test]
async fn the_end_of_a_credential_ends_its_sessions_streams_and_calls() {
    let (front, issued) = issuing().await;
    let (one, _other) = (issued.issue("one"), issued.issue("other"));
    let opened = front.ask(&with(Ask::initialize("2025-11-25"), "one")).await;
    let session = opened.session().unwrap().to_owned();
    let echo = with(Ask::legacy_echo("x").session(&session), "one");
    assert_eq!(front.ask(&echo).await.text(), "x");
    let general = Ask::new("GET", "/mcp")
        .header("Accept", "text/event-stream")
        .session(&session);
    let listen = json!({"notifications": {"toolsListChanged": true}});
    let mut streams = [
        streaming(&front, &with(general, "one")).await,
        streaming(
            &front,
            &with(Ask::modern("subscriptions/listen", listen), "one"),
        )
        .await,
        streaming(&front, &with(Ask::modern("tools/call", slow()), "one")).await,
        streaming(
            &front,
            &with(Ask::legacy("tools/call", &slow()).session(&session), "one"),
        )
        .await,
    ];
    until("both calls to reach their server", || {
        front.record.count("tools/call") == 3
    })
    .await;
    let before = front.record.len();

    one.end();
    for stream in &mut streams {
        within("a stream to end", async {
            while stream.block().await.is_some() {}
        })
        .await;
    }
    until("the session to end", || front.service.stats().sessions == 0).await;
    until("the calls to be cancelled", || {
        front.record.count("notifications/cancelled") == 2
    })
    .await;
    for ask in [echo, with(Ask::modern_echo("x"), "one")] {
        let refused = front.ask(&ask).await;
        assert_eq!(refused.status, 401, "{refused:?}");
        let challenge = refused.header("www-authenticate").unwrap();
        assert!(challenge.contains("invalid_token"), "{challenge}");
    }
    // Another credential of the same principal does not bring the session back.
    let other = with(Ask::legacy_echo("x").session(&session), "other");
    assert_eq!(front.ask(&other).await.status, 404);
    let reached = front.record.since(before);
    let is_cancel = |message: &serde_json::Value| message["method"] == "notifications/cancelled";
    assert!(reached.iter().all(is_cancel), "{reached:?}");
    let again = front.ask(&with(Ask::modern_echo("x"), "other")).await;
    assert_eq!(again.text(), "x");
}

#[tokio::test]
async fn a_client_that_renews_its_credential_keeps_its_session() {
    let (front, issued) = issuing().await;
    let (one, two) = (issued.issue("one"), issued.issue("two"));
    let opened = front.ask(&with(Ask::initialize("2025-11-25"), "one")).await;
    let session = opened.session().unwrap().to_owned();
    let echo = Ask::legacy_echo("x").session(&session);
    assert_eq!(front.ask(&with(echo.clone(), "two")).await.text(), "x");
    one.end();
    assert_eq!(front.ask(&with(echo.clone(), "one")).await.status, 401);
    assert_eq!(front.ask(&with(echo.clone(), "two")).await.text(), "x");
    two.end();
    until("the session to end", || front.service.stats().sessions == 0).await;
    assert_eq!(front.ask(&with(echo, "two")).await.status, 401);
}

#[tokio::test]
async fn bounds_of_a_credential_narrow_lists_and_calls() {
    struct Bounded;
    impl Authenticate for Bounded {
        fn authenticate<'a>(&'a self, _: Credentials<'a>) -> AuthFuture<'a> {
            let grants = Grants::parse(["mcp:demo:ech*"]).unwrap();
            let caller = Caller::agent("ann").unwrap();
            let caller = caller
                .acts_as("gateway".parse().unwrap())
                .bounded_by(AgentPolicy::new(Level::Yolo).grants(grants));
            Box::pin(async move { Ok(ClientIdentity::remote(caller, "ann")) })
        }
    }
    let front = front_with(|http, _| http.auth = HttpAuth::Custom(Arc::new(Bounded))).await;
    let list = front
        .ask(&Ask::modern("tools/list", json!({})))
        .await
        .json();
    let tools = list["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["demo__echo"]);
    assert_eq!(front.ask(&Ask::modern_echo("x")).await.text(), "x");
    let before = front.record.len();
    let refused = front.ask(&Ask::modern("tools/call", slow())).await;
    assert_eq!(refused.code(), -32602, "{refused:?}");
    assert_eq!(front.record.len(), before);
}

#[tokio::test]
async fn a_byte_stream_ends_with_its_credential() {
    let (front, issued) = issuing().await;
    let validity = issued.issue("one");
    let caller = Caller::agent("gateway").unwrap();
    let identity = ClientIdentity::local(caller).valid(validity.clone());
    let (_client, served) = tokio::io::duplex(1024);
    let (read, write) = tokio::io::split(served);
    let gateway = front.gateway.clone();
    let serving =
        tokio::spawn(async move { gateway.serve(read, write, identity, Scope::All).await });
    validity.end();
    within("the stream to end", serving).await.unwrap().unwrap();
}
