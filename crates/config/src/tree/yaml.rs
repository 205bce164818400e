//! Parses YAML, which Goose uses.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::{Member, Node, NodeKind};
use crate::limits::LIMITS;
use crate::problem::ProblemKind;
use crate::report::Note;

/// A list or a map that is not complete yet.
struct Collection {
    start: usize,
    is_map: bool,
    /// The values so far; of a map, keys and values in turn.
    nodes: Vec<Node>,
}

/// Parses the first document of a YAML text; `None` if it contains no value.
pub(super) fn parse(text: &str) -> Result<Option<Node>, Note> {
    // The parser counts characters, everything else here bytes.
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let byte = |index: usize| starts.get(index).copied().unwrap_or(text.len());
    let range = |span: Span| byte(span.start.index())..byte(span.end.index());
    let mut open: Vec<Collection> = Vec::new();
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            let at = byte(error.marker().index());
            let note = Note::error(ProblemKind::Syntax, at..at, "this is not valid YAML");
            note.expecting("`key: value`, indented with spaces")
        })?;
        let span = range(span);
        let node = match event {
            Event::Scalar(value, style, ..) => Node::new(span, scalar(&value, style)),
            // Following aliases would let a small file grow without end.
            Event::Alias(_) => Node::new(span, NodeKind::Null),
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                if open.len() >= LIMITS.depth {
                    let message = format!("nested more than {} levels deep", LIMITS.depth);
                    let note = Note::error(ProblemKind::TooDeep, span, message);
                    return Err(note.expecting("a flatter file"));
                }
                open.push(Collection {
                    start: span.start,
                    is_map: matches!(event, Event::MappingStart(..)),
                    nodes: Vec::new(),
                });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(collection) => collection.close(span.end),
                None => continue,
            },
            _ => continue,
        };
        match open.last_mut() {
            Some(collection) => collection.nodes.push(node),
            // One document is enough: the rest of the file is not read.
            None => return Ok(Some(node)),
        }
    }
    Ok(None)
}

impl Collection {
    fn close(self, end: usize) -> Node {
        let span: Range<usize> = self.start..end.max(self.start);
        if !self.is_map {
            return Node::new(span, NodeKind::List(self.nodes));
        }
        let mut nodes = self.nodes.into_iter();
        let mut members = Vec::new();
        while let (Some(key), Some(value)) = (nodes.next(), nodes.next()) {
            // A key that is a list or a map has no counterpart here.
            let name = match key.kind {
                NodeKind::Text(text) | NodeKind::Number(text) => text,
                NodeKind::Bool(is) => is.to_string(),
                _ => continue,
            };
            members.push(Member {
                key: name,
                key_span: key.span,
                value,
            });
        }
        Node::new(span, NodeKind::Object(members))
    }
}

/// Types a scalar by the core schema of YAML 1.2.
fn scalar(value: &str, style: ScalarStyle) -> NodeKind {
    let text = || NodeKind::Text(value.to_owned());
    if style != ScalarStyle::Plain {
        return text();
    }
    match value {
        "" | "~" | "null" | "Null" | "NULL" => NodeKind::Null,
        "true" | "True" | "TRUE" => NodeKind::Bool(true),
        "false" | "False" | "FALSE" => NodeKind::Bool(false),
        // Only what JSON takes for a number, so that `1_000` and `.inf` stay texts.
        _ if serde_json::from_str::<serde_json::Number>(value).is_ok() => {
            NodeKind::Number(value.to_owned())
        }
        _ => text(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_becomes_a_tree_with_positions() {
        let text = "# é\nextensions:\n  one:\n    cmd: npx\n    args: [-y, 'x y']\n    timeout: 30\n    on: true\n";
        let root = parse(text).ok().flatten().unwrap();
        let one = root.get("extensions").unwrap().get("one").unwrap();
        assert_eq!(
            one.to_value(),
            serde_json::json!({"cmd": "npx", "args": ["-y", "x y"], "timeout": 30, "on": true})
        );
        let command = one.member("cmd").unwrap();
        assert_eq!(&text[command.key_span.clone()], "cmd");
        assert_eq!(&text[command.value.span.clone()], "npx");
    }

    #[test]
    fn broken_deep_and_repeating_documents_are_bounded() {
        assert!(parse("").ok().flatten().is_none());
        assert!(parse("a: [1, 2\nb: {").is_err());
        assert!(parse(&"[".repeat(1000)).is_err());
        let alias = parse("a: &x [1]\nb: *x\n").ok().flatten().unwrap();
        assert_eq!(alias.get("b").unwrap().to_value(), serde_json::Value::Null);
    }
}
