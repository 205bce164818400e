//! Callers whose credential grants less than their agent may do.

use super::*;

fn policies() -> Vec<AgentPolicy> {
    let levels = Level::ALL.into_iter();
    let mut all: Vec<AgentPolicy> = levels
        .flat_map(|level| {
            let granted = [
                Grants::none(),
                Grants::everything(),
                grants(&["mcp:s:x"]),
                grants(&["mcp:s:resource/*", "mcp:t:*"]),
            ];
            granted.map(|grants| AgentPolicy::new(level).grants(grants))
        })
        .collect();
    let open = || AgentPolicy::everything(Level::Yolo);
    all.push(open().withhold(grants(&["mcp:s:x"])));
    all.push(open().tools(&filter(None, &["x"])));
    all.push(open().tools(&filter(Some(&["y"]), &[])));
    all
}

#[test]
fn a_bounded_caller_may_use_what_both_policies_allow() {
    let server = server("s");
    for usual in policies() {
        for bounds in policies() {
            let policy = Policy::none().agent(id("a"), usual.clone());
            let bounded = agent("a").bounded_by(bounds.clone());
            let got = all(&policy, &bounded, &server);
            let by_usual = all(&policy, &agent("a"), &server);
            let policy = Policy::none().agent(id("a"), bounds.clone());
            let by_bounds = all(&policy, &agent("a"), &server);
            for ((got, usual), bounds) in got.iter().zip(by_usual).zip(by_bounds) {
                let (verb, got) = got;
                let expected = match (&usual.1, &bounds.1) {
                    (Decision::Deny(_), _) | (_, Decision::Deny(_)) => "deny",
                    (Decision::Ask(..), _) | (_, Decision::Ask(..)) => "ask",
                    _ => "allow",
                };
                assert_eq!(got.as_str(), expected, "{verb}: {usual:?} and {bounds:?}");
            }
        }
    }
}

#[test]
fn a_caller_acts_as_another_agent_until_the_policy_names_it() {
    let server = server("s");
    let target = Target::Tool {
        server: &server,
        name: "x",
    };
    let laptop = agent("laptop").acts_as(id("a"));
    let is_allowed = |policy: &Policy, caller: &Caller| {
        let request = Request::new(caller, Verb::Call, target);
        policy.decide(&request).is_allowed()
    };
    let policy = open(Level::Yolo);
    assert!(is_allowed(&policy, &laptop) && !is_allowed(&policy, &agent("laptop")));
    let policy = policy.others(AgentPolicy::default());
    assert!(is_allowed(&policy, &laptop), "its agent before the others");
    let policy = policy.agent(id("laptop"), AgentPolicy::default());
    assert!(
        !is_allowed(&policy, &laptop),
        "its own policy before its agent's"
    );
}

#[test]
fn an_audience_includes_callers_that_act_as_its_agent() {
    let (server, target) = (server("s"), server("s"));
    let target = Target::Server(&target);
    let policy = |agents: &[&str]| {
        let agents = agents.iter().map(|agent| id(agent)).collect();
        open(Level::Yolo).audience(server.clone(), Audience::Only(agents))
    };
    let laptop = agent("laptop").acts_as(id("a"));
    for (agents, is_included) in [(&["a"][..], true), (&["laptop"], true), (&["b"], false)] {
        let decision = policy(agents).decide(&Request::list(&laptop, target));
        assert_eq!(decision.is_allowed(), is_included, "{agents:?}");
    }
}

#[test]
fn bounds_conceal_denials_and_narrow_questions() {
    let server = server("s");
    let target = Target::Tool {
        server: &server,
        name: "x",
    };
    let policy = open(Level::Trusted);
    let bounds = AgentPolicy::everything(Level::Yolo).conceal_denials(true);
    let bounded = agent("a").bounded_by(bounds.ask(Scope::Item));
    let decision = policy.decide(&Request::new(&bounded, Verb::Call, target));
    let expected = Decision::Ask(Reason::Level(Level::Trusted), Scope::Item);
    assert_eq!(decision, expected);
    assert!(policy.conceals(&bounded, &Reason::NoGrant));
    assert!(!policy.conceals(&agent("a"), &Reason::NoGrant));
}
