//! A rough line scanner for TOML that also works on broken files.

use std::ops::Range;

use super::is_shown;
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
    let mut open = Open::default();
    let mut in_map = false;
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
            in_map = parts.iter().any(|part| fields::is_map(part));
        } else if content.starts_with('#') {
            masks.push(at + 1..end);
        } else {
            match content.split_once('=').filter(|(key, _)| is_plain(key)) {
                Some((key, value)) => {
                    let keys: Vec<&str> = parts(key);
                    let blank = value.len() - value.trim_start().len();
                    let is_map = in_map || keys.iter().any(|key| fields::is_map(key));
                    let last = keys.last().copied().unwrap_or_default();
                    let value = value.trim_start();
                    let bare = value.trim_matches('"');
                    let is_plain = matches!(value, "true" | "false");
                    if !is_plain && (is_map || !is_shown(last, bare)) {
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
