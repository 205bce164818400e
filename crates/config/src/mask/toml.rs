//! A rough line scanner for TOML that also works on broken files.

use std::ops::Range;

use toml::de::DeTable;

use super::{ValuePlace, is_number};
use crate::limits::LIMITS;
use crate::{fields, report};

/// The constructs that earlier lines have left open.
#[derive(Clone, Copy, Default)]
struct Open {
    /// The number of open brackets of lists and inline tables.
    brackets: usize,
    /// The delimiter of an open multi-line string.
    text: Option<&'static str>,
}

/// Returns the first bracket beyond the maximum depth.
pub(crate) fn too_deep(text: &str) -> Option<Range<usize>> {
    let mut open = Open::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some(at) = open.pass(line) {
            return Some(start + at..start + at + 1);
        }
        start += line.len();
    }
    None
}

/// Returns the ranges of a TOML text that must not be shown.
pub(crate) fn mask(text: &str) -> Vec<Range<usize>> {
    let mut masks = Vec::new();
    let is_broken = too_deep(text).is_some() || DeTable::parse(text).is_err();
    let mut open = Open::default();
    let mut in_map: Option<&str> = None;
    let mut start = 0;
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end();
        let indent = line.len() - line.trim_start().len();
        let content = line.trim_start();
        let at = start + indent;
        let end = start + line.len();
        // Remember the state before this line: its beginning belongs to what was open.
        let is_inside = open.brackets > 0 || open.text.is_some();
        open.pass(whole);
        start += whole.len();
        if content.is_empty() {
            continue;
        }
        // A continued value may contain anything.
        if is_inside {
            masks.push(at..end);
        } else if let Some(parts) = header(content) {
            in_map = parts.into_iter().find(|part| fields::is_map(part));
        } else if content.starts_with('#') {
            masks.push(at + 1..end);
        } else {
            match content.split_once('=').filter(|(key, _)| is_plain(key)) {
                Some((key, value)) => {
                    let keys: Vec<&str> = parts(key);
                    let blank = value.len() - value.trim_start().len();
                    let inline = keys.iter().copied().find(|key| fields::is_map(key));
                    let place = ValuePlace {
                        map: in_map.or(inline),
                        key: keys.last().copied().unwrap_or_default(),
                        before: "",
                        is_in_section: false,
                    };
                    let value = value.trim_start();
                    if !is_open_value(value) && (is_broken || !shows(value, place)) {
                        masks.push(at + key.len() + 1 + blank..end);
                    }
                }
                None => masks.push(at..end),
            }
        }
    }
    masks.retain(|mask| !mask.is_empty());
    masks
}

/// Returns true if a value is only an opening bracket, and continues on the next lines.
fn is_open_value(value: &str) -> bool {
    matches!(value, "[" | "{")
}

/// Returns true if a value on one line may be shown: a plain one, or a list of them.
fn shows(value: &str, place: ValuePlace<'_>) -> bool {
    let list = value
        .strip_prefix('[')
        .and_then(|list| list.strip_suffix(']'));
    let Some(list) = list else {
        let text = value
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        let text = text.filter(|text| !text.contains(['"', '\\']));
        let is_plain = matches!(value, "true" | "false") || is_number(value);
        return is_plain || text.is_some_and(|text| place.shows(text));
    };
    let mut before = "";
    list.split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .all(|item| {
            let before = std::mem::replace(&mut before, item.trim_matches('"'));
            !item.starts_with('[') && shows(item, ValuePlace { before, ..place })
        })
}

/// The parts of a table's name, if the line is a table header.
fn header(line: &str) -> Option<Vec<&str>> {
    let name = line.strip_prefix('[')?.strip_suffix(']')?;
    let name = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
        .unwrap_or(name);
    is_plain(name).then(|| parts(name))
}

/// Returns true if a text can only be a key.
fn is_plain(key: &str) -> bool {
    let is_key = |c: char| c.is_ascii_alphanumeric() || "_-.\"' ".contains(c);
    let words = parts(key);
    key.chars().all(is_key) && !words.iter().any(|part| report::is_secret(part))
}

fn parts(key: &str) -> Vec<&str> {
    let parts = key.split('.');
    parts
        .map(|part| part.trim().trim_matches(['"', '\'']))
        .collect()
}

impl Open {
    /// Scans a line; returns the position of the first bracket in it that is too deep.
    fn pass(&mut self, line: &str) -> Option<usize> {
        let mut at = 0;
        let mut deep = None;
        while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
            if let Some(end) = self.text {
                match rest.find(end) {
                    Some(found) => {
                        at += found + end.len();
                        self.text = None;
                        continue;
                    }
                    None => break,
                }
            }
            let delimiter = ["\"\"\"", "'''"].into_iter().find(|d| rest.starts_with(d));
            let first = rest.chars().next().unwrap_or_default();
            at += match (delimiter, first) {
                (Some(delimiter), _) => {
                    self.text = Some(delimiter);
                    delimiter.len()
                }
                (None, quote @ ('"' | '\'')) => string(rest, quote),
                (None, '#') => break,
                (None, '[' | '{') => {
                    self.brackets += 1;
                    if self.brackets > LIMITS.depth && deep.is_none() {
                        deep = Some(at);
                    }
                    1
                }
                (None, ']' | '}') => {
                    self.brackets = self.brackets.saturating_sub(1);
                    1
                }
                (None, other) => other.len_utf8(),
            };
        }
        deep
    }
}

/// The length of a string on one line.
fn string(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' && quote == '"' {
            escaped = true;
        } else if c == quote {
            return at + 1;
        }
    }
    rest.len()
}
