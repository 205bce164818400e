//! What must not be shown, by the properties that Unicode gives its characters.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

/// Combining marks that one character may carry.
const MARKS_IN_A_ROW: usize = 8;

/// Ranges of characters, in order.
struct Set(Vec<(char, char)>);

impl Set {
    fn of(class: &str) -> Self {
        let hir = regex_syntax::parse(class).unwrap();
        let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
            panic!("{class} is no class of characters");
        };
        let ranges = class.ranges().iter();
        Self(ranges.map(|range| (range.start(), range.end())).collect())
    }

    fn has(&self, c: char) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= c);
        after > 0 && self.0[after - 1].1 >= c
    }
}

/// Controls, what has no width or no agreed look, and what turns the reading order.
static HIDDEN: LazyLock<Set> = LazyLock::new(|| {
    Set::of(concat!(
        r"[[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Join_Control}",
        r"\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Variation_Selector}]",
        r"--[\t\n\r\x{fe0e}\x{fe0f}\p{Prepended_Concatenation_Mark}]]",
    ))
});

static MARK: LazyLock<Set> = LazyLock::new(|| Set::of(r"[\p{Mn}\p{Me}]"));

/// What a presentation selector may follow; digits only take one as part of a keycap.
static EMOJI: LazyLock<Set> =
    LazyLock::new(|| Set::of(r"[\p{Emoji}--\p{Emoji_Modifier}--[\x00-\x7f]]"));

/// The first character that must not be shown where it stands, and where that is.
pub(super) fn find(shown: &str) -> Option<(usize, char)> {
    let mut before = None;
    let mut marks = 0;
    for (at, c) in shown.char_indices() {
        let after = shown[at + c.len_utf8()..].chars().next();
        let forbidden = match c {
            '\r' => after != Some('\n'),
            '\u{fe0e}' | '\u{fe0f}' => match before {
                Some('0'..='9' | '#' | '*') => after != Some('\u{20e3}'),
                Some(base) => !EMOJI.has(base),
                None => true,
            },
            _ => HIDDEN.has(c),
        };
        marks = if MARK.has(c) { marks + 1 } else { 0 };
        if forbidden || marks > MARKS_IN_A_ROW {
            return Some((at, c));
        }
        before = Some(c);
    }
    None
}
