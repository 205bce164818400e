//! What must never reach a terminal, said in the properties of Unicode and not in our own tables.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

/// A set of characters, one entry for each code point.
struct Set(Vec<bool>);

impl Set {
    fn new(class: &str) -> Self {
        let hir = regex_syntax::parse(class).unwrap();
        let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
            panic!("{class} is no class");
        };
        let mut set = vec![false; 0x11_0000];
        for range in class.ranges() {
            set[range.start() as usize..=range.end() as usize].fill(true);
        }
        Self(set)
    }

    fn has(&self, c: char) -> bool {
        self.0[c as usize]
    }
}

/// Forbidden wherever it stands. Carriage returns and the two usual selectors depend on where.
static ALWAYS: LazyLock<Set> = LazyLock::new(|| {
    Set::new(concat!(
        r"[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Default_Ignorable_Code_Point}",
        r"\p{Noncharacter_Code_Point}\p{Variation_Selector}\p{Bidi_Control}\p{Join_Control}]",
        r"--[\n\t\r\u{fe0e}\u{fe0f}\p{Prepended_Concatenation_Mark}]]"
    ))
});

static MARK: LazyLock<Set> = LazyLock::new(|| Set::new(r"[\p{Mn}\p{Me}]"));

static EMOJI: LazyLock<Set> =
    LazyLock::new(|| Set::new(r"[\p{Emoji}--\p{Emoji_Modifier}--[\x00-\x7f]]"));

/// Finds the first thing in a text that must not be shown; says what it is and what is around it.
pub(super) fn find(text: &str) -> Option<String> {
    let mut marks = 0;
    let mut before: Option<char> = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|(_, after)| *after);
        marks = if MARK.has(c) { marks + 1 } else { 0 };
        let is_bad = match c {
            '\r' => after != Some('\n'),
            '\u{fe0e}' | '\u{fe0f}' => match before {
                Some('0'..='9' | '#' | '*') => after != Some('\u{20e3}'),
                Some(base) => !EMOJI.has(base),
                None => true,
            },
            _ => ALWAYS.has(c),
        };
        if is_bad || marks > 8 {
            let start = text.floor_char_boundary(at.saturating_sub(80));
            let end = text.ceil_char_boundary((at + 40).min(text.len()));
            let around = text[start..end].escape_unicode().to_string();
            let plain: String = text[start..end]
                .chars()
                .map(|c| if c.is_ascii_graphic() { c } else { '.' })
                .collect();
            return Some(format!("U+{:04X} in {plain} = {around}", u32::from(c)));
        }
        before = Some(c);
    }
    None
}

/// The sequences that the program itself writes to a terminal: colours, and where a line is drawn anew.
const OWN: [&str; 25] = [
    "[0m",
    "[1m",
    "[2m",
    "[31m",
    "[32m",
    "[33m",
    "[36m",
    "[35m",
    "[37m",
    "[92m",
    "[96m",
    "[39m",
    "[49m",
    "[22m",
    "[7m",
    "[4m",
    "[24m",
    "[J",
    "[K",
    "[A",
    "7",
    "[90m",
    "[1;7;32m",
    "[1;4;7;32m",
    "8",
];

/// Columns of the narrowest terminal that the tests have.
const COLUMNS: usize = 80;

/// Takes the program's own sequences off what was written to a terminal. What the attacks use is none
/// of them, so that a sequence of theirs is found.
pub(super) fn without_own(written: &str) -> String {
    let mut out = String::new();
    let mut rest = written;
    while let Some(at) = rest.find(['\u{1b}', '\r']) {
        let (head, tail) = rest.split_at(at);
        out.push_str(head);
        if let Some(behind) = tail.strip_prefix('\r') {
            // The line editor blanks a whole line of the terminal before it prints something in place of the prompt.
            let blanks = behind.len() - behind.trim_start_matches(' ').len();
            if blanks >= COLUMNS
                && let Some(after) = behind[blanks..].strip_prefix('\r')
            {
                rest = after;
                continue;
            }
            // It goes back to write over what is there, or ends a line.
            let is_own = behind.is_empty() || behind.starts_with(['\n', '\r', '\u{1b}']);
            if !is_own {
                out.push('\r');
            }
            rest = behind;
            continue;
        }
        let behind = &tail[1..];
        let own = OWN.iter().find(|own| behind.starts_with(*own));
        let moves = moved(behind);
        match (own, moves) {
            (Some(own), _) => rest = &behind[own.len()..],
            (None, Some(length)) => rest = &behind[length..],
            (None, None) => {
                out.push('\u{1b}');
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

/// How long a move of the cursor by some rows or columns is, as a line editor makes them.
fn moved(behind: &str) -> Option<usize> {
    let rest = behind.strip_prefix('[')?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && !matches!(c, ';' | '?'))?;
    let (numbers, kind) = rest.split_at(end);
    let kind = kind.chars().next()?;
    let is_own = match kind {
        'A'..='D' | 'G' | 'H' | 'J' | 'K' => !numbers.contains('?'),
        'h' | 'l' => matches!(numbers, "?25" | "?2004" | "?2026"),
        'n' => numbers == "6",
        'm' => numbers.starts_with("38;5;") || numbers.starts_with("48;5;"),
        _ => false,
    };
    is_own.then(|| 1 + end + kind.len_utf8())
}

#[test]
fn the_definition_finds_what_it_should_and_nothing_else() {
    for fine in [
        "a\n\tb",
        "é東🙂",
        "☺\u{fe0f}",
        "1\u{fe0f}\u{20e3}",
        "a\r\nb",
    ] {
        assert_eq!(find(fine), None);
    }
    for bad in [
        "\u{1b}",
        "\r",
        "\u{9b}",
        "\u{202e}",
        "\u{e0041}",
        "x\u{fe0f}",
        "\u{e000}",
    ] {
        assert!(find(bad).is_some(), "{bad:?}");
    }
    assert!(find(&format!("a{}", "\u{301}".repeat(9))).is_some());
    let written = "\r\u{1b}[J\u{1b}[1m\u{1b}[31merror\u{1b}[0m\r\n\u{1b}[2A\r";
    assert_eq!(find(&without_own(written)), None);
    for attack in super::ATTACKS {
        assert!(find(&without_own(attack)).is_some(), "{attack:?}");
    }
}
