//! Screens and pages use plain words: see `switchboard_tests::architecture::wording`.

use switchboard_tests::architecture::wording;

use crate::architecture::{assert_none, texts, violations};

#[test]
fn no_string_of_a_source_uses_words_that_people_stumble_over() {
    let mut sources = texts("crates");
    sources.retain(|(path, _)| {
        let is_test = path.ends_with("tests.rs") || path.contains("/tests/");
        // The causes of failures have tables and snapshots of their own.
        let is_cause = path.starts_with("crates/switchboard/src/explain/");
        path.ends_with(".rs") && path.contains("/src/") && !is_test && !is_cause
    });
    assert!(sources.len() > 500, "{} sources", sources.len());
    assert_none(&violations(&sources, |path, text| {
        wording::in_source(text, path.starts_with("crates/args/src/"))
    }));
}

#[test]
fn no_page_uses_words_that_people_stumble_over() {
    let mut pages = texts("docs");
    pages.extend(texts("crates"));
    pages.extend(
        texts("")
            .into_iter()
            .filter(|(path, _)| !path.contains('/')),
    );
    pages.retain(|(path, _)| path.ends_with(".md"));
    assert!(pages.len() > 20, "{} pages", pages.len());
    assert_none(&violations(&pages, |_, text| wording::in_page(text)));
}
