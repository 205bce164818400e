//! One thing that is not as it was approved.

use std::fmt;

use super::Hash;
use super::diff::DiffLine;
use super::pinned::Pin;
use crate::text::{excerpt, sanitise_line};

/// The most bytes of a name in a message.
const NAME: usize = 128;

/// What kind of thing is pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// How the server says that it is to be used.
    Instructions,
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A template of resources' addresses.
    Template,
}

/// How it is not as it was approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// It was not there.
    Added,
    /// It is not there any more.
    Removed,
    /// It is another.
    Changed,
}

/// One thing that is not as it was approved, and what there is instead.
///
/// [`Pins::approve`](super::Pins::approve) takes it: what is approved is what was seen here, whatever
/// the server says by then.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Drift {
    /// What kind of thing.
    pub kind: Kind,
    /// Its name as the server gave it, or the template; empty for instructions. To be made safe where
    /// it is shown, as [`Drift`]'s own text is.
    pub name: String,
    /// How it is not as it was.
    pub what: What,
    /// What was approved.
    pub before: Option<Hash>,
    /// What is there now.
    pub after: Option<Hash>,
    /// For something added or removed: what it looks like under its other name.
    pub perhaps: Option<String>,
    /// What differs, line by line.
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
