//! Colours of terminal output.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style as Ansi};

/// The style of output: with colours, or plain.
///
/// Its input must be safe to show already; the escape sequences that it adds are the only control characters
/// that the program prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    is_colourful: bool,
}

impl Style {
    /// Creates a style without colours.
    pub const fn plain() -> Self {
        Self {
            is_colourful: false,
        }
    }

    /// Creates a style with colours, regardless of the terminal.
    pub const fn colourful() -> Self {
        Self { is_colourful: true }
    }

    /// Returns true if there are colours.
    pub const fn is_colourful(self) -> bool {
        self.is_colourful
    }

    /// Returns the style of stderr.
    pub fn of_stderr() -> Self {
        Self::of(&std::io::stderr())
    }

    /// Returns the style of stdout.
    pub fn of_stdout() -> Self {
        Self::of(&std::io::stdout())
    }

    fn of(stream: &impl IsTerminal) -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        Self::decide(stream.is_terminal(), variable)
    }

    /// Decides by the terminal and the usual variables: `NO_COLOR` beats `CLICOLOR_FORCE`, which beats the
    /// rest.
    fn decide(is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        let is_on = |name: &str| is_set(name) && variable(name).as_deref() != Some("0");
        let is_off = |name: &str| variable(name).as_deref() == Some("0");
        let is_dumb = variable("TERM").as_deref() == Some("dumb");
        let is_colourful = if is_set("NO_COLOR") {
            false
        } else if is_on("CLICOLOR_FORCE") {
            true
        } else {
            is_terminal && !is_dumb && !is_off("CLICOLOR")
        };
        Self { is_colourful }
    }

    /// Styles an error.
    pub fn error(self, text: &str) -> String {
        self.paint(AnsiColor::Red.on_default().bold(), text)
    }

    /// Styles a warning.
    pub fn warning(self, text: &str) -> String {
        self.paint(AnsiColor::Yellow.on_default().bold(), text)
    }

    /// Styles a success.
    pub fn good(self, text: &str) -> String {
        self.paint(AnsiColor::Green.on_default(), text)
    }

    /// Styles the most important text.
    pub fn strong(self, text: &str) -> String {
        self.paint(Ansi::new().bold(), text)
    }

    /// Styles secondary text.
    pub fn dim(self, text: &str) -> String {
        self.paint(Ansi::new().dimmed(), text)
    }

    /// Highlights the commands between backticks. The backticks stay.
    pub fn code(self, text: &str) -> String {
        if !self.is_colourful {
            return text.to_owned();
        }
        let mut out = String::new();
        for (at, part) in text.split('`').enumerate() {
            // A backtick without its partner highlights nothing.
            let is_last_and_open = at % 2 == 1 && text.matches('`').count() == at;
            match at % 2 {
                1 if !is_last_and_open => {
                    out.push_str(&self.paint(AnsiColor::Cyan.on_default(), &format!("`{part}`")));
                }
                1 => out.push_str(&format!("`{part}")),
                _ => out.push_str(part),
            }
        }
        out
    }

    fn paint(self, style: Ansi, text: &str) -> String {
        if !self.is_colourful || text.is_empty() {
            return text.to_owned();
        }
        format!("{style}{text}{style:#}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(is_terminal: bool, variables: &[(&str, &str)]) -> bool {
        let variable = |name: &str| {
            let mut all = variables.iter();
            let found = all.find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Style::decide(is_terminal, variable).is_colourful
    }

    #[test]
    fn colours_are_for_terminals_unless_somebody_says_otherwise() {
        assert!(decided(true, &[]));
        assert!(decided(true, &[("TERM", "xterm"), ("NO_COLOR", "")]));
        assert!(!decided(false, &[]));
        assert!(!decided(true, &[("TERM", "dumb")]));
        assert!(!decided(true, &[("NO_COLOR", "1")]));
        assert!(!decided(true, &[("CLICOLOR", "0")]));
        assert!(decided(false, &[("CLICOLOR_FORCE", "1")]));
        assert!(decided(false, &[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")]));
        assert!(!decided(false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!decided(
            true,
            &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]
        ));
    }

    #[test]
    fn a_plain_style_changes_nothing() {
        let plain = Style::plain();
        for text in ["", "x", "run `this` now", "a ` alone"] {
            assert_eq!(plain.error(text), text);
            assert_eq!(plain.warning(text), text);
            assert_eq!(plain.good(text), text);
            assert_eq!(plain.strong(text), text);
            assert_eq!(plain.dim(text), text);
            assert_eq!(plain.code(text), text);
        }
    }

    #[test]
    fn a_colour_ends_where_its_text_does() {
        let style = Style::colourful();
        assert_eq!(style.error("x"), "\u{1b}[1m\u{1b}[31mx\u{1b}[0m");
        assert_eq!(style.good(""), "");
        assert_eq!(
            style.code("run `this` now"),
            "run \u{1b}[36m`this`\u{1b}[0m now"
        );
        assert_eq!(style.code("a ` alone"), "a ` alone");
        let of_tests = Style::of_stdout();
        assert!(of_tests == Style::plain() || of_tests == Style::colourful());
    }
}
