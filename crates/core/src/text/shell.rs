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

/// Writes the words of a command as a shell reads them: options and paths stay as they are, and a word is quoted only
/// if a shell would interpret it.
pub fn shell_line<W: AsRef<str>>(words: &[W]) -> String {
    let words = words.iter().enumerate().map(|(at, word)| {
        let word = word.as_ref();
        // The first word is the program: a sign there sets a variable.
        let signs = if at == 0 { "_-.@:+/" } else { "_-.@:+/=," };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || signs.contains(c);
        if !word.is_empty() && word.chars().all(is_plain) {
            return word.to_owned();
        }
        // In double quotes a single quote is one; other signs are not safe there.
        if word.contains('\'') && !word.contains(['"', '$', '`', '\\', '!']) {
            return format!("\"{word}\"");
        }
        shell_word(word).into_owned()
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_line_is_quoted_only_where_a_shell_would_interpret_it() {
        for (words, line) in [
            (&["npx", "-y", "@a/b@1.2"][..], "npx -y @a/b@1.2"),
            (&["sh", "-c", "echo x >&2"], "sh -c 'echo x >&2'"),
            (&["sh", "-c", "echo 'x'; exit"], "sh -c \"echo 'x'; exit\""),
            (&["sh", "-c", "echo '$x'"], r"sh -c 'echo '\''$x'\'''"),
            (&["/opt/a b/run", "--k=v"], "'/opt/a b/run' --k=v"),
            (&["A=1", ""], "'A=1' ''"),
        ] {
            assert_eq!(shell_line(words), line);
            let read = std::process::Command::new("sh")
                .args(["-c", &format!("printf '%s\\n' {line}")])
                .output()
                .expect("a shell");
            let read = String::from_utf8_lossy(&read.stdout).into_owned();
            assert_eq!(read, format!("{}\n", words.join("\n")));
        }
    }

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
