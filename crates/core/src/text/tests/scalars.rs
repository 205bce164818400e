//! Every character there is, in every kind of place.

use super::forbidden;
use crate::text::{json_escape, sanitise, sanitise_line, write_json_safe};

/// Sends one text through a sink and checks all that a sink promises.
fn check(text: &str, sink: impl Fn(&str) -> String) -> String {
    let shown = sink(text);
    assert_eq!(forbidden::find(&shown), None);
    if shown != text {
        assert_eq!(sink(&shown), shown, "not idempotent on {text:?}");
    }
    shown
}

/// Runs `test` on all 1,112,064 scalar values and makes sure that none was left out.
fn for_every_scalar(mut test: impl FnMut(char)) {
    let mut seen = 0;
    for c in '\0'..=char::MAX {
        test(c);
        seen += 1;
    }
    assert_eq!(seen, 1_112_064);
}

#[test]
fn no_scalar_value_is_shown_in_a_forbidden_way() {
    let marks = "\u{301}".repeat(8);
    let mut text = String::new();
    for_every_scalar(|c| {
        text.clear();
        text.push(c);
        check(&text, |text| sanitise(text).into_owned());
        // Between letters, after an emoji, doubled there, in a keycap, and after all the marks
        // that one letter may have.
        text.clear();
        text.extend(['a', c, 'b', '☺', c, 'c', '☺', c, c, '1', c, '\u{20e3}', 'x']);
        text.push_str(&marks);
        text.extend([c, c, '\n', c]);
        check(&text, |text| sanitise(text).into_owned());
    });
}

#[test]
fn no_scalar_value_breaks_a_line() {
    let mut text = String::new();
    for_every_scalar(|c| {
        text.clear();
        text.extend(['a', c, '\r', '\n', c, c]);
        let shown = check(&text, |text| sanitise_line(text).into_owned());
        assert!(!shown.contains(['\n', '\t', '\r']), "{text:?}");
        // Text for several lines can still be put into one.
        assert_eq!(sanitise_line(&sanitise(&text)), shown);
    });
}

#[test]
fn no_scalar_value_changes_its_meaning_in_json() {
    let mut text = String::new();
    for_every_scalar(|c| {
        text.clear();
        text.extend([c, 'a', c, '☺', c, c]);
        let shown = json_escape(&text);
        assert_eq!(forbidden::find(&shown), None);
        assert_eq!(write_json_safe(&shown), shown);
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    });
}
