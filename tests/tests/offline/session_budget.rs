//! What servers can make us hold is bounded, for each and for all together.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use serde_json::{Value, json};
use switchboard::session::{CallOptions, Cut, progress};
use switchboard::{Budget, CallError, SessionOptions};

use crate::support::{Wire, call, legacy_options, legacy_with, limited, spawn_call, text, text_of};

const MIB: usize = 1024 * 1024;
/// How much text the tool `large` gives.
const LARGE: usize = 9_000;

/// Answers `large` with much and everything else with little; announces before each `announce`.
async fn serve(mut wire: Wire) {
    while let Some(request) = wire.read().await {
        match request["params"]["name"].as_str() {
            Some("large") => wire.answer(&request, &text(&"x".repeat(LARGE))).await,
            Some("huge") => wire.answer(&request, &text(&"x".repeat(6 * MIB))).await,
            _ => wire.answer(&request, &text("small")).await,
        }
    }
}

fn holding(bytes: usize) -> SessionOptions {
    legacy_options().limits(limited(|limits| limits.held_bytes = bytes))
}

/// Has a call leave, and lets its answer wait for whoever asks next.
async fn begin<F: Future>(call: &mut Pin<&mut F>) {
    poll_fn(|cx| {
        assert!(call.as_mut().poll(cx).is_pending());
        Poll::Ready(())
    })
    .await;
}

async fn held(budget: &Budget) {
    while budget.held_bytes() == 0 {
        tokio::task::yield_now().await;
    }
}

fn no_room(result: &Result<impl std::fmt::Debug, CallError>) -> Option<usize> {
    match result {
        Err(CallError::NoRoom { limit_bytes }) => Some(*limit_bytes),
        _ => None,
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_for_which_there_is_no_room_fails_its_call_and_no_other() {
    let budget = Budget::of(MIB);
    let (session, _server) = legacy_with(holding(10_000).budget(&budget), serve).await;
    let mut first = pin!(call(&session, "large"));
    begin(&mut first).await;
    held(&budget).await;
    let second = call(&session, "large").await;
    assert_eq!(no_room(&second), Some(10_000));
    assert_eq!(text_of(&call(&session, "small").await.unwrap()), "small");
    assert_eq!(text_of(&first.await.unwrap()).len(), LARGE);
    assert_eq!(budget.held_bytes(), 0, "what a caller has is the caller's");
    assert!(call(&session, "large").await.is_ok());
    assert_eq!(session.counts().no_room, 1);
}

#[tokio::test(start_paused = true)]
async fn connections_that_share_a_budget_are_bounded_together() {
    let budget = Budget::of(10_000);
    let options = || legacy_options().budget(&budget);
    let (one, _one) = legacy_with(options(), serve).await;
    let (other, _other) = legacy_with(options(), serve).await;
    let mut first = pin!(call(&one, "large"));
    begin(&mut first).await;
    held(&budget).await;
    assert_eq!(no_room(&call(&other, "large").await), Some(10_000));
    assert!(call(&other, "small").await.is_ok());
    first.await.unwrap();
    assert!(call(&other, "large").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_gives_its_room_back() {
    let budget = Budget::of(10_000);
    let (session, _server) = legacy_with(legacy_options().budget(&budget), serve).await;
    {
        let mut first = pin!(call(&session, "large"));
        begin(&mut first).await;
        held(&budget).await;
    }
    assert_eq!(budget.held_bytes(), 0);
    assert!(call(&session, "large").await.is_ok());
}

#[tokio::test]
async fn half_a_message_counts_and_is_dropped_where_it_does_not_fit() {
    let (session, _server) = legacy_with(holding(2 * MIB), serve).await;
    let neighbour = spawn_call(&session, "small");
    let huge = call(&session, "huge").await;
    assert_eq!(no_room(&huge), Some(2 * MIB));
    assert!(neighbour.await.unwrap().is_ok());
    assert!(call(&session, "large").await.is_ok());
    assert_eq!(session.counts().over_limit, 0);

    let budget = Budget::of(64 * MIB);
    let (session, _server) = legacy_with(legacy_options().budget(&budget), serve).await;
    let huge = call(&session, "huge").await.unwrap();
    assert_eq!(text_of(&huge).len(), 6 * MIB);
    assert!(call(&session, "small").await.is_ok());
    assert_eq!(budget.held_bytes(), 0, "an idle connection holds nothing");
}

#[tokio::test(start_paused = true)]
async fn announcements_count_and_the_oldest_make_room() {
    let budget = Budget::of(MIB);
    let options = holding(10_000).budget(&budget);
    let (session, _server) = legacy_with(options, |mut wire| async move {
        while let Some(request) = wire.read().await {
            for turn in 0..3 {
                let params = json!({"turn": turn, "data": "x".repeat(4_000)});
                let notice = json!({"jsonrpc": "2.0", "method": "n", "params": params});
                wire.send(&notice).await;
            }
            wire.answer(&request, &text("small")).await;
        }
    })
    .await;
    assert!(call(&session, "any").await.is_ok());
    assert_eq!(session.counts().dropped_notices, 1);
    assert!((8_000..10_000).contains(&budget.held_bytes()));
    let kept = session.announcement().await.unwrap().params.unwrap();
    assert_eq!(kept.member("turn").unwrap().as_str(), "1");
    session.announcement().await.unwrap();
    assert_eq!(budget.held_bytes(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_list_stops_where_its_pages_are_too_much_together() {
    let options = holding(20_000);
    let (session, mut server) = legacy_with(options, |mut wire| async move {
        let mut page = 0;
        while let Some(request) = wire.read().await {
            page += 1;
            let tool = json!({
                "name": format!("tool{page}"),
                "description": "x".repeat(LARGE),
                "inputSchema": {"type": "object"},
            });
            let result = json!({"tools": [tool], "nextCursor": page.to_string()});
            wire.answer(&request, &result).await;
        }
    })
    .await;
    let listing = session.list_tools().await.unwrap();
    assert_eq!(listing.items.len(), 3);
    assert_eq!(listing.cut, Some(Cut::Bytes(20_000)));
    assert_eq!(server.methods_so_far().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn of_a_long_report_of_progress_the_start_is_kept() {
    let limits = limited(|limits| limits.progress_bytes = 5);
    let options = legacy_options().limits(limits);
    let (session, _server) = legacy_with(options, |mut wire| async move {
        while let Some(request) = wire.read().await {
            let token: &Value = &request["params"]["_meta"]["progressToken"];
            let params = json!({"progressToken": token, "progress": 1, "message": "1234\u{e9}6"});
            let method = "notifications/progress";
            wire.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
                .await;
            wire.answer(&request, &text("done")).await;
        }
    })
    .await;
    let (seen, watch) = progress();
    let options = CallOptions::default().progress(seen);
    session.call_tool("any", None, options).await.unwrap();
    let last = watch.borrow().clone().unwrap();
    assert_eq!(last.message.as_deref(), Some("1234"));
}
