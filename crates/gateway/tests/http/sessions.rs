//! The life of sessions: who has them, how many there are, how they end.

use std::time::Duration;

use serde_json::json;
use switchboard::policy::{AgentPolicy, Caller, CallerId, Level, Policy};
use switchboard_gateway::ClientIdentity;
use switchboard_gateway::http::{
    AuthFuture, AuthRefusal, Authenticate, Credentials, HttpAuth, RefusalReason, bearer,
};

use crate::support::{Ask, front, front_with, until, within};

/// Names each client by its token.
struct Names;

impl Authenticate for Names {
    fn authenticate<'a>(&'a self, credentials: Credentials<'a>) -> AuthFuture<'a> {
        Box::pin(async move {
            let token = bearer(credentials.headers).and_then(|token| str::from_utf8(token).ok());
            match token {
                // The same person with another role.
                Some("ann as bob") => {
                    let caller = Caller::agent("bob").unwrap();
                    Ok(ClientIdentity::remote(caller, "ann"))
                }
                Some(name @ ("ann" | "bob")) => {
                    let caller = Caller::agent(name).unwrap();
                    Ok(ClientIdentity::remote(caller, name))
                }
                _ => Err(AuthRefusal {
                    status: "403".parse().unwrap(),
                    challenge: None,
                    why: "not one of us".to_owned(),
                }),
            }
        })
    }
}

fn for_everyone() -> Policy {
    ["ann", "bob"]
        .into_iter()
        .fold(Policy::none(), |policy, name| {
            let name = CallerId::parse(name).unwrap();
            policy.agent(name, AgentPolicy::everything(Level::Yolo))
        })
}

fn of(ask: Ask, name: &str) -> Ask {
    ask.replace("Authorization", &format!("Bearer {name}"))
}

#[tokio::test]
async fn a_session_exists_for_its_own_principal_alone() {
    let front =
        front_with(|http, _| http.auth = HttpAuth::Custom(std::sync::Arc::new(Names))).await;
    front.host.set_policy(for_everyone());
    let opened = front.ask(&of(Ask::initialize("2025-11-25"), "ann")).await;
    let id = opened.session().unwrap().to_owned();
    let echo = Ask::legacy_echo("x").session(&id);
    let stream = Ask::new("GET", "/mcp")
        .header("Accept", "text/event-stream")
        .session(&id);
    let end = Ask::new("DELETE", "/mcp").session(&id);
    for ask in [&echo, &stream, &end] {
        let answer = front.ask(&of(ask.clone(), "bob")).await;
        assert_eq!(answer.status, 404, "{answer:?}");
        assert_eq!(front.ask(&of(ask.clone(), "eve")).await.status, 403);
    }
    assert_eq!(front.ask(&of(echo, "ann")).await.text(), "x");
    assert_eq!(front.ask(&of(end, "ann")).await.status, 204);
}

#[tokio::test]
async fn a_session_of_a_principal_with_another_agent_is_gone() {
    let front =
        front_with(|http, _| http.auth = HttpAuth::Custom(std::sync::Arc::new(Names))).await;
    front.host.set_policy(for_everyone());
    let opened = front.ask(&of(Ask::initialize("2025-11-25"), "ann")).await;
    let echo = Ask::legacy_echo("x").session(opened.session().unwrap());
    let refused = front.ask(&of(echo.clone(), "ann as bob")).await;
    assert_eq!(refused.status, 404, "{refused:?}");
    assert_eq!(front.ask(&of(echo, "ann")).await.text(), "x");
}

#[tokio::test]
async fn a_cursor_of_another_principal_is_refused() {
    let front = front_with(|http, gateway| {
        http.auth = HttpAuth::Custom(std::sync::Arc::new(Names));
        gateway.limits.page_items = 1;
    })
    .await;
    front.host.set_policy(for_everyone());
    let first = front
        .ask(&of(Ask::modern("tools/list", json!({})), "ann"))
        .await
        .json();
    let cursor = &first["result"]["nextCursor"];
    assert!(cursor.is_string(), "{first}");
    let next = Ask::modern("tools/list", json!({"cursor": cursor}));
    let refused = front.ask(&of(next.clone(), "bob")).await;
    assert_eq!(refused.code(), -32602, "{refused:?}");
    let second = front.ask(&of(next, "ann")).await;
    assert!(second.json()["result"]["tools"].is_array(), "{second:?}");
}

#[tokio::test]
async fn a_session_that_was_ended_is_gone() {
    let front = front().await;
    let id = front.session("2025-11-25").await;
    let mut stream = front.connect().await;
    let open = Ask::new("GET", "/mcp")
        .header("Accept", "text/event-stream")
        .session(&id);
    stream.send(&open.bytes()).await;
    assert_eq!(stream.head().await.unwrap().status, 200);
    let end = Ask::new("DELETE", "/mcp").session(&id);
    assert_eq!(front.ask(&end).await.status, 204);
    assert_eq!(stream.event().await, None, "its stream ends");
    assert_eq!(front.ask(&end).await.status, 404);
    assert_eq!(
        front.ask(&Ask::legacy_echo("x").session(&id)).await.status,
        404
    );
    assert_eq!(front.ask(&Ask::new("DELETE", "/mcp")).await.status, 400);
    assert_eq!(front.service.stats().sessions, 0);
}

#[tokio::test]
async fn sessions_of_clients_that_never_come_back_end() {
    let front = front_with(|_, gateway| {
        gateway.limits.session_idle = Duration::from_millis(800);
    })
    .await;
    let idle = front.session("2025-11-25").await;
    let busy = front.session("2025-11-25").await;
    // An open stream keeps a session.
    let mut stream = front.connect().await;
    let open = Ask::new("GET", "/mcp")
        .header("Accept", "text/event-stream")
        .session(&busy);
    stream.send(&open.bytes()).await;
    assert_eq!(stream.head().await.unwrap().status, 200);
    until("the idle session to end", || {
        front.service.stats().sessions == 1
    })
    .await;
    assert_eq!(front.service.stats().sessions_expired, 1);
    assert_eq!(
        front
            .ask(&Ask::legacy_echo("x").session(&idle))
            .await
            .status,
        404
    );
    assert_eq!(
        front
            .ask(&Ask::legacy_echo("x").session(&busy))
            .await
            .status,
        200
    );
    drop(stream);
    until("the other session to end", || {
        front.service.stats().sessions == 0
    })
    .await;
}

#[tokio::test]
async fn sessions_over_the_cap_are_refused_until_others_were_idle() {
    let front = front_with(|_, gateway| {
        gateway.limits.sessions = 3;
        gateway.limits.session_idle_when_full = Duration::from_secs(1);
    })
    .await;
    for _ in 0..3 {
        front.session("2025-11-25").await;
    }
    let refused = front.ask(&Ask::initialize("2025-11-25")).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.header("retry-after").is_some());
    assert_eq!(front.service.stats().refused[&RefusalReason::Full], 1);
    let mut connection = front.connect().await;
    loop {
        let answer = connection.ask(&Ask::initialize("2025-11-25")).await;
        if answer.status == 200 {
            break;
        }
        assert_eq!(answer.status, 503);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(front.service.stats().sessions <= 3);
    assert_eq!(front.ask(&Ask::modern_echo("x")).await.text(), "x");
}

#[tokio::test]
async fn modern_clients_over_the_limit_are_refused_while_all_are_in_use() {
    let front = front_with(|http, gateway| {
        http.auth = HttpAuth::Custom(std::sync::Arc::new(Names));
        gateway.limits.clients = 1;
    })
    .await;
    front.host.set_policy(for_everyone());
    let listen = Ask::modern("subscriptions/listen", json!({"notifications": {}}));
    let mut listening = front.connect().await;
    listening.send(&of(listen, "ann").bytes()).await;
    assert_eq!(listening.head().await.unwrap().status, 200);
    assert!(listening.event().await.is_some());
    let bobs = of(Ask::modern_echo("x"), "bob");
    let refused = front.ask(&bobs).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    assert_eq!(refused.header("retry-after"), Some("5"));
    let own = of(Ask::modern_echo("y"), "ann");
    assert_eq!(front.ask(&own).await.text(), "y");
    // An idle one makes room.
    drop(listening);
    let served = async { while front.ask(&bobs).await.status != 200 {} };
    within("room for bob", served).await;
}
