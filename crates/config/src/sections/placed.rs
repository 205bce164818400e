//! Texts of a file that know their position.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::wrong;
use crate::problem::{Problem, ProblemKind, Severity};
use crate::report::{Note, Report};
use crate::source::Source;
use crate::tree::{Member, Node, NodeKind};

/// A text of a file that knows its position, for reporting problems there.
#[derive(Clone)]
pub struct Placed {
    text: String,
    span: Range<usize>,
    source: Arc<Source>,
}

impl Placed {
    /// The text of a value; empty if it is not a text.
    pub(super) fn of(node: &Node, report: &Report) -> Self {
        let text = node.text().unwrap_or_default().to_owned();
        Self::new(text, node.span.clone(), report)
    }

    /// The position of a value, without its text.
    pub(super) fn place_of(node: &Node, report: &Report) -> Self {
        Self::new(String::new(), node.span.clone(), report)
    }

    pub(super) fn key(member: &Member, report: &Report) -> Self {
        Self::new(member.key.clone(), member.key_span.clone(), report)
    }

    fn new(text: String, span: Range<usize>, report: &Report) -> Self {
        let source = Arc::clone(&report.source);
        Self { text, span, source }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column, both from 1, the column in characters.
    pub fn place(&self) -> (usize, usize) {
        self.source.place(self.span.start)
    }

    /// Creates a problem with the text, and a description of a valid one. The message must not contain the
    /// text, unless it is a key.
    pub fn problem(&self, kind: ProblemKind, message: &str, expected: &str) -> Problem {
        self.note(kind, self.span.clone(), message, expected)
    }

    /// Creates a problem with one character of the text, counting from 1.
    pub fn problem_at(
        &self,
        character: usize,
        kind: ProblemKind,
        message: &str,
        expected: &str,
    ) -> Problem {
        let written = self.source.text().get(self.span.clone());
        let is_plain = written.is_some_and(|written| {
            let inner = written.get(1..written.len().saturating_sub(1));
            inner == Some(self.text.as_str())
        });
        // With escapes in the text, characters cannot be mapped to bytes: mark all of it.
        let span = if is_plain {
            let before = self.text.chars().take(character.saturating_sub(1));
            let at = self.span.start + 1 + before.map(char::len_utf8).sum::<usize>();
            at..at + 1
        } else {
            self.span.clone()
        };
        self.note(kind, span, message, expected)
    }

    /// Creates a warning about the text.
    pub fn warning(&self, kind: ProblemKind, message: &str, hint: &str) -> Problem {
        let note = Note::warning(kind, self.span.clone(), message);
        note.hint(hint).at(&self.source, None)
    }

    fn note(
        &self,
        kind: ProblemKind,
        span: Range<usize>,
        message: &str,
        expected: &str,
    ) -> Problem {
        let note = Note::error(kind, span, message);
        note.expecting(expected).at(&self.source, None)
    }
}

/// Turns a problem into a warning.
pub(super) fn milder(mut problem: Problem) -> Problem {
    problem.0.severity = Severity::Warning;
    problem
}

/// Shows the position without the text, which may be private.
impl fmt::Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.place();
        write!(f, "{}:{line}:{column}", self.source.file.display())
    }
}

/// Reads a list of texts; `None` if it is not a list, or if an item is not a text.
pub(super) fn texts(
    node: &Node,
    what: &str,
    expected: &str,
    report: &mut Report,
) -> Option<Vec<Placed>> {
    let NodeKind::List(items) = &node.kind else {
        wrong(what, node, expected, report);
        return None;
    };
    let mut is_whole = true;
    let mut texts = Vec::new();
    for item in items {
        match item.text() {
            Some(_) => texts.push(Placed::of(item, report)),
            None => {
                wrong(&format!("an item of {what}"), item, "a text", report);
                is_whole = false;
            }
        }
    }
    is_whole.then_some(texts)
}
