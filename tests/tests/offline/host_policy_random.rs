//! Random policies, callers and uses: what is denied reaches no server, and what is listed can be used.

use std::collections::BTreeMap;

use switchboard::events::{ArgumentHash, Event};
use switchboard::host::Caller;
use switchboard::policy::{Decision, Reason, Request};

use crate::host_support::agents::{SERVERS, Use, drain, has_no_canary, host, listed, told};
use crate::host_support::dice::Dice;
use crate::host_support::name;
use crate::host_support::recorder::Seen;

/// Whether an audit has exactly one decision in it, with all that belongs to it; gives its rule.
fn decided(events: &[Event], caller: &Caller, server: &str, used: Use) -> Option<(String, String)> {
    let mut all = events.iter().filter_map(|event| match event {
        Event::Decided {
            call,
            decision,
            rule,
            arguments,
        } => Some((call, decision, rule, arguments)),
        _ => None,
    });
    let (call, decision, rule, arguments) = all.next()?;
    assert!(all.next().is_none(), "{events:?}");
    assert_eq!(&*call.caller, caller.id().as_str());
    assert_eq!(
        (call.server.as_str(), &*call.name),
        (server, &*used.seen().name)
    );
    let is_hash = |hash: &ArgumentHash| hash.to_string().len() == 71;
    match used {
        Use::Resource(_) => assert!(arguments.is_none()),
        // Looked for without arguments.
        Use::Tool(_) if arguments.is_none() => assert_eq!(*decision, "deny"),
        _ => assert!(arguments.as_ref().is_some_and(is_hash), "{events:?}"),
    }
    Some(((*decision).to_owned(), rule.to_string()))
}

#[tokio::test(start_paused = true)]
async fn nothing_that_is_denied_ever_reaches_a_server() {
    let mut reasons = BTreeMap::<&str, usize>::new();
    for seed in 0..300 {
        let mut dice = Dice::new(seed);
        let says = dice.says();
        let is_concealed = seed % 2 == 0;
        let policy = dice.policy().conceal_denials(is_concealed);
        let (host, recorders) = host(&SERVERS, |builder| {
            builder.policy(policy).operator(says.clone())
        });
        let caller = match dice.roll(20) {
            0 => Caller::owner(),
            _ => dice.caller(),
        };
        let view = host.view(caller.clone());
        let mut own_events = view.events();
        let is_eager = dice.roll(2) == 0;
        if is_eager {
            host.connect_all().await;
        }
        let mut events = host.events();
        let knows = |server: &str| {
            let server = name(server);
            !host.why(&Request::list(&caller, &server)).is_denied()
        };
        for (server, recorder) in SERVERS.into_iter().zip(&recorders) {
            for used in Use::all() {
                drain(&mut events);
                let decision = used.decision(&host, &caller, server);
                *reasons.entry(decision.reason().id()).or_default() += 1;
                let may = says.permits(&decision);
                let done = used.attempt(&view, server).await;
                let about = || format!("seed {seed}: {used:?} of {server} by {caller}: {decision}");
                assert_eq!(done.is_ok(), may, "{}: {done:?}", about());
                let reached = recorder.uses();
                match may {
                    true => assert_eq!(reached, [used.seen()], "{}", about()),
                    false => assert_eq!(reached, [], "{}", about()),
                }
                let happened = drain(&mut events);
                has_no_canary(&happened);
                let audited = decided(&happened, &caller, server, used);
                if caller.is_owner() {
                    assert!(audited.is_none(), "nobody decides about the owner");
                } else if is_eager || knows(server) {
                    assert!(audited.is_some(), "{}: {happened:?}", about());
                }
                if let Some((word, rule)) = audited {
                    assert_eq!(word == "allow", may, "{}", about());
                    match &decision {
                        Decision::Allow(reason) | Decision::Deny(reason) => {
                            assert_eq!(rule, reason.to_string());
                        }
                        Decision::Ask(..) if may => {
                            assert!(rule.starts_with("approved by"), "{rule}");
                        }
                        Decision::Ask(..) => assert_eq!(rule, "not approved by the owner"),
                    }
                }
                let absent = used.absent();
                // What is not listed may be read all the same, where it is granted.
                let is_granted = absent.decision(&host, &caller, server).is_allowed();
                let is_hidden = is_concealed || matches!(decision.reason(), Reason::Audience(_));
                if let (Err(error), false) = (&done, is_hidden) {
                    // The rule is named.
                    let rule = match &decision {
                        Decision::Deny(reason) => reason.to_string(),
                        _ => "not approved by the owner".to_owned(),
                    };
                    assert!(error.contains("may not"), "{}: {error}", about());
                    assert!(error.ends_with(&format!(": {rule}")), "{error}");
                } else if let Err(error) = done
                    && !(is_granted && matches!(used, Use::Resource(_)))
                {
                    assert_eq!(
                        Err(error),
                        absent.attempt(&view, server).await,
                        "{}",
                        about()
                    );
                    assert_eq!(recorder.uses(), []);
                }
            }
            if !is_eager && !knows(server) {
                assert_eq!(recorder.starts(), 0, "seed {seed}: {server} by {caller}");
            }
        }
        // Listing and use agree.
        let listed = listed(&view);
        for (server, used) in SERVERS
            .into_iter()
            .flat_map(|s| Use::all().into_iter().map(move |u| (s, u)))
        {
            let is_seen = listed.contains(&(server.to_owned(), used.seen()));
            let can_be = !used.decision(&host, &caller, server).is_denied();
            assert_eq!(
                is_seen, can_be,
                "seed {seed}: {used:?} of {server} by {caller}"
            );
        }
        let read = view.context(1 << 20).await;
        for (server, recorder) in SERVERS.into_iter().zip(&recorders) {
            for seen in recorder.uses() {
                assert!(listed.contains(&(server.to_owned(), seen)));
            }
        }
        let named = read
            .texts
            .iter()
            .map(|passage| (&passage.server, &passage.uri));
        for (server, uri) in named.chain(read.left_out.iter().map(|(server, uri, _)| (server, uri)))
        {
            let (method, name) = ("resources/read".to_owned(), uri.clone());
            assert!(listed.contains(&(server.to_string(), Seen { method, name })));
        }
        for event in told(&mut own_events).await {
            assert!(knows(event.server().as_str()), "seed {seed}: {event:?}");
            assert!(
                event
                    .call()
                    .is_none_or(|call| *call.caller == *caller.id().as_str())
            );
        }
    }
    for id in [
        "owner",
        "audience",
        "no-policy",
        "level",
        "block",
        "allow-list",
        "withheld",
        "grant",
        "no-grant",
        "admit",
    ] {
        assert!(
            reasons.get(id).is_some_and(|many| *many > 20),
            "{id}: {reasons:?}"
        );
    }
}
