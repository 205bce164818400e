//! A session against servers that do anything, at random: each call resolves once, in time, and
//! to nobody else's answer.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard::session::CallOptions;
use switchboard::{CallError, Deadline};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::support::{
    Wire, legacy_options, legacy_with, limited, modern_options, modern_with, text, text_of,
};

const LIMIT: usize = 4096;
const DEADLINE: Duration = Duration::from_secs(20);

/// What a server does when it is called.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Answer,
    AnswerLater,
    AnswerAfterTheNext,
    Refuse,
    RefuseNobody,
    SayNothing,
    WrongId,
    TextId,
    Twice,
    Both,
    Neither,
    Broken,
    TooLong,
    TooLongIdLast,
    TooDeep,
    UnknownKind,
    Noise,
    Flood,
    Progress,
    Ask,
    Batch,
    Close,
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    use Deed::*;
    let deed = prop::sample::select(vec![
        Answer,
        Answer,
        Answer,
        AnswerLater,
        AnswerAfterTheNext,
        Refuse,
        RefuseNobody,
        SayNothing,
        WrongId,
        TextId,
        Twice,
        Both,
        Neither,
        Broken,
        TooLong,
        TooLongIdLast,
        TooDeep,
        UnknownKind,
        Noise,
        Flood,
        Progress,
        Ask,
        Batch,
        Close,
    ]);
    prop::collection::vec(deed, 1..40)
}

/// Does one deed after the other, one for each call, and answers well when there are no more.
async fn misbehave(mut wire: Wire, deeds: Vec<Deed>) {
    let mut deeds = deeds.into_iter();
    let mut postponed: Vec<Value> = Vec::new();
    while let Some(request) = wire.read().await {
        if request["method"] != "tools/call" {
            continue;
        }
        let id = request["id"].clone();
        let name = request["params"]["name"].as_str().unwrap().to_owned();
        let result = text(&name);
        let before = std::mem::take(&mut postponed);
        match deeds.next().unwrap_or(Deed::Answer) {
            Deed::Answer => wire.answer(&request, &result).await,
            Deed::AnswerLater => {
                tokio::time::sleep(Duration::from_secs(7)).await;
                wire.answer(&request, &result).await;
            }
            Deed::AnswerAfterTheNext => postponed.push(request),
            Deed::Refuse => wire.refuse(&request, -32603).await,
            Deed::RefuseNobody => wire.refuse(&json!({"id": null}), -32700).await,
            Deed::SayNothing => {}
            Deed::Noise => wire.raw("listening\n\n[1\n").await,
            Deed::WrongId => wire.answer(&json!({"id": 1_000_000}), &result).await,
            Deed::TextId => wire.answer(&json!({"id": id.to_string()}), &result).await,
            Deed::Twice => {
                wire.answer(&request, &result).await;
                wire.answer(&request, &text("again")).await;
            }
            Deed::Both => {
                wire.send(&json!({"jsonrpc": "2.0", "id": id, "result": result, "error": {}}))
                    .await;
            }
            Deed::Neither => wire.send(&json!({"jsonrpc": "2.0", "id": id})).await,
            Deed::Broken => wire.raw(format!("{{\"id\":{id},\"result\":{{\n")).await,
            Deed::TooLong => wire.answer(&request, &text(&"x".repeat(2 * LIMIT))).await,
            Deed::TooLongIdLast => {
                let long = text(&"x".repeat(2 * LIMIT));
                wire.raw(format!(
                    "{{\"result\":{long},\"jsonrpc\":\"2.0\",\"id\":{id}}}\n"
                ))
                .await;
            }
            Deed::TooDeep => {
                let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
                wire.raw(format!("{{\"id\":{id},\"result\":{deep}}}\n"))
                    .await;
            }
            Deed::UnknownKind => wire.answer(&request, &json!({"resultType": "novel"})).await,
            Deed::Flood => {
                for n in 0..50 {
                    wire.send(&json!({"method": "notifications/message", "params": {"n": n}}))
                        .await;
                }
                wire.answer(&request, &result).await;
            }
            Deed::Progress => {
                let token = &request["params"]["_meta"]["progressToken"];
                let params = json!({"progressToken": token, "progress": 1});
                wire.send(&json!({"method": "notifications/progress", "params": params}))
                    .await;
                wire.answer(&request, &result).await;
            }
            Deed::Ask => {
                wire.send(&json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"}))
                    .await;
                wire.answer(&request, &result).await;
            }
            Deed::Batch => {
                let message = json!({"jsonrpc": "2.0", "id": id, "result": result});
                wire.raw(format!("[{message}]\n")).await;
            }
            Deed::Close => return,
        }
        for request in before {
            let name = request["params"]["name"].as_str().unwrap().to_owned();
            wire.answer(&request, &text(&name)).await;
        }
    }
}

/// Makes many calls at once and sees each of them to its end.
async fn survive(modern: bool, deeds: Vec<Deed>, calls: usize) {
    let limits = limited(|limits| limits.message_bytes = LIMIT);
    let behave = move |wire: Wire| misbehave(wire, deeds.clone());
    let (session, _server) = match modern {
        true => modern_with(modern_options().limits(limits), behave).await,
        false => legacy_with(legacy_options().limits(limits), behave).await,
    };
    let mut running = JoinSet::new();
    for n in 0..calls {
        let session = session.clone();
        running.spawn(async move {
            let name = format!("tool-{n}");
            let begun = Instant::now();
            let options = CallOptions::default().deadline(Deadline::within(DEADLINE));
            let ended = session.call_tool(&name, None, options).await;
            assert!(
                begun.elapsed() <= DEADLINE + Duration::from_secs(1),
                "{:?}",
                begun.elapsed()
            );
            match ended {
                // What the server said of a call that it broke is not what it was asked.
                Ok(result) if result.content().is_empty() => {}
                Ok(result) => assert_eq!(text_of(&result), name),
                Err(CallError::Closed { .. }) => assert!(session.close_reason().is_some()),
                Err(_) => {}
            }
        });
    }
    let mut ended = 0;
    while let Some(call) = running.join_next().await {
        call.unwrap();
        ended += 1;
    }
    assert_eq!(ended, calls);
    session.close().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_call_ends_once_in_time_and_with_its_own_answer(
        deeds in deeds(), calls in 1_usize..30, modern in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(survive(modern, deeds, calls));
    }
}
