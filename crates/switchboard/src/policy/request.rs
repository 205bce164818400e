//! Requests: a caller, a verb and a target.

use std::fmt;

use super::Caller;
use crate::catalog::{PromptEntry, ResourceEntry, TemplateEntry, ToolEntry, ToolKey};
use crate::spec::ServerName;

/// The action on something that a server offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[doc(hidden)]
pub enum Verb {
    /// See that the item exists.
    List,
    /// Call a tool.
    Call,
    /// Read a resource.
    Read,
    /// Get a prompt.
    Prompt,
    /// Be notified when a resource changes.
    Subscribe,
    /// Have an argument of a prompt or of a template completed.
    Complete,
}

/// The object of a request: a server, or something that it offers.
///
/// It holds nothing that a server says about itself, so annotations of a tool cannot influence a
/// decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(hidden)]
pub enum Target<'a> {
    /// A server: that there is one, its state, its instructions.
    Server(&'a ServerName),
    /// A tool.
    Tool {
        /// The server that has it.
        server: &'a ServerName,
        /// The name that the server gave it.
        name: &'a str,
    },
    /// A resource.
    Resource {
        /// The server that has it.
        server: &'a ServerName,
        /// Its address.
        uri: &'a str,
    },
    /// A family of resources. What is at an address that fits is a [`Target::Resource`] of its own.
    Template {
        /// The server that has it.
        server: &'a ServerName,
        /// The template of their addresses.
        uri_template: &'a str,
    },
    /// A prompt.
    Prompt {
        /// The server that has it.
        server: &'a ServerName,
        /// The name that the server gave it.
        name: &'a str,
    },
}

/// The kinds of things that grants speak about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[doc(hidden)]
pub enum Kind {
    /// A tool.
    Tool,
    /// A resource, or a template of addresses of resources.
    Resource,
    /// A prompt.
    Prompt,
}

/// A request: the caller, the verb and the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Request<'a> {
    /// The caller.
    pub caller: &'a Caller,
    /// The action.
    pub verb: Verb,
    /// The object of the action.
    pub target: Target<'a>,
}

impl<'a> Request<'a> {
    /// A request from its parts.
    pub fn new(caller: &'a Caller, verb: Verb, target: impl Into<Target<'a>>) -> Self {
        Self {
            caller,
            verb,
            target: target.into(),
        }
    }

    /// The request to see something.
    pub fn list(caller: &'a Caller, target: impl Into<Target<'a>>) -> Self {
        Self::new(caller, Verb::List, target)
    }

    /// The request to put something to its own use; see [`Target::usual_verb`].
    pub fn usual(caller: &'a Caller, target: impl Into<Target<'a>>) -> Self {
        let target = target.into();
        Self::new(caller, target.usual_verb(), target)
    }
}

impl Verb {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::List,
        Self::Call,
        Self::Read,
        Self::Prompt,
        Self::Subscribe,
        Self::Complete,
    ];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Call => "call",
            Self::Read => "read",
            Self::Prompt => "prompt",
            Self::Subscribe => "subscribe",
            Self::Complete => "complete",
        }
    }

    /// Returns `true` if this verb applies to that target.
    pub fn fits(self, target: &Target<'_>) -> bool {
        match target {
            Target::Server(_) => self == Self::List,
            Target::Tool { .. } => matches!(self, Self::List | Self::Call),
            Target::Resource { .. } => {
                matches!(self, Self::List | Self::Read | Self::Subscribe)
            }
            Target::Template { .. } => matches!(self, Self::List | Self::Complete),
            Target::Prompt { .. } => matches!(self, Self::List | Self::Prompt | Self::Complete),
        }
    }
}

impl<'a> Target<'a> {
    /// The server that it belongs to.
    pub fn server(&self) -> &'a ServerName {
        match self {
            Self::Server(server)
            | Self::Tool { server, .. }
            | Self::Resource { server, .. }
            | Self::Template { server, .. }
            | Self::Prompt { server, .. } => server,
        }
    }

    /// Returns the verb for using the target: tools are called, resources read, prompts got, templates
    /// completed. Servers are only listed.
    pub fn usual_verb(&self) -> Verb {
        match self {
            Self::Server(_) => Verb::List,
            Self::Tool { .. } => Verb::Call,
            Self::Resource { .. } => Verb::Read,
            Self::Template { .. } => Verb::Complete,
            Self::Prompt { .. } => Verb::Prompt,
        }
    }

    /// Returns the kind and the name that grants are matched against; `None` for a server.
    pub fn item(&self) -> Option<(Kind, &'a str)> {
        Some(match self {
            Self::Server(_) => return None,
            Self::Tool { name, .. } => (Kind::Tool, name),
            Self::Resource { uri, .. } => (Kind::Resource, uri),
            Self::Template { uri_template, .. } => (Kind::Resource, uri_template),
            Self::Prompt { name, .. } => (Kind::Prompt, name),
        })
    }
}

impl Target<'_> {
    /// The name of the tool, if it is one.
    pub(super) fn tool(&self) -> Option<&str> {
        match self {
            Self::Tool { name, .. } => Some(name),
            _ => None,
        }
    }
}

impl Kind {
    /// Returns the name that precedes the slash in a grant.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Prompt => "prompt",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// `server`, `server/tool`, `server/resource/uri`, `server/prompt/name`, verbatim: sanitise it before
/// showing it on a terminal.
impl fmt::Display for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = self.server();
        match self.item() {
            None => write!(f, "{server}"),
            Some((Kind::Tool, name)) => write!(f, "{server}/{name}"),
            Some((kind, name)) => write!(f, "{server}/{kind}/{name}"),
        }
    }
}

impl<'a> From<&'a ServerName> for Target<'a> {
    fn from(server: &'a ServerName) -> Self {
        Self::Server(server)
    }
}

impl<'a> From<&'a ToolKey> for Target<'a> {
    fn from(key: &'a ToolKey) -> Self {
        Self::Tool {
            server: key.server(),
            name: key.name(),
        }
    }
}

impl<'a> From<&'a ToolEntry> for Target<'a> {
    fn from(entry: &'a ToolEntry) -> Self {
        Self::from(entry.key())
    }
}

impl<'a> From<&'a ResourceEntry> for Target<'a> {
    fn from(entry: &'a ResourceEntry) -> Self {
        Self::Resource {
            server: entry.server(),
            uri: entry.uri(),
        }
    }
}

impl<'a> From<&'a TemplateEntry> for Target<'a> {
    fn from(entry: &'a TemplateEntry) -> Self {
        Self::Template {
            server: entry.server(),
            uri_template: entry.uri_template(),
        }
    }
}

impl<'a> From<&'a PromptEntry> for Target<'a> {
    fn from(entry: &'a PromptEntry) -> Self {
        Self::Prompt {
            server: entry.server(),
            name: entry.name(),
        }
    }
}
