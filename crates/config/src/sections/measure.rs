//! Reads numbers, sizes and durations of a section, and checks their ranges.

use std::ops::RangeInclusive;
use std::time::Duration;

use switchboard_core::limits::parse_duration;

use super::{get, wrong};
use crate::keys::{self, Key};
use crate::problem::ProblemKind;
use crate::report::{Note, Report};
use crate::tree::{Node, NodeKind};
use crate::{duration, size};

/// Reads the numbers of one section. Invalid ones are reported and left out, so that the default applies.
pub(super) struct Measures<'a> {
    pub(super) node: &'a Node,
    /// The name of the section in messages: `limits`.
    pub(super) of: &'static str,
    /// The keys of the section, with their ranges.
    pub(super) keys: &'static [Key],
    pub(super) report: &'a mut Report,
}

impl Measures<'_> {
    /// Reads a whole number.
    pub(super) fn count(&mut self, key: &str) -> Option<usize> {
        let range = keys::range(self.keys, key);
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        let read = |node: &Node| match &node.kind {
            NodeKind::Number(number) => whole(number),
            _ => None,
        };
        let count = self.read(key, &range, &expected, read)?;
        usize::try_from(count).ok()
    }

    /// Reads a number of bytes.
    pub(super) fn size(&mut self, key: &str) -> Option<usize> {
        let range = keys::range(self.keys, key);
        let (least, most) = (size::text(*range.start()), size::text(*range.end()));
        let expected =
            format!("from {least} to {most}: a number of bytes, or a text such as `\"16 MiB\"`");
        let read = |node: &Node| match &node.kind {
            NodeKind::Number(number) => whole(number),
            NodeKind::Text(text) => size::parse(text),
            _ => None,
        };
        let bytes = self.read(key, &range, &expected, read)?;
        usize::try_from(bytes).ok()
    }

    /// Reads a duration.
    pub(super) fn time(&mut self, key: &str) -> Option<Duration> {
        let range = keys::range(self.keys, key);
        let range = Duration::from_millis(*range.start())..=Duration::from_millis(*range.end());
        let (least, most) = (duration::text(*range.start()), duration::text(*range.end()));
        let expected = format!(
            "from {least} to {most}: seconds, or a text such as `\"30s\"`, `\"500ms\"`, `\"2m\"`"
        );
        let read = |node: &Node| match &node.kind {
            NodeKind::Number(number) => number.parse().ok().and_then(duration::of_seconds),
            NodeKind::Text(text) => parse_duration(text).ok(),
            _ => None,
        };
        self.read(key, &range, &expected, read)
    }

    fn read<T: PartialOrd>(
        &mut self,
        key: &str,
        range: &RangeInclusive<T>,
        expected: &str,
        read: impl FnOnce(&Node) -> Option<T>,
    ) -> Option<T> {
        let node = get(self.node, key)?;
        let what = format!("`{key}` of `{}`", self.of);
        let is_written = matches!(node.kind, NodeKind::Number(_) | NodeKind::Text(_));
        // Tell apart: out of range, not a valid number, and not a number at all.
        let message = match read(node) {
            Some(value) if range.contains(&value) => return Some(value),
            Some(value) if value < *range.start() => format!("{what} is too small"),
            Some(_) => format!("{what} is too large"),
            None if is_written => format!("{what} is {} that does not fit", node.is_a()),
            None => {
                wrong(&what, node, expected, self.report);
                return None;
            }
        };
        let note = Note::error(ProblemKind::WrongType, node.span.clone(), message);
        self.report.add(note.expecting(expected));
        None
    }
}

/// Parses a whole number; one that does not fit 64 bits is larger than any range.
fn whole(number: &str) -> Option<u64> {
    let is_whole = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    is_whole.then(|| number.parse().unwrap_or(u64::MAX))
}
