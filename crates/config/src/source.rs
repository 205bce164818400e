//! The text of one file, with its line numbers.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use switchboard_core::spec::Layer;

use super::mask;

/// The syntax of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// JSON with comments and trailing commas.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// The text of one file, with its line numbers and masks.
///
/// It does not implement `Debug`, because it contains secrets.
pub(super) struct Source {
    pub(super) file: PathBuf,
    pub(super) layer: Layer,
    pub(super) syntax: Syntax,
    text: String,
    /// The start of each line.
    lines: Vec<usize>,
    masks: OnceLock<Vec<Range<usize>>>,
}

impl Source {
    /// Creates a source; drops a byte order mark.
    pub(super) fn new(text: &str, file: &Path, layer: Layer, syntax: Syntax) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
        // Index the line starts once, so that positions are found by binary search.
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0)
            .chain(ends.map(|(at, _)| at + 1))
            .collect();
        Self {
            file: file.to_owned(),
            layer,
            syntax,
            text,
            lines,
            masks: OnceLock::new(),
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The line of a position, from 0.
    pub(super) fn line_of(&self, at: usize) -> usize {
        self.lines
            .partition_point(|start| *start <= at)
            .saturating_sub(1)
    }

    /// A line by its number from 0: its start, and its text without the line end.
    pub(super) fn line(&self, index: usize) -> Option<(usize, &str)> {
        let start = *self.lines.get(index)?;
        let end = self.lines.get(index + 1).copied();
        let line = self.text.get(start..end.unwrap_or(self.text.len()))?;
        let line = line.strip_suffix('\n').unwrap_or(line);
        Some((start, line.strip_suffix('\r').unwrap_or(line)))
    }

    /// Line and column of a position, both from 1, the column in characters.
    pub(super) fn place(&self, at: usize) -> (usize, usize) {
        let index = self.line_of(at);
        let start = self.lines.get(index).copied().unwrap_or_default();
        let before = self.text.get(start..at).unwrap_or_default();
        (index + 1, before.chars().count() + 1)
    }

    /// The ranges of the text that must not be shown, in order; computed on first use.
    pub(super) fn masks(&self) -> &[Range<usize>] {
        self.masks.get_or_init(|| match self.syntax {
            Syntax::Json => mask::json(&self.text),
            Syntax::Toml => mask::toml(&self.text),
            Syntax::Yaml => mask::yaml(&self.text),
        })
    }
}
