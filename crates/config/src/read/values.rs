//! Reads values of the types that fields have.

use std::str::FromStr;
use std::time::Duration;

use switchboard_core::limits::parse_duration;

use super::{Stage, Text, is_doubtful};
use crate::limits::LIMITS;
use crate::problem::ProblemKind;
use crate::report::{Note, Report};
use crate::shape::duplicates;
use crate::template::has_placeholder;
use crate::tree::{Node, NodeKind, latest};
use crate::{duration, fields, size};

/// Reads the values of one entry. Values of the wrong type are reported and left out.
pub(super) struct FieldReader<'a> {
    pub(super) entry: &'a Node,
    pub(super) stage: Stage,
    pub(super) report: &'a mut Report,
}

impl<'a> FieldReader<'a> {
    pub(super) fn add(&mut self, note: Note) {
        self.report.add(note);
    }

    /// Returns true if a text has no placeholders left.
    pub(super) fn is_filled(&self, text: &str) -> bool {
        self.stage == Stage::Filled || !has_placeholder(text)
    }

    pub(super) fn wrong(&mut self, node: &Node, expected: &str) {
        self.wrong_with(node, expected, None);
    }

    fn wrong_with(&mut self, node: &Node, expected: &str, hint: Option<&str>) {
        let message = format!("{} is {}", self.name(node), node.is_a());
        let note = Note::error(ProblemKind::WrongType, node.span.clone(), message);
        let note = note.expecting(expected);
        self.add(match hint {
            Some(hint) => note.hint(hint),
            None => note,
        });
    }

    /// The name of the field that contains a value, as written in the file.
    fn name(&self, node: &Node) -> String {
        let mut members = self.entry.object().unwrap_or_default().iter();
        let member = members.find(|member| {
            let span = &member.value.span;
            span.start <= node.span.start && node.span.end <= span.end
        });
        let Some(member) = member else {
            return "a value".to_owned();
        };
        // Use the key of the file in messages, not the name that it was converted to.
        let written = self.report.source.text().get(member.key_span.clone());
        let written = written.unwrap_or_default().trim_matches('"');
        let field = fields::find(written).map(|field| field.name);
        let is_it = field == Some(member.key.as_str());
        let name = if is_it { written } else { member.key.as_str() };
        if member.value.span == node.span {
            format!("`{name}`")
        } else {
            format!("a value in `{name}`")
        }
    }

    /// Reports a value of the right type that is not valid for the field.
    fn unfit(&mut self, node: &Node, expected: &str) {
        let message = match node.kind {
            NodeKind::Text(_) | NodeKind::Number(_) => {
                format!("{} is {} that does not fit", self.name(node), node.is_a())
            }
            _ => return self.wrong(node, expected),
        };
        let note = Note::error(ProblemKind::WrongType, node.span.clone(), message);
        self.add(note.expecting(expected));
    }

    fn get(&self, key: &str) -> Option<&'a Node> {
        self.entry.get(key)
    }

    pub(super) fn text(&mut self, key: &str) -> Option<Text> {
        let node = self.get(key)?;
        match &node.kind {
            NodeKind::Text(text) => Some(Text {
                text: text.clone(),
                span: node.span.clone(),
            }),
            _ => {
                self.wrong(node, "a text");
                None
            }
        }
    }

    pub(super) fn bool(&mut self, key: &str) -> Option<bool> {
        let node = self.get(key)?;
        match &node.kind {
            NodeKind::Bool(is) => Some(*is),
            NodeKind::Text(text) if matches!(text.as_str(), "true" | "false") => {
                self.wrong_with(node, "`true` or `false`", Some("remove the quotes"));
                None
            }
            _ => {
                self.wrong(node, "`true` or `false`");
                None
            }
        }
    }

    pub(super) fn count(&mut self, key: &str) -> Option<u32> {
        let node = self.get(key)?;
        let count = match &node.kind {
            NodeKind::Number(number) => number.parse().ok(),
            _ => None,
        };
        if count.is_none() {
            self.unfit(node, "a whole number, 0 or more");
        }
        count
    }

    pub(super) fn size(&mut self, key: &str) -> Option<usize> {
        let node = self.get(key)?;
        let bytes = match &node.kind {
            NodeKind::Number(number) => number.parse().ok(),
            NodeKind::Text(text) if !self.is_filled(text) => return None,
            NodeKind::Text(text) => size::parse(text),
            _ => None,
        };
        let (least, most) = fields::MESSAGE_BYTES;
        let bytes = bytes.filter(|bytes| (least..=most).contains(bytes));
        let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        if bytes.is_none() {
            self.unfit(node, "64 KiB to 256 MiB: bytes, or `\"16 MiB\"`");
        }
        bytes
    }

    pub(super) fn time(&mut self, key: &str) -> Option<Duration> {
        const EXPECTED: &str =
            "more than 0 and at most 30 days: seconds, or `\"30s\"`, `\"500ms\"`, `\"2m\"`";
        let node = self.get(key)?;
        let time = match &node.kind {
            NodeKind::Number(number) => number.parse().ok().and_then(duration::of_seconds),
            NodeKind::Text(text) if !self.is_filled(text) => return None,
            NodeKind::Text(text) => parse_duration(text).ok(),
            _ => None,
        };
        let time = time.filter(|time| !time.is_zero() && *time <= LIMITS.duration);
        let is_bare = matches!(node.kind, NodeKind::Number(_));
        match time {
            None => self.unfit(node, EXPECTED),
            Some(time) if is_bare && is_doubtful(time) => {
                let message = format!("a time of {} hours", time.as_secs() / 3600);
                let span = node.span.clone();
                let note = Note::warning(ProblemKind::Suspicious, span, message);
                self.add(note.hint("a bare number is one of seconds; write `\"...ms\"` otherwise"));
            }
            Some(_) => {}
        }
        time
    }

    /// Reads a list of texts; numbers and booleans are converted as written.
    pub(super) fn list(&mut self, key: &str) -> Option<Vec<Text>> {
        let node = self.get(key)?;
        let NodeKind::List(items) = &node.kind else {
            self.wrong(node, "a list of texts");
            return None;
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match plain(item) {
                Some(text) => texts.push(text),
                None => self.wrong(item, "a text"),
            }
        }
        Some(texts)
    }

    /// Reads a list of names.
    pub(super) fn names(&mut self, key: &str) -> Option<Vec<String>> {
        let texts = self.list(key)?;
        Some(texts.into_iter().map(|text| text.text).collect())
    }

    /// Reads an object of texts; numbers and booleans are converted as written.
    pub(super) fn map(&mut self, key: &str) -> Vec<(String, Text)> {
        let Some(node) = self.get(key) else {
            return Vec::new();
        };
        let NodeKind::Object(members) = &node.kind else {
            self.wrong(node, "an object with a text for each name");
            return Vec::new();
        };
        if self.stage == Stage::Written {
            duplicates(members, self.report);
        }
        let mut map: Vec<(String, Text)> = Vec::with_capacity(members.len());
        for member in latest(members) {
            match plain(&member.value) {
                Some(text) => map.push((member.key.clone(), text)),
                None => self.wrong(&member.value, "a text"),
            }
        }
        map
    }

    /// Reads a text that is one of a few words.
    pub(super) fn parsed<T: FromStr>(&mut self, key: &str, expected: &str) -> Option<T> {
        let node = self.get(key)?;
        let parsed = match node.text() {
            Some(text) if !self.is_filled(text) => return None,
            text => text.and_then(|text| text.parse().ok()),
        };
        if parsed.is_none() {
            self.unfit(node, expected);
        }
        parsed
    }
}

fn plain(node: &Node) -> Option<Text> {
    let text = match &node.kind {
        NodeKind::Text(text) | NodeKind::Number(text) => text.clone(),
        NodeKind::Bool(is) => is.to_string(),
        NodeKind::Null | NodeKind::List(_) | NodeKind::Object(_) => return None,
    };
    Some(Text {
        text,
        span: node.span.clone(),
    })
}
