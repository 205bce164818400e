//! Many servers at once, without processes: names, calls, arguments, errors, events.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::config::Config;
use switchboard::events::Event;
use switchboard::formats::{self, TextLimits};
use switchboard::host::{Caller, Host, State};
use switchboard::spec::{Layer, Protocol, Settings};
use switchboard::{Deadline, ErrorKind, Step, Timeouts};
use switchboard_testkit::Options;

use crate::host_support::{With as _, crashing, faulty, name, silent, testkit};

fn demo() -> Host {
    Host::builder()
        .with("demo", testkit(Options::default()))
        .build()
        .unwrap()
}

#[tokio::test]
async fn tools_are_listed_called_and_named_for_models() {
    let host = demo();
    let statuses = host.connect_all().await;
    assert!(statuses[0].is_ready(), "{statuses:?}");
    assert_eq!(statuses[0].offers.tools, 7);
    let view = host.view(Caller::owner());
    let names: Vec<String> = view
        .tools()
        .iter()
        .map(|tool| tool.name().to_owned())
        .collect();
    assert!(names.contains(&"mcp__demo__echo".to_owned()), "{names:?}");
    let echo = view.tool("mcp__demo__echo").unwrap();
    assert_eq!((echo.raw_name(), echo.server().as_str()), ("echo", "demo"));
    let result = echo.call(json!({"message": "hello"})).await.unwrap();
    assert!(!result.is_error());
    assert_eq!(result.content()[0].as_text(), Some("hello"));
    assert_eq!(result.text(), "hello");
    host.shutdown().await;
}

#[tokio::test]
async fn a_tool_is_found_without_connecting_first() {
    let host = demo();
    let view = host.view(Caller::owner());
    assert!(
        view.tool("demo/echo").is_err(),
        "nobody has asked the server yet"
    );
    let echo = view.find("demo/echo").await.unwrap();
    assert_eq!(echo.name(), "mcp__demo__echo");
    let host = demo();
    let echo = host.view(Caller::owner()).find("mcp__demo__echo").await;
    echo.unwrap().call(json!({"message": "x"})).await.unwrap();
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_not_sent() {
    let host = demo();
    let view = host.view(Caller::owner());
    let add = view.find("demo/add").await.unwrap();
    for bad in [json!({"a": 1}), json!({"a": "x", "b": 2}), json!([1, 2])] {
        let error = add.call(&bad).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Arguments, "{bad}: {error}");
        assert!(!error.was_sent());
        assert_eq!(error.server(), Some(&name("demo")));
    }
    add.call(json!({"a": 1, "b": 2})).await.unwrap();
}

#[tokio::test]
async fn an_unknown_name_is_never_guessed_but_suggested() {
    let host = demo();
    host.connect_all().await;
    let view = host.view(Caller::owner());
    let error = view.tool("demo/ecko").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let diagnosis = switchboard::explain(&error);
    let step = diagnosis.steps[0].to_string();
    assert!(step.contains("demo/echo"), "{diagnosis:?}");
    let error = host.connect("dmeo").await.unwrap_err();
    let diagnosis = switchboard::explain(&error);
    let step = diagnosis.steps[0].to_string();
    assert!(step.contains("demo"), "{diagnosis:?}");
}

#[tokio::test]
async fn prompts_and_resources_are_reached_by_name() {
    let host = demo();
    let view = host.view(Caller::owner());
    let mut arguments = BTreeMap::new();
    let error = view.prompt("demo/greeting", arguments.clone()).await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Arguments);
    arguments.insert("name".to_owned(), "Ada".to_owned());
    let prompt = view.prompt("demo/greeting", arguments).await.unwrap();
    assert_eq!(prompt.messages().len(), 1);
    let read = view.read("demo", "file:///readme.txt").await.unwrap();
    assert_eq!(read.contents().len(), 1);
    assert_eq!(view.resources().len(), 3);
}

#[tokio::test]
async fn prompt_arguments_are_json_values_and_reach_the_server_as_strings() {
    let host = demo();
    let text = async |name: &str, arguments: Value| {
        let prompt = host.prompt(name, arguments).await.unwrap();
        let block = &prompt.messages()[0].content()[0];
        block.as_text().unwrap().to_owned()
    };
    // The server takes strings alone, and is asked for a formal greeting by the string "true".
    let greeting = text("demo/greeting", json!({"name": "Ada", "formal": true})).await;
    assert!(
        greeting.contains("formal greeting addressed to Ada"),
        "{greeting}"
    );
    for (focus, said) in [
        (json!("names"), Some("closely at names.")),
        (json!([1, {"a": "b"}]), Some(r#"closely at [1,{"a":"b"}]."#)),
        (json!(1.5), Some("closely at 1.5.")),
        // What is null is not given.
        (json!(null), None),
    ] {
        let arguments = json!({"language": "Rust", "focus": focus});
        let review = text("demo/code_review", arguments).await;
        match said {
            Some(said) => assert!(review.contains(said), "{review}"),
            None => assert!(!review.contains("closely"), "{review}"),
        }
    }
    let error = host.prompt("demo/greeting", json!(["Ada"])).await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Arguments);
    host.shutdown().await;
}

#[tokio::test]
async fn prompt_content_as_a_string_or_a_list_is_taken_with_a_notice() {
    let mut options = Options::default();
    options.growing = true;
    for protocol in [Protocol::Legacy, Protocol::Modern] {
        let builder = Host::builder().protocol(protocol);
        let host = builder.with("demo", testkit(options.clone()));
        let host = host.build().unwrap();
        let block = json!({"type": "text", "text": "a"});
        for (name, content, shown, said) in [
            ("block", block.clone(), "user:\na", None),
            (
                "string",
                json!("plain\ntext"),
                "user:\nplain\ntext",
                Some("prompt string: the content of a message is a plain string"),
            ),
            (
                "list",
                json!([block, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]),
                "user:\na\n[image image/png 3 B]",
                Some("prompt list: the content of a message is a list of blocks"),
            ),
        ] {
            let new = json!({"name": name, "content": content});
            host.call("demo/add_prompt", new).await.unwrap();
            host.refresh("demo").await.unwrap();
            let mut events = host.events();
            let prompt = host.prompt(&format!("demo/{name}"), json!({})).await;
            let prompt = prompt.unwrap();
            let text = formats::prompt_text(&prompt, &TextLimits::default());
            assert_eq!(text.text, shown);
            // What was sent is kept as it is.
            let sent: Value = prompt.messages()[0].raw().decode().unwrap();
            assert_eq!(sent["content"], content);
            let notices = std::iter::from_fn(|| events.try_recv().ok());
            let notice = notices
                .filter_map(|event| match event {
                    Event::Notice { text, .. } => Some(text),
                    _ => None,
                })
                .next();
            assert_eq!(notice.as_deref(), said);
        }
        host.shutdown().await;
    }
}

#[tokio::test]
async fn a_slow_and_a_broken_server_delay_nobody() {
    let mut builder = Host::builder();
    for number in 0..18 {
        builder = builder.with(&format!("good{number}"), testkit(Options::default()));
    }
    let patience = Deadline::within(Duration::from_millis(500));
    let mut settings = Settings::default();
    settings.timeouts = Timeouts::all(patience);
    let host = builder
        .transport(name("hangs"), silent(), settings)
        .with("crashes", crashing())
        .build()
        .unwrap();
    let connecting = tokio::spawn({
        let host = host.clone();
        async move { host.connect_all().await }
    });
    // All eighteen can be used while the one that hangs is still being waited for.
    let mut catalog = host.watch_catalog();
    let all = catalog.wait_for(|catalog| catalog.servers().len() == 18);
    drop(all.await.unwrap());
    assert!(matches!(
        host.server("hangs").unwrap().state,
        State::Connecting
    ));
    let view = host.view(Caller::owner());
    for number in 0..18 {
        let tool = view.tool(&format!("good{number}/echo")).unwrap();
        tool.call(json!({"message": "x"})).await.unwrap();
    }
    assert!(!connecting.is_finished(), "it waits for the one that hangs");
    let statuses = connecting.await.unwrap();
    assert_eq!(statuses.len(), 20);
    let failed: Vec<_> = statuses
        .iter()
        .filter(|status| !status.is_ready())
        .collect();
    let names: Vec<_> = failed.iter().map(|status| status.name.as_str()).collect();
    assert_eq!(names, ["crashes", "hangs"]);
    for status in failed {
        assert_eq!(status.error().unwrap().kind(), ErrorKind::Connect);
    }
    host.shutdown().await;
}

#[tokio::test]
async fn events_tell_of_connections_and_calls_in_order() {
    let host = demo();
    let mut events = host.events();
    host.connect_all().await;
    let view = host.view(Caller::owner());
    let echo = view.find("demo/echo").await.unwrap();
    echo.call(json!({"message": "x"})).await.unwrap();
    host.shutdown().await;
    let mut names = Vec::new();
    while let Ok(event) = events.try_recv() {
        if let Event::CallCompleted { call, is_error, .. } = &event {
            assert_eq!(
                (&*call.name, &*call.caller, *is_error),
                ("echo", "owner", false)
            );
        }
        names.push(event.name());
    }
    let expected = [
        "connect_started",
        "connected",
        // The tools, and then everything else.
        "catalog_changed",
        "catalog_changed",
        "call_started",
        "call_completed",
        "disconnected",
        "catalog_changed",
    ];
    assert_eq!(names, expected);
}

#[tokio::test]
async fn a_server_that_dies_is_connected_to_again_on_the_next_use() {
    let host = Host::builder()
        .with("demo", faulty(&["die-after-2"]))
        .build()
        .unwrap();
    let view = host.view(Caller::owner());
    let echo = view.find("demo/echo").await.unwrap();
    let mut events = host.events();
    let mut answered = 0;
    for _ in 0..20 {
        answered += usize::from(echo.call(json!({"message": "x"})).await.is_ok());
    }
    assert!(answered >= 10, "{answered}");
    let mut again = 0;
    while let Ok(event) = events.try_recv() {
        again += usize::from(matches!(
            event,
            Event::Connected {
                is_reconnect: true,
                ..
            }
        ));
    }
    assert!(again > 0);
}

#[tokio::test]
async fn without_reconnect_a_lost_connection_stays_lost_until_somebody_asks() {
    let mut settings = Settings::default();
    settings.reconnect = false;
    let host = Host::builder()
        .transport(name("demo"), faulty(&["die-on-call"]), settings)
        .build()
        .unwrap();
    let view = host.view(Caller::owner());
    let echo = view.find("demo/echo").await.unwrap();
    echo.call(json!({"message": "x"})).await.unwrap_err();
    let error = echo.call(json!({"message": "x"})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect, "{error}");
    assert!(error.close_reason().is_some());
    assert!(host.connect("demo").await.unwrap().is_ready());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_again_and_again_is_left_alone() {
    let host = Host::builder().with("broken", crashing()).build().unwrap();
    let mut events = host.events();
    for _ in 0..100 {
        host.check("broken").await.unwrap_err();
        tokio::time::advance(Duration::from_secs(60)).await;
    }
    let mut attempts = 0;
    while let Ok(event) = events.try_recv() {
        attempts += usize::from(matches!(event, Event::ConnectFailed { .. }));
    }
    assert_eq!(attempts, 5);
    let error = host.check("broken").await.unwrap_err();
    // The server is named once.
    assert_eq!(error.to_string().matches("broken: ").count(), 1, "{error}");
    let diagnosis = switchboard::explain(&error);
    let retry = Step::Retry {
        server: Some(name("broken")),
    };
    assert!(diagnosis.steps.contains(&retry), "{diagnosis:?}");
    // Asking outright tries once more.
    host.connect("broken").await.unwrap_err();
    assert!(matches!(
        events.try_recv().unwrap(),
        Event::ConnectStarted { .. }
    ));
}

#[tokio::test]
async fn a_removed_server_is_gone_and_can_be_added_again() {
    let host = demo();
    host.connect_all().await;
    let view = host.view(Caller::owner());
    let echo = view.tool("demo/echo").unwrap();
    let slow = view.tool("demo/slow_operation").unwrap();
    let running = tokio::spawn(async move { slow.call(json!({"duration": 30, "steps": 3})).await });
    tokio::task::yield_now().await;
    host.remove("demo").await.unwrap();
    running.await.unwrap().unwrap_err();
    assert!(view.tools().is_empty());
    assert_eq!(
        echo.call(json!({"message": "x"})).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert!(host.servers().is_empty());
    assert!(host.disconnect("demo").await.is_err());
}

#[tokio::test]
async fn tools_without_a_server_list_and_check_and_say_that_they_cannot_run() {
    let tool = switchboard::protocol::Raw::parse(
        r#"{"name":"greet","inputSchema":{"type":"object","required":["who"]}}"#,
    );
    let tool = switchboard::protocol::FromRaw::from_raw(&tool.unwrap()).unwrap();
    let host = Host::builder()
        .offline(name("later"), vec![tool])
        .build()
        .unwrap();
    let view = host.view(Caller::owner());
    let greet = view.tool("mcp__later__greet").unwrap();
    let error = greet.call(json!({"who": "you"})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotOffered, "{error}");
    assert!(error.to_string().contains("no live server"), "{error}");
    let error = greet.call(json!({})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Arguments, "{error}");
    assert!(matches!(
        host.server("later").unwrap().state,
        State::Offline
    ));
}

#[tokio::test]
async fn a_server_without_tools_is_usable_unless_its_settings_say_otherwise() {
    let mut options = Options::default();
    options.tool_count = Some(0);
    let options = Arc::new(options);
    let mut settings = Settings::default();
    settings.fail_if_no_tools = true;
    let host = Host::builder()
        .with("empty", testkit((*options).clone()))
        .transport(name("strict"), testkit((*options).clone()), settings)
        .build()
        .unwrap();
    host.connect_all().await;
    let empty = host.server("empty").unwrap();
    assert!(empty.is_ready());
    assert!(
        empty
            .notices
            .iter()
            .any(|notice| notice == "it offers no tools"),
        "{empty:?}"
    );
    let strict = host.server("strict").unwrap();
    assert_eq!(
        strict.error().unwrap().kind(),
        ErrorKind::Connect,
        "{strict:?}"
    );
    assert!(
        host.connect("strict")
            .await
            .unwrap_err()
            .to_string()
            .contains("fail_if_no_tools")
    );
}

#[test]
fn a_badly_described_server_says_what_cost_it_and_not_what_was_odd_besides() {
    let text = r#"{"mcpServers": {"bad": {"comand": "x"}}}"#;
    let config = Config::read(text, Path::new("/somewhere/mcp.json"), Layer::Named);
    let host = Host::builder().config(&config).build().unwrap();
    let status = host.server("bad").unwrap();
    let told = switchboard::explain(status.error().unwrap()).title;
    assert!(told.contains("neither `command` nor `url`"), "{told}");
}
