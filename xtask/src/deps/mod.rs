//! Checks the sources and licences of dependencies, and bans unwanted ones.
//!
//! The rules are in `deny.toml`, which `cargo deny check` reads too. cargo-deny knows more (it asks
//! the advisory database and looks into licence files) but takes minutes to build and needs the
//! network; what `cargo metadata` can tell is held here, on every run and offline:
//!
//! - every dependency comes from crates.io, none from git or from a path outside the workspace;
//! - its licence expression can be satisfied with the allowed licences;
//! - a banned crate is absent, or is used only by the crates that its ban names;
//! - crates of ours that are published say what they are and under which licence.

mod graph;
mod licence;
mod rules;

use std::fs;

use graph::{Graph, Package};
use rules::Rules;

use crate::{tool, workspace};

/// The name of crates.io in `cargo metadata`, whatever mirror the machine fetches from.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Checks the whole dependency graph, all features and platforms.
///
/// # Errors
///
/// Lists every violation.
pub(crate) fn check() -> Result<(), String> {
    let path = workspace::root().join("deny.toml");
    let text = fs::read_to_string(&path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let rules = Rules::parse(&text).map_err(|error| format!("deny.toml: {error}"))?;
    let mut metadata = tool::cargo();
    metadata.args([
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--all-features",
    ]);
    let graph = Graph::parse(&tool::output(&mut metadata)?)?;
    let violations = violations(&graph, &rules);
    if violations.is_empty() {
        println!("{} packages follow deny.toml", graph.packages.len());
        return Ok(());
    }
    Err(format!(
        "against the rules in deny.toml:\n  {}",
        violations.join("\n  ")
    ))
}

fn violations(graph: &Graph, rules: &Rules) -> Vec<String> {
    let mut found = Vec::new();
    for package in &graph.packages {
        if package.ours {
            found.extend(unpublishable(package));
        } else {
            found.extend(foreign(package, rules));
        }
    }
    for ban in &rules.bans {
        let banned = graph
            .packages
            .iter()
            .filter(|package| package.name == ban.name);
        for package in banned {
            let users = graph.direct_users(&package.id);
            let unwanted = users.filter(|user| !ban.wrappers.contains(*user));
            found.extend(unwanted.map(|user| {
                let Package { name, version, .. } = package;
                format!(
                    "{user} depends on {name} {version}, which is banned: {}",
                    ban.reason
                )
            }));
        }
    }
    found
}

fn foreign(package: &Package, rules: &Rules) -> Vec<String> {
    let Package { name, version, .. } = package;
    let mut found = Vec::new();
    if package.source.as_deref() != Some(CRATES_IO) {
        let source = package.source.as_deref().unwrap_or("a path");
        found.push(format!(
            "{name} {version} comes from {source}, not from crates.io"
        ));
    }
    match package
        .licence
        .as_deref()
        .map(|text| (text, licence::satisfied(text, &rules.licences)))
    {
        Some((_, Ok(true))) => {}
        Some((text, Ok(false))) => {
            found.push(format!(
                "{name} {version} is licensed {text}, which is not allowed"
            ));
        }
        Some((text, Err(error))) => {
            found.push(format!("{name} {version} is licensed {text:?}: {error}"));
        }
        None => found.push(format!("{name} {version} names no licence")),
    }
    found
}

fn unpublishable(package: &Package) -> Vec<String> {
    if !package.published {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (what, value) in [
        ("license", &package.licence),
        ("description", &package.description),
    ] {
        if value.as_deref().is_none_or(|text| text.trim().is_empty()) {
            found.push(format!("{} is published but has no {what}", package.name));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = r#"
        [licenses]
        allow = ["MIT"]
        [bans]
        deny = [
            { crate = "unwanted", reason = "because" },
            { crate = "partner", wrappers = ["ours-tests"], reason = "tests only" },
        ]
    "#;

    /// Judges a graph of one crate of ours and one that it depends on.
    fn judge(ours: &str, other: &str) -> Vec<String> {
        let metadata = format!(
            r#"{{
                "packages": [
                    {{ "id": "a", "version": "0.1.0", "source": null, {ours} }},
                    {{ "id": "b", "version": "2.0.0", {other} }}
                ],
                "workspace_members": ["a"],
                "resolve": {{ "nodes": [
                    {{ "id": "a", "deps": [{{ "pkg": "b" }}] }},
                    {{ "id": "b", "deps": [] }}
                ] }}
            }}"#
        );
        let graph = Graph::parse(&metadata).unwrap();
        violations(&graph, &Rules::parse(RULES).unwrap())
    }

    const OURS: &str = r#""name": "ours", "license": "MIT", "description": "x", "publish": null"#;

    fn from_crates_io(name: &str, licence: &str) -> String {
        format!(r#""name": "{name}", "license": "{licence}", "source": "{CRATES_IO}""#)
    }

    #[test]
    fn a_graph_that_follows_the_rules_passes() {
        assert_eq!(judge(OURS, &from_crates_io("fine", "MIT")), [""; 0]);
    }

    #[test]
    fn a_dependency_from_git_or_from_a_path_is_found() {
        assert_eq!(
            judge(
                OURS,
                r#""name": "x", "license": "MIT", "source": "git+https://h.invalid/x""#
            ),
            ["x 2.0.0 comes from git+https://h.invalid/x, not from crates.io"]
        );
        assert_eq!(
            judge(OURS, r#""name": "x", "license": "MIT", "source": null"#),
            ["x 2.0.0 comes from a path, not from crates.io"]
        );
    }

    #[test]
    fn a_licence_outside_the_list_is_found() {
        assert_eq!(
            judge(OURS, &from_crates_io("x", "GPL-3.0-only")),
            ["x 2.0.0 is licensed GPL-3.0-only, which is not allowed"]
        );
    }

    #[test]
    fn a_banned_crate_is_found_unless_its_ban_names_the_user() {
        assert_eq!(
            judge(OURS, &from_crates_io("unwanted", "MIT")),
            ["ours depends on unwanted 2.0.0, which is banned: because"]
        );
        assert_eq!(
            judge(OURS, &from_crates_io("partner", "MIT")),
            ["ours depends on partner 2.0.0, which is banned: tests only"]
        );
        let tests = OURS.replace("\"ours\"", "\"ours-tests\"");
        assert_eq!(judge(&tests, &from_crates_io("partner", "MIT")), [""; 0]);
    }

    #[test]
    fn a_published_crate_needs_a_licence_and_a_description_and_others_do_not() {
        let other = from_crates_io("fine", "MIT");
        let bare = r#""name": "ours", "license": null, "description": null, "publish": null"#;
        assert_eq!(
            judge(bare, &other),
            [
                "ours is published but has no license",
                "ours is published but has no description"
            ]
        );
        assert_eq!(
            judge(
                &bare.replace("\"publish\": null", "\"publish\": []"),
                &other
            ),
            [""; 0]
        );
    }

    #[test]
    fn the_committed_rules_can_be_read_and_keep_rmcp_out_of_what_is_published() {
        let text = fs::read_to_string(workspace::root().join("deny.toml")).unwrap();
        let rules = Rules::parse(&text).unwrap();
        let rmcp = rules.bans.iter().find(|ban| ban.name == "rmcp").unwrap();
        assert_eq!(rmcp.wrappers, ["switchboard-tests", "switchboard-bench"]);
        assert!(rules.licences.iter().any(|licence| licence == "MIT"));
    }
}
