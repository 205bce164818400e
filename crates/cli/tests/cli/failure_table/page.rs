//! Whether `docs/errors.md` knows a failure.

use super::Case;

const PAGE: &str = include_str!("../../../../../docs/errors.md");

/// Says that a case is not on the page, if it is not: its title is a heading there, with `…` for what
/// differs, and the section names its exit code and something to do.
pub(super) fn missing(case: &Case) -> Option<String> {
    let mut sections = PAGE.split("\n### ").skip(1);
    let section = sections.find(|section| {
        let heading = section.lines().next().unwrap_or_default();
        fits(heading, case.title)
    });
    let Some(section) = section else {
        return Some(format!("{}: no heading fits {:?}", case.name, case.title));
    };
    let code = format!("Exit code {}", case.exit.0);
    if !section.contains(&code) {
        return Some(format!("{}: its section does not say {code:?}", case.name));
    }
    let says_what_to_do = section.contains("**Do:**");
    (!says_what_to_do).then(|| format!("{}: its section has no **Do:**", case.name))
}

/// Whether a title is what a heading says, with something for each `…`.
fn fits(heading: &str, title: &str) -> bool {
    let mut parts = heading.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = title.strip_prefix(first) else {
        return false;
    };
    let mut is_open = false;
    for part in parts {
        is_open = part.is_empty();
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    is_open || rest.is_empty()
}

#[test]
fn a_heading_stands_for_titles_of_its_form_only() {
    assert!(fits("a \"…\" was not found", "a \"b c\" was not found"));
    assert!(fits("ended with …", "ended with code 3"));
    assert!(fits("plain", "plain"));
    assert!(!fits("plain", "plainer"));
    assert!(!fits("a … b", "a x c"));
}
