//! Random policies for those agents and servers.

use switchboard::host::Caller;
use switchboard::policy::{
    AgentPolicy, Audience, Grants, Level, Policy, Request, UseApproval, Verdict,
};
use switchboard::spec::ToolFilter;

use super::agents::{AGENTS, SERVERS, Says, agent, id};
use super::name;

/// Dice that fall alike each time.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed * 7919 + 1)
    }

    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len())]
    }

    /// An operator with any answer.
    pub(crate) fn says(&mut self) -> Says {
        Says::new(self.pick(&[
            UseApproval::Once,
            UseApproval::Session,
            UseApproval::Server,
            UseApproval::Always,
            UseApproval::Refuse,
        ]))
    }

    /// An agent with a role.
    pub(crate) fn caller(&mut self) -> Caller {
        agent(self.pick(&AGENTS)).attribute("role", self.pick(&["reader", "writer"]))
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

    fn agent_policy(&mut self) -> AgentPolicy {
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

    pub(crate) fn policy(&mut self) -> Policy {
        let mut policy = Policy::none();
        for agent in AGENTS {
            if self.roll(3) > 0 {
                policy = policy.agent(id(agent), self.agent_policy());
            }
        }
        if self.roll(3) == 0 {
            policy = policy.others(self.agent_policy());
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
