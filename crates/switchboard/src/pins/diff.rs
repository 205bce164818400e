//! Diffs of two texts, line by line.

use std::fmt;

use super::pinned::PinLimits;
use crate::text::{excerpt, write_json_safe};

/// The side of a diff that a line is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[doc(hidden)]
pub enum Side {
    /// From the approved text only: the line was removed.
    Before,
    /// From the current text only: the line is new.
    After,
    /// From both texts.
    Both,
    /// From neither: a note about lines that are not shown.
    Note,
}

/// One line of a diff. It is safe to show, and at most [`PinLimits::line_bytes`] long, not counting
/// escapes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(hidden)]
pub struct DiffLine {
    /// The side that it is from.
    pub side: Side,
    /// The text of the line: JSON, except that strings are broken into lines.
    pub text: String,
}

impl DiffLine {
    #[doc(hidden)]
    pub fn new(side: Side, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { side, text }
    }
}

impl fmt::Display for DiffLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.side {
            Side::Before => '-',
            Side::After => '+',
            Side::Both | Side::Note => ' ',
        };
        write!(f, "{sign} {}", self.text)
    }
}

/// Compares two texts, and shows the differences with some lines of context.
pub fn diff(before: &[String], after: &[String], bounds: &PinLimits) -> Vec<DiffLine> {
    let mut shown = Shown {
        bounds,
        lines: Vec::new(),
        dropped: 0,
    };
    let runs = runs(before, after, bounds);
    let last = runs.len().saturating_sub(1);
    for (at, run) in runs.iter().enumerate() {
        match run {
            Run::Same(lines) => shown.same(lines, at == 0, at == last),
            Run::Other(gone, new) => shown.other(gone, new),
        }
    }
    shown.done()
}

/// Consecutive lines that are equal on both sides, or that differ.
enum Run<'a> {
    Same(Vec<&'a String>),
    Other(Vec<&'a String>, Vec<&'a String>),
}

fn runs<'a>(before: &'a [String], after: &'a [String], bounds: &PinLimits) -> Vec<Run<'a>> {
    // Equal lines at both ends are cut off first: what is left is usually short.
    let head = alike(before.iter(), after.iter());
    let (same, before) = before.split_at(head);
    let (_, after) = after.split_at(head);
    let tail = alike(before.iter().rev(), after.iter().rev());
    let (before, end) = before.split_at(before.len() - tail);
    let (after, _) = after.split_at(after.len() - tail);
    let mut runs = vec![Run::Same(same.iter().collect())];
    // The alignment costs the product of the two lengths, so a long middle is shown as a whole.
    let is_long = before.len().max(after.len()) > bounds.compared_lines;
    if is_long || before.is_empty() || after.is_empty() {
        runs.push(Run::Other(before.iter().collect(), after.iter().collect()));
    } else {
        aligned(before, after, &mut runs);
    }
    runs.push(Run::Same(end.iter().collect()));
    merge_runs(runs)
}

/// Drops empty runs, and merges equal runs that become neighbours.
fn merge_runs(runs: Vec<Run<'_>>) -> Vec<Run<'_>> {
    let mut joined: Vec<Run<'_>> = Vec::new();
    for run in runs {
        match (joined.last_mut(), run) {
            (_, Run::Other(gone, new)) if gone.is_empty() && new.is_empty() => {}
            (_, Run::Same(lines)) if lines.is_empty() => {}
            (Some(Run::Same(before)), Run::Same(lines)) => before.extend(lines),
            (_, run) => joined.push(run),
        }
    }
    joined
}

/// Counts the equal items at the start of both.
fn alike<T: PartialEq>(one: impl Iterator<Item = T>, other: impl Iterator<Item = T>) -> usize {
    one.zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}

/// Finds the longest common subsequence of lines.
fn aligned<'a>(before: &'a [String], after: &'a [String], runs: &mut Vec<Run<'a>>) {
    let width = after.len() + 1;
    // `most[i * width + j]`: the number of common lines of `before[i..]` and `after[j..]`.
    let mut most = vec![0_u32; (before.len() + 1) * width];
    let get = |most: &[u32], i: usize, j: usize| most.get(i * width + j).copied().unwrap_or(0);
    // From the end, so that the walk below can go forwards.
    for (i, gone) in before.iter().enumerate().rev() {
        for (j, new) in after.iter().enumerate().rev() {
            let best = if gone == new {
                get(&most, i + 1, j + 1) + 1
            } else {
                get(&most, i + 1, j).max(get(&most, i, j + 1))
            };
            if let Some(cell) = most.get_mut(i * width + j) {
                *cell = best;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let (mut gone, mut new) = (Vec::new(), Vec::new());
    loop {
        match (before.get(i), after.get(j)) {
            (Some(one), Some(other)) if one == other => {
                runs.push(Run::Other(
                    std::mem::take(&mut gone),
                    std::mem::take(&mut new),
                ));
                runs.push(Run::Same(vec![one]));
                (i, j) = (i + 1, j + 1);
            }
            // On a tie the old lines come first, as in other diffs.
            (Some(one), Some(_)) if get(&most, i + 1, j) >= get(&most, i, j + 1) => {
                gone.push(one);
                i += 1;
            }
            (_, Some(other)) => {
                new.push(other);
                j += 1;
            }
            (Some(one), None) => {
                gone.push(one);
                i += 1;
            }
            (None, None) => break,
        }
    }
    runs.push(Run::Other(gone, new));
}

/// The lines selected for display, within the limits.
struct Shown<'a> {
    bounds: &'a PinLimits,
    lines: Vec<DiffLine>,
    dropped: usize,
}

impl Shown<'_> {
    fn same(&mut self, lines: &[&String], is_first: bool, is_last: bool) {
        let around = self.bounds.context_lines;
        // Nothing changed before the first run and after the last: no context is needed there.
        let head = if is_first { 0 } else { around };
        let tail = if is_last { 0 } else { around };
        let left_out = lines.len().saturating_sub(head + tail);
        for (at, line) in lines.iter().enumerate() {
            let is_near = at < head || at + tail >= lines.len();
            if is_near {
                let text = clip(line, 0, self.bounds.line_bytes);
                self.push(Side::Both, text);
            } else if at == head && !is_first && !is_last {
                self.note(format!("… ({left_out} lines as before)"));
            }
        }
    }

    fn other(&mut self, gone: &[&String], new: &[&String]) {
        // Limit each side to half, so that neither takes all the room from the other.
        let most = (self.bounds.diff_lines / 2).max(1);
        for (side, lines, others) in [(Side::Before, gone, new), (Side::After, new, gone)] {
            for (at, line) in lines.iter().enumerate().take(most) {
                // A long line is shown from where it begins to differ.
                let from = others.get(at).map_or(0, |other| {
                    let same = line.chars().zip(other.chars()).take_while(|(a, b)| a == b);
                    same.map(|(c, _)| c.len_utf8()).sum()
                });
                let text = clip(line, from, self.bounds.line_bytes);
                self.push(side, text);
            }
            if lines.len() > most {
                let what = if side == Side::Before { "gone" } else { "new" };
                self.note(format!("… ({} more lines are {what})", lines.len() - most));
            }
        }
    }

    fn push(&mut self, side: Side, text: String) {
        if self.lines.len() < self.bounds.diff_lines {
            self.lines.push(DiffLine { side, text });
        } else if matches!(side, Side::Before | Side::After) {
            self.dropped += 1;
        }
    }

    fn note(&mut self, text: String) {
        self.push(Side::Note, text);
    }

    fn done(mut self) -> Vec<DiffLine> {
        if self.dropped > 0 {
            let text = format!("… ({} more lines that differ)", self.dropped);
            self.lines.push(DiffLine::new(Side::Note, text));
        }
        self.lines
    }
}

/// Shortens a line that is too long around position `from`, so that the difference there stays visible.
fn clip(line: &str, from: usize, most: usize) -> String {
    if line.len() <= most {
        return write_json_safe(line).into_owned();
    }
    // Some text before the difference, so that its place can be recognised.
    let start = from.saturating_sub(most / 4);
    let start = (0..=start).rev().find(|at| line.is_char_boundary(*at));
    let start = start.unwrap_or_default();
    let (before, rest) = line.split_at(start);
    let mark = if before.is_empty() { "" } else { "… " };
    write_json_safe(&format!("{mark}{}", excerpt(rest, most))).into_owned()
}
