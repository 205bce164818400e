//! The guide to the misbehaving server names every flag, and no other.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::fs;
use std::path::Path;

use switchboard_testkit::chaos::Flag;

fn row(flag: Flag) -> String {
    let default = flag
        .default_number()
        .map_or_else(String::new, |number| number.to_string());
    format!("| `{}` | {default} | {} |", flag.usage(), flag.summary())
}

#[test]
fn the_guide_has_one_row_for_each_flag_in_the_order_of_the_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/chaos.md");
    let page = fs::read_to_string(page).unwrap();
    let mut rows = page.lines().filter(|line| line.starts_with("| `"));
    for flag in Flag::ALL {
        assert_eq!(rows.next().unwrap_or_default(), row(*flag));
    }
    assert_eq!(rows.next(), None);
}

#[test]
fn the_guide_has_a_heading_for_each_group() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/chaos.md");
    let page = fs::read_to_string(page).unwrap();
    let headings: Vec<_> = page
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .collect();
    let mut groups: Vec<_> = Flag::ALL.iter().map(|flag| flag.group().title()).collect();
    groups.dedup();
    assert_eq!(headings, groups);
}

#[test]
fn every_flag_is_tried_by_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut tests = fs::read_to_string(root.join("../crates/cli/tests/cli/chaos.rs")).unwrap();
    tests.push_str(
        &fs::read_to_string(root.join("../crates/testkit/tests/testkit/http/chaos.rs")).unwrap(),
    );
    for entry in fs::read_dir(root.join("tests/offline")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file()
            && path
                .file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with("chaos_")
        {
            tests.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    for flag in Flag::ALL {
        let name = flag.name().strip_suffix('N').unwrap_or(flag.name());
        assert!(tests.contains(&format!("\"{name}")), "{name} is not tried");
    }
}
