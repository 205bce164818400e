//! The layout of a TOML document: its tables, and the keys in each, with their places.

use std::ops::Range;

use toml_parser::Source;
use toml_parser::parser::{Event, EventKind, parse_document};

/// A table as it is written: a header and the keys below it. The keys before the first header are a table too.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// The keys of the header.
    pub(super) path: Vec<String>,
    /// The start of the header, at the beginning of its line.
    pub(super) start: usize,
    /// The end of the last line with a key or the header, behind its line end.
    pub(super) end: usize,
    pub(super) items: Vec<TomlItem>,
}

/// A key with its value.
#[derive(Debug)]
pub(super) struct TomlItem {
    /// The keys, of which there are several if they are dotted.
    pub(super) path: Vec<String>,
    /// The start of the first key.
    pub(super) start: usize,
    pub(super) value: Range<usize>,
}

/// Collects sections from the events of the parser.
#[derive(Default)]
struct Builder {
    sections: Vec<Section>,
    is_header: bool,
    /// The number of open lists and inline tables.
    depth: usize,
    /// The keys of the item that is being read, with the start of the first.
    keys: Vec<String>,
    key_start: Option<usize>,
    value_start: Option<usize>,
}

/// Finds the tables of a text that the parser accepts.
pub(super) fn sections(text: &str) -> Vec<Section> {
    let source = Source::new(text);
    let tokens = source.lex().into_vec();
    let mut builder = Builder {
        sections: vec![Section::default()],
        ..Builder::default()
    };
    // Errors show when the result is parsed and compared.
    let mut take = |event: Event| builder.take(text, &source, &event);
    parse_document(&tokens, &mut take, &mut ());
    builder.sections
}

impl Builder {
    fn take(&mut self, text: &str, source: &Source<'_>, event: &Event) {
        let span = event.span().start()..event.span().end();
        match event.kind() {
            EventKind::StdTableOpen | EventKind::ArrayTableOpen => {
                self.is_header = true;
                let start = line_start(text, span.start);
                self.sections.push(Section {
                    start,
                    end: line_end(text, span.end),
                    ..Section::default()
                });
            }
            EventKind::StdTableClose | EventKind::ArrayTableClose => self.is_header = false,
            EventKind::SimpleKey if self.depth == 0 => {
                let mut key = String::new();
                if let Some(raw) = source.get(event) {
                    raw.decode_key(&mut key, &mut ());
                }
                if self.is_header {
                    if let Some(section) = self.sections.last_mut() {
                        section.path.push(key);
                    }
                } else {
                    self.key_start.get_or_insert(span.start);
                    self.keys.push(key);
                }
            }
            EventKind::ArrayOpen | EventKind::InlineTableOpen => {
                self.value_start.get_or_insert(span.start);
                self.depth += 1;
            }
            EventKind::ArrayClose | EventKind::InlineTableClose => {
                self.depth = self.depth.saturating_sub(1);
                self.end_value(text, span.end);
            }
            EventKind::Scalar => {
                self.value_start.get_or_insert(span.start);
                self.end_value(text, span.end);
            }
            _ => {}
        }
    }

    /// Ends the item if its value is complete.
    fn end_value(&mut self, text: &str, end: usize) {
        if self.depth > 0 {
            return;
        }
        let (Some(start), Some(value)) = (self.key_start.take(), self.value_start.take()) else {
            return;
        };
        let path = std::mem::take(&mut self.keys);
        if let Some(section) = self.sections.last_mut() {
            section.end = line_end(text, end);
            section.items.push(TomlItem {
                path,
                start,
                value: value..end,
            });
        }
    }
}

/// The start of the line of a position.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rfind('\n').map_or(0, |end| end + 1)
}

/// The end of the line of a position, behind its line end.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.find('\n').map_or(text.len(), |end| at + end + 1)
}

/// The start of the comments directly above a line, or of the line itself.
pub(super) fn with_comments_above(text: &str, line: usize) -> usize {
    let mut start = line;
    while start > 0 {
        let above = line_start(text, start - 1);
        let content = text.get(above..start).unwrap_or_default().trim_start();
        if !content.starts_with('#') {
            break;
        }
        start = above;
    }
    start
}
