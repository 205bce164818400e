//! Splits a canonical text into lines that a person can read.

/// Maximum indentation level. Deeper values are not indented further, or a deep text would be mostly
/// spaces.
const DEEPEST: usize = 16;

/// Cuts a canonical text into lines: one for each member and item, and in strings one for each line
/// and sentence, so that a small change of a long text is a short one to read.
///
/// Line breaks depend only on nearby characters, so that two texts line up again after a change. A text
/// that was cut in the middle is fine.
pub fn lines(text: &str) -> Vec<String> {
    let mut lines = Lines::default();
    let mut chars = text.chars().peekable();
    let mut is_string = false;
    while let Some(c) = chars.next() {
        lines.now.push(c);
        match c {
            '"' => is_string = !is_string,
            '\\' if is_string => {
                let escaped = chars.next();
                lines.now.extend(escaped);
                if escaped == Some('n') && chars.peek() != Some(&'"') {
                    lines.end(1);
                }
            }
            ' ' if is_string && lines.ends_sentence() => lines.end(1),
            '{' | '[' if !is_string => {
                if let Some(close) = chars.next_if(|c| matches!(c, '}' | ']')) {
                    lines.now.push(close);
                } else {
                    lines.depth += 1;
                    lines.end(0);
                }
            }
            '}' | ']' if !is_string => {
                lines.now.pop();
                lines.depth = lines.depth.saturating_sub(1);
                lines.end(0);
                lines.now.push(c);
            }
            ',' if !is_string => lines.end(0),
            ':' if !is_string => lines.now.push(' '),
            _ => {}
        }
    }
    lines.end(0);
    lines.done
}

#[derive(Default)]
struct Lines {
    done: Vec<String>,
    now: String,
    /// The levels that are open, and how far the line is set in.
    depth: usize,
    indent: usize,
}

impl Lines {
    /// Ends a line; the next one is indented by `more` additional levels.
    fn end(&mut self, more: usize) {
        let now = std::mem::take(&mut self.now);
        if !now.is_empty() {
            let spaces = 2 * self.indent.min(DEEPEST);
            self.done.push(format!("{:spaces$}{now}", ""));
        }
        self.indent = self.depth + more;
    }

    fn ends_sentence(&self) -> bool {
        [". ", "! ", "? ", "; "]
            .iter()
            .any(|end| self.now.ends_with(end))
    }
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn members_items_lines_and_sentences_get_lines() {
        let text = r#"{"a":[1,{}],"b":"One. Two\nthree \"x\": [y]\n","c":{"d":"{,}"}}"#;
        let expected = [
            "{",
            r#"  "a": ["#,
            "    1,",
            "    {}",
            "  ],",
            r#"  "b": "One. "#,
            r"    Two\n",
            r#"    three \"x\": [y]\n","#,
            r#"  "c": {"#,
            r#"    "d": "{,}""#,
            "  }",
            "}",
        ];
        assert_eq!(lines(text), expected);
    }

    #[test]
    fn a_text_without_its_end_is_shown_as_far_as_it_goes() {
        assert_eq!(lines(r#"{"a":"b\"#), ["{", r#"  "a": "b\"#]);
        assert_eq!(lines("[1,[2"), ["[", "  1,", "  [", "    2"]);
        assert_eq!(lines("]]"), ["]", "]"]);
        assert_eq!(lines(""), [""; 0]);
    }

    #[test]
    fn a_deep_text_is_not_mostly_spaces() {
        let text = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
        let lines = lines(&text);
        assert_eq!(lines.len(), 10_001);
        assert!(lines.iter().all(|line| line.len() <= 33));
    }
}
