//! Parses files of variables, as in VS Code's `envFile`.

/// Parses `NAME=value` lines without expanding values. Fails with the number of the first invalid line.
pub(super) fn parse(text: &str) -> Result<Vec<(String, String)>, usize> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut variables = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        // Shell scripts are common as such files.
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').ok_or(index + 1)?;
        let name = name.trim();
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(index + 1);
        }
        variables.push((name.to_owned(), unquoted(value.trim())));
    }
    Ok(variables)
}

fn unquoted(value: &str) -> String {
    for quote in ['"', '\''] {
        let inside = value
            .strip_prefix(quote)
            .and_then(|v| v.strip_suffix(quote));
        if let Some(inside) = inside {
            return inside.to_owned();
        }
    }
    // A comment after a value must follow a space: a `#` may be part of a password.
    let end = value.find(" #").unwrap_or(value.len());
    value.get(..end).unwrap_or(value).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_variables_are_read() {
        let text =
            "\u{feff}# note\nA=1\nexport B = two words # note\n\nC=\"x # y\"\nD='z'\nE=\nF=a#b\r\n";
        let expected = [
            ("A", "1"),
            ("B", "two words"),
            ("C", "x # y"),
            ("D", "z"),
            ("E", ""),
            ("F", "a#b"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(parse(text), Ok(expected.to_vec()));
    }

    #[test]
    fn a_line_that_is_none_is_told() {
        assert_eq!(parse("A=1\nnothing"), Err(2));
        assert_eq!(parse("=1"), Err(1));
        assert_eq!(parse("a b=1"), Err(1));
    }
}
