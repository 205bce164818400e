//! The caller of a request: the owner of the host, or an agent.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::agent::AgentPolicy;
use crate::spec::ServerName;

/// The id of the owner. No agent can have it.
const OWNER: &str = "owner";

/// The longest id.
const MOST: usize = 128;

/// The id of a caller.
///
/// An agent's is 1 to 128 characters, none of them a space or a control character, and not `owner`, which
/// is reserved for the owner.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallerId(Arc<str>);

/// The error for a text that cannot be the id of an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("bad agent id {id:?}: {why}")]
pub struct ParseCallerIdError {
    id: String,
    why: &'static str,
}

/// The caller of a request: the owner of the host, or an agent.
///
/// An agent has attributes, which stay the same from one run to the next (its role), and those of the
/// run that it is in (the task, the branch). Both are free texts for an [`Admit`](super::Admit) to look
/// at; nothing else looks at them. The program says who calls: no agent can name itself.
///
/// A caller may come with a credential that grants less than its agent may do: [`Caller::bounded_by`]
/// narrows the policy for this caller alone, and [`Caller::acts_as`] names the agent whose policy counts
/// while the policy says nothing of the caller's own id.
///
/// ```
/// use switchboard::policy::Caller;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let writer = Caller::agent("planner")?.attribute("role", "writer").run("task", "docs");
/// assert_eq!(writer.attributes().get("role").map(String::as_str), Some("writer"));
/// assert!(!writer.is_owner() && Caller::owner().is_owner());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Caller {
    id: CallerId,
    attributes: Option<Arc<BTreeMap<String, String>>>,
    run: Option<Arc<BTreeMap<String, String>>>,
    /// Values of the run as JSON texts, which can be compared and hashed.
    values: Option<Arc<BTreeMap<String, String>>>,
    acts_as: Option<CallerId>,
    bounds: Option<Bounds>,
}

/// A policy that narrows another. Callers are keys of tables, and equal policies are told apart by the rest.
#[derive(Clone, PartialEq, Eq)]
struct Bounds(Arc<AgentPolicy>);

impl Hash for Bounds {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.current_level().hash(state);
        self.0.granted().hash(state);
    }
}

static NONE: BTreeMap<String, String> = BTreeMap::new();

impl CallerId {
    /// Checks an agent's id.
    ///
    /// # Errors
    /// Fails if the id is not usable, or if it is the owner's.
    pub fn parse(id: &str) -> Result<Self, ParseCallerIdError> {
        // Ids appear in logs, approvals and questions, so they are short and have no spaces.
        let why = if id.is_empty() {
            "it is empty"
        } else if id.chars().count() > MOST {
            "it is longer than 128 characters"
        } else if id.chars().any(|c| c.is_whitespace() || c.is_control()) {
            "it has a space or a control character"
        } else if id.eq_ignore_ascii_case(OWNER) {
            "that is the person, and no agent"
        } else {
            return Ok(Self(Arc::from(id)));
        };
        Err(ParseCallerIdError {
            id: id.to_owned(),
            why,
        })
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Caller {
    /// The owner of the host.
    pub fn owner() -> Self {
        Self::from(CallerId(Arc::from(OWNER)))
    }

    /// An agent.
    ///
    /// # Errors
    /// Fails if the id is not usable, or if it is the owner's.
    pub fn agent(id: &str) -> Result<Self, ParseCallerIdError> {
        CallerId::parse(id).map(Self::from)
    }

    /// The same with an attribute, in place of one of the same name.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let all = self.attributes.get_or_insert_default();
        Arc::make_mut(all).insert(name.into(), value.into());
        self
    }

    /// The same with an attribute of this run, in place of one of the same name.
    #[must_use]
    pub fn run(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let all = self.run.get_or_insert_default();
        Arc::make_mut(all).insert(name.into(), value.into());
        self
    }

    /// The same with a JSON value of this run, in place of one of the same name. A
    /// [`ToolPredicate`](crate::spec::ToolPredicate) sees it in the context.
    #[must_use]
    pub fn run_value(mut self, name: impl Into<String>, value: &Value) -> Self {
        let all = self.values.get_or_insert_default();
        Arc::make_mut(all).insert(name.into(), value.to_string());
        self
    }

    /// The same under the policy of another agent, as long as the policy says nothing of its own id.
    ///
    /// Approvals, events and denials still name this caller.
    #[must_use]
    pub fn acts_as(mut self, agent: CallerId) -> Self {
        self.acts_as = Some(agent);
        self
    }

    /// The same within bounds: what its agent's policy allows has to be allowed by these too, and the
    /// lower of both levels counts. Bounds never grant anything.
    ///
    /// ```
    /// use switchboard::policy::{Caller, Request, Target, Verb};
    /// use switchboard::{AgentPolicy, Grants, Level, Policy, ServerName};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let policy = Policy::none().agent("gateway".parse()?, AgentPolicy::everything(Level::Yolo));
    /// let bounds = AgentPolicy::new(Level::Yolo).grants(Grants::parse(["mcp:github:get_*"])?);
    /// let laptop = Caller::agent("laptop")?.acts_as("gateway".parse()?).bounded_by(bounds);
    /// let server = ServerName::parse("github")?;
    /// for (name, is_allowed) in [("get_issue", true), ("delete_issue", false)] {
    ///     let target = Target::Tool { server: &server, name };
    ///     let decision = policy.decide(&Request::new(&laptop, Verb::Call, target));
    ///     assert_eq!(decision.is_allowed(), is_allowed);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn bounded_by(mut self, policy: AgentPolicy) -> Self {
        self.bounds = Some(Bounds(Arc::new(policy)));
        self
    }

    /// Returns the agent whose policy counts while the policy says nothing of the caller's own id.
    pub fn stand_in(&self) -> Option<&CallerId> {
        self.acts_as.as_ref()
    }

    /// Returns the policy that narrows that of its agent.
    pub fn bounds(&self) -> Option<&AgentPolicy> {
        self.bounds.as_ref().map(|bounds| &*bounds.0)
    }

    /// The context that a [`ToolPredicate`](crate::spec::ToolPredicate) is given for a use of a server.
    pub fn context(&self, server: &ServerName) -> Value {
        let texts = self.run_attributes().iter();
        let mut run: Map<String, Value> = texts
            .map(|(name, text)| (name.clone(), Value::from(text.as_str())))
            .collect();
        for (name, text) in self.values.as_deref().unwrap_or(&NONE) {
            // It was written from a value.
            let value = serde_json::from_str(text).unwrap_or_default();
            run.insert(name.clone(), value);
        }
        json!({
            "server": server.as_str(),
            "agent": {"id": self.id.as_str(), "attributes": self.attributes()},
            "run": run,
        })
    }

    /// Returns the id.
    pub fn id(&self) -> &CallerId {
        &self.id
    }

    /// Returns `true` for the owner of the host.
    pub fn is_owner(&self) -> bool {
        // No agent can have this id.
        &*self.id.0 == OWNER
    }

    /// Returns the attributes that stay the same from one run to the next.
    pub fn attributes(&self) -> &BTreeMap<String, String> {
        self.attributes.as_deref().unwrap_or(&NONE)
    }

    /// Returns the attributes of the current run.
    pub fn run_attributes(&self) -> &BTreeMap<String, String> {
        self.run.as_deref().unwrap_or(&NONE)
    }

    /// The names of the attributes and values of the current run.
    fn run_names(&self) -> Vec<&str> {
        let values = self.values.as_deref().unwrap_or(&NONE);
        let names = self.run_attributes().keys().chain(values.keys());
        names.map(String::as_str).collect()
    }

    /// The id, shared.
    #[allow(dead_code, reason = "for the events of a host")]
    pub(crate) fn shared(&self) -> &Arc<str> {
        &self.id.0
    }
}

impl From<CallerId> for Caller {
    fn from(id: CallerId) -> Self {
        Self {
            id,
            attributes: None,
            run: None,
            values: None,
            acts_as: None,
            bounds: None,
        }
    }
}

impl FromStr for CallerId {
    type Err = ParseCallerIdError;

    fn from_str(id: &str) -> Result<Self, Self::Err> {
        Self::parse(id)
    }
}

impl Borrow<str> for CallerId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CallerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.id, f)
    }
}

/// Shows the names of attributes without their values, which belong to the program.
impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("id", &self.id)
            .field("attributes", &self.attributes().keys())
            .field("run", &self.run_names())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_agent_is_the_owner() {
        for id in ["owner", "Owner", "OWNER"] {
            let error = Caller::agent(id).unwrap_err();
            assert!(error.to_string().contains("that is the person"), "{error}");
        }
        assert!(!Caller::agent("owner2").unwrap().is_owner());
        assert_eq!(Caller::owner().to_string(), "owner");
    }

    #[test]
    fn ids_are_checked() {
        for bad in ["", "a b", "a\u{1b}", "a\n", &"x".repeat(129)] {
            assert!(CallerId::parse(bad).is_err(), "{bad:?}");
        }
        assert!(CallerId::parse(&"x".repeat(128)).is_ok());
    }

    #[test]
    fn an_attribute_replaces_one_of_its_name_and_leaves_clones_alone() {
        let one = Caller::agent("a").unwrap().attribute("role", "reader");
        let two = one.clone().attribute("role", "writer").run("task", "x");
        assert_eq!(one.attributes()["role"], "reader");
        assert_eq!(two.attributes()["role"], "writer");
        assert_eq!(two.run_attributes()["task"], "x");
        assert_eq!(one.run_attributes().len(), 0);
        assert_eq!(
            format!("{two:?}"),
            r#"Caller { id: "a", attributes: ["role"], run: ["task"] }"#
        );
    }
}
