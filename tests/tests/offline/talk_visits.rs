//! Calls that a server refuses until somebody has been at an address, and visits that it asks for itself.

use serde_json::{Value, json};
use switchboard::CallError;

use crate::support::asked::{Person, legacy_person, name_form, url};
use crate::support::{
    self, Wire, call, legacy_with, limited, secs, spawn_call, text, text_of, within,
};

fn elsewhere(ids: &[&str]) -> Value {
    let one = |id: &&str| json!({"mode": "url", "message": "sign in", "url": "https://example.com/", "elicitationId": id});
    json!({"elicitations": ids.iter().map(one).collect::<Vec<_>>()})
}

/// Refuses the first so many calls until somebody has been elsewhere, and says that they have where it is to.
async fn refuse_first(
    mut wire: Wire,
    times: usize,
    data: Value,
    completes: &'static [&'static str],
) {
    for _ in 0..times {
        let request = wire.expect("tools/call").await;
        wire.refuse_with(&request, -32042, &data).await;
        if !completes.is_empty() {
            // Nobody has been there before they were sent.
            tokio::time::sleep(secs(100)).await;
        }
        for id in completes {
            let params = json!({"elicitationId": id});
            wire.send(&json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": params}))
                .await;
        }
    }
    wire.echo_names().await;
}

fn calls(server: &mut support::Server) -> usize {
    let methods = server.methods_so_far();
    methods
        .iter()
        .filter(|method| *method == "tools/call")
        .count()
}

#[tokio::test(start_paused = true)]
async fn a_call_is_made_again_once_somebody_has_been_where_the_server_sends_them() {
    let person = Person {
        after: secs(3600),
        ..Person::default()
    };
    // A person takes longer than the call may.
    let options = legacy_person(person.clone()).timeouts(within(5));
    let (session, mut server) = legacy_with(options, |wire| {
        refuse_first(
            wire,
            1,
            elsewhere(&["e-1", "e-2"]),
            &["unknown", "e-1", "e-2"],
        )
    })
    .await;
    let begun = tokio::time::Instant::now();
    let result = call(&session, "x").await.unwrap();
    assert_eq!(text_of(&result), "x");
    // As soon as both questions are answered.
    assert_eq!(begun.elapsed().as_secs(), 7200);
    assert_eq!(calls(&mut server), 2);
    let heard = person.heard();
    assert_eq!(
        heard.iter().filter(|it| *it == "mine asks sign in").count(),
        2,
        "{heard:?}"
    );
    // Who was not sent there yet is not told that it is done.
    assert!(
        !heard.contains(&"mine has completed unknown".to_owned()),
        "{heard:?}"
    );
    assert!(
        heard.contains(&"mine has completed e-1".to_owned()),
        "{heard:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn whoever_says_that_they_are_done_need_not_wait_for_the_server() {
    let person = Person {
        is_done: Some(true),
        ..Person::default()
    };
    let (session, mut server) = legacy_with(legacy_person(person), |wire| {
        refuse_first(wire, 1, elsewhere(&["e-1"]), &[])
    })
    .await;
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "x");
    assert_eq!(calls(&mut server), 2);
}

#[tokio::test(start_paused = true)]
async fn where_nobody_says_that_it_is_done_the_call_is_made_again_in_the_end() {
    let options = legacy_person(Person::default()).limits(limited(|limits| limits.visit = secs(9)));
    let (session, mut server) = legacy_with(options, |wire| {
        refuse_first(wire, 1, elsewhere(&["e-1"]), &[])
    })
    .await;
    let begun = tokio::time::Instant::now();
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "x");
    assert_eq!(begun.elapsed().as_secs(), 9);
    assert_eq!(calls(&mut server), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_nobody_goes_elsewhere_for_fails_with_what_the_server_said() {
    let declines = Person {
        declines: true,
        ..Person::default()
    };
    let gives_up = Person {
        is_done: Some(false),
        ..Person::default()
    };
    let takes_no_urls = Person {
        takes_no_urls: true,
        ..Person::default()
    };
    let javascript = json!({"elicitations": [url("javascript:alert(1)")]});
    let in_a_form = json!({"elicitations": [name_form()]});
    for (person, data) in [
        (declines, elsewhere(&["e-1"])),
        (gives_up, elsewhere(&["e-1"])),
        (takes_no_urls, elsewhere(&["e-1"])),
        (Person::default(), elsewhere(&[])),
        (Person::default(), elsewhere(&["e"; 17])),
        (Person::default(), Value::Null),
        (Person::default(), javascript),
        (Person::default(), in_a_form),
    ] {
        let shown = data.to_string();
        let (session, mut server) = legacy_with(legacy_person(person), move |wire| {
            refuse_first(wire, 1, data.clone(), &[])
        })
        .await;
        let Err(CallError::Rpc(error)) = call(&session, "x").await else {
            panic!("{shown}");
        };
        assert_eq!(error.code(), -32042);
        assert_eq!(calls(&mut server), 1, "{shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_sends_people_away_for_ever_is_believed_once() {
    let person = Person::default();
    let (session, mut server) = legacy_with(legacy_person(person.clone()), |wire| {
        refuse_first(wire, 9, elsewhere(&["e-1"]), &["e-1"])
    })
    .await;
    let error = call(&session, "x").await.unwrap_err();
    assert!(matches!(error, CallError::Rpc(_)), "{error}");
    assert_eq!(calls(&mut server), 2);
    assert_eq!(
        person
            .heard()
            .iter()
            .filter(|it| it.contains("asks"))
            .count(),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_closes_takes_the_visit_with_it() {
    let (session, _server) = legacy_with(legacy_person(Person::default()), |wire| {
        refuse_first(wire, 1, elsewhere(&["e-1"]), &[])
    })
    .await;
    let calling = spawn_call(&session, "x");
    tokio::time::sleep(secs(1)).await;
    session.close().await;
    let error = calling.await.unwrap().unwrap_err();
    assert!(matches!(error, CallError::Closed { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_visit_that_a_server_asked_for_itself_is_told() {
    let person = Person::default();
    let (session, _server) = legacy_with(legacy_person(person.clone()), |mut wire| async move {
        let request = wire.expect("tools/call").await;
        wire.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": url("https://example.com/")}))
            .await;
        assert_eq!(wire.read().await.unwrap()["result"], json!({"action": "accept"}));
        for id in ["e-2", "e-1", "e-1"] {
            let params = json!({"elicitationId": id});
            wire.send(&json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": params}))
                .await;
        }
        wire.answer(&request, &text("done")).await;
        wire.hold().await;
    })
    .await;
    call(&session, "x").await.unwrap();
    assert_eq!(
        person.heard(),
        ["mine asks sign in", "mine has completed e-1"]
    );
}
