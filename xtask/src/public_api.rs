//! The public names of the crate `switchboard`, as rustdoc lists them, compared with a committed list; and the
//! examples of the names at its root.
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

/// The names at the root that programs begin with: each has an example. A name is followed by its page below the
/// folder of the documentation.
const ENTRY_POINTS: [(&str, &str); 33] = [
    ("AgentPolicy", "switchboard/policy/struct.AgentPolicy"),
    ("Budget", "switchboard_core/limits/struct.Budget"),
    (
        "CallOptions",
        "switchboard_client/session/struct.CallOptions",
    ),
    ("Caller", "switchboard/policy/struct.Caller"),
    ("Context", "switchboard/struct.Context"),
    ("Deadline", "switchboard_core/limits/struct.Deadline"),
    ("Denial", "switchboard/struct.Denial"),
    ("Diagnosis", "switchboard/explain/struct.Diagnosis"),
    ("Error", "switchboard/struct.Error"),
    ("ErrorKind", "switchboard_client/enum.ErrorKind"),
    ("Event", "switchboard/events/enum.Event"),
    ("Grants", "switchboard/policy/struct.Grants"),
    ("Host", "switchboard/host/struct.Host"),
    ("HostBuilder", "switchboard/host/struct.HostBuilder"),
    ("Level", "switchboard/policy/enum.Level"),
    ("Limits", "switchboard_core/limits/struct.Limits"),
    ("MissingPolicy", "switchboard/struct.MissingPolicy"),
    ("Operator", "switchboard/talk/trait.Operator"),
    ("Policy", "switchboard/policy/struct.Policy"),
    ("Server", "switchboard_client/server/struct.Server"),
    ("ServerName", "switchboard_core/spec/struct.ServerName"),
    ("ServerRequest", "switchboard/host/struct.ServerRequest"),
    ("ServerSpec", "switchboard_core/spec/struct.ServerSpec"),
    ("Session", "switchboard_client/session/struct.Session"),
    (
        "SessionOptions",
        "switchboard_client/session/struct.SessionOptions",
    ),
    ("Step", "switchboard/explain/enum.Step"),
    ("Timeouts", "switchboard_core/limits/struct.Timeouts"),
    ("ToolCall", "switchboard/host/struct.ToolCall"),
    ("ToolHandle", "switchboard/host/struct.ToolHandle"),
    ("ToolRef", "switchboard/catalog/struct.ToolRef"),
    ("ToolResult", "switchboard/host/struct.ToolResult"),
    ("View", "switchboard/host/struct.View"),
    ("explain", "switchboard/explain/fn.explain"),
];

/// The names at the root that programs only receive.
const RECEIVED: [&str; 5] = [
    "CallError",
    "Listing",
    "OpenError",
    "ServerError",
    "ServerState",
];

/// Compares the names with the list, and looks for the examples, after rustdoc has run.
///
/// # Errors
/// Fails if names were added or removed, there are more than allowed, or an entry point has no example.
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
    if documented.len() > NAMES || root.len() > ROOT_NAMES {
        return Err(format!(
            "`switchboard` has {} public names (at most {NAMES}), and {} at its root (at most {ROOT_NAMES})",
            documented.len(),
            root.len(),
        ));
    }
    check_examples(&root)?;
    println!(
        "{} public names; {} at the root, {} of them with an example",
        documented.len(),
        root.len(),
        ENTRY_POINTS.len()
    );
    Ok(())
}

/// Looks for an example on the page of every entry point.
fn check_examples(root: &BTreeSet<String>) -> Result<(), String> {
    let entry_points = ENTRY_POINTS.iter().map(|(name, _)| *name);
    let decided: BTreeSet<String> = entry_points.chain(RECEIVED).map(str::to_owned).collect();
    if *root != decided {
        let different: Vec<_> = root.symmetric_difference(&decided).cloned().collect();
        return Err(format!(
            "{} at the root of `switchboard` or in xtask/src/public_api.rs, not both: a name that programs begin with \
             goes into ENTRY_POINTS and has an example, another into RECEIVED",
            different.join(", ")
        ));
    }
    for (name, page) in ENTRY_POINTS {
        let text = read_page(&format!("{page}.html"))?;
        if !has_example(&text) {
            return Err(format!("`{name}` is an entry point and has no example"));
        }
    }
    Ok(())
}

/// Returns true if the text about an item has an example, wherever its methods and traits have some.
fn has_example(page: &str) -> bool {
    let about = page.split("<h2 id=").next().unwrap_or_default();
    about.contains("rust-example-rendered")
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

/// Reads a page that rustdoc wrote.
fn read_page(name: &str) -> Result<String, String> {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| workspace::root().join("target"), PathBuf::from);
    let path = target.join("doc").join(name);
    fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The names in rustdoc's list of all items: entries of the form `<li><a href="...">name</a></li>`.
fn documented_names() -> Result<BTreeSet<String>, String> {
    let page = read_page("switchboard/all.html")?;
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

/// The names on the crate's front page, modules and re-exported crates aside.
fn root_names() -> Result<BTreeSet<String>, String> {
    let page = read_page("switchboard/index.html")?;
    // Each entry is a `<dt>`: one of ours with a link whose class is its kind, or a re-export with its name in the id.
    let entries = page.split("<dt").skip(1);
    let entries = entries.filter_map(|entry| entry.split("</dt>").next());
    Ok(entries.filter_map(root_name).collect())
}

/// The name that an entry of the front page stands for, unless it is a module.
fn root_name(entry: &str) -> Option<String> {
    // Long names have places where a browser may break them.
    let entry = &entry.replace("<wbr>", "");
    let name = match entry.split_once("id=\"reexport.") {
        Some((_, rest)) => rest.split('"').next()?,
        None => entry.rsplit_once("</a>")?.0.rsplit_once('>')?.1,
    };
    // A re-export of another crate may have no link that tells its kind: types are in capitals, modules are not.
    let is_type = name.starts_with(|first: char| first.is_ascii_uppercase());
    (is_type || entry.contains("class=\"fn\"")).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_root_are_types_and_functions_and_no_modules() {
        let linked =
            r#" id="reexport.explain"><code>pub use <a class="fn" href="x">explain</a>;</code>"#;
        let unlinked = r#" id="reexport.Server"><code>pub use switchboard_client::Server;</code>"#;
        let module = r#" id="reexport.auth"><code>pub use switchboard_client::auth;</code>"#;
        let own = r#"><a class="struct" href="struct.Error.html" title="struct">Error</a>"#;
        let names = [linked, unlinked, module, own].map(root_name);
        let names: Vec<_> = names.iter().map(Option::as_deref).collect();
        assert_eq!(
            names,
            [Some("explain"), Some("Server"), None, Some("Error")]
        );
    }

    #[test]
    fn an_example_of_a_method_is_not_one_of_its_type() {
        let example = r#"<pre class="rust rust-example-rendered">"#;
        let of_method = format!("<p>Text</p><h2 id=\"implementations\">{example}");
        assert!(!has_example(&of_method));
        assert!(has_example(&format!("{example}{of_method}")));
    }
}
