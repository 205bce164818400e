//! The public names of the crate `switchboard`, as rustdoc lists them, compared with a committed list.
//!
//! Names that only our own crates use are `#[doc(hidden)]`, and modules of our other crates are re-exported without
//! being listed again, so the list is what a user of the crate has to look through.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::workspace;

/// Maximum number of public names of the crate.
const NAMES: usize = 150;
/// Maximum number of names at its root, modules aside.
const ROOT_NAMES: usize = 40;

/// Compares the names with the list, after rustdoc has run.
///
/// # Errors
/// Fails if names were added or removed, or there are more than allowed.
pub(crate) fn check() -> Result<(), String> {
    let (listed, documented) = (read_list()?, documented_names()?);
    let added: Vec<_> = documented
        .difference(&listed)
        .map(|name| format!("  + {name}\n"))
        .collect();
    let removed: Vec<_> = listed
        .difference(&documented)
        .map(|name| format!("  - {name}\n"))
        .collect();
    if !added.is_empty() || !removed.is_empty() {
        return Err(format!(
            "the public names of `switchboard` differ from {}:\n{}{}\
             If that is intended, run `cargo xtask docs`; if a name is for our own crates, hide it with `#[doc(hidden)]`.",
            list_path().display(),
            added.concat(),
            removed.concat(),
        ));
    }
    let root = root_names()?;
    if documented.len() > NAMES || root > ROOT_NAMES {
        return Err(format!(
            "`switchboard` has {} public names (at most {NAMES}), {root} of them at its root (at most {ROOT_NAMES})",
            documented.len(),
        ));
    }
    println!("{} public names, {root} at the root", documented.len());
    Ok(())
}

/// Writes the list, after rustdoc has run.
///
/// # Errors
/// Fails if there is no documentation, or the list cannot be written.
pub(crate) fn write() -> Result<(), String> {
    let names = documented_names()?;
    let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
    let path = list_path();
    fs::write(&path, lines).map_err(|error| format!("{}: {error}", path.display()))
}

fn list_path() -> PathBuf {
    workspace::root().join("docs").join("public-names.txt")
}

fn read_list() -> Result<BTreeSet<String>, String> {
    let path = list_path();
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Reads a page that rustdoc wrote for the crate.
fn read_page(name: &str) -> Result<String, String> {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| workspace::root().join("target"), PathBuf::from);
    let path = target.join("doc").join("switchboard").join(name);
    fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The names in rustdoc's list of all items: entries of the form `<li><a href="...">name</a></li>`.
fn documented_names() -> Result<BTreeSet<String>, String> {
    let page = read_page("all.html")?;
    let entries = page.split("<li><a href=\"").skip(1);
    let names: BTreeSet<String> = entries
        .filter_map(|entry| {
            let (target, rest) = entry.split_once("\">")?;
            // Links of the sidebar lead to headings of the same page.
            if target.starts_with('#') {
                return None;
            }
            let (name, _) = rest.split_once("</a></li>")?;
            (!name.contains('<')).then(|| name.to_owned())
        })
        .collect();
    if names.is_empty() {
        return Err("rustdoc lists no item of `switchboard`: has its page changed?".to_owned());
    }
    Ok(names)
}

/// The number of entries on the crate's front page, modules and re-exported modules aside.
fn root_names() -> Result<usize, String> {
    let page = read_page("index.html")?;
    // Each entry is a `<dt>` with a link whose class is the kind of the item; a re-exported crate has no link.
    let entries = page.split("<dt").skip(1);
    let entries = entries.map(|entry| entry.split("</dt>").next().unwrap_or_default());
    let is_module = |entry: &&str| entry.contains("class=\"mod\"") || !entry.contains("class=\"");
    Ok(entries.filter(|entry| !is_module(entry)).count())
}
