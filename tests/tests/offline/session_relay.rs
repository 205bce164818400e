//! Questions of modern servers that are passed on to the client that a call is made for.

use std::sync::Arc;

use serde_json::{Value, json};
use switchboard::events::Event;
use switchboard::host::{Caller, Host};
use switchboard::policy::{AgentPolicy, Level};
use switchboard::protocol::{GetPromptParams, Raw};
use switchboard::session::{Delivery, InputRelay};
use switchboard::spec::{Protocol, ServerName, Settings};
use switchboard::{CallError, CallOptions, ErrorKind, Server, SessionOptions};
use switchboard_testkit::Options;

use crate::host_support::agents::drain;
use crate::host_support::{name, testkit};
use crate::support::person::Person;
use crate::support::{self, Wire, legacy, limited, modern_options, modern_with, text_of};

/// The text of a result that asks, spelled as no serializer would.
const ASKS: &str = r#"{"resultType":"input_required", "x": 1.50,"inputRequests":{"who":{"method":"elicitation/create","params":{"message":"\u0077ho?","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"\u0041\/1"}"#;
const STATE: &str = r#""\u0041\/1""#;
const ANSWERS: &str = r#"{"who":{"action":"accept", "content":{"name":"\u0041da"}}}"#;

fn raw(text: &str) -> Raw {
    Raw::parse(text).unwrap()
}

/// A relay for a client that fills in forms.
fn relay() -> InputRelay {
    InputRelay::new(raw(
        r#"{"elicitation":{"form":{}},"extensions":{"org.example/x":{"v":1.0}}}"#,
    ))
    .unwrap()
}

fn repeated() -> InputRelay {
    relay().answers(Some(raw(ANSWERS)), Some(raw(STATE)))
}

fn with(relay: InputRelay) -> CallOptions {
    CallOptions::default().relay(Arc::new(relay))
}

/// Options of a session with a person of its own, who must not be asked.
fn own(person: &Person) -> SessionOptions {
    modern_options().respond(person.clone())
}

async fn ask(wire: &mut Wire, request: &Value) {
    let id = &request["id"];
    wire.raw(format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{ASKS}}}\n"
    ))
    .await;
}

/// Asks until there are answers, and then gives the result that each method has.
async fn asks_once(mut wire: Wire) {
    while let Some(request) = wire.read().await {
        if request["params"]["inputResponses"].is_null() {
            ask(&mut wire, &request).await;
            continue;
        }
        let mut result = support::text("done");
        result["messages"] = json!([]);
        result["contents"] = json!([]);
        result["resultType"] = json!("complete");
        wire.answer(&request, &result).await;
    }
}

#[tokio::test(start_paused = true)]
async fn relayed_questions_end_the_call_and_come_verbatim() {
    let person = Person::willing();
    let (session, mut server) = modern_with(own(&person), asks_once).await;
    let arguments = || Some(raw(r#"{"k": 1}"#));
    let error = session
        .call_tool("x", arguments(), with(relay()))
        .await
        .unwrap_err();
    assert_eq!(error.input_required().unwrap().as_str(), ASKS);
    assert_eq!(error.delivery(), Delivery::Answered);
    assert_eq!(error.to_string(), "tools/call needs input first");
    let result = session.call_tool("x", arguments(), with(repeated())).await;
    assert_eq!(text_of(&result.unwrap()), "done");
    assert_eq!(person.asked(), 0);
    let heard = server.heard_so_far();
    let own = "io.modelcontextprotocol/clientCapabilities";
    for request in &heard {
        assert_eq!(request["params"]["arguments"], json!({"k": 1}));
        let declared = &request["params"]["_meta"][own];
        let wanted =
            json!({"elicitation": {"form": {}}, "extensions": {"org.example/x": {"v": 1.0}}});
        assert_eq!(*declared, wanted);
    }
    assert!(heard[0]["params"].get("inputResponses").is_none());
    assert!(heard[0]["params"].get("requestState").is_none());
    assert_eq!(heard[1]["params"]["requestState"], "A/1");
    let answers: Value = serde_json::from_str(ANSWERS).unwrap();
    assert_eq!(heard[1]["params"]["inputResponses"], answers);
}

#[tokio::test(start_paused = true)]
async fn answers_and_state_of_a_relayed_call_are_sent_byte_for_byte() {
    use tokio::io::AsyncBufReadExt as _;
    let (session, _server) = modern_with(modern_options(), |mut wire| async move {
        let mut line = String::new();
        wire.input.read_line(&mut line).await.unwrap();
        let members = format!("\"inputResponses\":{ANSWERS},\"requestState\":{STATE}");
        assert!(line.contains(&members), "{line}");
        let request = serde_json::from_str(&line).unwrap();
        wire.answer(&request, &support::text("done")).await;
        wire.hold().await;
    })
    .await;
    let called = session.call_tool("x", None, with(repeated())).await;
    assert_eq!(text_of(&called.unwrap()), "done");
}

#[tokio::test(start_paused = true)]
async fn prompts_and_resources_can_ask_through_a_relay_too() {
    let (session, _server) = modern_with(modern_options(), asks_once).await;
    let params = GetPromptParams::of("hello", &json!({})).unwrap();
    let error = session
        .get_prompt(&params, with(relay()))
        .await
        .unwrap_err();
    assert_eq!(error.input_required().unwrap().as_str(), ASKS);
    session.get_prompt(&params, with(repeated())).await.unwrap();
    let uri = "file:///a";
    let error = session.read_resource(uri, with(relay())).await.unwrap_err();
    assert_eq!(error.input_required().unwrap().as_str(), ASKS);
    session.read_resource(uri, with(repeated())).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_client_is_not_asked_what_it_has_not_declared() {
    let (session, _server) = modern_with(modern_options(), asks_once).await;
    for declared in [
        "{}",
        r#"{"sampling":{}}"#,
        r#"{"elicitation":{"url":{}}}"#,
        r#"{"elicitation":7}"#,
    ] {
        let relay = InputRelay::new(raw(declared)).unwrap();
        let error = session.call_tool("x", None, with(relay)).await.unwrap_err();
        assert!(
            matches!(&error, CallError::InputRefused { method, .. } if method == "elicitation/create"),
            "{declared}: {error}"
        );
    }
    assert!(InputRelay::new(raw("[]")).is_err());
}

#[tokio::test(start_paused = true)]
async fn no_more_questions_are_relayed_at_once_than_the_limit() {
    for (limit, is_passed) in [(1, true), (0, false)] {
        let options = modern_options().limits(limited(|limits| limits.round_questions = limit));
        let (session, _server) = modern_with(options, asks_once).await;
        let error = session
            .call_tool("x", None, with(relay()))
            .await
            .unwrap_err();
        assert_eq!(error.input_required().is_some(), is_passed, "{limit}");
        if !is_passed {
            assert!(matches!(error, CallError::TooManyQuestions { limit: 0 }));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_relay_changes_nothing_for_a_legacy_server() {
    let (session, mut server) = legacy(Wire::echo_names).await;
    let called = session.call_tool("x", None, with(repeated())).await;
    assert_eq!(text_of(&called.unwrap()), "x");
    let heard = server.heard_so_far();
    let params = heard[0]["params"].as_object().unwrap();
    assert!(!params.contains_key("inputResponses") && !params.contains_key("requestState"));
    let own = "io.modelcontextprotocol/clientCapabilities";
    assert!(params["_meta"].get(own).is_none());
}

#[tokio::test(start_paused = true)]
async fn answers_are_not_sent_twice_even_to_an_idempotent_tool() {
    // Ends in the middle of the call, on its first connection.
    let ending = || {
        support::Server::new(|mut wire| async move {
            wire.greet_modern().await;
            if wire.start == 1 {
                wire.expect("tools/call").await;
                return;
            }
            wire.echo_names().await;
        })
    };
    for (relay, is_repeated) in [(relay(), true), (repeated(), false)] {
        let scripted = Arc::new(ending());
        let name = ServerName::parse("any").unwrap();
        let server = Server::new(name, Arc::clone(&scripted), modern_options());
        let called = server.call_tool("x", None, with(relay).idempotent()).await;
        assert_eq!(called.is_ok(), is_repeated);
        assert_eq!(scripted.starts(), if is_repeated { 2 } else { 1 });
    }
}

/// A host with the bundled server, and an agent that may use all of it.
fn host() -> Host {
    let settings = Settings {
        protocol: Protocol::Modern,
        ..Settings::default()
    };
    Host::builder()
        .transport(name("demo"), testkit(Options::default()), settings)
        .agent("gateway", AgentPolicy::everything(Level::Yolo))
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_relayed_round_is_a_call_that_completed() {
    let host = host();
    let view = host.view(Caller::agent("gateway").unwrap());
    host.connect("demo").await.unwrap();
    // The definitions are approved at the first use.
    view.call("demo/echo", json!({"message": "hello"}))
        .await
        .unwrap();
    let mut events = host.events();
    let asked = view
        .call("demo/ask_name", json!({}))
        .relay(Arc::new(relay()));
    let error = asked.await.unwrap_err();
    assert_eq!((error.kind(), error.was_sent()), (ErrorKind::Input, true));
    let asks = error.input_required().unwrap();
    let key = asks.member("inputRequests").unwrap().members()[0].0.clone();
    assert_eq!(key, "name");
    let told = drain(&mut events);
    let names: Vec<_> = told.iter().map(Event::name).collect();
    assert_eq!(names, ["call_started", "decided", "call_completed"]);
    let answer = json!({key: {"action": "accept", "content": {"name": "Ada"}}});
    let again = relay().answers(Some(Raw::of(&answer).unwrap()), asks.member("requestState"));
    let options = with(again);
    let result = view.call("demo/ask_name", json!({})).options(options).await;
    let text = result.unwrap().text();
    assert!(text.contains("Ada"), "{text}");
    assert_eq!(drain(&mut events).len(), 3);
}
