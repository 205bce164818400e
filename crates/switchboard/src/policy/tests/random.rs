//! Random rules, callers, verbs and targets.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::model::{Agent, Granted, Hook, Lists, Rules, Who};
use super::*;

const SERVERS: [&str; 3] = ["s", "st", "t"];
const AGENTS: [&str; 3] = ["a", "b", "c"];
const ITEMS: [&str; 5] = ["x", "xy", "y", "f:x", "prompt/x"];
const PATTERNS: [&str; 8] = ["*", "x", "x*", "*y", "?", "x?", "*:*", "prompt/*"];

/// More of the one that covers all, so that there is something left to decide after the grants.
const GRANTED: [&str; 8] = ["*", "x", "x*", "*", "?", "*", "*:*", "*"];

/// A target that owns its parts: a kind (0 is the server as such), a server and an item.
type Thing = (usize, &'static str, &'static str);

fn text(from: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(from).prop_map(str::to_owned)
}

fn granted() -> impl Strategy<Value = Granted> {
    let servers = select(&["*", "s", "s*", "*", "?"]);
    let kinds = select(&[Kind::Tool, Kind::Tool, Kind::Resource, Kind::Prompt]);
    (servers, kinds, text(&GRANTED))
        .prop_map(|(server, kind, item)| Granted(server.into(), kind, item))
}

fn lists() -> impl Strategy<Value = Lists> {
    let allow = option::weighted(0.3, vec(text(&PATTERNS), 0..4));
    (allow, vec(text(&PATTERNS), 0..2)).prop_map(|(allow, block)| Lists { allow, block })
}

fn one_agent() -> impl Strategy<Value = Agent> {
    let level = select(&[
        Level::Yolo,
        Level::Trusted,
        Level::Yolo,
        Level::Trusted,
        Level::Sandboxed,
    ]);
    let withheld = option::weighted(0.2, granted());
    let withheld = withheld.prop_map(|one| one.into_iter().collect());
    let parts = (level, vec(granted(), 0..7), withheld, lists());
    parts.prop_map(|(level, grants, withheld, tools)| Agent {
        level,
        grants,
        withheld,
        tools,
    })
}

fn hook() -> impl Strategy<Value = Hook> {
    prop_oneof![
        text(&["reader", "writer"]).prop_map(Hook::Role),
        text(&["docs", "code"]).prop_map(Hook::Task),
        text(&SERVERS).prop_map(Hook::Server),
        text(&ITEMS).prop_map(Hook::Item),
        select(&Verb::ALL).prop_map(Hook::Verb),
    ]
}

fn rules() -> impl Strategy<Value = Rules> {
    let parts = (
        vec((text(&AGENTS), one_agent()), 0..4),
        option::weighted(0.8, one_agent()),
        vec((text(&SERVERS), vec(text(&AGENTS), 0..3)), 0..2),
        vec((text(&SERVERS), lists()), 0..3),
        vec(hook(), 0..3),
    );
    parts.prop_map(|(agents, others, audiences, filters, hooks)| Rules {
        agents,
        others,
        audiences,
        filters,
        hooks,
    })
}

fn who() -> impl Strategy<Value = Who> {
    let id = option::weighted(0.95, text(&AGENTS));
    let parts = (id, text(&["reader", "writer"]), text(&["docs", "code"]));
    parts.prop_map(|(id, role, task)| Who { id, role, task })
}

fn thing() -> impl Strategy<Value = Thing> {
    (0..5_usize, select(&SERVERS), select(&ITEMS))
}

fn target((kind, _, item): Thing, server: &ServerName) -> Target<'_> {
    match kind {
        0 => Target::Server(server),
        1 => Target::Tool { server, name: item },
        2 => Target::Resource { server, uri: item },
        3 => Target::Template {
            server,
            uri_template: item,
        },
        _ => Target::Prompt { server, name: item },
    }
}

/// Picks a verb: mostly one that can be done with the target, else any.
fn pick(number: usize, target: &Target<'_>) -> Verb {
    let mut fitting = Verb::ALL
        .into_iter()
        .filter(|verb| verb.fits(target))
        .cycle();
    match Verb::ALL.get(number) {
        Some(any) => *any,
        None => fitting.nth(number).unwrap(),
    }
}

/// More is more.
fn rank(decision: &Decision) -> u8 {
    match decision {
        Decision::Deny(_) => 0,
        Decision::Ask(..) => 1,
        Decision::Allow(_) => 2,
    }
}

/// Takes away the rule that a reason names, or gives what it says is missing.
fn flip(rules: &mut Rules, who: &mut Who, verb: &mut Verb, target: &Target<'_>, reason: &Reason) {
    let server = target.server().as_str().to_owned();
    let name = who.id.clone().unwrap_or_default();
    if let Reason::Owner = reason {
        who.id = Some("c".to_owned());
        return;
    }
    let at = rules.agents.iter().rposition(|(agent, _)| *agent == name);
    let agent = match at {
        Some(at) => rules.agents.get_mut(at).map(|(_, agent)| agent),
        None => rules.others.as_mut(),
    };
    let of_server = rules.filters.iter_mut().rfind(|(name, _)| *name == server);
    let of_server = of_server.map(|(_, lists)| lists);
    let is_named = |grant: &Arc<Grant>| {
        let text = grant.to_string();
        move |one: &Granted| one.text() == text
    };
    match reason {
        Reason::Unfit => *verb = target.usual_verb(),
        Reason::Audience(_) => rules.audiences.retain(|(name, _)| *name != server),
        Reason::NoPolicy => {
            rules.others = Some(Agent {
                level: Level::Yolo,
                grants: Vec::new(),
                withheld: Vec::new(),
                tools: Lists::default(),
            });
        }
        Reason::Level(_) => agent.unwrap().level = Level::Yolo,
        Reason::Block { list, pattern } => {
            let lists = match list {
                List::Server(_) => of_server.unwrap(),
                List::Agent => &mut agent.unwrap().tools,
                List::Host => panic!("a policy has no list of the host"),
            };
            lists.block.retain(|one| **one != **pattern);
        }
        Reason::Unlisted(List::Server(_)) => of_server.unwrap().allow = None,
        Reason::Unlisted(List::Agent) => agent.unwrap().tools.allow = None,
        Reason::Withheld(grant) => {
            let is = is_named(grant);
            agent.unwrap().withheld.retain(|one| !is(one));
        }
        Reason::Grant(grant) => {
            let is = is_named(grant);
            agent.unwrap().grants.retain(|one| !is(one));
        }
        Reason::NoGrant => {
            let (kind, item) = target.item().unwrap_or((Kind::Tool, "*"));
            let grant = Granted(server, kind, item.to_owned());
            agent.unwrap().grants.push(grant);
        }
        Reason::Admit { name, .. } => {
            let at: usize = name.parse().unwrap();
            rules.hooks[at] = Hook::Role("of nobody".to_owned());
        }
        other => panic!("no rule of a policy: {other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn a_policy_decides_as_its_rules_say(rules in rules(), who in who(), things in vec(thing(), 1..8)) {
        let (policy, caller) = (rules.policy(), who.caller());
        for thing in things {
            let server = server(thing.1);
            for verb in Verb::ALL {
                let request = Request::new(&caller, verb, target(thing, &server));
                let expected = rules.expected(&who, &request);
                prop_assert_eq!(policy.decide(&request).to_string(), expected, "{:?}", request);
            }
        }
    }

    #[test]
    fn the_rule_that_is_named_is_the_one_that_decided(
        rules in rules(), who in who(), thing in thing(), verb in 0..24_usize,
    ) {
        let server = server(thing.1);
        let target = target(thing, &server);
        let (mut rules, mut who, mut verb) = (rules, who, pick(verb, &target));
        let mut steps = 0;
        loop {
            let caller = who.caller();
            let decision = rules.policy().decide(&Request::new(&caller, verb, target));
            flip(&mut rules, &mut who, &mut verb, &target, decision.reason());
            let flipped = who.caller();
            let after = rules.policy().decide(&Request::new(&flipped, verb, target));
            prop_assert_ne!(&decision, &after, "{:?}", &rules);
            prop_assert_ne!(decision.reason(), after.reason());
            // Taking away what is against it, one by one, ends with nothing left.
            if !decision.is_denied() {
                break;
            }
            steps += 1;
            prop_assert!(steps < 40, "{:?}", &rules);
        }
    }

    #[test]
    fn what_is_seen_can_be_used_or_asked_for_and_nothing_else(
        rules in rules(), who in who(), thing in thing(),
    ) {
        let (policy, caller, server) = (rules.policy(), who.caller(), server(thing.1));
        let target = target(thing, &server);
        let is_seen = !policy.decide(&Request::list(&caller, target)).is_denied();
        for verb in Verb::ALL.into_iter().filter(|verb| verb.fits(&target)) {
            let used = policy.decide(&Request::new(&caller, verb, target));
            prop_assert_eq!(!used.is_denied(), is_seen, "{}: {}", verb, used);
        }
        // Of a server that is not seen, nothing is.
        let sees_server = policy.decide(&Request::list(&caller, &server)).is_allowed();
        prop_assert!(sees_server || !is_seen);
    }

    #[test]
    fn a_block_more_or_a_grant_less_never_allows_more(
        rules in rules(), who in who(), thing in thing(), verb in 0..24_usize,
        pattern in text(&PATTERNS), withheld in granted(), hook in hook(), gone in 0..5_usize,
    ) {
        let (caller, server) = (who.caller(), server(thing.1));
        let target = target(thing, &server);
        let request = Request::new(&caller, pick(verb, &target), target);
        let before = rank(&rules.policy().decide(&request));
        let after = |change: &dyn Fn(&mut Rules)| {
            let mut changed = rules.clone();
            change(&mut changed);
            rank(&changed.policy().decide(&request))
        };
        let of_agent = |change: &dyn Fn(&mut Agent)| after(&|rules: &mut Rules| {
            let agents = rules.agents.iter_mut().map(|(_, agent)| agent);
            agents.chain(rules.others.as_mut()).for_each(change);
        });
        prop_assert!(of_agent(&|agent| agent.tools.block.push(pattern.clone())) <= before);
        prop_assert!(of_agent(&|agent| agent.withheld.push(withheld.clone())) <= before);
        prop_assert!(of_agent(&|agent| agent.grants.truncate(gone)) <= before);
        prop_assert!(of_agent(&|agent| agent.grants.retain(|one| *one != withheld)) <= before);
        prop_assert!(of_agent(&|agent| agent.level = Level::Sandboxed) <= before);
        prop_assert!(after(&|rules| rules.hooks.push(hook.clone())) <= before);
        prop_assert!(after(&|rules| rules.hooks.insert(0, hook.clone())) <= before);
        prop_assert!(after(&|rules| rules.others = None) <= before);
        let block = |rules: &mut Rules| {
            let name = server.to_string();
            let known = rules.filters.iter_mut().rfind(|(one, _)| *one == name);
            match known {
                Some((_, lists)) => lists.block.push(pattern.clone()),
                None => rules.filters.push((name, Lists { allow: None, block: vec![pattern.clone()] })),
            }
        };
        prop_assert!(after(&block) <= before);
    }
}

#[test]
fn random_rules_come_to_every_reason() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut found = std::collections::BTreeMap::<&str, usize>::new();
    let cases = (rules(), who(), thing(), 0..24_usize);
    for _ in 0..4096 {
        let (rules, who, thing, verb) = cases.new_tree(&mut runner).unwrap().current();
        let (caller, server) = (who.caller(), server(thing.1));
        let target = target(thing, &server);
        let request = Request::new(&caller, pick(verb, &target), target);
        let decision = rules.policy().decide(&request);
        *found.entry(decision.reason().id()).or_default() += 1;
        *found.entry(decision.as_str()).or_default() += 1;
    }
    for id in [
        "owner",
        "unfit",
        "audience",
        "no-policy",
        "level",
        "block",
        "allow-list",
        "withheld",
        "grant",
        "no-grant",
        "admit",
        "allow",
        "ask",
        "deny",
    ] {
        // Often enough that the properties above are about something.
        assert!(
            found.get(id).is_some_and(|times| *times > 20),
            "{id}: {found:?}"
        );
    }
}
