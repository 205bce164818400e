//! Notices about items that were left out of the catalog or cut.

use std::fmt;

use super::entry::ToolKey;
use crate::text::{excerpt, sanitise_line};

/// The most bytes of a name that are kept in a notice.
const NAME: usize = 128;

/// The four lists of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ItemKind {
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A resource.
    Resource,
    /// A template of resources' addresses.
    Template,
}

/// Something that was left out of the catalog, or cut.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice {
    /// The list it is about; `None` for the server's instructions.
    pub kind: Option<ItemKind>,
    /// The item, as the server names it (long names cut); `None` where it is about the whole list,
    /// or the item has no name.
    pub name: Option<String>,
    /// The reason.
    pub problem: Problem,
}

/// The reason why an item or a list was left out or cut.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The item could not be read, for this reason, and is left out.
    SetAside(String),
    /// The list was not read to its end, for this reason.
    ListCut(String),
    /// An item of that name came before it; this one is left out.
    Duplicate,
    /// The name has more than so many characters; the item is left out.
    LongName(usize),
    /// The address has more than so many bytes; the item is left out.
    LongAddress(usize),
    /// A schema has more than so many bytes; the item is left out.
    LongSchema(usize),
    /// The tool has no `inputSchema`; its arguments may be any object.
    NoSchema,
    /// The title has more than so many bytes, and is shown cut.
    LongTitle(usize),
    /// The description has more than so many bytes, and is shown cut.
    LongDescription(usize),
    /// The instructions have more than so many bytes, and are shown cut.
    LongInstructions(usize),
    /// There are more items than a server may have, and the last of them are left out.
    TooMany {
        /// The most that a server may have.
        limit: usize,
        /// The number of items left out.
        dropped: usize,
    },
    /// Its name for models is that of another, though their own names differ; it is left out.
    Collision {
        /// The name for models.
        exposed: String,
        /// The tool that has the name.
        with: ToolKey,
    },
}

impl Problem {
    /// Returns true if the item, or the rest of the list, is left out rather than only cut.
    pub fn is_left_out(&self) -> bool {
        match self {
            Self::SetAside(_)
            | Self::ListCut(_)
            | Self::Duplicate
            | Self::LongName(_)
            | Self::LongAddress(_)
            | Self::LongSchema(_)
            | Self::TooMany { .. } => true,
            // Said by the catalog as long as the other is there.
            Self::Collision { .. } => false,
            Self::NoSchema
            | Self::LongTitle(_)
            | Self::LongDescription(_)
            | Self::LongInstructions(_) => false,
        }
    }
}

impl Notice {
    /// A notice on an item that could not be read.
    pub fn set_aside(kind: ItemKind, name: Option<&str>, reason: impl Into<String>) -> Self {
        Self::new(kind, name, Problem::SetAside(reason.into()))
    }

    /// A notice on a list that was not read to its end.
    pub fn list_cut(kind: ItemKind, reason: impl Into<String>) -> Self {
        Self::new(kind, None, Problem::ListCut(reason.into()))
    }

    pub(super) fn new(kind: ItemKind, name: Option<&str>, problem: Problem) -> Self {
        Self {
            kind: Some(kind),
            name: name.map(|name| excerpt(name, NAME)),
            problem,
        }
    }

    pub(super) fn instructions(problem: Problem) -> Self {
        Self {
            kind: None,
            name: None,
            problem,
        }
    }
}

impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Template => "resource template",
        })
    }
}

/// Made safe for a terminal: the names are the server's.
impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, &self.name) {
            (None, _) => f.write_str("instructions")?,
            (Some(kind), None) => write!(f, "{kind}s")?,
            (Some(kind), Some(name)) => write!(f, "{kind} \"{}\"", sanitise_line(name))?,
        }
        write!(f, ": {}", self.problem)
    }
}

/// Made safe for a terminal.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SetAside(reason) => write!(f, "left out: {}", sanitise_line(reason)),
            Self::ListCut(reason) => write!(f, "list cut: {}", sanitise_line(reason)),
            Self::Duplicate => f.write_str("left out: duplicate name"),
            Self::LongName(most) => write!(f, "left out: a name of more than {most} characters"),
            Self::LongAddress(most) => write!(f, "left out: an address of more than {most} bytes"),
            Self::LongSchema(most) => write!(f, "left out: a schema of more than {most} bytes"),
            Self::NoSchema => f.write_str("no inputSchema: arguments are not checked"),
            Self::LongTitle(most) => write!(f, "title cut at {most} bytes"),
            Self::LongDescription(most) => write!(f, "description cut at {most} bytes"),
            Self::LongInstructions(most) => write!(f, "cut at {most} bytes"),
            Self::TooMany { limit, dropped } => {
                write!(f, "{dropped} left out: there are more than {limit}")
            }
            Self::Collision { exposed, with } => write!(
                f,
                "left out: its name for models, {exposed}, is that of {}",
                sanitise_line(&with.to_string())
            ),
        }
    }
}
