//! Questions for a person, in both eras: what reaches a handler, what never does, and what waits for the answer.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use switchboard::CallError;
use switchboard::events::Event;
use switchboard::host::{Caller, Host};
use switchboard::session::Refusal;
use switchboard::spec::{ServerName, Settings};
use switchboard::talk::{Answers, Decline, Link, Operator};

use crate::support::asked::{Person, form, legacy_person, name_form, responder, url};
use crate::support::{
    self, Wire, call, legacy_with, modern_options, modern_with, secs, text, text_of,
};

/// Asks over a legacy connection while a call waits, and answers the call with what comes back.
async fn ask_once(mut wire: Wire, params: Value) {
    let request = wire.expect("tools/call").await;
    wire.send(
        &json!({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": params}),
    )
    .await;
    let answer = loop {
        let message = wire.read().await.unwrap();
        if message["id"] == 7 {
            break message;
        }
    };
    let told = answer.get("result").or(answer.get("error")).unwrap();
    wire.answer(&request, &text(&told.to_string())).await;
    wire.hold().await;
}

/// What a legacy server gets for a question.
async fn legacy_answer(operator: impl Operator + 'static, params: Value) -> Value {
    let (session, _server) = legacy_with(legacy_person(operator), move |wire| {
        ask_once(wire, params.clone())
    })
    .await;
    serde_json::from_str(text_of(&call(&session, "x").await.unwrap())).unwrap()
}

/// What a modern server gets for a question, or the error that the call ends with.
async fn modern_answer(
    operator: impl Operator + 'static,
    params: Value,
) -> Result<Value, CallError> {
    let options = modern_options().respond(responder(operator));
    let (session, _server) = modern_with(options, move |mut wire| {
        let question = json!({"method": "elicitation/create", "params": params});
        async move {
            let request = wire.expect("tools/call").await;
            let asks = json!({"resultType": "input_required", "inputRequests": {"q": question}});
            wire.answer(&request, &asks).await;
            let Some(request) = wire.read().await else {
                return;
            };
            let mut done = text(&request["params"]["inputResponses"]["q"].to_string());
            done["resultType"] = json!("complete");
            wire.answer(&request, &done).await;
            wire.hold().await;
        }
    })
    .await;
    let result = call(&session, "x").await?;
    Ok(serde_json::from_str(text_of(&result)).unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_form_is_answered_with_what_is_known_and_its_defaults_in_both_eras() {
    let filled = json!({"action": "accept", "content": {"name": "Ada", "age": 30}});
    let known = Answers::new().text("name", "Ada");
    assert_eq!(legacy_answer(known.clone(), name_form()).await, filled);
    assert_eq!(modern_answer(known, name_form()).await.unwrap(), filled);
    let declined = json!({"action": "decline"});
    assert_eq!(legacy_answer(Answers::new(), name_form()).await, declined);
    assert_eq!(
        modern_answer(Answers::new(), name_form()).await.unwrap(),
        declined
    );
    assert_eq!(legacy_answer(Decline, name_form()).await, declined);
    assert_eq!(
        legacy_answer(Answers::new(), url("https://example.com/")).await,
        declined
    );
}

#[tokio::test(start_paused = true)]
async fn a_form_that_asks_for_a_secret_is_declined_and_shown_to_nobody() {
    let secret = form(&json!({"api_key": {"type": "string"}}), &["api_key"]);
    for is_modern in [false, true] {
        let person = Person::default();
        let answer = match is_modern {
            true => modern_answer(person.clone(), secret.clone()).await.unwrap(),
            false => legacy_answer(person.clone(), secret.clone()).await,
        };
        assert_eq!(answer, json!({"action": "decline"}));
        let heard = r#"mine was refused: the field "api_key" asks for a secret"#;
        assert_eq!(person.heard(), [heard]);
    }
    let harmless = form(
        &json!({"max_tokens": {"type": "integer", "default": 5}}),
        &[],
    );
    let answer = legacy_answer(Person::default(), harmless).await;
    assert_eq!(answer["content"], json!({"max_tokens": 5}));
}

#[tokio::test(start_paused = true)]
async fn an_address_that_nobody_should_follow_is_refused() {
    for address in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "http://example.com/",
        "https://a@b.example/",
        "",
    ] {
        let person = Person::default();
        let error = legacy_answer(person.clone(), url(address)).await;
        assert_eq!(error["code"], -32602, "{address}: {error}");
        assert!(
            person.heard()[0].starts_with("mine was refused"),
            "{address}"
        );
        let person = Person::default();
        let error = modern_answer(person.clone(), url(address))
            .await
            .unwrap_err();
        assert!(
            matches!(
                &error,
                CallError::InputRefused {
                    why: Refusal::Invalid(_),
                    ..
                }
            ),
            "{address}: {error}"
        );
        assert_eq!(person.heard().len(), 1);
    }
    // One that imitates another comes with what tells them apart.
    let imitated = "https://\u{430}pple.com/";
    let accepted = json!({"action": "accept"});
    assert_eq!(
        legacy_answer(Person::default(), url(imitated)).await,
        accepted
    );
    let link = Link::parse(imitated, &Decline.elicit_limits()).unwrap();
    assert_eq!(
        (link.host(), link.warnings().len()),
        ("xn--pple-43d.com", 1)
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_that_cannot_be_read_or_was_not_declared_is_refused() {
    let nested = form(&json!({"x": {"type": "object"}}), &[]);
    let error = legacy_answer(Person::default(), nested).await;
    assert_eq!(error["code"], -32602);
    assert!(
        error["message"].as_str().unwrap().contains("\"x\""),
        "{error}"
    );
    let person = Person {
        takes_no_urls: true,
        ..Person::default()
    };
    let error = legacy_answer(person.clone(), url("https://example.com/")).await;
    assert_eq!(error["code"], -32602);
    assert_eq!(person.heard(), [""; 0]);
    let mut strange = name_form();
    strange["mode"] = json!("telepathy");
    assert_eq!(
        legacy_answer(Person::default(), strange).await["code"],
        -32602
    );
}

#[tokio::test(start_paused = true)]
async fn a_hundred_thousand_questions_reach_a_person_a_few_at_a_time() {
    const QUESTIONS: usize = 100_000;
    let person = Person {
        after: secs(1),
        ..Person::default()
    };
    let (session, _server) = legacy_with(legacy_person(person.clone()), |mut wire| async move {
        let request = wire.expect("tools/call").await;
        let params = name_form();
        for id in 0..QUESTIONS {
            let question = json!({"jsonrpc": "2.0", "id": format!("q{id}"), "method": "elicitation/create", "params": params});
            wire.send(&question).await;
        }
        wire.answer(&request, &text("done")).await;
        wire.hold().await;
    })
    .await;
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "done");
    let most = switchboard::Limits::default().inbound_requests;
    assert!(person.most.load(Ordering::SeqCst) <= most);
    let counts = session.counts();
    let asked = u64::try_from(person.heard().len()).unwrap();
    assert_eq!(counts.refused_requests + asked, QUESTIONS as u64);
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_that_asks_in_every_round_is_cut_off() {
    let person = Person::default();
    let options = modern_options().respond(responder(person.clone()));
    let (session, _server) = modern_with(options, |mut wire| async move {
        while let Some(request) = wire.read().await {
            let question = json!({"method": "elicitation/create", "params": name_form()});
            let asks = json!({"resultType": "input_required", "inputRequests": {"q": question}});
            wire.answer(&request, &asks).await;
        }
    })
    .await;
    let error = call(&session, "x").await.unwrap_err();
    assert!(
        matches!(error, CallError::TooManyRounds { limit: 10 }),
        "{error}"
    );
    assert_eq!(person.heard().len(), 10);
}

#[tokio::test]
async fn a_host_tells_which_question_was_not_shown_and_names_servers_as_the_person_does() {
    let person = Person::default();
    let server = support::Server::new(|mut wire| async move {
        while let Some(request) = wire.read().await {
            match request["method"].as_str().unwrap_or_default() {
                "initialize" => {
                    wire.answer(&request, &support::wire::hello_legacy("2025-11-25"))
                        .await;
                }
                "tools/list" => {
                    let tools =
                        json!({"tools": [{"name": "x", "inputSchema": {"type": "object"}}]});
                    wire.answer(&request, &tools).await;
                }
                "tools/call" => {
                    for (id, asked) in [("q1", "password"), ("q2", "name")] {
                        let params = form(&json!({asked: {"type": "string"}}), &[]);
                        wire.send(&json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params}))
                            .await;
                        wire.read().await;
                    }
                    wire.answer(&request, &text("done")).await;
                }
                _ if request["id"].is_null() => {}
                _ => wire.refuse(&request, -32601).await,
            }
        }
    });
    let host = Host::builder()
        .protocol(switchboard::spec::Protocol::Legacy)
        .transport(
            ServerName::parse("my-server").unwrap(),
            server,
            Settings::default(),
        )
        .operator(person.clone())
        .build()
        .unwrap();
    let mut events = host.events();
    let tool = host
        .view(Caller::owner())
        .find("my-server/x")
        .await
        .unwrap();
    tool.call(json!({})).await.unwrap();
    assert_eq!(
        person.heard(),
        [
            r#"my-server was refused: the field "password" asks for a secret"#,
            "my-server asks who?"
        ]
    );
    let notice = loop {
        if let Event::Notice { server, text } = events.recv().await.unwrap() {
            break format!("{server}: {text}");
        }
    };
    assert!(
        notice.contains("my-server: a question of the server's was not shown"),
        "{notice}"
    );
    host.shutdown().await;
}
