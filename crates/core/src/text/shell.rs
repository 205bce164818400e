//! Quoting of words and paths for a shell.

use std::borrow::Cow;

/// Quotes a text as one word of a shell command, in single quotes unless no shell would interpret it.
///
/// Names of servers come from cloned folders and appear in commands that a user is told to paste.
pub fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.@:+".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

/// Quotes a path or a URL: unlike [`shell_word`], a slash alone is no reason for quotes.
pub fn shell_path(text: &str) -> Cow<'_, str> {
    match shell_word(&text.replace('/', "")) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(_) => shell_word(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_obey_is_quoted() {
        for plain in ["github", "my-server.v2", "a@b:c+d"] {
            assert_eq!(shell_word(plain), plain);
        }
        for (text, word) in [
            ("", "''"),
            ("$(id)", "'$(id)'"),
            ("a;b", "'a;b'"),
            ("it's", r"'it'\''s'"),
            ("--end", "'--end'"),
            ("é", "'é'"),
        ] {
            assert_eq!(shell_word(text), word);
        }
    }

    #[test]
    fn a_slash_is_no_reason_to_quote_a_path() {
        assert_eq!(shell_path("/a/b.json"), "/a/b.json");
        assert_eq!(shell_path("http://[::1]:3/mcp"), "'http://[::1]:3/mcp'");
        assert_eq!(shell_path("/a b/c"), "'/a b/c'");
        assert_eq!(shell_path("/$(id)"), "'/$(id)'");
        assert_eq!(shell_path("/"), "'/'");
    }
}
