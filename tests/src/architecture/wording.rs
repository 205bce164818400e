//! Words and sentences that people have stumbled over, and that no screen and no page uses.

/// Words of a private vocabulary, and sentences that were replaced by plain ones.
const AVOIDED: &[&str] = &[
    "whoever",
    "somebody",
    "nobody",
    "by itself",
    "is none",
    "shall it",
    "let it? [o]nce",
    "nothing relies on it",
    "twice is once",
    "its own words say why",
    "what it was given and no more",
    "stays within itself",
    "is no argument:",
    "is no client that we know",
    "longer than nothing",
    "came before it",
    "how they are",
    "what servers offer otherwise",
    "against its mcp.lock",
    "look everything over",
    "give and take back approvals",
    "given for something else",
    "tell servers of this folder",
    "whatever a terminal would obey",
    "so that it may do nothing",
    "is not said",
    "there is on that day",
    "answers to nothing",
    "with commas between them",
    "says it is",
    "is installed and does not run",
    "2 works",
];

/// Finds avoided words in the strings of a source, outside of its tests. Comments are for those who read the
/// source, except where the parser shows them as help.
#[must_use]
pub fn in_source(source: &str, is_help: bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut before = "";
    for (number, line) in source.lines().enumerate() {
        let code = line.trim_start();
        // Tests are the last thing in a file, unless they have one of their own.
        let is_for_tests = before.starts_with("#[cfg(") && before.contains("test");
        if code == "#[test]" || (is_for_tests && code.starts_with("mod ") && code.ends_with('{')) {
            break;
        }
        let is_comment = code.starts_with("//");
        let is_shown = if is_comment {
            is_help && code.starts_with("///")
        } else {
            code.contains('"') || before.ends_with('\\')
        };
        if is_shown {
            found.extend(in_line(number, code));
        }
        before = code;
    }
    found
}

/// Finds avoided words on a page. Names in backticks, such as those of tests, are left alone, and so are blocks
/// of code: what they show is printed by sources.
#[must_use]
pub fn in_page(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_code = false;
    for (number, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            let prose: String = line.split('`').step_by(2).collect();
            found.extend(in_line(number, &prose));
        }
    }
    found
}

fn in_line(number: usize, line: &str) -> Vec<String> {
    let line = line.to_lowercase();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let said = AVOIDED.iter().filter(|avoided| {
        line.match_indices(*avoided).any(|(at, _)| {
            let before = line.get(..at).and_then(|text| text.chars().next_back());
            let after = line.get(at + avoided.len()..);
            let after = after.and_then(|text| text.chars().next());
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
    });
    said.map(|avoided| format!("line {} says {avoided:?}", number + 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_found_and_a_comment_and_a_test_are_not() {
        let source = "// Nobody reads this.\nlet text = \"asks whoever is there\";\n\
                      #[cfg(test)]\nmod tests {\n let text = \"nobody\"; }";
        assert_eq!(in_source(source, false), ["line 2 says \"whoever\""]);
        let long = "let text = \"it goes on \\\n          by itself\";";
        assert_eq!(in_source(long, false), ["line 2 says \"by itself\""]);
        let names = "is_nobody(\"x\"); let text = \"is none_\";";
        assert_eq!(in_source(names, false), [""; 0]);
    }

    #[test]
    fn help_is_shown_to_people() {
        let source = "/// Asks whoever is there.\nfn x() {}";
        assert_eq!(in_source(source, false), [""; 0]);
        assert_eq!(in_source(source, true), ["line 1 says \"whoever\""]);
    }

    #[test]
    fn a_page_may_name_a_test() {
        let page = "# Nobody\n\nShown by `a_form_that_nobody_reads`.\n```\nnobody\n```";
        assert_eq!(in_page(page), ["line 1 says \"nobody\""]);
    }
}
