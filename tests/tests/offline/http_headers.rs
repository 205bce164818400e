//! The headers of modern requests, and those that a person adds.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use switchboard::protocol::{Era, code};
use switchboard::session::{Delivery, Session};
use switchboard::transport::{Header, Http};
use switchboard::{CallError, CallOptions, Deadline};
use switchboard_testkit::http::{Http as TestServer, Server};
use switchboard_testkit::{Eras, HeaderTools, Options};

use crate::support::http::{self, add, call, connect, echo, limits, options, requests_of};
use crate::support::http_script::{Asked, Reply, Scripted};

async fn server(header_tools: HeaderTools) -> Server {
    let options = Options {
        eras: Eras::Modern,
        header_tools,
        ..Options::default()
    };
    TestServer::new(options).serve().await.unwrap()
}

async fn modern(server: &Scripted) -> Session {
    let http = Http::new(server.url()).unwrap().limits(&limits());
    Session::connect(&http, options(Era::Modern)).await.unwrap()
}

#[tokio::test]
async fn every_request_says_its_version_method_and_name() {
    let server = server(HeaderTools::None).await;
    let session = connect(&server, Era::Modern).await;
    echo(&session).await.unwrap();
    let resources = session.list_resources().await.unwrap();
    let uri = resources.items[0].uri().to_owned();
    session
        .read_resource(&uri, CallOptions::default())
        .await
        .unwrap();
    for request in server.requests() {
        assert_eq!(request.header("mcp-protocol-version"), Some("2026-07-28"));
        let method = request.rpc_method();
        assert_eq!(request.header("mcp-method"), Some(method.as_str()));
        assert_eq!(request.header("mcp-session-id"), None);
        let name = match method.as_str() {
            "tools/call" => Some("echo"),
            "resources/read" => Some(uri.as_str()),
            _ => None,
        };
        assert_eq!(request.header("mcp-name"), name, "{method}");
        assert_eq!(
            request.header("accept"),
            Some("application/json, text/event-stream")
        );
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert_eq!(request.header("accept-encoding"), None);
    }
}

#[tokio::test]
async fn a_name_that_is_no_header_goes_in_base64() {
    let server = Scripted::new(|asked| Some(asked.modern())).await;
    let session = modern(&server).await;
    for (name, written) in [
        ("plain", "plain"),
        ("caf\u{e9}", "=?base64?Y2Fmw6k=?="),
        (" led", "=?base64?IGxlZA==?="),
        ("a\r\nEvil: 1", "=?base64?YQ0KRXZpbDogMQ==?="),
        ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
    ] {
        call(&session, name, json!({})).await.unwrap();
        let asked = server.asked().pop().unwrap();
        assert_eq!(asked.header("mcp-name"), Some(written));
        assert_eq!(asked.header("evil"), None);
        assert_eq!(asked.json()["params"]["name"], name);
    }
}

#[tokio::test]
async fn arguments_are_repeated_in_headers_where_a_tool_wants_it() {
    let server = server(HeaderTools::Good).await;
    let session = connect(&server, Era::Modern).await;
    let tools = session.list_tools().await.unwrap();
    let tool = tools
        .items
        .iter()
        .find(|tool| tool.name() == "route_request")
        .unwrap();
    let schema: serde_json::Value = tool.input_schema().raw().decode().unwrap();
    // The server holds every header against the body, and refuses what differs.
    let mut arguments = serde_json::Map::new();
    for (name, property) in schema["properties"].as_object().unwrap() {
        let value = match property["type"].as_str().unwrap_or("string") {
            "integer" => json!(7),
            "number" => json!(2.5),
            "boolean" => json!(true),
            "string" => json!("zur\u{fc}ck"),
            _ => continue,
        };
        arguments.insert(name.clone(), value);
    }
    call(&session, "route_request", json!(arguments))
        .await
        .unwrap();
    let asked = requests_of(&server, "tools/call").pop().unwrap();
    let repeated = asked
        .headers
        .iter()
        .filter(|(name, _)| name.starts_with("mcp-param-"));
    assert!(repeated.count() >= 2, "{:?}", asked.headers);
    assert_eq!(requests_of(&server, "tools/call").len(), 1);
}

#[tokio::test]
async fn a_first_call_learns_what_the_tool_wants() {
    let server = server(HeaderTools::Good).await;
    let session = connect(&server, Era::Modern).await;
    let listed = || requests_of(&server, "tools/list").len();
    // One of them learns it for all.
    let calls = (0..20).map(|_| {
        let session = session.clone();
        tokio::spawn(async move { add(&session).await.unwrap() })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
    assert_eq!(listed(), 1);
    add(&session).await.unwrap();
    assert_eq!(listed(), 1);
}

#[tokio::test]
async fn tools_whose_headers_are_wrong_are_set_aside_with_the_reason() {
    let server = server(HeaderTools::Bad).await;
    let session = connect(&server, Era::Modern).await;
    let tools = session.list_tools().await.unwrap();
    let names: Vec<_> = tools.items.iter().map(|tool| tool.name()).collect();
    assert!(names.contains(&"route_request") && names.contains(&"echo"));
    assert!(
        !names.iter().any(|name| name.starts_with("bad_header_")),
        "{names:?}"
    );
    assert!(tools.set_aside.len() >= 5, "{:?}", tools.set_aside);
    for aside in &tools.set_aside {
        assert!(aside.name.as_deref().unwrap().starts_with("bad_header_"));
        assert!(aside.reason.contains("header"), "{}", aside.reason);
    }
    // Of a legacy server nobody wants such headers, and its tools are as good as others.
    let options = Options {
        eras: Eras::Legacy,
        header_tools: HeaderTools::Bad,
        ..Options::default()
    };
    let server = TestServer::new(options).serve().await.unwrap();
    let session = connect(&server, Era::Legacy).await;
    assert_eq!(session.list_tools().await.unwrap().set_aside, []);
}

#[tokio::test]
async fn a_mismatch_is_repaired_once() {
    for times in [1, usize::MAX] {
        let refused = AtomicUsize::new(0);
        let server = Scripted::new(move |asked: &Asked| {
            let refuses =
                asked.what() == "tools/call" && refused.fetch_add(1, Ordering::SeqCst) < times;
            Some(match refuses {
                true => asked.error(400, code::HEADER_MISMATCH),
                false => asked.modern(),
            })
        })
        .await;
        let session = modern(&server).await;
        match (times, echo(&session).await) {
            (1, called) => assert_eq!(called.unwrap(), "done"),
            (_, called) => {
                let error = called.unwrap_err();
                assert_eq!(error.rpc().unwrap().code(), code::HEADER_MISMATCH);
            }
        }
        // Before the first time, and once more for the second.
        assert_eq!(
            (server.count("tools/list"), server.count("tools/call")),
            (2, 2)
        );
    }
}

#[tokio::test]
async fn a_list_that_is_not_to_be_had_does_not_keep_a_call_from_being_made() {
    let server = Scripted::new(|asked| {
        Some(match asked.what().as_str() {
            "tools/list" => Reply::new(500),
            _ => asked.modern(),
        })
    })
    .await;
    let session = modern(&server).await;
    let calls = (0..20).map(|_| {
        let session = session.clone();
        tokio::spawn(async move { echo(&session).await.unwrap() })
    });
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap(), "done");
    }
    // One try for all of them, and what is tried again of it.
    assert_eq!(server.count("tools/list"), 4);
}

#[tokio::test]
async fn the_time_that_a_list_takes_is_the_calls() {
    let server =
        Scripted::new(|asked| (asked.what() != "tools/list").then(|| asked.modern())).await;
    let session = modern(&server).await;
    let brief = CallOptions::default().deadline(Deadline::within(Duration::from_millis(300)));
    let begun = tokio::time::Instant::now();
    let error = http::call_with(&session, "echo", json!({}), brief)
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::TimedOut { .. }), "{error:?}");
    assert_eq!(error.delivery(), Delivery::NeverSent);
    assert!(begun.elapsed() < http::SOON);
    assert_eq!(server.count("tools/call"), 0);
}

#[tokio::test]
async fn errors_are_matched_by_their_exchange_in_either_form_and_with_any_id() {
    for id in [json!(null), json!("server-error"), json!(9999), json!(1)] {
        for status in [200, 400, 404, 500] {
            let id = id.clone();
            let server = Scripted::new(move |asked| {
                let error = json!({"code": -32099, "message": "no"});
                let body = json!({"jsonrpc": "2.0", "id": id, "error": error});
                Some(match asked.json()["params"]["name"].as_str() {
                    Some("echo") => Reply::json(status, &body),
                    Some("add") => Reply::stream(&format!("data: {body}\n\n")),
                    _ => asked.modern(),
                })
            })
            .await;
            let session = modern(&server).await;
            for called in [echo(&session).await, add(&session).await] {
                let error = called.unwrap_err();
                assert_eq!(
                    error.rpc().map(|rpc| rpc.code()),
                    Some(-32099),
                    "{status}: {error:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn headers_of_the_person_go_with_every_request_and_cannot_replace_ours() {
    for era in http::ERAS {
        let server = http::server_of(era, &[]).await;
        let http = http::http(&server)
            .header(Header::parse("Authorization: Bearer canary").unwrap())
            .unwrap()
            .header(Header::parse("X-Team: blue").unwrap())
            .unwrap();
        let session = Session::connect(&http, options(era)).await.unwrap();
        echo(&session).await.unwrap();
        if era == Era::Legacy {
            server.until(|counts| counts.running > 0).await;
        }
        session.close().await;
        for request in server.requests() {
            assert_eq!(request.header("authorization"), Some("Bearer canary"));
            assert_eq!(request.header("x-team"), Some("blue"), "{}", request.method);
        }
        for ours in [
            "Mcp-Session-Id: 1",
            "MCP-Protocol-Version: 1",
            "Host: elsewhere",
            "Content-Length: 1",
        ] {
            Header::parse(ours).unwrap_err();
        }
        assert!(!format!("{http:?}").contains("canary"));
    }
}
