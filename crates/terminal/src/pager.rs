//! The pager: long output at a terminal is shown by the program of `$PAGER`.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

/// The pager if `$PAGER` names none.
const USUAL: &str = "less";

/// Options of `less` if `$LESS` names none: end at once if it fits, keep colours, leave the text on the screen.
const LESS: &str = "FRX";

/// A program that shows text page by page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pager {
    words: Vec<String>,
}

impl Pager {
    /// Returns the pager for a text on stdout, or `None` if it is not a terminal, the text fits on the screen, or
    /// `$PAGER` is empty or `cat`.
    pub fn of_stdout(text: &str) -> Option<Self> {
        if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
            return None;
        }
        let (_, rows) = terminal_size::terminal_size_of(io::stdout())?;
        // One row is for the prompt of the shell.
        let has_room = text.lines().count() < usize::from(rows.0);
        let term = std::env::var("TERM").unwrap_or_default();
        if has_room || term.is_empty() || term == "dumb" {
            return None;
        }
        Self::from_variable(std::env::var("PAGER").ok().as_deref())
    }

    /// Reads the value of `$PAGER`, which is a command with its arguments.
    fn from_variable(variable: Option<&str>) -> Option<Self> {
        let words = shlex::split(variable.unwrap_or(USUAL))?;
        match words.first().map(String::as_str) {
            None | Some("cat") => None,
            Some(_) => Some(Self { words }),
        }
    }

    /// Shows a text, and waits until the person has left the pager. Blocks.
    ///
    /// # Errors
    /// Fails if the pager cannot be started; nothing was shown then.
    pub fn show(&self, text: &str) -> io::Result<()> {
        let (program, args) = self.words.split_first().ok_or(io::ErrorKind::NotFound)?;
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::piped());
        if std::env::var_os("LESS").is_none() {
            command.env("LESS", LESS);
        }
        let mut child = command.spawn()?;
        // Closed at the end of this block, or the pager would wait for more.
        if let Some(mut stdin) = child.stdin.take() {
            // Ignored: the person may leave before the end.
            stdin.write_all(text.as_bytes()).ok();
        }
        child.wait().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_names_a_command_or_switches_the_pager_off() {
        let words = |variable| Pager::from_variable(variable).map(|pager| pager.words);
        assert_eq!(words(None), Some(vec!["less".to_owned()]));
        assert_eq!(
            words(Some("more -d")),
            Some(vec!["more".to_owned(), "-d".to_owned()])
        );
        for off in ["", "  ", "cat", "'open"] {
            assert_eq!(words(Some(off)), None, "{off:?}");
        }
    }
}
