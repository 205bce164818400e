//! The promise of the module, against Unicode's own tables instead of ours.

mod forbidden;
mod json;
mod random;
mod scalars;

use std::borrow::Cow;

use super::{sanitise, sanitise_line};

#[test]
fn what_needs_no_escape_is_borrowed() {
    for text in [
        "",
        "plain",
        "two\nlines\tand a tab",
        "windows\r\nlines\r\n",
        "back\\slash \\u{1b}",
        "größe 東京 שלום हिन्दी ไทย",
        "e\u{301} ☺\u{fe0f} 1\u{fe0f}\u{20e3} 🙂👍🏽",
        "\u{a0}\u{3000}\u{fffd}",
    ] {
        assert!(
            matches!(sanitise(text), Cow::Borrowed(same) if same == text),
            "{text:?}"
        );
    }
    assert!(matches!(sanitise_line("one line, größe"), Cow::Borrowed(_)));
}

#[test]
fn terminal_sequences_become_visible() {
    assert_eq!(sanitise("\u{1b}[2J"), "\\u{1b}[2J");
    assert_eq!(sanitise("\u{1b}]0;title\u{7}"), "\\u{1b}]0;title\\u{7}");
    assert_eq!(
        sanitise("\u{9b}31m\u{90}\u{7f}\0"),
        "\\u{9b}31m\\u{90}\\u{7f}\\u{0}"
    );
}

#[test]
fn a_carriage_return_stays_only_before_a_newline() {
    assert_eq!(sanitise("safe\revil"), "safe\\revil");
    assert_eq!(sanitise("a\r\nb\r\r\nc\r"), "a\r\nb\\r\r\nc\\r");
}

#[test]
fn a_line_has_no_line_break_of_any_kind() {
    assert_eq!(
        sanitise_line("a\nb\tc\r\nd\re\u{2028}"),
        "a\\nb\\tc\\r\\nd\\re\\u{2028}"
    );
}

#[test]
fn hidden_characters_become_visible() {
    assert_eq!(sanitise("user\u{202e}nimda"), "user\\u{202e}nimda");
    assert_eq!(sanitise("pay\u{200b}pal\u{ad}"), "pay\\u{200b}pal\\u{ad}");
    assert_eq!(sanitise("hi\u{e0041}\u{e007f}"), "hi\\u{e0041}\\u{e007f}");
    assert_eq!(sanitise("👨\u{200d}👩"), "👨\\u{200d}👩");
    assert_eq!(
        sanitise("\u{e0b0}\u{10fffd}\u{fdd0}\u{1ffff}"),
        "\\u{e0b0}\\u{10fffd}\\u{fdd0}\\u{1ffff}"
    );
}

#[test]
fn a_selector_stays_where_it_selects_something() {
    assert_eq!(sanitise("☺\u{fe0f}☺\u{fe0e}"), "☺\u{fe0f}☺\u{fe0e}");
    assert_eq!(sanitise("☺\u{fe0f}\u{fe0f}"), "☺\u{fe0f}\\u{fe0f}");
    assert_eq!(sanitise("☺\u{fe01}"), "☺\\u{fe01}");
    assert_eq!(sanitise("☺\u{e0100}"), "☺\\u{e0100}");
    assert_eq!(sanitise("a\u{fe0f}"), "a\\u{fe0f}");
    assert_eq!(sanitise("1\u{fe0f}"), "1\\u{fe0f}");
    assert_eq!(sanitise("1\u{fe0f}\u{20e3}"), "1\u{fe0f}\u{20e3}");
    assert_eq!(sanitise("\u{fe0f}"), "\\u{fe0f}");
}

#[test]
fn the_ninth_mark_in_a_row_and_all_behind_it_are_escaped() {
    let mark = "\u{301}";
    let eight = format!("a{}b", mark.repeat(8));
    assert_eq!(sanitise(&eight), eight);
    let nine = format!("a{}b", mark.repeat(9));
    assert_eq!(sanitise(&nine), format!("a{}\\u{{301}}b", mark.repeat(8)));
    let twenty = format!("a{}b{mark}", mark.repeat(20));
    let shown = format!("a{}{}b{mark}", mark.repeat(8), "\\u{301}".repeat(12));
    assert_eq!(sanitise(&twenty), shown);
}

#[test]
fn the_slow_path_starts_right_where_the_plain_prefix_ends() {
    for plain in 0..200 {
        let text = format!("{}\u{1b}☺\u{fe0f}", "x".repeat(plain));
        let shown = format!("{}\\u{{1b}}☺\u{fe0f}", "x".repeat(plain));
        assert_eq!(sanitise(&text), shown);
    }
}
