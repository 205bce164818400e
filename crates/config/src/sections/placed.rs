//! A text of a file that knows its place.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::wrong;
use crate::problem::{Problem, ProblemKind, Severity};
use crate::report::{Note, Report};
use crate::source::Source;
use crate::tree::{Kind, Member, Node};

/// A text of a file that knows its place.
#[derive(Clone)]
pub struct Placed {
    text: String,
    span: Range<usize>,
    source: Arc<Source>,
}

impl Placed {
    /// The text of a value; nothing where it is no text.
    pub(super) fn of(node: &Node, report: &Report) -> Self {
        let text = node.text().unwrap_or_default().to_owned();
        Self::new(text, node.span.clone(), report)
    }

    /// The place of a value, without its text.
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

    /// Says that the text is not right, with what should be there instead. The message must not have the
    /// text in it, unless it is a key.
    pub fn problem(&self, kind: ProblemKind, message: &str, expected: &str) -> Problem {
        self.note(kind, self.span.clone(), message, expected)
    }

    /// The same about one character of the text, from 1.
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
        // Where something is written with a backslash, characters cannot be counted.
        let span = match is_plain {
            true => {
                let before = self.text.chars().take(character.saturating_sub(1));
                let at = self.span.start + 1 + before.map(char::len_utf8).sum::<usize>();
                at..at + 1
            }
            false => self.span.clone(),
        };
        self.note(kind, span, message, expected)
    }

    /// Says that the text is perhaps not what was meant.
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
        note.expected(expected).at(&self.source, None)
    }
}

/// The same problem, where it costs nothing.
pub(super) fn milder(mut problem: Problem) -> Problem {
    problem.0.severity = Severity::Warning;
    problem
}

/// The place without the text, which is the person's own affair.
impl fmt::Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.place();
        write!(f, "{}:{line}:{column}", self.source.file.display())
    }
}

/// A list of texts; nothing where it is none, or not all of it.
pub(super) fn texts(
    node: &Node,
    what: &str,
    expected: &str,
    report: &mut Report,
) -> Option<Vec<Placed>> {
    let Kind::List(items) = &node.kind else {
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
