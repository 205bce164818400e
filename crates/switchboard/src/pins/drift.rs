//! One thing that is not as it was approved.

use std::fmt;

use super::Hash;
use super::diff::DiffLine;
use super::pinned::Pin;
use crate::text::{excerpt, sanitise_line};

/// The most bytes of a name in a message.
const NAME: usize = 128;

/// The kind of a pinned definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[doc(hidden)]
pub enum Kind {
    /// The instructions that the server gives for its use.
    Instructions,
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A template of resources' addresses.
    Template,
}

/// The kind of a change since the approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[doc(hidden)]
pub enum What {
    /// The definition is new.
    Added,
    /// The definition is gone.
    Removed,
    /// The definition differs.
    Changed,
}

/// One difference from the approved definitions, with the current definition.
///
/// [`Pins::approve`](super::Pins::approve) takes it and approves exactly the definition shown here, even
/// if the server has changed it again.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Drift {
    /// The kind of the definition.
    pub kind: Kind,
    /// The name as the server gave it, or the template; empty for instructions. Sanitise it before
    /// showing it, as [`Drift`]'s own text does.
    pub name: String,
    /// The kind of the change.
    pub what: What,
    /// The hash of the approved definition.
    pub before: Option<Hash>,
    /// The hash of the current definition.
    pub after: Option<Hash>,
    /// For an added or removed definition: the name under which a similar one was removed or added.
    pub perhaps: Option<String>,
    /// The differences, line by line.
    pub diff: Vec<DiffLine>,
    pub(super) now: Option<Pin>,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Instructions => "instructions",
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Template => "template",
        })
    }
}

/// One line without the diff, safe to show: `tool "add" changed`.
impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match (self.what, self.kind) {
            (What::Changed, _) => "changed",
            (What::Added, Kind::Instructions) => "were added",
            (What::Added, _) => "was added",
            (What::Removed, Kind::Instructions) => "were removed",
            (What::Removed, _) => "was removed",
        };
        if self.kind == Kind::Instructions {
            return write!(f, "the instructions {verb}");
        }
        write!(f, "{} {} {verb}", self.kind, Name(&self.name))?;
        match (&self.perhaps, self.what) {
            (Some(other), What::Added) => write!(f, " (perhaps {} with a new name)", Name(other)),
            (Some(other), _) => write!(f, " (perhaps it is {} now)", Name(other)),
            (None, _) => Ok(()),
        }
    }
}

/// A name that is safe to show.
pub struct Name<'a>(pub &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", sanitise_line(&excerpt(self.0, NAME)))
    }
}
