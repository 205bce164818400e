//! Facts that the server and the clients share, so that answers can be checked.

use crate::Fault;

/// The length of the text that the `big` tool returns, as the reader of the result sees it.
pub const BIG_BYTES: usize = 1 << 20;
/// Distance of line breaks in the escaped variant, which JSON writes as escapes.
const LINE_BYTES: usize = 64;

/// The text that the `big` tool returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Big {
    /// Letters and spaces only: nothing in it needs an escape.
    Plain,
    /// Lines of 64 characters: an escape at the end of each.
    Lines,
}

impl Big {
    /// The tool that returns it.
    pub fn tool(self) -> &'static str {
        match self {
            Self::Plain => "big",
            Self::Lines => "big_lines",
        }
    }

    /// The text itself.
    pub fn text(self) -> String {
        let letters = "the quick brown fox jumps over the lazy dog "
            .chars()
            .cycle();
        letters
            .take(BIG_BYTES)
            .enumerate()
            .map(|(at, letter)| match self {
                Self::Lines if at % LINE_BYTES == LINE_BYTES - 1 => '\n',
                _ => letter,
            })
            .collect()
    }
}

/// The message of the `number`th echo: different for each, so that answers cannot be confused.
pub fn message(number: u64) -> String {
    format!("message {number}, to be said again as it is")
}

/// The name of the tool at `index` of the list.
pub fn tool_name(index: usize) -> String {
    const VERBS: [&str; 5] = ["search", "create", "update", "list", "archive"];
    const NOUNS: [&str; 4] = ["issues", "documents", "deployments", "invoices"];
    let verb = VERBS.iter().cycle().nth(index % VERBS.len());
    let noun = NOUNS.iter().cycle().nth(index % NOUNS.len());
    format!(
        "{}_{}_{index:04}",
        verb.unwrap_or(&"run"),
        noun.unwrap_or(&"tasks")
    )
}

/// Holds the text of an echo against the message that was sent.
///
/// # Errors
/// Fails if they differ.
pub fn check_echo(text: &str, message: &str) -> Result<(), Fault> {
    if text == message {
        return Ok(());
    }
    Err(format!("an echo of {message:?} came back as {text:?}").into())
}

/// Holds the length and both ends of a big text against the expected one. Comparing all of it each
/// time would add the same megabyte of work to every client; the first answer is compared whole.
///
/// # Errors
/// Fails if they differ.
pub fn check_big(text: &str, expected: &str) -> Result<(), Fault> {
    const END_BYTES: usize = 256;
    let ends = |of: &str| {
        let last = of.len().checked_sub(END_BYTES)?;
        Some((of.get(..END_BYTES)?.to_owned(), of.get(last..)?.to_owned()))
    };
    if text.len() == expected.len() && ends(text) == ends(expected) {
        return Ok(());
    }
    Err(format!("a big text of {} bytes is not the expected one", text.len()).into())
}

/// Holds the names of a list of tools against the expected ones: how many, the first and the last.
///
/// # Errors
/// Fails if they differ.
pub fn check_tools<'a>(
    mut names: impl ExactSizeIterator<Item = &'a str> + DoubleEndedIterator,
    expected: usize,
) -> Result<(), Fault> {
    let count = names.len();
    let first = names.next();
    let last = names.next_back().or(first);
    if count == expected
        && first == Some(tool_name(0).as_str())
        && last == Some(tool_name(expected.saturating_sub(1)).as_str())
    {
        return Ok(());
    }
    Err(format!("{count} tools ({first:?} to {last:?}) instead of {expected}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_big_texts_have_the_length_that_is_checked() {
        assert_eq!(Big::Plain.text().len(), BIG_BYTES);
        assert_eq!(Big::Lines.text().len(), BIG_BYTES);
        assert_eq!(Big::Lines.text().lines().count(), BIG_BYTES / LINE_BYTES);
    }

    #[test]
    fn a_wrong_answer_is_noticed() {
        assert!(check_echo(&message(1), &message(2)).is_err());
        assert!(check_big(&Big::Lines.text(), &Big::Plain.text()).is_err());
        let names = [tool_name(0), tool_name(2)];
        assert!(check_tools(names.iter().map(String::as_str), 2).is_err());
    }

    #[test]
    fn right_answers_pass() {
        assert!(check_echo(&message(1), &message(1)).is_ok());
        assert!(check_big(&Big::Lines.text(), &Big::Lines.text()).is_ok());
        let names = [tool_name(0), tool_name(1)];
        assert!(check_tools(names.iter().map(String::as_str), 2).is_ok());
        assert!(check_tools([tool_name(0).as_str()].into_iter(), 1).is_ok());
    }
}
