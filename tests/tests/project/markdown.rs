//! Pages can be read: short lines, links that lead somewhere, and a place in the book. Their words are checked by
//! `wording`.

#![allow(
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "a failure here is a failed test"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The widest line outside of tables and code.
const COLUMNS: usize = 120;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .unwrap()
}

/// All pages of the repository, by their paths from its root.
fn pages() -> Vec<String> {
    let mut pages = Vec::new();
    for folder in ["", "docs", "docs/reference", "docs/decisions"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") {
                pages.push(Path::new(folder).join(name).to_str().unwrap().to_owned());
            }
        }
    }
    pages.sort();
    pages
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap()
}

/// The lines of a page outside of code, with their numbers.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code && !line.starts_with("    ") {
            lines.push((index + 1, line));
        }
    }
    lines
}

#[test]
fn no_line_outside_of_tables_and_code_is_wider_than_120_columns() {
    let mut wide = Vec::new();
    for page in pages() {
        for (number, line) in prose(&read(&page)) {
            let columns = line.chars().count();
            if columns > COLUMNS && !line.starts_with('|') {
                wide.push(format!("{page}:{number}: {columns} columns"));
            }
        }
    }
    assert!(wide.is_empty(), "{wide:#?}");
}

/// The anchor of a heading, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim();
    // Of a link, the text is what is shown.
    let text = text.replace(['[', ']'], "");
    let kept = text.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
        _ => None,
    });
    kept.collect()
}

fn anchors(page: &str) -> BTreeSet<String> {
    let text = read(page);
    let lines = prose(&text).into_iter().map(|(_, line)| line);
    lines
        .filter(|line| line.starts_with('#'))
        .map(anchor)
        .collect()
}

/// The targets of the links of a page.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        // Parts in backticks are code.
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
        for (at, _) in plain.match_indices("](") {
            let target = plain[at + 2..].split(')').next().unwrap_or_default();
            links.push((number, target.to_owned()));
        }
    }
    links
}

/// A path without `..` in it.
fn plain_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[test]
fn every_relative_link_and_every_anchor_leads_somewhere() {
    let pages = pages();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for page in &pages {
        let folder = Path::new(page).parent().unwrap();
        for (number, target) in links(&read(page)) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            seen += 1;
            let (file, fragment) = target.split_once('#').unwrap_or((&target, ""));
            let path = if file.is_empty() {
                PathBuf::from(page)
            } else {
                plain_path(&folder.join(file))
            };
            let name = path.to_str().unwrap().to_owned();
            if !root().join(&path).exists() {
                wrong.push(format!("{page}:{number}: {target}: there is no such file"));
            } else if !fragment.is_empty()
                && (!pages.contains(&name) || !anchors(&name).contains(fragment))
            {
                wrong.push(format!(
                    "{page}:{number}: {target}: there is no such heading"
                ));
            } else if page.starts_with("docs/")
                && !path.starts_with("docs")
                && name.ends_with(".md")
            {
                wrong.push(format!(
                    "{page}:{number}: {target}: the book has no such page"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(seen > 100, "only {seen} links");
}

#[test]
fn every_page_of_the_documentation_is_a_page_of_the_book() {
    let summary = links(&read("docs/SUMMARY.md"));
    let in_book: BTreeSet<String> = summary
        .into_iter()
        .map(|(_, page)| format!("docs/{page}"))
        .collect();
    let pages = pages().into_iter();
    let pages = pages.filter(|page| page.starts_with("docs/") && page != "docs/SUMMARY.md");
    assert_eq!(pages.collect::<BTreeSet<_>>(), in_book);
}
