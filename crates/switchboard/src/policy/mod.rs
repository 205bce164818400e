//! Who may use what, and why.
//!
//! A [`Policy`] decides about a [`Request`]: a [`Caller`] wants to do something (a [`Verb`]) with
//! something that a server offers (a [`Target`]). It allows, denies, or wants the person asked, and
//! a [`Reason`] says which rule that was. The person whose host it is may do everything; an agent
//! may do what it was granted, and without a policy nothing. What an agent cannot use, it cannot see.
//!
//! Where it wants the person asked, an [`Operator`](crate::Operator) answers a [`UseRequest`], and
//! [`Approvals`] remember the answer: for one agent, and for one server as it was described then.
//!
//! Deciding is pure: no file is read and nobody is asked. What servers say about their tools plays no
//! part in it.
//!
//! ```
//! use switchboard::policy::{AgentPolicy, Caller, CallerId, Grants, Level, Policy, Request, Target, Verb};
//! use switchboard::spec::ServerName;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let grants = Grants::parse(["mcp:github:get_*"])?;
//! let planner = AgentPolicy::new(Level::Yolo).grants(grants);
//! let policy = Policy::none().agent(CallerId::parse("planner")?, planner);
//!
//! let (caller, server) = (Caller::agent("planner")?, ServerName::parse("github")?);
//! let decide = |name| {
//!     let target = Target::Tool { server: &server, name };
//!     policy.decide(&Request::new(&caller, Verb::Call, target)).to_string()
//! };
//! assert_eq!(decide("get_issue"), "allow: grant mcp:github:get_*");
//! assert_eq!(decide("delete_repository"), "deny: no grant");
//! # Ok(())
//! # }
//! ```

mod agent;
mod approvals;
mod approve;
mod caller;
mod decision;
mod filter;
mod grant;
mod grants;
mod level;
mod request;
mod rules;
#[cfg(test)]
mod tests;

pub use agent::{AgentPolicy, Audience};
pub use approvals::{Approval, Approvals, Covers, Lasts, StoreError, StoreLimits, Which};
pub use approve::{Item, UseApproval, UseRequest};
pub use caller::{BadCallerId, Caller, CallerId};
pub use decision::{Decision, List, Reason, Scope};
pub use grant::{BadGrant, Grant};
pub use grants::{BadGrants, Grants};
pub use level::{BadLevel, Level};
pub use request::{Kind, Request, Target, Verb};
pub use rules::{Admit, Policy, Verdict};
