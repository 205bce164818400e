//! Cards: a title, facts in two columns, and blocks of text about one thing.

use switchboard_core::secret::Redactor;
use switchboard_core::text::{sanitise, sanitise_line};
use unicode_width::UnicodeWidthStr as _;

use crate::style::Style;
use crate::table::wrap_words;
use crate::wrap::wrap;

/// A card, built line by line. Every text is redacted and made safe to show.
pub struct Card<'s> {
    secrets: &'s Redactor,
    style: Style,
    columns: Option<usize>,
    lines: Vec<CardLine>,
}

enum CardLine {
    Title(String),
    Fact { name: String, value: String },
    Heading(String),
    Row { name: String, words: String },
    Text(String),
    Code(String),
    Item(String),
}

impl<'s> Card<'s> {
    /// Creates an empty card. Lines are wrapped at `columns` if given.
    pub fn new(secrets: &'s Redactor, style: Style, columns: Option<usize>) -> Self {
        Self {
            secrets,
            style,
            columns,
            lines: Vec::new(),
        }
    }

    fn safe(&self, text: &str) -> String {
        sanitise_line(self.secrets.redact(text).trim_end()).into_owned()
    }

    /// Adds the title.
    pub fn title(&mut self, text: &str) {
        let text = self.safe(text);
        self.lines.push(CardLine::Title(text));
    }

    /// Adds a fact if there is a value. Facts that follow each other are aligned.
    pub fn fact(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            let (name, value) = (format!("{}:", self.safe(name)), self.safe(value));
            self.lines.push(CardLine::Fact { name, value });
        }
    }

    /// Adds a list under a heading if it has items.
    pub fn list(&mut self, name: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        let heading = format!("{}:", self.safe(name));
        self.lines.push(CardLine::Heading(heading));
        for item in items {
            let item = self.safe(item);
            self.lines.push(CardLine::Item(item));
        }
    }

    /// Adds rows of two columns under a heading if there are any.
    pub fn rows(&mut self, name: &str, rows: &[(String, String)]) {
        if rows.is_empty() {
            return;
        }
        let heading = format!("{}:", self.safe(name));
        self.lines.push(CardLine::Heading(heading));
        for (name, words) in rows {
            let (name, words) = (self.safe(name), self.safe(words));
            self.lines.push(CardLine::Row { name, words });
        }
    }

    /// Adds a text of several lines under a heading, or below the title if `name` is empty.
    pub fn text(&mut self, name: &str, text: Option<&str>) {
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            return;
        };
        let indent = if name.is_empty() { "" } else { "  " };
        if !name.is_empty() {
            let heading = format!("{}:", self.safe(name));
            self.lines.push(CardLine::Heading(heading));
        }
        let text = self.secrets.redact(text.trim_end()).into_owned();
        for line in sanitise(&text).lines() {
            let line = format!("{indent}{}", line.trim_end());
            self.lines.push(CardLine::Text(line));
        }
    }

    /// Adds a command to paste under a heading, which is never wrapped.
    pub fn code(&mut self, name: &str, command: Option<&str>) {
        if let Some(command) = command {
            let (heading, command) = (format!("{}:", self.safe(name)), self.safe(command));
            self.lines.push(CardLine::Heading(heading));
            self.lines.push(CardLine::Code(command));
        }
    }

    /// Formats the card.
    pub fn write(&self) -> String {
        let mut out = String::new();
        // Neighbours of the same kind share the width of their left column.
        for run in self.lines.chunk_by(CardLine::is_like) {
            let left = run
                .iter()
                .filter_map(CardLine::left_width)
                .max()
                .unwrap_or(0);
            out.extend(run.iter().map(|line| self.format(line, left)));
        }
        out
    }

    fn format(&self, line: &CardLine, left: usize) -> String {
        match line {
            CardLine::Title(text) => {
                let title = self.style.strong(text);
                format!("{}\n", wrap(&title, self.columns))
            }
            CardLine::Heading(text) => format!("  {}\n", self.style.dim(text)),
            CardLine::Fact { name, value } => self.row(2, name, value, left, true),
            CardLine::Row { name, words } => self.row(4, name, words, left, false),
            CardLine::Text(text) => self.paragraph(&format!("  {text}")),
            CardLine::Code(text) => format!("    {text}\n"),
            CardLine::Item(text) => format!("{}\n", wrap(&format!("    - {text}"), self.columns)),
        }
    }

    /// Formats a line of text; its continuations stand below it.
    fn paragraph(&self, line: &str) -> String {
        let words = line.trim_start();
        let indent = line.len() - words.len();
        match self.columns {
            Some(columns) if line.width() > columns => {
                let lines = wrap_words(words, columns.saturating_sub(indent));
                let lines = lines.iter().map(|line| format!("{:indent$}{line}\n", ""));
                lines.collect()
            }
            _ => format!("{}\n", line.trim_end()),
        }
    }

    /// Formats a name and its words beside it; continuations stand below the words.
    fn row(&self, indent: usize, name: &str, words: &str, left: usize, is_dim: bool) -> String {
        let padding = " ".repeat(left.saturating_sub(name.width()) + 2);
        let shown = if is_dim {
            self.style.dim(name)
        } else {
            name.to_owned()
        };
        let below = indent + left + 2;
        let room = self
            .columns
            .map(|columns| columns.saturating_sub(below).max(20));
        let mut lines = wrap_words(words, room.unwrap_or(usize::MAX)).into_iter();
        let first = lines.next().unwrap_or_default();
        let mut out = format!("{:indent$}{shown}{padding}{first}", "")
            .trim_end()
            .to_owned();
        out.push('\n');
        for line in lines {
            out.push_str(&format!("{:below$}{line}\n", ""));
        }
        out
    }
}

impl CardLine {
    fn left_width(&self) -> Option<usize> {
        match self {
            Self::Fact { name, .. } | Self::Row { name, .. } => Some(name.width()),
            _ => None,
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_and_rows_are_aligned_and_wrapped_below_their_words() {
        let secrets: Redactor = ["hunter2hunter2"].into_iter().collect();
        let mut card = Card::new(&secrets, Style::plain(), Some(30));
        card.title("demo/add(a: number)");
        card.text("", Some("Adds two\nnumbers \u{1b}[1m."));
        card.fact("title", Some("Add"));
        card.fact("left out", None);
        card.fact("key", Some("hunter2hunter2"));
        card.fact("example", Some("one two three four five"));
        let rows = [("a", "number, required"), ("count", "")];
        card.rows(
            "arguments",
            &rows.map(|(a, b)| (a.to_owned(), b.to_owned())),
        );
        card.list("notices", &["odd".to_owned()]);
        card.text(
            "instructions",
            Some("Be kind to all who ask for something."),
        );
        assert_eq!(
            card.write(),
            "demo/add(a: number)\n  Adds two\n  numbers \\u{1b}[1m.\n  \
             title:    Add\n  key:      ***\n  example:  one two three four\n            five\n  \
             arguments:\n    a      number, required\n    count\n  notices:\n    - odd\n  \
             instructions:\n    Be kind to all who ask for\n    something.\n"
        );
    }
}
