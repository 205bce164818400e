//! What an answer is for, and for how long.

use super::*;
use crate::policy::Verb;

/// Asks about one thing and then about others: which of them are approved without asking again.
async fn covered(approvals: &Approvals, answer: UseApproval) -> [bool; 5] {
    let says = Says::new(answer);
    let first = ask("a", ("s", 1), "x");
    let decision = approvals
        .settle(&first, |ask| says.answer(ask))
        .await
        .unwrap();
    assert_eq!(decision.is_allowed(), answer != UseApproval::Refuse);
    assert_eq!(says.times(), 1);
    [
        first,
        ask("a", ("s", 1), "y"),
        ask("b", ("s", 1), "x"),
        // The same name, and something else behind it.
        ask("a", ("s", 2), "x"),
        // Another name, and the same behind it.
        ask("a", ("other", 1), "x"),
    ]
    .map(|ask| standing(approvals, &ask).unwrap().is_some())
}

#[tokio::test]
async fn each_answer_is_for_as_much_as_it_says_and_bound_to_what_the_server_is() {
    for (answer, expected) in [
        (UseApproval::Refuse, [false; 5]),
        (UseApproval::Once, [false; 5]),
        (UseApproval::Session, [true, false, false, false, true]),
        (UseApproval::Server, [true, true, false, false, true]),
        (UseApproval::Always, [true, true, false, false, true]),
    ] {
        let place = Place::new();
        for approvals in [Approvals::in_memory(), place.approvals()] {
            assert_eq!(covered(&approvals, answer).await, expected, "{answer:?}");
        }
        // Only what is for good is there for the next program.
        let next = place.approvals();
        let is_there = standing(&next, &ask("a", ("s", 1), "x")).unwrap();
        let expected = (answer == UseApproval::Always).then_some(Lasts::Always);
        assert_eq!(is_there, expected, "{answer:?}");
        assert_eq!(place.state.exists(), answer == UseApproval::Always);
    }
}

#[tokio::test]
async fn the_decision_says_how_long_it_lasts() {
    for (answer, lasts) in [
        (UseApproval::Once, Lasts::Once),
        (UseApproval::Session, Lasts::Session),
        (UseApproval::Server, Lasts::Session),
        (UseApproval::Always, Lasts::Always),
    ] {
        let approvals = Approvals::in_memory();
        let ask = ask("a", ("s", 1), "x");
        let decision = approvals
            .settle(
                &ask,
                |ask| async move { Says::new(answer).answer(ask).await },
            )
            .await
            .unwrap();
        assert_eq!(decision, Decision::Allow(Reason::Approved(lasts)));
        if lasts != Lasts::Once {
            // Nobody is asked again.
            let again = approvals.settle(&ask, refuse).await.unwrap();
            assert_eq!(again, decision);
        }
    }
}

/// Refuses everything.
async fn refuse(_request: UseRequest) -> UseApproval {
    UseApproval::Refuse
}

#[tokio::test]
async fn where_nobody_is_there_to_ask_nothing_is_approved() {
    let (approvals, ask) = (Approvals::in_memory(), ask("a", ("s", 1), "x"));
    let decision = approvals.settle(&ask, refuse).await.unwrap();
    assert_eq!(decision.to_string(), "deny: not approved by the owner");
    assert_eq!(approvals.list().unwrap(), []);
}

#[tokio::test]
async fn many_calls_at_once_ask_once() {
    let approvals = Approvals::in_memory();
    let says = Says::new(UseApproval::Server);
    let asks: Vec<UseRequest> = (0..50)
        .map(|n| ask("a", ("s", 1), &n.to_string()))
        .collect();
    let (one, two) = asks.split_at(25);
    let half = async |asks: &[UseRequest]| {
        for ask in asks {
            let decision = approvals.settle(ask, |ask| says.answer(ask)).await.unwrap();
            assert!(decision.is_allowed());
        }
    };
    tokio::join!(half(one), half(two), half(&asks));
    assert_eq!(says.times(), 1);
}

#[tokio::test]
async fn a_question_that_is_dropped_approves_nothing_and_blocks_nobody() {
    let (approvals, ask) = (Approvals::in_memory(), ask("a", ("s", 1), "x"));
    tokio::select! {
        biased;
        _ = approvals.settle(&ask, |_| std::future::pending()) => panic!("nobody answered"),
        () = tokio::task::yield_now() => {}
    }
    assert_eq!(standing(&approvals, &ask).unwrap(), None);
    let says = Says::new(UseApproval::Session);
    assert!(
        approvals
            .settle(&ask, |ask| says.answer(ask))
            .await
            .unwrap()
            .is_allowed()
    );
}

#[test]
fn an_approval_to_read_is_none_to_subscribe() {
    let approvals = Approvals::in_memory();
    let (caller, s) = (Caller::agent("a").unwrap(), server("s"));
    let target = Target::Resource {
        server: &s,
        uri: "f:x",
    };
    let request = |verb| Request::new(&caller, verb, target);
    let reason = Reason::Level(Level::Trusted);
    let request_of_read = request(Verb::Read);
    let ask = UseRequest::new(
        &request_of_read,
        reason,
        Scope::Server,
        identity(1),
        "program",
    );
    let covers = Covers::Item(ask.item.clone());
    approvals.remember(&ask, covers, Lasts::Session).unwrap();
    let standing = |verb| approvals.standing(&request(verb), &identity(1)).unwrap();
    assert_eq!(standing(Verb::Read), Some(Lasts::Session));
    assert_eq!(standing(Verb::Subscribe), None);
    assert_eq!(
        ask.to_string(),
        "agent a wants to read resource f:x of s (level TRUSTED)"
    );
}

#[test]
fn approvals_are_listed_and_revoked() {
    let time = std::time::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let whose = |caller: Option<&str>, name: Option<&str>, number: Option<u8>| Which {
        caller: caller.map(|id| CallerId::parse(id).unwrap()),
        server: name.map(server),
        identity: number.map(identity),
    };
    for (which, left) in [
        (whose(None, None, None), 0),
        (whose(Some("a"), None, None), 2),
        (whose(None, Some("s"), None), 2),
        (whose(None, None, Some(1)), 2),
        (whose(Some("a"), Some("t"), None), 3),
        (whose(Some("c"), None, None), 4),
    ] {
        let place = Place::new();
        for approvals in [Approvals::in_memory(), place.approvals()] {
            for (agent, named) in [
                ("a", ("s", 1)),
                ("b", ("s", 1)),
                ("a", ("t", 2)),
                ("b", ("t", 2)),
            ] {
                let lasts = match agent {
                    "a" => Lasts::Session,
                    _ => Lasts::Always,
                };
                let ask = ask(agent, named, "x");
                approvals
                    .remember_at(&ask, Covers::Server, lasts, time)
                    .unwrap();
            }
            let all = approvals.list().unwrap();
            assert_eq!(all.len(), 4);
            assert!(all.iter().all(|approval| approval.approved == time));
            let revoked = approvals.revoke(&which).unwrap();
            assert_eq!(revoked.len(), 4 - left, "{which:?}");
            let rest = approvals.list().unwrap();
            assert_eq!(rest.len(), left);
            assert!(rest.iter().all(|approval| !which.means(approval)));
            for approval in &revoked {
                let named = (approval.server.as_str(), approval.identity.as_bytes()[0]);
                let ask = ask(approval.caller.as_str(), named, "x");
                assert_eq!(standing(&approvals, &ask).unwrap(), None);
            }
            approvals.revoke(&Which::default()).unwrap();
        }
    }
}

#[test]
fn a_session_holds_as_much_as_it_may() {
    let limits = StoreLimits {
        records: 2,
        ..StoreLimits::default()
    };
    let approvals = Approvals::in_memory().limits(limits);
    for number in [1, 2] {
        always(&approvals, &ask("a", ("s", number), "x")).unwrap();
    }
    let error = always(&approvals, &ask("a", ("s", 3), "x")).unwrap_err();
    assert!(matches!(error, StoreError::Full { most: 2 }), "{error}");
}
