//! Which module of the library may name which other.

use super::tokens;

/// Modules that stand on nothing and may be used by all.
const GROUND: &[&str] = &["files", "limits", "secret", "text", "vault"];

/// Every module of the library with the others that it may name beside [`GROUND`].
///
/// A new module gets a line, a new direction an entry. Both are decisions about the architecture:
/// ARCHITECTURE.md says which way things point. The public error (`error`, `explain`) is for
/// `server` and what is above it; every layer below has an error of its own.
const EDGES: &[(&str, &[&str])] = &[
    ("spec", &[]),
    ("transport", &["spec"]),
    ("session", &["transport", "spec"]),
    ("talk", &["session", "transport", "spec"]),
    ("schema", &[]),
    ("events", &["spec"]),
    ("config", &["transport", "spec"]),
    ("trust", &["config", "transport", "spec"]),
    ("catalog", &["schema", "spec"]),
    ("formats", &[]),
    ("policy", &["catalog", "spec"]),
    ("pins", &["trust", "catalog", "spec"]),
    (
        "error",
        &[
            "schema",
            "config",
            "trust",
            "catalog",
            "session",
            "transport",
            "spec",
        ],
    ),
    (
        "explain",
        &[
            "error",
            "schema",
            "config",
            "trust",
            "catalog",
            "session",
            "transport",
            "spec",
        ],
    ),
    (
        "server",
        &[
            "session",
            "transport",
            "catalog",
            "spec",
            "error",
            "explain",
        ],
    ),
    (
        "host",
        &[
            "server",
            "session",
            "talk",
            "transport",
            "policy",
            "pins",
            "catalog",
            "config",
            "trust",
            "schema",
            "formats",
            "events",
            "spec",
            "error",
            "explain",
        ],
    ),
];

/// Returns what is wrong with the source of one file; `path` is relative to `src` and has `/`
/// between its parts.
#[must_use]
pub fn violations(path: &str, source: &str) -> Vec<String> {
    let parts: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
    let Some(module) = parts.first() else {
        return Vec::new();
    };
    if parts == ["lib"] {
        // The root says what is public and may name everything.
        return Vec::new();
    }
    let Some(allowed) = allowed(module) else {
        return vec![format!(
            "{path}: `{module}` is a new module: add a line with what it may name to EDGES in \
             tests/src/architecture/modules.rs"
        )];
    };
    let depth = match parts.last() {
        Some(&"mod") => parts.len() - 1,
        _ => parts.len(),
    };
    let named = tokens::names_below_the_root(source, depth);
    let wrong = named
        .iter()
        .filter(|name| name != module && !allowed.contains(&name.as_str()));
    wrong
        .map(|name| {
            if self::allowed(name).is_some() {
                format!(
                    "{path}: `{module}` must not name `{name}`; if it really should, add the edge \
                     to EDGES in tests/src/architecture/modules.rs and say why in ARCHITECTURE.md"
                )
            } else {
                format!(
                    "{path}: `{name}` at the root of the crate is no known module: name things \
                     through the module that owns them, or add it to EDGES in \
                     tests/src/architecture/modules.rs"
                )
            }
        })
        .collect()
}

/// Returns what a module may name, or nothing when there is no such module.
fn allowed(module: &str) -> Option<Vec<&'static str>> {
    match module {
        "limits" | "text" => return Some(Vec::new()),
        // Paths are shown as a shell takes them.
        "files" => return Some(vec!["text"]),
        "vault" => return Some(vec!["files", "text"]),
        // Secrets are shown made safe for a terminal.
        "secret" => return Some(vec!["text"]),
        _ => {}
    }
    let (_, edges) = EDGES.iter().find(|(name, _)| *name == module)?;
    Some([GROUND, edges].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_that_point_down_are_allowed() {
        assert_eq!(
            violations(
                "session/mod.rs",
                "use crate::transport::Link; use crate::session::x;"
            ),
            [""; 0]
        );
        assert_eq!(violations("secret.rs", "use crate::text::safe;"), [""; 0]);
        assert_eq!(
            violations("host/view.rs", "use crate::{policy, server, limits};"),
            [""; 0]
        );
        assert_eq!(
            violations("lib.rs", "pub use crate::error::Error;"),
            [""; 0]
        );
    }

    #[test]
    fn an_edge_that_points_up_is_found_however_it_is_written() {
        for source in [
            "use crate::session::Session;",
            "use crate::{limits::Limits, session};",
            "fn f() { crate::session::open() }",
            "use super::super::session;",
            "mod tests { use crate::session; }",
        ] {
            let found = violations("transport/stdio.rs", source);
            assert_eq!(found.len(), 1, "{source}: {found:?}");
            assert!(
                found
                    .concat()
                    .contains("`transport` must not name `session`"),
                "{found:?}"
            );
        }
    }

    #[test]
    fn no_layer_below_the_server_names_the_public_error() {
        for layer in [
            "text",
            "secret",
            "limits",
            "spec",
            "transport",
            "session",
            "catalog",
            "policy",
        ] {
            for public in ["error", "explain"] {
                let source = format!("use crate::{public}::X;");
                let found = violations(&format!("{layer}.rs"), &source);
                assert_eq!(found.len(), 1, "{layer} -> {public}");
            }
        }
        assert_eq!(violations("server.rs", "use crate::error::Error;"), [""; 0]);
    }

    #[test]
    fn the_ground_names_nothing() {
        assert_eq!(
            violations("text/mod.rs", "use crate::limits::Limits;").len(),
            1
        );
        assert_eq!(violations("limits.rs", "use crate::text::x;").len(), 1);
        assert_eq!(
            violations("secret.rs", "use crate::limits::Limits;").len(),
            1
        );
    }

    #[test]
    fn what_the_root_exports_again_is_no_way_around() {
        let found = violations("session.rs", "use crate::Error;");
        assert!(
            found.concat().contains("through the module that owns them"),
            "{found:?}"
        );
        assert_eq!(violations("session.rs", "use super::*;").len(), 1);
    }

    #[test]
    fn a_new_module_has_to_be_given_its_edges() {
        let found = violations("gateway/mod.rs", "");
        assert!(found.concat().contains("add a line"), "{found:?}");
    }
}
