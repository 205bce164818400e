//! As much of Rust's grammar as it takes to see which modules a source names.

/// A word or a sign of a source; comments and literals are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// An identifier or keyword.
    Word(String),
    /// `::`
    Path,
    /// Any other sign, alone.
    Sign(char),
}

impl Token {
    fn is(&self, text: &str) -> bool {
        matches!(self, Self::Word(word) if word == text)
    }
}

/// Splits a source into tokens.
#[must_use]
pub fn tokens(source: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        if let Some(after) = skip_literal_or_comment(rest) {
            rest = after;
        } else if first.is_alphanumeric() || first == '_' {
            let (word, after) = split(rest, |c| !(c.is_alphanumeric() || c == '_'));
            found.push(Token::Word(word.to_owned()));
            rest = after;
        } else if let Some(after) = rest.strip_prefix("::") {
            found.push(Token::Path);
            rest = after;
        } else {
            if !first.is_whitespace() {
                found.push(Token::Sign(first));
            }
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }
    found
}

/// Returns what follows the comment, string or character that `rest` starts with.
fn skip_literal_or_comment(rest: &str) -> Option<&str> {
    if rest.starts_with("//") {
        return Some(split(rest, |c| c == '\n').1);
    }
    if rest.starts_with("/*") {
        return Some(after_block_comment(rest));
    }
    let unprefixed = ["br", "cr", "r", "b", "c"]
        .iter()
        .find_map(|prefix| rest.strip_prefix(prefix))
        .unwrap_or(rest);
    let hashes = unprefixed.len() - unprefixed.trim_start_matches('#').len();
    let opened = unprefixed.get(hashes..)?.strip_prefix('"');
    if let Some(inside) = opened {
        let raw = rest.starts_with('r') || rest.starts_with("br") || rest.starts_with("cr");
        if raw {
            let end = format!("\"{}", "#".repeat(hashes));
            return Some(inside.split_once(&end).map_or("", |(_, after)| after));
        }
        if hashes == 0 {
            return Some(after_quoted(inside, '"'));
        }
        return None;
    }
    let inside = unprefixed.strip_prefix('\'')?;
    let mut chars = inside.chars();
    match (chars.next(), chars.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => Some(after_quoted(inside, '\'')),
        // A lifetime; its name becomes a word, which harms nothing.
        _ => None,
    }
}

fn after_block_comment(rest: &str) -> &str {
    let mut depth = 0_usize;
    let mut rest = rest;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("/*") {
            depth += 1;
            rest = after;
        } else if let Some(after) = rest.strip_prefix("*/") {
            depth -= 1;
            rest = after;
            if depth == 0 {
                break;
            }
        } else {
            let width = rest.chars().next().map_or(0, char::len_utf8);
            rest = rest.get(width..).unwrap_or_default();
        }
    }
    rest
}

fn after_quoted(inside: &str, quote: char) -> &str {
    let mut escaped = false;
    for (index, c) in inside.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return inside.get(index + c.len_utf8()..).unwrap_or_default();
        }
    }
    ""
}

fn split(text: &str, end: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(end).unwrap_or(text.len()))
}

/// Returns what a source names directly below the root of its crate, each name once.
///
/// `depth` is how many modules deep the file is: 1 for `src/text.rs` and `src/text/mod.rs`. It
/// tells how many `super` lead up to the root.
#[must_use]
pub fn names_below_the_root(source: &str, depth: usize) -> Vec<String> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    // For every open brace, whether it opened a module.
    let mut braces = Vec::new();
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        index += 1;
        let here = depth + braces.iter().filter(|module| **module).count();
        let supers = match token {
            Token::Sign('{') => {
                let before = index.checked_sub(3).and_then(|at| tokens.get(at));
                braces.push(before.is_some_and(|token| token.is("mod")));
                continue;
            }
            Token::Sign('}') => {
                braces.pop();
                continue;
            }
            Token::Word(word) if word == "crate" => here,
            Token::Word(word) if word == "super" => 1,
            Token::Word(_) | Token::Path | Token::Sign(_) => continue,
        };
        if tokens.get(index) != Some(&Token::Path) {
            continue;
        }
        index += 1;
        collect(&tokens, &mut index, supers, here, &mut found);
    }
    found.sort();
    found.dedup();
    found
}

/// Reads what follows `crate::` or `super::`, one name or a group of them.
fn collect(
    tokens: &[Token],
    index: &mut usize,
    supers: usize,
    here: usize,
    found: &mut Vec<String>,
) {
    match tokens.get(*index) {
        Some(Token::Word(word)) if word == "super" && supers < here => {
            *index += 1;
            if tokens.get(*index) == Some(&Token::Path) {
                *index += 1;
                collect(tokens, index, supers + 1, here, found);
            }
        }
        Some(Token::Word(word)) if supers == here => found.push(word.clone()),
        Some(Token::Sign('*')) if supers == here => found.push("*".to_owned()),
        Some(Token::Sign('{')) => {
            let mut open = 0_usize;
            let mut at_start = false;
            while let Some(token) = tokens.get(*index) {
                if at_start && open == 1 {
                    let mut inner = *index;
                    collect(tokens, &mut inner, supers, here, found);
                }
                at_start = matches!(token, Token::Sign('{' | ','));
                match token {
                    Token::Sign('{') => open += 1,
                    Token::Sign('}') => open -= 1,
                    Token::Word(_) | Token::Path | Token::Sign(_) => {}
                }
                *index += 1;
                if open == 0 {
                    break;
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_from_the_root_are_seen_in_imports_groups_and_expressions() {
        let source = "use crate::spec::Name;\n\
                      use crate::{limits::{Limits, Deadline}, secret};\n\
                      fn f(x: crate::text::Safe) { crate::session::open() }";
        assert_eq!(
            names_below_the_root(source, 1),
            ["limits", "secret", "session", "spec", "text"]
        );
    }

    #[test]
    fn enough_supers_are_a_path_from_the_root() {
        assert_eq!(names_below_the_root("use super::spec;", 1), ["spec"]);
        assert_eq!(names_below_the_root("use super::calls;", 2), [""; 0]);
        assert_eq!(
            names_below_the_root("use super::super::spec::A;", 2),
            ["spec"]
        );
        assert_eq!(
            names_below_the_root("use super::{super::spec, calls};", 2),
            ["spec"]
        );
        assert_eq!(names_below_the_root("use super::*;", 1), ["*"]);
    }

    #[test]
    fn a_module_within_the_file_is_one_deeper() {
        let source = "fn f() { if a { b } } mod tests { use super::*; use super::super::spec; }";
        assert_eq!(names_below_the_root(source, 1), ["spec"]);
    }

    #[test]
    fn comments_strings_and_visibility_name_nothing() {
        let source = "/// [`crate::a`]\n// crate::b\n/* crate::c /* crate::d */ crate::e */\n\
                      const S: &str = \"crate::f \\\" crate::g\";\n\
                      const R: &str = r#\"crate::h \" crate::i\"#;\n\
                      const C: char = '\"'; fn f<'a>() {} pub(crate) fn g() { '\\'' }\n\
                      use crate::seen;";
        assert_eq!(names_below_the_root(source, 1), ["seen"]);
    }
}
