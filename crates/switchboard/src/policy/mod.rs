//! Access policy: decides which caller may use which server, tool, resource or prompt.
//!
//! A [`Policy`] decides about a [`Request`]: a [`Caller`] wants to apply a [`Verb`] to a [`Target`] that
//! a server offers. It allows the request, denies it, or requires that the user is asked, and a
//! [`Reason`] names the rule that decided. The owner of the host may do everything. An agent may use what
//! it was granted, and nothing if it has no policy. An agent cannot see what it cannot use.
//!
//! If the user has to be asked, an [`Operator`](crate::Operator) answers a [`UseRequest`], and
//! [`Approvals`] remember the answer for one agent and for one server as it was described at that time.
//!
//! Deciding is pure: it reads no file and asks no questions. Descriptions and annotations that servers
//! give their tools have no influence on it.
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
pub use caller::{Caller, CallerId, ParseCallerIdError};
pub use decision::{Decision, List, Reason, Scope};
pub use grant::{Grant, ParseGrantError};
pub use grants::{Grants, ParseGrantsError};
pub use level::{Level, ParseLevelError};
pub use request::{Kind, Request, Target, Verb};
pub use rules::{Admit, Policy, Verdict};
