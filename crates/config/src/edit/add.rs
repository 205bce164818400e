//! Adds a member or an element to a document, in the style of its surroundings.

use super::layout::{Container, Splice, Trivia, TriviaKind, end_of_line_comments};
use super::layout::{indent_at, pieces, slice};
use super::render::Style;

/// The formatting of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Habits {
    /// The line end.
    pub(super) newline: &'static str,
    /// The indentation of one level.
    pub(super) unit: String,
}

impl Habits {
    /// Detects the formatting; defaults to two spaces and `\n`.
    pub(super) fn of(text: &str, root: Option<&Container>) -> Self {
        // The first line end decides, as in most editors.
        let newline = match text.find('\n') {
            Some(end) if slice(text, 0..end).ends_with('\r') => "\r\n",
            _ => "\n",
        };
        // Only an item on a line of its own shows the indentation.
        let first = root.and_then(|root| {
            let first = root.items.first()?;
            let before = pieces(text, root.inside.start..first.start);
            before
                .iter()
                .any(|piece| piece.lines > 0)
                .then_some(first.start)
        });
        let unit = first.map(|at| indent_at(text, at)).unwrap_or_default();
        let unit = if unit.is_empty() { "  " } else { unit };
        Self {
            newline,
            unit: unit.to_owned(),
        }
    }

    fn lines<'d>(&'d self, indent: &'d str) -> Style<'d> {
        Style::Lines {
            newline: self.newline,
            indent,
            unit: &self.unit,
        }
    }

    /// The style for a value that replaces another.
    pub(super) fn in_place<'d>(
        &'d self,
        text: &'d str,
        container: &Container,
        at: usize,
    ) -> Style<'d> {
        let inside = slice(text, container.inside.clone());
        if inside.contains(['\r', '\n']) {
            self.lines(indent_at(text, at))
        } else {
            Style::OneLine {
                spaced: text.contains(": "),
            }
        }
    }
}

/// Adds a new item after the last one.
///
/// Comments on the line of the last item stay with it, and comments on the lines below stay below: above
/// the new item they would look as if they were about it.
pub(super) fn add(
    text: &str,
    container: &Container,
    habits: &Habits,
    item: impl FnOnce(Style<'_>) -> String,
) -> Vec<Splice> {
    let Some(last) = container.items.last() else {
        return into_empty(text, container, habits, item);
    };
    // The gap before the last item shows how this container separates its items.
    let before_last = container.items.iter().rev().nth(1);
    let from = before_last.map_or(container.inside.start, |item| item.end);
    let before = pieces(text, from..last.start);
    let after = pieces(text, last.end..container.inside.end);
    // A trailing comma stays one: the new item brings its own.
    let comma = after
        .iter()
        .position(|piece| piece.kind == TriviaKind::Comma);
    let has_lines = |pieces: &[Trivia]| pieces.iter().any(|piece| piece.lines > 0);
    let behind = comma.and_then(|at| after.get(at + 1..)).unwrap_or_default();
    // Next to such a comment, a new item on the same line would look as if the comment were about it.
    let is_commented = behind.iter().any(Trivia::is_comment);
    if !has_lines(&before) && !has_lines(&after) && !is_commented {
        return on_the_line(text, last.end, &before, &after, item);
    }
    // On lines of its own: indent like the last item, or one level below the container.
    let indent = if has_lines(&before) {
        indent_at(text, last.start).to_owned()
    } else {
        format!("{}{}", indent_at(text, container.inside.start), habits.unit)
    };
    let item = format!(
        "{}{indent}{}",
        habits.newline,
        item(habits.lines(indent.as_str()))
    );
    match comma.and_then(|at| after.get(at)) {
        Some(comma) => {
            // After a comment at the end of the line, which belongs to the last item.
            let at = end_of_line_comments(behind, comma.range.end);
            vec![put(at, item + ",")]
        }
        None => {
            let at = end_of_line_comments(&after, last.end);
            vec![put(last.end, ",".to_owned()), put(at, item)]
        }
    }
}

/// Adds an item to a container that is written on one line.
fn on_the_line(
    text: &str,
    end: usize,
    before: &[Trivia],
    after: &[Trivia],
    item: impl FnOnce(Style<'_>) -> String,
) -> Vec<Splice> {
    // The space after a comma, as the container has it between its other items.
    let gap = match before {
        [.., comma, space] if comma.kind == TriviaKind::Comma => slice(text, space.range.clone()),
        [comma] if comma.kind == TriviaKind::Comma => "",
        _ if text.contains(": ") => " ",
        _ => "",
    };
    let spaced = !gap.is_empty();
    let item = item(Style::OneLine { spaced });
    match after.iter().find(|piece| piece.kind == TriviaKind::Comma) {
        Some(comma) => vec![put(comma.range.end, format!("{gap}{item},"))],
        None => vec![put(
            end_of_line_comments(after, end),
            format!(",{gap}{item}"),
        )],
    }
}

/// Adds an item to an empty container.
fn into_empty(
    text: &str,
    container: &Container,
    habits: &Habits,
    item: impl FnOnce(Style<'_>) -> String,
) -> Vec<Splice> {
    let Container { inside, .. } = container;
    let outer = indent_at(text, inside.start);
    let indent = format!("{outer}{}", habits.unit);
    let inner = pieces(text, inside.clone());
    let at = end_of_line_comments(&inner, inside.start);
    let mut new = format!(
        "{}{indent}{}",
        habits.newline,
        item(habits.lines(indent.as_str()))
    );
    if inner.iter().any(|piece| piece.lines > 0) {
        return vec![put(at, new)];
    }
    new = new + habits.newline + outer;
    vec![Splice {
        range: at..inside.end,
        text: new,
    }]
}

fn put(at: usize, text: String) -> Splice {
    Splice {
        range: at..at,
        text,
    }
}
