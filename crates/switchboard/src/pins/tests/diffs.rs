//! Diffs: what differs is in sight, and no more than fits.

use proptest::prelude::*;

use super::{changed, shown};
use crate::pins::diff::diff;
use crate::pins::{DiffLine, PinLimits, Side};

fn lines(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn of(before: &str, after: &str) -> String {
    shown(&diff(&lines(before), &lines(after), &PinLimits::default()))
}

#[test]
fn a_change_is_shown_with_what_is_around_it() {
    assert_eq!(
        of("a b c d e f g", "a b c X e f g"),
        "  b\n  c\n- d\n+ X\n  e\n  f\n"
    );
    assert_eq!(of("a b", "a b c"), "  a\n  b\n+ c\n");
    assert_eq!(of("a b c", "b c"), "- a\n  b\n  c\n");
    assert_eq!(of("a", "a"), "");
    assert_eq!(of("", ""), "");
}

#[test]
fn what_is_between_two_changes_is_left_out_and_counted() {
    assert_eq!(
        of("a 1 2 3 4 5 6 7 b", "A 1 2 3 4 5 6 7 B"),
        "- a\n+ A\n  1\n  2\n  … (3 lines as before)\n  6\n  7\n- b\n+ B\n"
    );
}

#[test]
fn no_flood_hides_the_other_side() {
    let before: Vec<String> = (0..5000).map(|at| format!("a{at}")).collect();
    let after: Vec<String> = (0..5000).map(|at| format!("b{at}")).collect();
    let bounds = PinLimits::default();
    let found = diff(&before, &after, &bounds);
    assert!(found.len() <= bounds.diff_lines + 1);
    let count = |side: Side| found.iter().filter(|line| line.side == side).count();
    assert_eq!(count(Side::Before), bounds.diff_lines / 2);
    assert!(count(Side::After) >= bounds.diff_lines / 2 - 2);
    assert!(shown(&found).contains("more lines"), "{}", shown(&found));
}

#[test]
fn what_differs_in_a_long_line_is_in_sight() {
    let padding = "é".repeat(5000);
    let one = vec![format!("{padding}good{padding}")];
    let other = vec![format!("{padding}evil{padding}")];
    let found = diff(&one, &other, &PinLimits::default());
    let lines = changed(&found);
    assert!(
        lines[0].contains("égoodé") && lines[1].contains("éevilé"),
        "{lines:?}"
    );
    assert!(
        lines
            .iter()
            .all(|line| line.starts_with("- … é") || line.starts_with("+ … é"))
    );
    assert!(lines.iter().all(|line| line.len() < 500), "{lines:?}");
}

/// What one side was, from a diff that leaves nothing out.
fn side(found: &[DiffLine], side: Side) -> Vec<String> {
    let lines = found.iter();
    lines
        .filter(|line| line.side == side || line.side == Side::Both)
        .map(|line| line.text.clone())
        .collect()
}

proptest! {
    #[test]
    fn both_sides_can_be_read_from_a_diff(
        before in prop::collection::vec("[a-d]", 0..20),
        after in prop::collection::vec("[a-d]", 0..20),
    ) {
        let bounds = PinLimits { context_lines: 100, diff_lines: 1000, ..PinLimits::default() };
        let found = diff(&before, &after, &bounds);
        if before == after {
            prop_assert_eq!(changed(&found), Vec::<String>::new());
        } else {
            let old = side(&found, Side::Before);
            let new = side(&found, Side::After);
            prop_assert_eq!(old, before);
            prop_assert_eq!(new, after);
        }
    }

    #[test]
    fn a_diff_is_bounded_and_safe(before in "\\PC{0,200}", after in "\\PC{0,200}") {
        let split = |text: &str| -> Vec<String> { text.chars().map(String::from).collect() };
        let bounds = PinLimits { diff_lines: 10, line_bytes: 8, ..PinLimits::default() };
        let found = diff(&split(&before), &split(&after), &bounds);
        prop_assert!(found.len() <= 11);
        for line in found {
            prop_assert_eq!(&crate::text::write_json_safe(&line.text), &line.text);
        }
    }
}
