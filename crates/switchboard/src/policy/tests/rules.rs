//! The rules, one by one.

use super::*;

#[test]
fn the_owner_may_do_everything_whatever_the_rules() {
    let s = server("s");
    let policy = Policy::none()
        .audience(s.clone(), Audience::Only(Vec::new()))
        .filter(s.clone(), &filter(Some(&[]), &["*"]))
        .admit("never", |_: &Request<'_>| Verdict::deny("no"));
    for (_, decision) in all(&policy, &Caller::owner(), &s) {
        assert_eq!(decision, Decision::Allow(Reason::Owner));
    }
}

#[test]
fn without_a_policy_there_is_no_access() {
    let s = server("s");
    for (_, decision) in all(&Policy::none(), &agent("a"), &s) {
        assert_eq!(decision, Decision::Deny(Reason::NoPolicy));
    }
    let listed = Policy::none().decide(&Request::list(&agent("a"), &s));
    assert_eq!(listed, Decision::Deny(Reason::NoPolicy));
}

#[test]
fn without_a_grant_there_is_no_access_at_any_level() {
    let s = server("s");
    for level in [Level::Trusted, Level::Yolo] {
        let policy = Policy::none().agent(id("a"), AgentPolicy::new(level));
        for (_, decision) in all(&policy, &agent("a"), &s) {
            assert_eq!(decision, Decision::Deny(Reason::NoGrant));
        }
    }
}

#[test]
fn sandboxed_reaches_nothing_and_sees_nothing() {
    let (s, policy) = (server("s"), open(Level::Sandboxed));
    for (verb, decision) in all(&policy, &agent("a"), &s) {
        let expected = Decision::Deny(Reason::Level(Level::Sandboxed));
        assert_eq!(decision, expected, "{verb}");
    }
    assert!(policy.decide(&Request::list(&agent("a"), &s)).is_denied());
}

#[test]
fn trusted_sees_without_asking_and_asks_before_every_use() {
    let s = server("s");
    for (verb, decision) in all(&open(Level::Trusted), &agent("a"), &s) {
        match verb {
            Verb::List => assert!(decision.is_allowed(), "{decision}"),
            _ => assert_eq!(
                decision,
                Decision::Ask(Reason::Level(Level::Trusted), Scope::Server)
            ),
        }
    }
}

#[test]
fn yolo_never_asks_and_names_the_grant() {
    let s = server("s");
    for (_, decision) in all(&open(Level::Yolo), &agent("a"), &s) {
        assert!(decision.is_allowed(), "{decision}");
        assert_eq!(decision.reason().id(), "grant");
    }
    assert_eq!(
        call(&open(Level::Yolo), &agent("a"), &s, "x"),
        "allow: grant mcp:*:*"
    );
}

#[test]
fn what_cannot_be_done_with_a_thing_is_denied() {
    let s = server("s");
    let (policy, caller) = (open(Level::Yolo), agent("a"));
    for target in things(&s).into_iter().chain([Target::Server(&s)]) {
        for verb in Verb::ALL.into_iter().filter(|verb| !verb.fits(&target)) {
            let decision = policy.decide(&Request::new(&caller, verb, target));
            assert_eq!(decision, Decision::Deny(Reason::Unfit), "{verb} {target}");
        }
    }
}

#[test]
fn a_private_server_is_no_server_to_others() {
    let (s, everything) = (server("s"), Grants::everything());
    let policy = open(Level::Yolo)
        .agent(id("b"), AgentPolicy::new(Level::Yolo).grants(everything))
        .audience(s.clone(), Audience::Only(vec![id("b")]));
    for (_, decision) in all(&policy, &agent("a"), &s) {
        assert_eq!(decision.to_string(), "deny: audience of server s");
    }
    assert!(policy.decide(&Request::list(&agent("a"), &s)).is_denied());
    for (_, decision) in all(&policy, &agent("b"), &s) {
        assert!(decision.is_allowed());
    }
    let other = server("other");
    assert!(
        policy
            .decide(&Request::list(&agent("a"), &other))
            .is_allowed()
    );
}

#[test]
fn a_server_is_seen_by_whoever_has_a_grant_for_anything_in_it() {
    for (grant, sees) in [
        ("mcp:s:x", true),
        ("mcp:s:prompt/x", true),
        ("mcp:t:*", false),
    ] {
        let one = AgentPolicy::new(Level::Trusted).grants(grants(&[grant]));
        let policy = Policy::none().agent(id("a"), one);
        let decision = policy.decide(&Request::list(&agent("a"), &server("s")));
        assert_eq!(decision.is_allowed(), sees, "{grant}");
    }
}

#[test]
fn what_is_withheld_in_a_server_does_not_hide_the_server() {
    let one = AgentPolicy::new(Level::Yolo)
        .grants(Grants::everything())
        .withhold(grants(&["mcp:s:delete_*"]));
    let policy = Policy::none().agent(id("a"), one);
    let (s, a) = (server("s"), agent("a"));
    assert!(policy.decide(&Request::list(&a, &s)).is_allowed());
    assert_eq!(
        call(&policy, &a, &s, "delete_all"),
        "deny: withheld mcp:s:delete_*"
    );
    assert_eq!(call(&policy, &a, &s, "get"), "allow: grant mcp:*:*");
}

#[test]
fn block_lists_win_and_are_named() {
    let (s, a) = (server("github"), agent("a"));
    let policy = open(Level::Yolo).filter(
        s.clone(),
        &filter(Some(&["delete_*", "get_*"]), &["delete_*"]),
    );
    for (tool, expected) in [
        ("delete_repo", "deny: block list of server github: delete_*"),
        ("get_repo", "allow: grant mcp:*:*"),
        ("put_repo", "deny: not in the allow list of server github"),
    ] {
        assert_eq!(call(&policy, &a, &s, tool), expected);
    }
    assert_eq!(
        call(&policy, &a, &server("other"), "delete_repo"),
        "allow: grant mcp:*:*"
    );
}

#[test]
fn an_agents_own_lists_are_for_tools_of_all_servers() {
    let one = AgentPolicy::new(Level::Yolo)
        .grants(Grants::everything())
        .tools(&filter(Some(&["get_*"]), &["get_secret"]));
    let policy = Policy::none().agent(id("a"), one);
    for name in ["s", "t"] {
        let (s, a) = (server(name), agent("a"));
        for (tool, expected) in [
            ("get_secret", "deny: block list of the agent: get_secret"),
            ("get_it", "allow: grant mcp:*:*"),
            ("put_it", "deny: not in the allow list of the agent"),
        ] {
            assert_eq!(call(&policy, &a, &s, tool), expected);
        }
        let prompt = Target::Prompt {
            server: &s,
            name: "put_it",
        };
        assert!(policy.decide(&Request::usual(&a, prompt)).is_allowed());
    }
}

#[test]
fn a_predicate_sees_the_caller_and_its_run_and_can_only_take_away() {
    let s = server("s");
    let policy = open(Level::Trusted).admit("writers", |request: &Request<'_>| {
        let role = request.caller.attributes().get("role");
        let task = request.caller.run_attributes().get("task");
        match (role.map(String::as_str), task.map(String::as_str)) {
            (Some("writer"), Some("docs")) => Verdict::Allow,
            _ => Verdict::deny("only writers, for docs"),
        }
    });
    let writer = agent("a").attribute("role", "writer");
    assert_eq!(
        call(&policy, &writer, &s, "x"),
        "deny: admit hook writers: only writers, for docs"
    );
    // What it allows is asked about like everything else.
    let writer = writer.run("task", "docs");
    assert_eq!(call(&policy, &writer, &s, "x"), "ask: level TRUSTED");
    let nobody = agent("b").attribute("role", "writer").run("task", "docs");
    assert_eq!(
        call(&policy, &nobody, &s, "x"),
        "deny: no policy for this agent"
    );
}

#[test]
fn a_predicate_that_looks_at_the_verb_cannot_part_seeing_from_using() {
    let s = server("s");
    for denied in Verb::ALL {
        let policy = open(Level::Yolo).admit("verb", move |request: &Request<'_>| {
            match request.verb == denied {
                true => Verdict::deny("not this"),
                false => Verdict::Allow,
            }
        });
        for target in things(&s) {
            let caller = agent("a");
            let verbs = Verb::ALL.into_iter().filter(|verb| verb.fits(&target));
            let decisions: Vec<bool> = verbs
                .map(|verb| {
                    policy
                        .decide(&Request::new(&caller, verb, target))
                        .is_denied()
                })
                .collect();
            assert!(decisions.iter().all(|one| *one == decisions[0]), "{target}");
        }
    }
}

#[test]
fn agents_without_a_policy_of_their_own_have_that_of_others() {
    let s = server("s");
    let others = AgentPolicy::new(Level::Yolo).grants(grants(&["mcp:s:x"]));
    let policy = open(Level::Sandboxed).others(others);
    assert_eq!(call(&policy, &agent("b"), &s, "x"), "allow: grant mcp:s:x");
    assert_eq!(call(&policy, &agent("a"), &s, "x"), "deny: level SANDBOXED");
}

#[test]
fn a_template_is_seen_by_its_text_and_what_is_read_goes_by_its_address() {
    let one = AgentPolicy::new(Level::Yolo).grants(grants(&["mcp:s:resource/file:///notes/*"]));
    let policy = Policy::none().agent(id("a"), one);
    let (s, a) = (server("s"), agent("a"));
    let template = |uri_template| Target::Template {
        server: &s,
        uri_template,
    };
    let resource = |uri| Target::Resource { server: &s, uri };
    for (target, is_allowed) in [
        (template("file:///notes/{name}"), true),
        (template("file:///{path}"), false),
        (resource("file:///notes/x"), true),
        (resource("file:///etc/passwd"), false),
    ] {
        let decision = policy.decide(&Request::usual(&a, target));
        assert_eq!(decision.is_allowed(), is_allowed, "{target}");
    }
}
