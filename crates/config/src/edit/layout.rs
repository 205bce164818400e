//! The text between the values of a document: spaces, comments and commas.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object};
use jsonc_parser::common::Ranged;

/// The layout of an object or a list.
#[derive(Debug, Clone)]
pub(super) struct Container {
    /// The range between the brackets.
    pub(super) inside: Range<usize>,
    /// The ranges of its members with their keys, or of its elements.
    pub(super) items: Vec<Range<usize>>,
}

/// A replacement of a range of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

/// One piece of the text between two values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trivia {
    pub(super) kind: TriviaKind,
    pub(super) range: Range<usize>,
    /// The number of line ends in a space. Those inside of comments do not count.
    pub(super) lines: usize,
}

/// The kind of a [`Trivia`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TriviaKind {
    /// Spaces, tabs and line ends.
    Space,
    /// A comment to the end of its line, without the line end.
    Line,
    /// A comment in `/* */`.
    Block,
    /// A comma.
    Comma,
}

impl Container {
    pub(super) fn of_object(object: &Object<'_>) -> Self {
        Self::new(object, object.properties.iter().map(Ranged::range))
    }

    pub(super) fn of_list(list: &Array<'_>) -> Self {
        Self::new(list, list.elements.iter().map(Ranged::range))
    }

    fn new(whole: &impl Ranged, items: impl Iterator<Item = jsonc_parser::common::Range>) -> Self {
        Self {
            // Both brackets are one byte.
            inside: whole.start() + 1..whole.end().saturating_sub(1),
            items: items.map(|item| item.start..item.end).collect(),
        }
    }
}

impl Trivia {
    pub(super) fn is_comment(&self) -> bool {
        matches!(self.kind, TriviaKind::Line | TriviaKind::Block)
    }
}

/// The part of a text in a range; empty if the range is not valid.
pub(super) fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

/// Splits the text between two values into pieces.
pub(super) fn pieces(text: &str, range: Range<usize>) -> Vec<Trivia> {
    let mut found = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let rest = slice(text, at..range.end);
        let (kind, length) = first_piece(rest);
        // At least one byte, so that an invalid range cannot loop forever.
        let end = at + length.max(1);
        let lines = match kind {
            TriviaKind::Space => lines(slice(text, at..end)),
            _ => 0,
        };
        found.push(Trivia {
            kind,
            range: at..end,
            lines,
        });
        at = end;
    }
    found
}

fn first_piece(rest: &str) -> (TriviaKind, usize) {
    if rest.starts_with("//") {
        (
            TriviaKind::Line,
            rest.find(['\r', '\n']).unwrap_or(rest.len()),
        )
    } else if rest.starts_with("/*") {
        // An unclosed comment extends to the end; the parser has refused such a text before.
        let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
        (TriviaKind::Block, end)
    } else if rest.starts_with(',') {
        (TriviaKind::Comma, 1)
    } else {
        (
            TriviaKind::Space,
            rest.find(['/', ',']).unwrap_or(rest.len()),
        )
    }
}

/// Counts the line ends of a text: `\n`, `\r\n`, and single `\r`.
fn lines(text: &str) -> usize {
    text.matches(['\r', '\n']).count() - text.matches("\r\n").count()
}

/// The start of the last line end of a space.
pub(super) fn last_line_end(text: &str, space: &Range<usize>) -> usize {
    let inside = slice(text, space.clone());
    let end = inside.rfind(['\r', '\n']).unwrap_or_default();
    let head = slice(inside, 0..end);
    let is_pair = head.ends_with('\r') && slice(inside, end..inside.len()).starts_with('\n');
    space.start + end - usize::from(is_pair)
}

/// The end of the comments on the line before these pieces; `otherwise` if there are no comments.
pub(super) fn end_of_line_comments(pieces: &[Trivia], otherwise: usize) -> usize {
    let same_line = pieces.iter().take_while(|piece| piece.lines == 0);
    let comments = same_line.filter(|piece| piece.is_comment());
    comments.last().map_or(otherwise, |piece| piece.range.end)
}

/// The indentation of the line that contains a position.
pub(super) fn indent_at(text: &str, at: usize) -> &str {
    let before = slice(text, 0..at);
    let start = before.rfind(['\r', '\n']).map_or(0, |end| end + 1);
    let line = slice(text, start..text.len());
    let end = line.find(|c| c != ' ' && c != '\t').unwrap_or(line.len());
    slice(line, 0..end)
}

/// Applies replacements, which must be in order and must not overlap.
pub(super) fn splice(text: &str, splices: &[Splice]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for splice in splices {
        out.push_str(slice(text, at..splice.range.start));
        out.push_str(&splice.text);
        at = splice.range.end;
    }
    out.push_str(slice(text, at..text.len()));
    out
}
