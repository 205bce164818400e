//! A use that an agent may not make, with the rule that denied it.

use std::fmt;

use crate::policy::{CallerId, Item, Reason, Request};
use crate::spec::ServerName;

/// A use that an agent may not make, with the rule that denied it.
///
/// An agent gets it in an error of the kind [`Denied`](crate::ErrorKind::Denied), for a server that it is in
/// the audience of. It says nothing about whether the server has the item: the rules know names alone.
///
/// ```
/// use serde_json::json;
/// use switchboard::{AgentPolicy, Host, Level, ServerSpec};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let host = Host::builder()
///     .server(ServerSpec::stdio("disk", "disk-server")?)
///     .agent("guest", AgentPolicy::new(Level::Yolo))
///     .build()?;
/// let error = host.agent("guest")?.call("disk/wipe", json!({})).await.unwrap_err();
/// let denial = error.denial().expect("the rule");
/// assert_eq!(denial.to_string(), "agent guest may not call tool wipe: no grant");
/// # Ok(())
/// # }
/// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denial {
    /// The agent.
    pub agent: CallerId,
    /// The server.
    pub server: ServerName,
    /// The action and the item.
    pub item: Item,
    /// The rule that denied it.
    pub rule: Reason,
}

impl Denial {
    pub(crate) fn new(request: &Request<'_>, rule: Reason) -> Self {
        Self {
            agent: request.caller.id().clone(),
            server: request.target.server().clone(),
            item: Item::of(request),
            rule,
        }
    }
}

/// `agent planner may not call tool wipe: no grant`, verbatim: sanitise it before showing it on a terminal.
impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            agent, item, rule, ..
        } = self;
        write!(f, "agent {agent} may not {item}: {rule}")
    }
}
