//! Removes a member or an element from a document, with its comments.

use std::ops::Range;

use super::layout::{Container, Splice, Trivia, TriviaKind};
use super::layout::{end_of_line_comments, last_line_end, pieces, slice};

/// Removes an item, with its comma and the comments that belong to it.
///
/// Comments on its own lines and directly above it belong to an item. A comment that is separated from it
/// by an empty line, or that follows the previous item or bracket on its line, stays.
pub(super) fn remove(text: &str, container: &Container, index: usize) -> Vec<Splice> {
    let Some(item) = container.items.get(index) else {
        return Vec::new();
    };
    let inside = &container.inside;
    let previous = index.checked_sub(1).and_then(|at| container.items.get(at));
    let next = container.items.get(index + 1);
    // Everything up to the neighbours: comments and spaces belong to one or the other.
    let around = Around {
        before: pieces(text, previous.map_or(inside.start, |p| p.end)..item.start),
        after: pieces(text, item.end..next.map_or(inside.end, |next| next.start)),
        item: item.clone(),
        is_last: next.is_none(),
    };
    // Cut the item; if it was the last one, the comma before it must go too.
    let mut cuts = vec![around.cut(text)];
    if previous.is_some() && around.own_comma().is_none() {
        around.cut_the_comma_before(text, &mut cuts);
    }
    let splices = cuts.into_iter().map(|range| Splice {
        range,
        text: String::new(),
    });
    let splices: Vec<Splice> = splices.collect();
    // Nothing but spaces left: close up the brackets.
    if container.items.len() == 1 && left_empty(text, inside, &splices) {
        return vec![Splice {
            range: inside.clone(),
            text: String::new(),
        }];
    }
    splices
}

/// An item with the text on both sides, up to its neighbours or the brackets.
struct Around {
    before: Vec<Trivia>,
    after: Vec<Trivia>,
    item: Range<usize>,
    is_last: bool,
}

impl Around {
    fn own_comma(&self) -> Option<usize> {
        let mut after = self.after.iter();
        after.position(|piece| piece.kind == TriviaKind::Comma)
    }

    /// The pieces between the comma or bracket before the item and the item.
    fn lead(&self) -> &[Trivia] {
        let mut before = self.before.iter();
        let comma = before.position(|piece| piece.kind == TriviaKind::Comma);
        let from = comma.map_or(0, |at| at + 1);
        self.before.get(from..).unwrap_or_default()
    }

    /// The start of the item, including the comments about it above it and before it.
    fn start(&self) -> usize {
        let lead = self.lead();
        // Comments on the line of the previous item belong to that, unless the item is on that line too.
        let own = match lead.iter().position(|piece| piece.lines > 0) {
            Some(at) => lead.get(at + 1..).unwrap_or_default(),
            None => lead,
        };
        // Upwards from the item, until an empty line separates the comments from it.
        let near = own.iter().rev().take_while(|piece| piece.lines < 2);
        let comments = near.filter(|piece| piece.is_comment());
        comments
            .last()
            .map_or(self.item.start, |piece| piece.range.start)
    }

    /// The end of the item, including its comma and the comments after it.
    fn end(&self) -> usize {
        let Some(comma) = self.own_comma() else {
            return end_of_line_comments(&self.after, self.item.end);
        };
        let behind = self.after.get(comma + 1..).unwrap_or_default();
        let comma_end = self.after.get(comma).map(|piece| piece.range.end);
        let comma_end = comma_end.unwrap_or(self.item.end);
        // A comment behind the comma on the same line is about this item.
        let ends_line = behind.iter().any(|piece| piece.lines > 0);
        if ends_line || self.is_last {
            end_of_line_comments(behind, comma_end)
        } else {
            // The next item is on the same line, and comments before it are about it.
            comma_end
        }
    }

    /// The range to cut, chosen so that the lines around it stay whole.
    fn cut(&self, text: &str) -> Range<usize> {
        let (start, end) = (self.start(), self.end());
        let space_at = |from: usize| self.after.iter().find(|piece| piece.range.start == from);
        let ends_line = space_at(end).is_some_and(|space| space.lines > 0);
        let lead = self.lead();
        let space = lead.iter().position(|piece| piece.range.end == start);
        let Some((at, space)) = space.and_then(|at| Some((at, lead.get(at)?))) else {
            return start..end;
        };
        if space.kind != TriviaKind::Space {
            return start..end;
        }
        // On the line of its neighbours: the space before goes with it.
        if space.lines == 0 {
            return space.range.start..end;
        }
        // A line comment must keep its line end.
        let above = at.checked_sub(1).and_then(|at| lead.get(at));
        let is_commented = above.is_some_and(|piece| piece.kind == TriviaKind::Line);
        if ends_line || (self.is_last && !is_commented) {
            return last_line_end(text, &space.range)..end;
        }
        let end = space_at(end).map_or(end, |space| space.range.end);
        start..end
    }

    /// Cuts the comma before the item, which nothing follows any more.
    fn cut_the_comma_before(&self, text: &str, cuts: &mut Vec<Range<usize>>) {
        let mut before = self.before.iter();
        let Some(at) = before.position(|piece| piece.kind == TriviaKind::Comma) else {
            return;
        };
        let Some(comma) = self.before.get(at).map(|piece| piece.range.clone()) else {
            return;
        };
        // If lines begin with their comma, the whole line goes.
        let space = at.checked_sub(1).and_then(|at| self.before.get(at));
        let cut = cuts.first_mut().filter(|cut| cut.start == comma.end);
        let rest = cut
            .as_ref()
            .map_or("", |cut| slice(text, cut.end..text.len()));
        let ends_line = rest
            .trim_start_matches([' ', '\t'])
            .starts_with(['\r', '\n']);
        match (space, cut) {
            (Some(space), Some(cut)) if space.lines > 0 && ends_line => {
                cut.start = last_line_end(text, &space.range);
            }
            _ => cuts.insert(0, comma),
        }
    }
}

/// Returns true if only spaces remain between the brackets.
fn left_empty(text: &str, inside: &Range<usize>, splices: &[Splice]) -> bool {
    let mut at = inside.start;
    let mut is_empty = true;
    for Splice { range, .. } in splices {
        is_empty &= slice(text, at..range.start).trim().is_empty();
        at = range.end;
    }
    is_empty && slice(text, at..inside.end).trim().is_empty()
}
