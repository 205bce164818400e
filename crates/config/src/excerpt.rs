//! Excerpts of a file around a problem, with secrets masked.

use std::borrow::Cow;
use std::ops::Range;

use switchboard_core::secret::MASK;
use switchboard_core::text::sanitise_line;

use super::limits::LIMITS;
use super::source::Source;

/// A visible character, and the range of the file that it stands for.
struct VisibleChar {
    char: char,
    of: Range<usize>,
}

/// Returns the line of a problem with its neighbours, and carets below it.
pub(super) fn excerpt(source: &Source, span: &Range<usize>) -> Vec<String> {
    let middle = source.line_of(span.start);
    let last = middle + 1;
    let width = (last + 1).to_string().len();
    let mut lines = Vec::new();
    for index in middle.saturating_sub(1)..=last {
        let Some((start, line)) = source.line(index) else {
            continue;
        };
        if line.is_empty() && index != middle {
            continue;
        }
        let from = if index == middle {
            before(source, start, span.start.min(start + line.len()))
        } else {
            start
        };
        let shown = visible_chars(source, from, line.get(from - start..).unwrap_or_default());
        let text = cut(&shown, from > start);
        let number = index + 1;
        lines.push(format!("{number:>width$} | {text}").trim_end().to_owned());
        if index == middle {
            let (first, end) = marks(&shown, span);
            let room = LIMITS.excerpt_chars.saturating_sub(first).max(1);
            let skip = " ".repeat(first + usize::from(from > start));
            let carets = "^".repeat((end - first).clamp(1, room));
            lines.push(format!("{:>width$} | {skip}{carets}", ""));
        }
    }
    lines
}

/// Returns the start of the visible part of a line, so that most of the room is before the position. A
/// line may be as long as the file, so it is not scanned from its beginning.
fn before(source: &Source, start: usize, place: usize) -> usize {
    let masks = source.masks();
    let mut at = place;
    let mut room = LIMITS.excerpt_chars * 4 / 5;
    while at > start && room > 0 {
        // Step back over a mask at once: it takes no more room than its stars.
        let next = masks.partition_point(|mask| mask.end < at);
        match masks.get(next).filter(|mask| mask.start < at) {
            Some(mask) => {
                at = mask.start.max(start);
                room = room.saturating_sub(MASK.len());
            }
            None => {
                let text = source.text().get(start..at).unwrap_or_default();
                at -= text.chars().next_back().map_or(1, char::len_utf8);
                room -= 1;
            }
        }
    }
    at
}

/// Returns the visible characters of `rest`, which begins at `from`, with values masked.
fn visible_chars(source: &Source, from: usize, rest: &str) -> Vec<VisibleChar> {
    let masks = source.masks();
    let mut next = masks.partition_point(|mask| mask.end <= from);
    let mut shown: Vec<VisibleChar> = Vec::new();
    let mut masked = from;
    for (offset, c) in rest.char_indices() {
        let at = from + offset;
        if at < masked {
            continue;
        }
        if shown.len() > LIMITS.excerpt_chars {
            break;
        }
        // Masks are sorted, so one pass over line and masks is enough.
        while masks.get(next).is_some_and(|mask| mask.end <= at) {
            next += 1;
        }
        match masks.get(next).filter(|mask| mask.start <= at) {
            Some(mask) => {
                masked = mask.end;
                let of = |char| VisibleChar {
                    char,
                    of: mask.clone(),
                };
                shown.extend(MASK.chars().map(of));
            }
            None => shown.push(VisibleChar {
                char: harmless(c),
                of: at..at + c.len_utf8(),
            }),
        }
    }
    shown
}

/// Replaces one character by one, so that the carets stay in place.
fn harmless(c: char) -> char {
    match c {
        '\t' => ' ',
        ' '..='~' => c,
        _ => match sanitise_line(c.encode_utf8(&mut [0; 4])) {
            Cow::Borrowed(_) => c,
            Cow::Owned(_) => '\u{fffd}',
        },
    }
}

/// The first and last column of the carets.
fn marks(line: &[VisibleChar], span: &Range<usize>) -> (usize, usize) {
    let end = span.end.max(span.start + 1);
    let is_in = |shown: &VisibleChar| shown.of.start < end && shown.of.end > span.start;
    let Some(from) = line.iter().position(is_in) else {
        return (line.len(), line.len() + 1);
    };
    let to = line.iter().rposition(is_in).unwrap_or(from);
    (from, to + 1)
}

/// The text of a line, with a mark at either end where it was cut.
fn cut(line: &[VisibleChar], is_cut: bool) -> String {
    let mut text = String::new();
    if is_cut {
        text.push('…');
    }
    let chars = line.iter().take(LIMITS.excerpt_chars);
    text.extend(chars.map(|shown| shown.char));
    if line.len() > LIMITS.excerpt_chars {
        text.push('…');
    }
    text
}
