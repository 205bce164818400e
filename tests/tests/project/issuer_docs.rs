//! The guide to the test issuer names every setting and every fault, and no other.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::fs;
use std::path::Path;

use switchboard_testkit::issuer::{FaultKind, SETTINGS};

fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/issuer.md");
    fs::read_to_string(page).unwrap()
}

#[test]
fn the_guide_has_a_row_for_each_setting_and_fault_of_the_issuer() {
    let settings = SETTINGS.iter().map(|(name, value, about)| {
        let value = value.replace('|', "\\|");
        format!("| `{name}` | `{value}` | {about} |")
    });
    let faults = FaultKind::ALL.iter();
    let faults = faults.map(|kind| format!("| `{}` | {} |", kind.name(), kind.summary()));
    let page = page();
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    assert_eq!(
        rows.collect::<Vec<_>>(),
        settings.chain(faults).collect::<Vec<_>>()
    );
}

#[test]
fn the_guide_has_a_heading_for_each_endpoint_of_the_issuer() {
    let page = page();
    let headings = page.lines().filter_map(|line| line.strip_prefix("### "));
    let headings: Vec<_> = headings.collect();
    let faults = FaultKind::ALL.iter();
    let mut titles: Vec<_> = faults.map(|kind| kind.endpoint().title()).collect();
    titles.dedup();
    assert_eq!(headings, titles);
}
