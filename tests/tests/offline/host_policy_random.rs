//! Random policies, callers and uses: what is denied reaches no server, and what is listed can be used.

use std::collections::BTreeMap;

use switchboard::events::{ArgumentHash, Event};
use switchboard::host::Caller;
use switchboard::policy::{
    AgentPolicy, Audience, Decision, Grants, Level, Policy, Reason, Request, UseApproval, Verdict,
};
use switchboard::spec::ToolFilter;

use crate::host_support::agents::{
    AGENTS, SERVERS, Says, Use, agent, drain, has_no_canary, host, id, listed, told,
};
use crate::host_support::name;
use crate::host_support::recorder::Seen;

/// Dice that fall alike each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len())]
    }

    fn grants(&mut self, most: usize) -> Grants {
        let servers = ["*", "notes", "mail", "v*", "?ail"];
        let items = [
            "*",
            "get_*",
            "*_one",
            "wipe",
            "put_one",
            "resource/*",
            "resource/file:*",
            "resource/note:?",
            "prompt/*",
            "prompt/hel?",
            "prompt/help",
        ];
        let many = self.roll(most + 1);
        let grants =
            (0..many).map(|_| format!("mcp:{}:{}", self.pick(&servers), self.pick(&items)));
        Grants::parse(grants.collect::<Vec<_>>()).unwrap()
    }

    fn filter(&mut self) -> ToolFilter {
        let patterns = ["*", "get_*", "*_one", "wipe", "nothing"];
        let mut list = |most| -> Vec<String> {
            let many = self.roll(most);
            (0..many).map(|_| self.pick(&patterns).to_owned()).collect()
        };
        let (allow, block) = (list(4), list(2));
        ToolFilter {
            allow: (!allow.is_empty()).then_some(allow),
            block,
        }
    }

    fn agent(&mut self) -> AgentPolicy {
        let levels = [
            Level::Yolo,
            Level::Yolo,
            Level::Trusted,
            Level::Trusted,
            Level::Sandboxed,
        ];
        let mut policy = AgentPolicy::new(self.pick(&levels)).grants(self.grants(5));
        if self.roll(3) == 0 {
            policy = policy.withhold(self.grants(1));
        }
        if self.roll(4) == 0 {
            policy = policy.tools(&self.filter());
        }
        policy
    }

    fn policy(&mut self) -> Policy {
        let mut policy = Policy::none();
        for agent in AGENTS {
            if self.roll(3) > 0 {
                policy = policy.agent(id(agent), self.agent());
            }
        }
        if self.roll(3) == 0 {
            policy = policy.others(self.agent());
        }
        for server in SERVERS {
            if self.roll(5) == 0 {
                let whose = id(self.pick(&AGENTS));
                policy = policy.audience(name(server), Audience::Only(vec![whose]));
            }
            if self.roll(4) == 0 {
                policy = policy.filter(name(server), &self.filter());
            }
        }
        if self.roll(3) == 0 {
            let role = self.pick(&["reader", "writer"]);
            policy = policy.admit("roles", move |request: &Request<'_>| {
                let own = request.caller.attributes().get("role");
                let is_use = request
                    .target
                    .item()
                    .is_some_and(|(_, item)| item.contains("one"));
                match is_use && own.is_some_and(|own| own == role) {
                    true => Verdict::deny("not in this role"),
                    false => Verdict::Allow,
                }
            });
        }
        policy
    }
}

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
        let mut dice = Dice(seed * 7919 + 1);
        let answers = [
            UseApproval::Once,
            UseApproval::Session,
            UseApproval::Server,
            UseApproval::Always,
            UseApproval::Refuse,
        ];
        let says = Says::new(dice.pick(&answers));
        let is_concealed = seed % 2 == 0;
        let policy = dice.policy().conceal_denials(is_concealed);
        let (host, recorders) = host(&SERVERS, |builder| {
            builder.policy(policy).operator(says.clone())
        });
        let caller = match dice.roll(20) {
            0 => Caller::owner(),
            _ => agent(dice.pick(&AGENTS)).attribute("role", dice.pick(&["reader", "writer"])),
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
                let may = match &decision {
                    Decision::Allow(_) => true,
                    Decision::Ask(..) => says.0 != UseApproval::Refuse,
                    Decision::Deny(_) => false,
                };
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
