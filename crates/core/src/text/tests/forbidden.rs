//! The characters that must never be shown, by their Unicode properties.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

use crate::text::tables::{EMOJI, MARKS, holds};

/// A set of characters, one entry for each code point.
pub(super) struct Set(Vec<bool>);

impl Set {
    /// Reads a character class in the notation of regular expressions.
    fn parse(class: &str) -> Self {
        let hir = regex_syntax::parse(class).unwrap();
        let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
            panic!("{class} is not a class");
        };
        let mut set = vec![false; 0x11_0000];
        for range in class.ranges() {
            set[range.start() as usize..=range.end() as usize].fill(true);
        }
        Self(set)
    }

    pub(super) fn has(&self, c: char) -> bool {
        self.0[c as usize]
    }
}

/// Never to be seen, wherever it stands. CR and the two presentation selectors depend on where.
static ALWAYS: LazyLock<Set> = LazyLock::new(|| {
    Set::parse(
        r"[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}
            \p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}
            \p{Variation_Selector}\p{Bidi_Control}\p{Join_Control}
            \u{2800}\u{1d159}]
            --[\n\t\r\u{fe0e}\u{fe0f}\p{Prepended_Concatenation_Mark}]]"
            .split_whitespace()
            .collect::<String>()
            .as_str(),
    )
});

static MARK: LazyLock<Set> = LazyLock::new(|| Set::parse(r"[\p{Mn}\p{Me}]"));

static EMOJI_BASE: LazyLock<Set> =
    LazyLock::new(|| Set::parse(r"[\p{Emoji}--\p{Emoji_Modifier}--[\x00-\x7f]]"));

/// Finds something in a text that must not be shown, and says where and what.
pub(super) fn find(text: &str) -> Option<String> {
    let mut marks = 0;
    let mut before: Option<char> = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|(_, after)| *after);
        let bad = match c {
            '\r' => after != Some('\n'),
            '\u{fe0e}' | '\u{fe0f}' => match before {
                Some(digit) if digit.is_ascii() => {
                    !matches!(digit, '0'..='9' | '#' | '*') || after != Some('\u{20e3}')
                }
                Some(base) => !EMOJI_BASE.has(base),
                None => true,
            },
            _ => ALWAYS.has(c),
        };
        marks = if MARK.has(c) { marks + 1 } else { 0 };
        if bad || marks > 8 {
            return Some(format!("U+{:04X} at {at} of {text:?}", u32::from(c)));
        }
        before = Some(c);
    }
    None
}

#[test]
fn the_tables_follow_unicode() {
    for c in '\0'..=char::MAX {
        assert_eq!(holds(EMOJI, c), EMOJI_BASE.has(c), "U+{:04X}", u32::from(c));
        let hangul = matches!(c, '\u{1161}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7fb}');
        if !ALWAYS.has(c) && !hangul && !matches!(c, '\u{fe0e}' | '\u{fe0f}') {
            assert_eq!(holds(MARKS, c), MARK.has(c), "U+{:04X}", u32::from(c));
        }
    }
}

#[test]
fn the_tables_know_what_the_threat_model_lists() {
    let listed = "\0\u{7}\u{8}\u{1b}\u{7f}\u{80}\u{9b}\u{9f}\u{ad}\u{61c}\u{115f}\u{1160}\u{180e}\
        \u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\u{202d}\
        \u{202e}\u{2060}\u{2061}\u{2062}\u{2063}\u{2064}\u{2066}\u{2067}\u{2068}\u{2069}\u{206a}\
        \u{206f}\u{3164}\u{ffa0}\u{fe00}\u{fe0d}\u{feff}\u{fff9}\u{fffa}\u{fffb}\u{fdd0}\u{fdef}\
        \u{fffe}\u{ffff}\u{10ffff}\u{e0000}\u{e0001}\u{e0020}\u{e007f}\u{e0100}\u{e01ef}\u{e000}\
        \u{2800}\u{1d159}";
    for c in listed.chars() {
        assert!(ALWAYS.has(c), "U+{:04X}", u32::from(c));
    }
    for c in "\n\t a~é東\u{301}🙂\u{a0}\u{600}".chars() {
        assert!(!ALWAYS.has(c), "U+{:04X}", u32::from(c));
    }
}
