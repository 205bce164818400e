//! What servers ask us, and how it is answered.

use serde_json::{Value, json};
use switchboard::session::Refusal;
use switchboard::{CallOptions, Deadline, SessionOptions};
use tokio::time::{Instant, timeout};

use crate::support::person::Person;
use crate::support::{
    self, Server, Wire, call, legacy, legacy_options, legacy_with, modern, secs, spawn_call, text,
    text_of,
};

fn with(person: &Person) -> SessionOptions {
    legacy_options().respond(person.clone())
}

fn question(id: &Value) -> Value {
    let params =
        json!({"message": "who?", "requestedSchema": {"type": "object", "properties": {}}});
    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params})
}

async fn asked(server: &mut Server) -> Value {
    loop {
        let heard = server.heard().await;
        if heard.get("method").is_none() {
            return heard;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_ping_of_the_server_is_answered_with_its_id() {
    for id in [json!(1), json!("1"), json!("ping"), json!(-7)] {
        let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        let (_session, mut server) = legacy(move |mut wire| {
            let ping = ping.clone();
            async move {
                wire.send(&ping).await;
                wire.hold().await;
            }
        })
        .await;
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": {}});
        assert_eq!(server.heard().await, answer);
    }
}

#[tokio::test(start_paused = true)]
async fn a_ping_during_the_handshake_is_answered() {
    let mut server = Server::new(|mut wire: Wire| async move {
        let request = wire.expect("initialize").await;
        wire.send(&json!({"id": 1, "method": "ping"})).await;
        assert_eq!(wire.read().await.unwrap()["result"], json!({}));
        let hello = support::wire::hello_legacy("2025-11-25");
        wire.answer(&request, &hello).await;
        wire.hold().await;
    });
    let session = switchboard::Session::connect(&server, legacy_options()).await;
    session.unwrap();
    server.heard().await;
}

#[tokio::test(start_paused = true)]
async fn our_ping_is_answered_in_both_eras() {
    let (session, mut server) = legacy(|mut wire| async move {
        let ping = wire.expect("ping").await;
        tokio::time::sleep(secs(2)).await;
        wire.answer(&ping, &json!({})).await;
        wire.hold().await;
    })
    .await;
    assert_eq!(session.ping().await.unwrap(), secs(2));
    assert!(server.heard().await.get("params").is_none());
    let (session, _server) = modern(|mut wire| async move {
        wire.greet_modern().await;
        wire.hold().await;
    })
    .await;
    assert_eq!(session.ping().await.unwrap(), secs(0));
}

#[tokio::test(start_paused = true)]
async fn what_was_not_declared_is_refused() {
    for method in [
        "sampling/createMessage",
        "elicitation/create",
        "roots/list",
        "x/y",
        "",
    ] {
        let (_session, mut server) = legacy(move |mut wire| async move {
            wire.send(&json!({"jsonrpc": "2.0", "id": "q", "method": method}))
                .await;
            wire.hold().await;
        })
        .await;
        let answer = server.heard().await;
        assert_eq!(answer["id"], "q");
        assert_eq!(answer["error"]["code"], -32601, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_does_not_fit_is_refused_as_invalid() {
    let person = Person::willing();
    let (_session, mut server) = legacy_with(with(&person), |mut wire| async move {
        let params = json!({"message": 7});
        wire.send(&json!({"id": 1, "method": "elicitation/create", "params": params}))
            .await;
        wire.hold().await;
    })
    .await;
    assert_eq!(server.heard().await["error"]["code"], -32602);
    assert_eq!(person.asked(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_question_is_answered_by_the_person() {
    let person = Person::willing();
    let (_session, mut server) = legacy_with(with(&person), |mut wire| async move {
        wire.send(&question(&json!("q"))).await;
        wire.hold().await;
    })
    .await;
    let result = json!({"action": "accept", "content": {"name": "Ada"}});
    let answer = json!({"jsonrpc": "2.0", "id": "q", "result": result});
    assert_eq!(server.heard().await, answer);
}

#[tokio::test(start_paused = true)]
async fn a_person_s_no_is_an_answer() {
    let person = Person::saying(Err(Refusal::ByThePerson));
    let (_session, mut server) = legacy_with(with(&person), |mut wire| async move {
        wire.send(&question(&json!(5))).await;
        wire.hold().await;
    })
    .await;
    let answer = json!({"jsonrpc": "2.0", "id": 5, "result": {"action": "decline"}});
    assert_eq!(server.heard().await, answer);
}

#[tokio::test(start_paused = true)]
async fn the_clocks_stand_still_while_a_person_answers() {
    let person = Person::willing().after(secs(300));
    let (session, _server) = legacy_with(with(&person), |mut wire| async move {
        let request = wire.expect("tools/call").await;
        tokio::time::sleep(secs(4)).await;
        wire.send(&question(&json!(1))).await;
        wire.read().await.unwrap();
        wire.hold().await;
        drop(request);
    })
    .await;
    let begun = Instant::now();
    let deadline = Deadline {
        idle: secs(5),
        total: secs(20),
    };
    let options = CallOptions::default().deadline(deadline);
    let error = session.call_tool("x", None, options).await.unwrap_err();
    assert!(error.is_timeout());
    assert_eq!(begun.elapsed(), secs(4 + 300 + 1));
}

#[tokio::test(start_paused = true)]
async fn a_call_begun_while_a_person_answers_has_its_full_time() {
    let person = Person::willing().after(secs(300));
    let (session, mut server) = legacy_with(with(&person), |mut wire| async move {
        wire.send(&question(&json!(1))).await;
        wire.hold().await;
    })
    .await;
    tokio::time::sleep(secs(100)).await;
    let begun = Instant::now();
    let options = CallOptions::default().deadline(Deadline::within(secs(50)));
    session.call_tool("x", None, options).await.unwrap_err();
    assert_eq!(begun.elapsed(), secs(250));
    assert_eq!(asked(&mut server).await["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_question_during_the_handshake_gives_the_server_no_more_time_for_it() {
    let person = Person::willing().after(secs(3600));
    let server = Server::new(|mut wire: Wire| async move {
        wire.send(&question(&json!("q"))).await;
        wire.hold().await;
    });
    let begun = Instant::now();
    let options = with(&person).timeouts(support::within(5));
    let connected = switchboard::Session::connect(&server, options).await;
    connected.unwrap_err();
    assert!(begun.elapsed() < secs(10), "{:?}", begun.elapsed());
    while person.withdrawn() == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(person.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn too_many_questions_at_once_are_refused_and_counted() {
    let person = Person::willing().after(secs(60));
    let (session, mut server) = legacy_with(with(&person), |mut wire| async move {
        for id in 0..12 {
            wire.send(&question(&json!(id))).await;
        }
        wire.hold().await;
    })
    .await;
    for id in 8..12 {
        let answer = server.heard().await;
        assert_eq!(answer["id"], id);
        assert!(answer["error"]["code"].is_i64());
    }
    for _ in 0..8 {
        assert_eq!(server.heard().await["result"]["action"], "accept");
    }
    assert_eq!(person.asked(), 8);
    assert_eq!(session.counts().refused_requests, 4);
}

#[tokio::test(start_paused = true)]
async fn a_question_taken_back_by_the_server_gets_no_answer() {
    let person = Person::willing().after(secs(60));
    let (session, mut server) = legacy_with(with(&person), |mut wire| async move {
        wire.send(&question(&json!("q"))).await;
        tokio::time::sleep(secs(1)).await;
        let params = json!({"requestId": "q", "reason": "never mind"});
        wire.send(&json!({"method": "notifications/cancelled", "params": params}))
            .await;
        wire.echo_names().await;
    })
    .await;
    let begun = Instant::now();
    while person.withdrawn() == 0 {
        tokio::time::sleep(secs(1)).await;
    }
    assert!(begun.elapsed() <= secs(2));
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "x");
    tokio::time::sleep(secs(100)).await;
    assert_eq!(server.methods_so_far(), ["tools/call"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_is_withdrawn_when_the_connection_closes() {
    let person = Person::willing().after(secs(60));
    let (session, _server) = legacy_with(with(&person), |mut wire| async move {
        wire.send(&question(&json!("q"))).await;
        tokio::time::sleep(secs(1)).await;
    })
    .await;
    let begun = Instant::now();
    session.closed().await;
    session.close().await;
    assert_eq!(begun.elapsed(), secs(1));
    assert_eq!((person.asked(), person.withdrawn()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_s_request_is_dropped_and_counted() {
    let (session, mut server) = modern(|mut wire| async move {
        let request = wire.expect("tools/call").await;
        wire.send(&json!({"id": 1, "method": "ping"})).await;
        wire.send(&question(&json!(2))).await;
        wire.answer(&request, &text("x")).await;
        wire.hold().await;
    })
    .await;
    call(&session, "x").await.unwrap();
    assert_eq!(session.counts().forbidden_requests, 2);
    session.close().await;
    assert_eq!(server.methods_so_far(), ["tools/call"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_without_reading_does_not_fill_our_memory() {
    let (session, _server) = legacy(|mut wire| async move {
        let request = wire.expect("tools/call").await;
        for id in 0..100_000 {
            wire.send(&json!({"id": id, "method": "ping"})).await;
        }
        wire.answer(&request, &text("after")).await;
        std::future::pending::<()>().await;
    })
    .await;
    let running = spawn_call(&session, "x");
    let result = timeout(secs(10), running).await.unwrap().unwrap().unwrap();
    assert_eq!(text_of(&result), "after");
    assert!(
        session.counts().shed_answers > 50_000,
        "{:?}",
        session.counts()
    );
}
