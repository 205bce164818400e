//! Named tokens: what they may use, and that changes count while clients are connected.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;
use switchboard::policy::{AgentPolicy, CallerId, Grants, Level, Policy};
use switchboard_gateway::http::{HttpAuth, LiveTokens, NamedTokens, NewToken, Token};

use crate::support::{Ask, Front, TOKEN, front_with, until, within};

struct Named {
    front: Front,
    tokens: NamedTokens,
    /// The reasons why no token counts.
    told: Arc<Mutex<Vec<String>>>,
    _folder: tempfile::TempDir,
}

/// A gateway that takes its own token and named ones.
async fn named() -> Named {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("state");
    let told = Arc::<Mutex<Vec<String>>>::default();
    let telling = Arc::clone(&told);
    let live = LiveTokens::with_listener(NamedTokens::at(&place), move |why| {
        telling.lock().unwrap().push(why.to_owned());
    });
    let front = front_with(|http, gateway| {
        let own = HttpAuth::Token(Token::new(TOKEN).unwrap());
        http.auth = HttpAuth::Any(vec![own, HttpAuth::Named(live)]);
        gateway.limits.stream_after = Duration::from_millis(20);
    })
    .await;
    Named {
        front,
        tokens: NamedTokens::at(place),
        told,
        _folder: folder,
    }
}

fn with(ask: Ask, token: &str) -> Ask {
    ask.replace("Authorization", &format!("Bearer {token}"))
}

fn bounded(name: &str, grants: &[&str]) -> NewToken {
    let mut new = NewToken::new(name);
    new.grants = Some(Grants::parse(grants).unwrap());
    new
}

/// A token for everything of the one server.
fn granted(name: &str) -> NewToken {
    bounded(name, &["mcp:demo:*"])
}

async fn tools(front: &Front, token: &str) -> Vec<String> {
    let list = front
        .ask(&with(Ask::modern("tools/list", json!({})), token))
        .await
        .json();
    let tools = list["result"]["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_token_that_is_added_while_the_gateway_serves_counts_at_once() {
    let Named { front, tokens, .. } = named().await;
    assert_eq!(front.ask(&Ask::modern_echo("own")).await.text(), "own");
    let stranger = with(Ask::modern_echo("x"), "0123456789abcdef0123");
    assert_eq!(front.ask(&stranger).await.status, 401);
    let laptop = tokens.add(granted("laptop")).unwrap();
    within("the token to count", async {
        let echo = with(Ask::modern_echo("x"), &laptop);
        while front.ask(&echo).await.status == 401 {}
    })
    .await;
    assert!(tools(&front, &laptop).await.len() > 1);
}

#[tokio::test]
async fn a_token_without_grants_may_use_what_the_policy_says_of_its_agent() {
    let Named { front, tokens, .. } = named().await;
    let laptop = tokens.add(NewToken::new("laptop")).unwrap();
    let mut high = NewToken::new("high");
    high.level = Some(Level::Yolo);
    let high = tokens.add(high).unwrap();
    let before = front.record.len();
    for token in [&laptop, &high] {
        assert_eq!(tools(&front, token).await, [""; 0]);
        let refused = front.ask(&with(Ask::modern_echo("x"), token)).await;
        assert_eq!(refused.code(), -32602, "{refused:?}");
    }
    assert_eq!(front.record.len(), before, "nothing reached a server");
    let id = CallerId::parse("laptop").unwrap();
    let policy = Policy::none().agent(id, AgentPolicy::everything(Level::Yolo));
    front.host.set_policy(policy);
    assert!(tools(&front, &laptop).await.len() > 1);
    assert_eq!(tools(&front, &high).await, [""; 0]);
}

#[tokio::test]
async fn a_token_narrows_what_its_agent_may_use() {
    let Named { front, tokens, .. } = named().await;
    let narrow = tokens.add(bounded("narrow", &["mcp:demo:ech*"])).unwrap();
    let mut locked = NewToken::new("locked");
    locked.level = Some(Level::Sandboxed);
    let locked = tokens.add(locked).unwrap();
    assert_eq!(tools(&front, &narrow).await, ["demo__echo"]);
    assert_eq!(tools(&front, &locked).await, [""; 0]);
    // A policy for the name of the token counts in place of that of the usual agent.
    let id = |id: &str| CallerId::parse(id).unwrap();
    let sandboxed = AgentPolicy::new(Level::Sandboxed);
    let policy = Policy::none()
        .agent(id("gateway"), AgentPolicy::everything(Level::Yolo))
        .agent(id("narrow"), sandboxed);
    front.host.set_policy(policy);
    assert_eq!(tools(&front, &narrow).await, [""; 0]);
    let before = front.record.len();
    for token in [&narrow, &locked] {
        let refused = front.ask(&with(Ask::modern_echo("x"), token)).await;
        assert_eq!(refused.code(), -32602, "{refused:?}");
    }
    assert_eq!(front.record.len(), before, "nothing reached a server");
}

#[tokio::test]
async fn a_token_that_is_revoked_or_rotated_ends_its_session_and_streams() {
    for is_rotated in [false, true] {
        let Named { front, tokens, .. } = named().await;
        let laptop = tokens.add(granted("laptop")).unwrap();
        let other = tokens.add(granted("other")).unwrap();
        let opened = front
            .ask(&with(Ask::initialize("2025-11-25"), &laptop))
            .await;
        let session = opened.session().unwrap().to_owned();
        let general = Ask::new("GET", "/mcp")
            .header("Accept", "text/event-stream")
            .session(&session);
        let mut stream = front.connect().await;
        stream.send(&with(general, &laptop).bytes()).await;
        assert_eq!(stream.head().await.unwrap().status, 200);
        let theirs = front
            .ask(&with(Ask::initialize("2025-11-25"), &other))
            .await;
        let theirs = theirs.session().unwrap().to_owned();

        let start = Instant::now();
        let new = if is_rotated {
            Some(tokens.rotate("laptop").unwrap())
        } else {
            tokens.revoke("laptop").unwrap();
            None
        };
        // Nothing is sent meanwhile: the gateway finds it out alone.
        within("the stream to end", async {
            while stream.block().await.is_some() {}
        })
        .await;
        until("the session to end", || front.service.stats().sessions == 1).await;
        let took = start.elapsed();
        assert!(took < Duration::from_secs(1), "it took {took:?}");
        let before = front.record.len();
        let echo = Ask::legacy_echo("x").session(&session);
        assert_eq!(front.ask(&with(echo.clone(), &laptop)).await.status, 401);
        assert_eq!(front.ask(&with(echo.clone(), &other)).await.status, 404);
        assert_eq!(front.ask(&echo).await.status, 404);
        assert_eq!(front.record.len(), before, "nothing reached a server");
        if let Some(new) = new {
            assert_eq!(front.ask(&with(echo, &new)).await.status, 404);
            let echo = with(Ask::modern_echo("new"), &new);
            assert_eq!(front.ask(&echo).await.text(), "new");
        }
        let echo = with(Ask::legacy_echo("other").session(&theirs), &other);
        assert_eq!(front.ask(&echo).await.text(), "other");
    }
}

#[tokio::test]
async fn a_token_that_expires_ends_its_session() {
    let Named { front, tokens, .. } = named().await;
    let mut brief = granted("brief");
    // Whole seconds are kept.
    brief.expires = Some(SystemTime::now() + Duration::from_secs(2));
    let brief = tokens.add(brief).unwrap();
    let opened = front
        .ask(&with(Ask::initialize("2025-11-25"), &brief))
        .await;
    let echo = Ask::legacy_echo("x").session(opened.session().unwrap());
    assert_eq!(front.ask(&with(echo.clone(), &brief)).await.text(), "x");
    until("the session to end", || front.service.stats().sessions == 0).await;
    assert_eq!(front.ask(&with(echo, &brief)).await.status, 401);
}

#[tokio::test]
async fn no_token_counts_while_their_file_cannot_be_read() {
    let Named {
        front,
        tokens,
        told,
        _folder,
    } = named().await;
    let laptop = tokens.add(granted("laptop")).unwrap();
    let echo = with(Ask::modern_echo("x"), &laptop);
    assert_eq!(front.ask(&echo).await.text(), "x");
    let good = std::fs::read(tokens.path()).unwrap();
    std::fs::write(tokens.path(), "{").unwrap();
    within("the token to be refused", async {
        while front.ask(&echo).await.status == 200 {}
    })
    .await;
    assert_eq!(front.ask(&Ask::modern_echo("own")).await.text(), "own");
    // The operator learns it. (The file may be seen before it is written whole.)
    let reasons = told.lock().unwrap().clone();
    let is_named = reasons.iter().all(|why| why.contains("tokens.json"));
    assert!(is_named && (1..=2).contains(&reasons.len()), "{reasons:?}");
    std::fs::write(tokens.path(), good).unwrap();
    within("the token to count again", async {
        while front.ask(&echo).await.status == 401 {}
    })
    .await;
}
