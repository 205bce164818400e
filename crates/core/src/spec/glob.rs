//! Glob patterns for names of servers and tools.

use std::fmt;
use std::sync::Arc;

/// A pattern for names: `*` matches any number of characters, `?` matches one, and all others match
/// themselves. A backslash escapes `*`, `?`, `:` and itself; before anything else it is an ordinary
/// character.
///
/// Matching takes at most the length of the pattern times the length of the name.
///
/// ```
/// use switchboard_core::spec::Glob;
///
/// assert!(Glob::new("get_*").matches("get_issue"));
/// assert!(!Glob::new(r"get_\*").matches("get_issue"));
/// assert_eq!(Glob::exactly("2*3").as_str(), r"2\*3");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Glob {
    text: Arc<str>,
    shape: Shape,
}

/// Common shapes of patterns that can be matched with one string operation.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Shape {
    Everything,
    Exactly(Box<str>),
    Beginning(Box<str>),
    Ending(Box<str>),
    Within(Box<str>),
    Other,
}

/// One element of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternStep {
    /// `*`.
    Any,
    /// `?`.
    One,
    /// A byte of a literal character.
    Byte(u8),
}

impl Glob {
    /// Parses a pattern; every text is valid.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let shape = Shape::of(&text);
        Self { text, shape }
    }

    /// Creates a pattern that matches exactly this name.
    pub fn exactly(name: &str) -> Self {
        let mut text = String::with_capacity(name.len());
        for c in name.chars() {
            // The colon as well: it separates the parts of a grant.
            if matches!(c, '*' | '?' | ':' | '\\') {
                text.push('\\');
            }
            text.push(c);
        }
        Self::new(text)
    }

    /// Returns true if a name matches.
    pub fn matches(&self, name: &str) -> bool {
        match &self.shape {
            Shape::Everything => true,
            Shape::Exactly(whole) => **whole == *name,
            Shape::Beginning(beginning) => name.starts_with(&**beginning),
            Shape::Ending(ending) => name.ends_with(&**ending),
            Shape::Within(part) => name.contains(&**part),
            Shape::Other => matches(&self.text, name),
        }
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The pattern as written, shared.
    pub fn shared(&self) -> &Arc<str> {
        &self.text
    }
}

impl Shape {
    fn of(text: &str) -> Self {
        let mut literal = Vec::with_capacity(text.len());
        // Nearly all patterns are one literal with a star at either end: those need no matcher.
        let (mut leads, mut trails) = (false, false);
        let mut rest = text.as_bytes();
        while let Some((step, length)) = step(rest) {
            rest = rest.get(length..).unwrap_or_default();
            match step {
                PatternStep::Byte(byte) if !trails => literal.push(byte),
                // Several stars in a row mean the same as one.
                PatternStep::Any if literal.is_empty() => leads = true,
                PatternStep::Any => trails = true,
                PatternStep::Byte(_) | PatternStep::One => return Self::Other,
            }
        }
        let Ok(literal) = String::from_utf8(literal) else {
            return Self::Other;
        };
        match (leads, trails) {
            (true, _) if literal.is_empty() => Self::Everything,
            (false, false) => Self::Exactly(literal.into()),
            (false, true) => Self::Beginning(literal.into()),
            (true, false) => Self::Ending(literal.into()),
            (true, true) => Self::Within(literal.into()),
        }
    }
}

/// The first element of the rest of a pattern, with its length in bytes.
fn step(pattern: &[u8]) -> Option<(PatternStep, usize)> {
    Some(match pattern {
        [] => return None,
        [b'*', ..] => (PatternStep::Any, 1),
        [b'?', ..] => (PatternStep::One, 1),
        [b'\\', taken @ (b'*' | b'?' | b':' | b'\\'), ..] => (PatternStep::Byte(*taken), 2),
        [byte, ..] => (PatternStep::Byte(*byte), 1),
    })
}

/// Matches a name against a pattern that was not parsed before.
///
/// Compares bytes, which is safe because UTF-8 characters never occur inside each other. On a mismatch
/// only the last `*` is extended: it can match anything that an earlier one could.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut place) = (0, 0);
    // The last star is enough: an earlier one could only match what this one does too. So the time
    // is bounded by the product of the lengths.
    let mut star: Option<(usize, usize)> = None;
    loop {
        let rest = name.get(place..).unwrap_or_default();
        // Try the next element; on a mismatch go back to the last star.
        let went = match step(pattern.get(at..).unwrap_or_default()) {
            None => {
                if rest.is_empty() {
                    return true;
                }
                None
            }
            Some((PatternStep::Any, length)) => {
                star = Some((at + length, place));
                Some((length, 0))
            }
            Some((PatternStep::One, length)) => character(rest).map(|bytes| (length, bytes)),
            Some((PatternStep::Byte(byte), length)) => {
                (rest.first() == Some(&byte)).then_some((length, 1))
            }
        };
        if let Some((steps, bytes)) = went {
            at += steps;
            place += bytes;
            continue;
        }
        match star {
            Some((after, taken)) if taken < name.len() => {
                star = Some((after, taken + 1));
                (at, place) = (after, taken + 1);
            }
            _ => return false,
        }
    }
}

/// The length in bytes of the character that begins here; `None` in the middle of one.
fn character(rest: &[u8]) -> Option<usize> {
    Some(match rest.first()? {
        0x00..=0x7f => 1,
        // The middle of a character: `?` takes a whole one.
        0x80..=0xbf => return None,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
    })
}

impl From<&str> for Glob {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The rules once more, with nothing clever about them.
    fn naive(pattern: &[char], name: &[char]) -> bool {
        match (pattern, name) {
            ([], name) => name.is_empty(),
            (['*', rest @ ..], _) => {
                naive(rest, name) || (!name.is_empty() && naive(pattern, &name[1..]))
            }
            (['?', rest @ ..], [_, others @ ..]) => naive(rest, others),
            (['\\', c @ ('*' | '?' | ':' | '\\'), rest @ ..], [d, others @ ..])
            | ([c, rest @ ..], [d, others @ ..]) => c == d && naive(rest, others),
            (_, []) => false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn a_pattern_means_what_it_says(
            pattern in r"[ab*?\\:é🙂]{0,8}",
            name in r"[ab*?\\:é🙂]{0,8}",
        ) {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            let expected = naive(&chars(&pattern), &chars(&name));
            prop_assert_eq!(Glob::new(pattern.as_str()).matches(&name), expected);
            prop_assert_eq!(matches(&pattern, &name), expected);
            let exactly = Glob::exactly(&pattern);
            prop_assert!(exactly.matches(&pattern));
            prop_assert_eq!(exactly.matches(&name), pattern == name);
        }
    }

    #[test]
    fn a_question_mark_is_one_whole_character() {
        assert!(matches("?", "é"));
        assert!(matches("*?", "🙂"));
        assert!(!matches("??", "é"));
        assert!(!matches("*??", "🙂"));
    }

    #[test]
    fn a_backslash_takes_the_meaning_of_four_characters_only() {
        assert!(Glob::new(r"a\*b").matches("a*b"));
        assert!(!Glob::new(r"a\*b").matches("axb"));
        assert!(Glob::new(r"C:\dir\x").matches(r"C:\dir\x"));
        assert!(Glob::new(r"end\").matches(r"end\"));
        assert!(Glob::new(r"\\*").matches(r"\x"));
    }

    #[test]
    fn no_pattern_takes_longer_than_the_two_lengths() {
        let pattern = "a*".repeat(500) + "b";
        let name = "a".repeat(8 * 1024);
        assert!(!matches(&pattern, &name));
        let pattern = format!("*{}b", "a".repeat(1000));
        assert!(!matches(&pattern, &name));
    }
}
