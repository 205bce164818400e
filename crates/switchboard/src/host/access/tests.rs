//! Access alone: a member, a snapshot of the catalog, and no connection.

use std::future::ready;

use super::*;
use crate::catalog::Freshness;
use crate::host::member::revision;
use crate::host::test_support::{Script, member, tool};
use crate::policy::{AgentPolicy, CallerId, Grant, Level};

struct Fixture {
    access: Access,
    catalog: watch::Sender<Catalog>,
    member: Member,
}

impl Fixture {
    fn new(policy: Policy, pin_mode: Mode) -> Self {
        let options = AccessOptions {
            policy,
            pin_mode,
            ..AccessOptions::default()
        };
        let catalog = watch::Sender::new(Catalog::default());
        let fixture = Self {
            access: Access::new(options, Arc::default(), catalog.subscribe()),
            catalog,
            member: member("a", &Script::answering(0)),
        };
        fixture.offer("says it again");
        fixture
    }

    /// Publishes a part with one tool, as the keeper would.
    fn offer(&self, description: &str) {
        let part = ServerCatalog::builder(self.member.name.clone());
        let part = part.tools(vec![tool("echo", description)]);
        let part = Arc::new(part.freshness(Freshness::Live).build(None));
        self.catalog.send_modify(|catalog| {
            *catalog = catalog.with(part);
            self.member.mark_changed();
        });
    }

    fn entry(&self) -> Arc<ToolEntry> {
        let catalog = self.catalog.borrow();
        Arc::clone(catalog.by_key("a", "echo").unwrap())
    }
}

fn planner() -> Caller {
    Caller::agent("planner").unwrap()
}

/// A policy that lets the planner use all tools of the server.
fn allowing() -> Policy {
    let grants = [Grant::parse("mcp:a:*").unwrap()];
    let agent = AgentPolicy::new(Level::Yolo).grants(grants.into_iter().collect());
    Policy::none().agent(CallerId::parse("planner").unwrap(), agent)
}

#[test]
fn without_a_policy_an_agent_sees_nothing_and_the_owner_all() {
    let it = Fixture::new(Policy::none(), Mode::Off);
    let entry = it.entry();
    assert!(it.access.sees_tool(&Caller::owner(), &it.member, &entry));
    assert!(!it.access.sees_tool(&planner(), &it.member, &entry));
    assert!(!it.access.knows(&planner(), &it.member.name));
}

#[tokio::test]
async fn a_policy_that_is_changed_decides_the_next_use() {
    let it = Fixture::new(allowing(), Mode::Off);
    let entry = it.entry();
    assert!(
        it.access
            .permit(&planner(), &it.member, &*entry)
            .await
            .is_ok()
    );
    assert!(it.access.allow_outright(&planner(), &entry).is_some());
    it.access.set_policy(Policy::none());
    assert!(
        it.access
            .permit(&planner(), &it.member, &*entry)
            .await
            .is_err()
    );
    assert!(it.access.allow_outright(&planner(), &entry).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_cleared_from_its_approval_until_it_changes() {
    let it = Fixture::new(allowing(), Mode::Block);
    let (access, member) = (&it.access, &it.member);
    assert!(!access.is_cleared(member, &it.entry()));
    let before = revision();
    access.settle(member, ready(Ok(()))).await;
    assert!(!member.is_unchanged_since(before));
    let approved = it.entry();
    assert!(access.is_cleared(member, &approved));
    assert!(access.sees_tool(&planner(), member, &approved));
    it.offer("sends it to somebody else");
    assert!(!access.is_cleared(member, &approved) && !access.is_cleared(member, &it.entry()));
    assert!(access.is_quarantined(member, &it.entry()));
    assert!(!access.sees_tool(&planner(), member, &it.entry()));
    let (before, drifts) = (revision(), access.drifts_of(member, &it.entry()));
    access.approve_drifts(member, &drifts).unwrap();
    assert!(access.is_cleared(member, &it.entry()) && !member.is_unchanged_since(before));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_approved_where_lists_are_not_read_any_more() {
    use crate::host::catalog_keeper::Stopped;
    let it = Fixture::new(allowing(), Mode::Block);
    it.access.settle(&it.member, ready(Err(Stopped))).await;
    assert!(it.access.pinned(&it.member).is_none());
}
