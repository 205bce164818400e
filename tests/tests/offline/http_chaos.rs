//! Every fault of the HTTP group: the call that it belongs to ends in time and with a reason, or
//! goes well where the input is merely odd, and nobody else's does not.
//!
//! Those of streams are in `http_chaos_streams`. What floods cost in memory is in `http_floods`, where redirects may lead in `http_elsewhere`.

use std::collections::BTreeSet;
use std::time::Duration;

use switchboard::CallError;
use switchboard::protocol::Era;
use switchboard::session::{OpenError, Session, SessionOptions};
use switchboard::transport::{FaultKind, LegacySse, Sent};
use switchboard_testkit::chaos::{Flag, Group};
use switchboard_testkit::http::Transport;

use crate::support::http::{
    self, ERAS, add, connect, echo, fails, fails_in, fault, is, is_borne, is_borne_in,
};
use crate::support::http::{
    calls_of, requests_of, server_of, struck, timed_out, try_connect, verb_of,
};

/// The flags that the tests below try; one says that these are all.
const TRIED: &[&str] = &[
    "status",
    "429-retry-after",
    "503-flap",
    "404-session",
    "session-400",
    "405-get",
    "redirect",
    "redirect-other-origin",
    "redirect-loop",
    "redirect-chain",
    "redirect-downgrade",
    "redirect-to-metadata",
    "slow-headers",
    "slow-body",
    "slow-loris",
    "truncate",
    "reset-midway",
    "sse-no-final",
    "sse-drop",
    "sse-flap",
    "sse-retry",
    "sse-huge-event",
    "sse-comment-flood",
    "gzip-bomb",
    "wrong-content-type",
    "empty-200",
    "202-to-request",
    "foreign-error-id",
    "huge-body",
    "huge-error-body",
    "huge-headers",
    "endpoint-other-origin",
];

#[test]
fn every_flag_of_the_group_is_tried_and_is_in_a_test() {
    let flags = Flag::ALL.iter().filter(|flag| flag.group() == Group::Http);
    let flags: BTreeSet<&str> = flags.map(|flag| flag.name()).collect();
    assert_eq!(TRIED.iter().copied().collect::<BTreeSet<_>>(), flags);
    let tests = concat!(
        include_str!("http_chaos.rs"),
        include_str!("http_chaos_streams.rs")
    );
    for flag in flags {
        // Once in the table, and once more where it is tried.
        let times = tests.matches(&format!("\"{flag}")).count();
        assert!(times >= 2, "{flag} is not tried");
    }
}

#[tokio::test]
async fn a_status_that_is_no_success_is_told_with_the_first_words_of_the_page() {
    let statuses = [400, 401, 403, 404, 405, 409, 418, 500, 501, 502, 503, 504];
    let all = statuses.map(|status| tokio::spawn(tells(status)));
    for one in all {
        one.await.unwrap();
    }
}

async fn tells(status: u16) {
    let flag = format!("status={status}@echo");
    let struck = struck(Era::Modern, &flag).await;
    let error = struck.outcome.expect_err(&flag);
    match fault(&error) {
        Some((
            FaultKind::Status {
                status: found,
                excerpt,
                ..
            },
            Sent::Answered,
        )) => {
            assert_eq!(*found, status);
            assert!(excerpt.contains("and no more than that"), "{excerpt}");
        }
        _ => panic!("{flag}: {error:?}"),
    }
    assert_eq!(calls_of(&struck.server, "echo"), 1, "{flag}");
}

#[tokio::test]
async fn a_legacy_call_gets_its_status_too() {
    for status in [401, 403, 405, 409, 500, 503] {
        let flag = format!("status={status}@echo");
        fails_in(Era::Legacy, &flag, is!(FaultKind::Status { .. }, Answered)).await;
    }
}

#[tokio::test]
async fn a_legacy_call_that_is_not_found_costs_a_new_session_and_no_other_call() {
    let struck = struck(Era::Legacy, "status=404@echo").await;
    let error = struck.outcome.unwrap_err();
    assert_eq!(fault(&error).unwrap().0.status(), Some(404), "{error:?}");
    assert_eq!(calls_of(&struck.server, "echo"), 2);
    assert_eq!(requests_of(&struck.server, "initialize").len(), 2);
}

#[tokio::test]
async fn a_busy_server_is_asked_again_when_it_says() {
    for era in ERAS {
        let server = server_of(era, &["429-retry-after=1@tools/list"]).await;
        let session = connect(&server, era).await;
        server.forget_requests();
        session.list_tools().await.unwrap();
        let asked = requests_of(&server, "tools/list");
        assert_eq!(asked.len(), 2);
        assert!(asked[1].at - asked[0].at >= Duration::from_secs(1));
    }
}

#[tokio::test]
async fn a_flapping_server_is_asked_again_for_a_list_but_not_for_a_call() {
    for era in ERAS {
        let server = server_of(era, &["503-flap=2@tools/list"]).await;
        let session = connect(&server, era).await;
        server.forget_requests();
        session.list_tools().await.unwrap();
        assert_eq!(requests_of(&server, "tools/list").len(), 3);
    }
    fails(
        "503-flap=1@echo",
        is!(FaultKind::Status { status: 503, .. }, Answered),
    )
    .await;
}

#[tokio::test]
async fn a_session_that_is_forgotten_is_replaced_unseen() {
    for flag in ["404-session=2", "session-400=2"] {
        let server = server_of(Era::Legacy, &[flag]).await;
        let session = connect(&server, Era::Legacy).await;
        for _ in 0..5 {
            assert_eq!(echo(&session).await.unwrap(), "hello", "{flag}");
        }
        assert_eq!(requests_of(&server, "initialize").len(), 3, "{flag}");
        // One without sessions has none to forget.
        is_borne_in(Era::Modern, flag).await;
    }
}

#[tokio::test]
async fn a_server_that_has_nothing_to_say_unasked_is_let_be() {
    let struck = is_borne_in(Era::Legacy, "405-get").await;
    assert_eq!(verb_of(&struck.server, "GET").len(), 1);
    let struck = is_borne_in(Era::Modern, "405-get").await;
    assert_eq!(verb_of(&struck.server, "GET").len(), 0);
}

#[tokio::test]
async fn a_redirect_within_the_origin_that_keeps_the_request_is_followed() {
    is_borne("redirect=307@echo").await;
    is_borne("redirect=308@echo").await;
    is_borne("redirect-chain=5@echo").await;
    // Within an origin without TLS there is nothing to lose.
    is_borne("redirect-downgrade=@echo").await;
}

#[tokio::test]
async fn any_other_redirect_is_refused() {
    fn refused(error: &CallError) -> bool {
        matches!(
            fault(error),
            Some((FaultKind::Redirect { .. }, Sent::Answered))
        )
    }
    for flag in [
        "redirect=301@echo",
        "redirect=302@echo",
        "redirect=303@echo",
        "redirect-other-origin=@echo",
        "redirect-to-metadata=@echo",
    ] {
        fails(flag, refused).await;
    }
    for flag in ["redirect-loop=@echo", "redirect-chain=6@echo"] {
        for era in ERAS {
            let struck = struck(era, flag).await;
            assert!(refused(&struck.outcome.unwrap_err()), "{flag}");
            // The first, and five more.
            assert_eq!(calls_of(&struck.server, "echo"), 6, "{flag}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_slow_to_begin_ends_at_the_deadline() {
    fails("slow-headers=30@echo", timed_out).await;
    is_borne("slow-headers=1@echo").await;
}

#[tokio::test]
async fn a_body_that_is_slow_to_come_ends_at_the_deadline() {
    fails("slow-body=30@echo", timed_out).await;
    is_borne("slow-body=1@echo").await;
}

#[tokio::test]
async fn bytes_that_trickle_in_are_no_progress() {
    fails("slow-loris=200@echo", timed_out).await;
}

#[tokio::test]
async fn a_connection_that_breaks_in_the_answer_leaves_the_call_in_doubt() {
    fails("truncate=echo", is!(FaultKind::Interrupted { .. }, Maybe)).await;
    fails(
        "reset-midway=echo",
        is!(FaultKind::Interrupted { .. }, Maybe),
    )
    .await;
}

#[tokio::test]
async fn a_connection_that_breaks_in_a_list_is_made_again() {
    for flag in ["truncate=tools/list", "reset-midway=tools/list"] {
        let server = server_of(Era::Legacy, &[flag]).await;
        let session = connect(&server, Era::Legacy).await;
        let error = session.list_tools().await.unwrap_err();
        assert!(
            matches!(fault(&error), Some((FaultKind::Interrupted { .. }, _))),
            "{error:?}"
        );
        assert_eq!(requests_of(&server, "tools/list").len(), 4, "{flag}");
        assert_eq!(add(&session).await.unwrap(), "3");
    }
}

#[tokio::test]
async fn an_answer_over_the_limit_costs_its_call() {
    fn too_large(error: &CallError) -> bool {
        let limit_bytes = 1024 * 1024;
        matches!(error, CallError::TooLarge { limit_bytes: found } if *found == limit_bytes)
            || matches!(fault(error), Some((FaultKind::TooLarge { limit_bytes: found }, Sent::Maybe)) if *found == limit_bytes)
    }
    fails("sse-huge-event=16@echo", too_large).await;
    fails("huge-body=16@echo", too_large).await;
    fails(
        "huge-error-body=16@echo",
        is!(FaultKind::Status { status: 500, .. }, Answered),
    )
    .await;
    fails(
        "huge-headers=@echo",
        is!(FaultKind::Interrupted { .. }, Maybe),
    )
    .await;
}

#[tokio::test]
async fn a_body_that_was_packed_unasked_is_not_unpacked() {
    fails(
        "gzip-bomb=64@echo",
        is!(FaultKind::ContentType { .. }, Answered),
    )
    .await;
}

#[tokio::test]
async fn an_answer_that_is_none_is_told_at_once() {
    for (flag, expected) in [
        (
            "wrong-content-type=echo",
            is!(FaultKind::ContentType { .. }, Answered) as fn(&CallError) -> bool,
        ),
        ("empty-200=echo", is!(FaultKind::NoAnswer { .. }, Answered)),
        (
            "202-to-request=echo",
            is!(FaultKind::NoAnswer { .. }, Answered),
        ),
    ] {
        for era in ERAS {
            let struck = fails_in(era, flag, expected).await;
            assert!(struck.took < http::SOON, "{flag}: {:?}", struck.took);
        }
    }
}

#[tokio::test]
async fn a_list_that_is_no_answer_is_asked_for_once() {
    for flag in [
        "wrong-content-type=tools/list",
        "empty-200=tools/list",
        "202-to-request=tools/list",
    ] {
        let server = server_of(Era::Legacy, &[flag]).await;
        let session = connect(&server, Era::Legacy).await;
        let error = session.list_tools().await.unwrap_err();
        assert!(error.fault().is_some(), "{flag}: {error:?}");
        assert_eq!(requests_of(&server, "tools/list").len(), 1, "{flag}");
    }
}

#[tokio::test]
async fn an_error_belongs_to_its_exchange_whatever_its_id() {
    fails("foreign-error-id=echo", |error| {
        error.rpc().is_some_and(|rpc| rpc.code() == -32600)
    })
    .await;
}

#[tokio::test]
async fn messages_go_to_no_other_origin() {
    let server = http::faulty(&["endpoint-other-origin"]).transport(Transport::Sse);
    let server = server.serve().await.unwrap();
    let sse = LegacySse::new(&server.url()).unwrap();
    let error = Session::connect(&sse, SessionOptions::default())
        .await
        .unwrap_err();
    let OpenError::Handshake { error, .. } = &error else {
        panic!("{error:?}");
    };
    let reason = error.close_reason().unwrap().to_string();
    assert!(reason.contains("another origin"), "{error:?}");
    assert!(server.requests().iter().all(|request| !request.elsewhere));
    // And whoever finds that transport by itself does no better.
    try_connect(&server, Era::Legacy).await.unwrap_err();
    assert!(server.requests().iter().all(|request| !request.elsewhere));
}
