//! Decides which characters may be shown as they are, given the characters before them.

use super::tables::{EMOJI, MARKS, holds};

/// Maximum number of combining marks on one character. Written languages need far fewer.
const MARKS_IN_A_ROW: u8 = 8;

/// COMBINING ENCLOSING KEYCAP, the only reason for a selector after a digit.
const KEYCAP: char = '\u{20e3}';

/// The treatment of newline and tab.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// Several lines: newline, tab and a CRLF pair stay.
    Many,
    /// One line: all three are escaped.
    One,
}

impl Lines {
    /// Returns true if a byte is shown as it is in any context.
    fn allow(self, byte: u8) -> bool {
        matches!(byte, 0x20..=0x7e) || (self == Self::Many && matches!(byte, b'\n' | b'\t'))
    }

    /// Counts the leading bytes that need no closer look; mostly these are all.
    pub(super) fn plain_prefix(self, text: &str) -> usize {
        let mut plain = 0;
        // Whole blocks without an early exit let the compiler check many bytes at once.
        for block in text.as_bytes().chunks(64) {
            if !block.iter().fold(true, |all, byte| all & self.allow(*byte)) {
                return plain + block.iter().take_while(|byte| self.allow(**byte)).count();
            }
            plain += block.len();
        }
        plain
    }
}

/// The characters before the current one, as far as they matter.
pub(super) struct Context {
    lines: Lines,
    previous: Option<char>,
    marks: u8,
}

impl Context {
    /// Starts after `previous`, which is a plain character.
    pub(super) fn after(previous: Option<char>, lines: Lines) -> Self {
        Self {
            lines,
            previous,
            marks: 0,
        }
    }

    /// Returns true if `c`, followed by `rest`, must be escaped, and steps past it.
    pub(super) fn escapes(&mut self, c: char, rest: &str) -> bool {
        let previous = self.previous.replace(c);
        let ascii = match c {
            '\r' => Some(self.lines == Lines::One || !rest.starts_with('\n')),
            _ => u8::try_from(c)
                .ok()
                .filter(u8::is_ascii)
                .map(|byte| !self.lines.allow(byte)),
        };
        if let Some(escapes) = ascii {
            self.marks = 0;
            return escapes;
        }
        if matches!(c, '\u{fe0e}' | '\u{fe0f}') && takes_selector(previous, rest) {
            // It takes no room either, so it counts as the first mark.
            self.marks = 1;
            return false;
        }
        if is_hidden(c) {
            self.marks = 0;
            return true;
        }
        if !holds(MARKS, c) {
            self.marks = 0;
            return false;
        }
        // Escaped marks count too; otherwise every ninth mark would pass again.
        self.marks = self.marks.saturating_add(1);
        self.marks > MARKS_IN_A_ROW
    }
}

/// Returns true if a presentation selector makes sense between `previous` and `rest`.
fn takes_selector(previous: Option<char>, rest: &str) -> bool {
    match previous {
        Some('0'..='9' | '#' | '*') => rest.starts_with(KEYCAP),
        Some(c) => holds(EMOJI, c),
        None => false,
    }
}

/// Returns true if a character beyond ASCII is invisible, or has no agreed appearance.
fn is_hidden(c: char) -> bool {
    match c {
        // C1 controls.
        '\u{80}'..='\u{9f}' => true,
        // Soft hyphen, combining grapheme joiner, Arabic letter mark.
        '\u{ad}' | '\u{34f}' | '\u{61c}' => true,
        // Hangul fillers.
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
        // Khmer inherent vowels; Mongolian selectors and vowel separator.
        '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' => true,
        // Zero-width space and joiners, direction marks.
        '\u{200b}'..='\u{200f}' => true,
        // Line and paragraph separators, embeddings and overrides.
        '\u{2028}'..='\u{202e}' => true,
        // Word joiner, invisible operators, isolates, deprecated format characters.
        '\u{2060}'..='\u{206f}' => true,
        // Blanks that are not spaces: the empty Braille pattern, the note without a head.
        '\u{2800}' | '\u{1d159}' => true,
        // Private use.
        '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}' => true,
        // Variation selectors, byte order mark.
        '\u{fe00}'..='\u{fe0f}' | '\u{feff}' => true,
        // Reserved ignorables, interlinear annotation.
        '\u{fff0}'..='\u{fffb}' => true,
        // Format controls of hieroglyphs, shorthand and musical notation.
        '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' => true,
        // Tags, the selector supplement, and reserved code points around them.
        '\u{e0000}'..='\u{e0fff}' => true,
        // Noncharacters: a block of 32, and the last two of every plane.
        '\u{fdd0}'..='\u{fdef}' => true,
        _ => u32::from(c) & 0xfffe == 0xfffe,
    }
}
