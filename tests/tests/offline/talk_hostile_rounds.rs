//! Servers that ask with bad intent in rounds: without end, too much at once, with the states of others.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use switchboard::{Budget, CallError, SessionOptions};
use tokio::time::Instant;

use crate::support::asked::{Person, legacy_person, name_form, responder};
use crate::support::{
    call, legacy_with, modern_options, modern_with, secs, spawn_call, text, text_of,
};

fn with(person: &Person) -> SessionOptions {
    modern_options().respond(responder(person.clone()))
}

fn asking(questions: &Value) -> Value {
    json!({"resultType": "input_required", "inputRequests": questions})
}

fn question(params: &Value) -> Value {
    json!({"method": "elicitation/create", "params": params})
}

fn done(words: &str) -> Value {
    let mut done = text(words);
    done["resultType"] = json!("complete");
    done
}

fn asked(person: &Person) -> usize {
    let heard = person.heard();
    heard.iter().filter(|it| it.contains("mine asks")).count()
}

#[tokio::test(start_paused = true)]
async fn rounds_that_never_end_end_whatever_is_in_them() {
    let nothing_but_state = json!({"resultType": "input_required", "requestState": "s"});
    let nobody_asked = json!({"resultType": "input_required", "inputRequests": {}});
    let forms = asking(&json!({"q": question(&name_form())}));
    for (round, is_asked) in [(nothing_but_state, 0), (nobody_asked, 0), (forms, 10)] {
        let person = Person::default();
        let (session, mut server) = modern_with(with(&person), move |mut wire| {
            let round = round.clone();
            async move {
                while let Some(request) = wire.read().await {
                    match request["params"]["name"].as_str() {
                        Some("x") => wire.answer(&request, &round).await,
                        _ => wire.answer(&request, &done("fine")).await,
                    }
                }
            }
        })
        .await;
        let begun = Instant::now();
        let error = call(&session, "x").await.unwrap_err();
        assert!(
            matches!(error, CallError::TooManyRounds { limit: 10 }),
            "{error}"
        );
        assert!(begun.elapsed() < secs(5), "{:?}", begun.elapsed());
        assert_eq!(asked(&person), is_asked);
        assert_eq!(server.methods_so_far().len(), 11);
        assert_eq!(text_of(&call(&session, "y").await.unwrap()), "fine");
    }
}

#[tokio::test(start_paused = true)]
async fn a_round_of_ten_thousand_questions_asks_nobody() {
    for (count, is_asked) in [(64, 64), (65, 0), (10_000, 0)] {
        let person = Person::default();
        let (session, mut server) = modern_with(with(&person), move |mut wire| async move {
            let mut questions = serde_json::Map::new();
            for n in 0..count {
                questions.insert(format!("q{n}"), question(&name_form()));
            }
            let request = wire.expect("tools/call").await;
            wire.answer(&request, &asking(&questions.into())).await;
            while let Some(request) = wire.read().await {
                wire.answer(&request, &done("fine")).await;
            }
        })
        .await;
        let called = call(&session, "x").await;
        match (is_asked, called) {
            (0, Err(CallError::TooManyQuestions { limit: 64 })) => {}
            (64, Ok(_)) => {
                let heard = server.heard_so_far();
                let answers = heard[1]["params"]["inputResponses"].as_object();
                assert_eq!(answers.unwrap().len(), 64);
            }
            (_, other) => panic!("{count}: {other:?}"),
        }
        assert_eq!(asked(&person), is_asked);
        assert_eq!(text_of(&call(&session, "y").await.unwrap()), "fine");
    }
}

#[tokio::test(start_paused = true)]
async fn a_state_is_sent_back_as_it_came_last_however_it_changes() {
    // Another type each time, one that is MiB long, and in the end one that was there before.
    let long = "s".repeat(4 << 20);
    let states = [
        json!("one"),
        json!(7),
        json!({"requestState": "inner", "inputResponses": {"q": 1}}),
        json!([1.5, null, "\u{1f600}"]),
        json!(true),
        json!(long),
        json!(""),
        json!("one"),
    ];
    let sent = states.clone();
    let (session, mut server) = modern_with(modern_options(), move |mut wire| {
        let states = sent.clone();
        async move {
            for state in &states {
                let request = wire.expect("tools/call").await;
                let round = json!({"resultType": "input_required", "requestState": state});
                wire.answer(&request, &round).await;
            }
            while let Some(request) = wire.read().await {
                wire.answer(&request, &done("fine")).await;
            }
        }
    })
    .await;
    call(&session, "x").await.unwrap();
    call(&session, "y").await.unwrap();
    let heard = server.heard_so_far();
    assert!(heard[0]["params"].get("requestState").is_none());
    for (state, request) in states.iter().zip(&heard[1..]) {
        assert!(&request["params"]["requestState"] == state);
        assert!(request["params"].get("inputResponses").is_none());
    }
    // The next call knows nothing of it.
    assert!(heard[9]["params"].get("requestState").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_state_and_answers_never_reach_another_call() {
    const CALLS: usize = 12;
    const ROUNDS: usize = 6;
    let person = Person::default();
    let (session, mut server) = modern_with(with(&person), |mut wire| async move {
        let mut rounds: BTreeMap<String, usize> = BTreeMap::new();
        while let Some(request) = wire.read().await {
            let name = request["params"]["name"].as_str().unwrap().to_owned();
            let round = rounds.entry(name.clone()).or_default();
            *round += 1;
            if *round > ROUNDS {
                wire.answer(&request, &done(&name)).await;
                continue;
            }
            // Every other round has a state that was made for somebody else, or for an earlier round.
            let state = match *round % 2 {
                0 => format!("{name} {}", *round - 1),
                _ => format!("{name} {round}"),
            };
            let key = format!("q {name} {round}");
            let mut asks = asking(&json!({key: question(&name_form())}));
            asks["requestState"] = json!(state);
            wire.answer(&request, &asks).await;
        }
    })
    .await;
    let calls: Vec<_> = (0..CALLS)
        .map(|n| spawn_call(&session, &format!("t{n}")))
        .collect();
    for (n, called) in calls.into_iter().enumerate() {
        assert_eq!(text_of(&called.await.unwrap().unwrap()), format!("t{n}"));
    }
    let mut rounds: BTreeMap<String, usize> = BTreeMap::new();
    for request in server.heard_so_far() {
        let params = &request["params"];
        let name = params["name"].as_str().unwrap();
        let round = rounds.entry(name.to_owned()).or_default();
        if *round == 0 {
            assert!(params.get("requestState").is_none() && params.get("inputResponses").is_none());
        } else {
            let state = match *round % 2 {
                0 => format!("{name} {}", *round - 1),
                _ => format!("{name} {round}"),
            };
            assert_eq!(params["requestState"], state);
            let answers = params["inputResponses"].as_object().unwrap();
            let keys: Vec<&String> = answers.keys().collect();
            assert_eq!(keys, [&format!("q {name} {round}")]);
        }
        *round += 1;
    }
    assert_eq!(asked(&person), CALLS * ROUNDS);
}

#[tokio::test(start_paused = true)]
async fn two_calls_with_each_others_states_send_back_what_each_got() {
    let (session, mut server) = modern_with(modern_options(), |mut wire| async move {
        let [first, second] = [
            wire.expect("tools/call").await,
            wire.expect("tools/call").await,
        ];
        let round = |state| json!({"resultType": "input_required", "requestState": state});
        wire.answer(&first, &round("a")).await;
        wire.answer(&second, &round("b")).await;
        let again = [
            wire.expect("tools/call").await,
            wire.expect("tools/call").await,
        ];
        for request in &again {
            // What the other one has just sent.
            let state = match request["params"]["requestState"].as_str() {
                Some("a") => "b",
                _ => "a",
            };
            wire.answer(request, &round(state)).await;
        }
        while let Some(request) = wire.read().await {
            wire.answer(&request, &done("fine")).await;
        }
    })
    .await;
    let (x, y) = (spawn_call(&session, "x"), spawn_call(&session, "y"));
    x.await.unwrap().unwrap();
    y.await.unwrap().unwrap();
    let mut states: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for request in server.heard_so_far() {
        let name = request["params"]["name"].as_str().unwrap().to_owned();
        let state = request["params"]["requestState"].as_str();
        states
            .entry(name)
            .or_default()
            .push(state.unwrap_or("-").to_owned());
    }
    let mut states: Vec<Vec<String>> = states.into_values().collect();
    states.sort();
    assert_eq!(states, [["-", "a", "b"], ["-", "b", "a"]]);
}

#[tokio::test(start_paused = true)]
async fn a_legacy_server_cannot_make_us_send_a_state() {
    let person = Person::default();
    let (session, mut server) = legacy_with(legacy_person(person.clone()), |mut wire| async move {
        let request = wire.expect("tools/call").await;
        let mut asks = asking(&json!({"q": question(&name_form())}));
        asks["requestState"] = json!("s");
        asks["content"] = json!([]);
        wire.answer(&request, &asks).await;
        wire.echo_names().await;
    })
    .await;
    call(&session, "x").await.unwrap();
    call(&session, "y").await.unwrap();
    assert_eq!(asked(&person), 0);
    for request in server.heard_so_far() {
        assert!(request["params"].get("requestState").is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn what_open_questions_hold_is_bounded_in_sum() {
    let budget = Budget::of(1 << 20);
    let person = Person {
        after: secs(60),
        ..Person::default()
    };
    let options = with(&person).budget(&budget);
    let (session, _server) = modern_with(options, |mut wire| async move {
        while let Some(request) = wire.read().await {
            let params = &request["params"];
            let is_asked = params["name"] == "x" && params.get("inputResponses").is_none();
            let mut asks = asking(&json!({"q": question(&name_form())}));
            asks["requestState"] = json!("s".repeat(600_000));
            let answer = if is_asked { asks } else { done("fine") };
            wire.answer(&request, &answer).await;
        }
    })
    .await;
    let first = spawn_call(&session, "x");
    while asked(&person) == 0 {
        tokio::task::yield_now().await;
    }
    let error = call(&session, "x").await.unwrap_err();
    assert!(matches!(error, CallError::NoRoom { .. }), "{error}");
    assert_eq!(text_of(&call(&session, "y").await.unwrap()), "fine");
    assert_eq!(text_of(&first.await.unwrap().unwrap()), "fine");
    assert_eq!(budget.held_bytes(), 0);
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "fine");
    assert_eq!(session.counts().no_room, 1);
}
