//! Which crate may depend on which.

use toml::{Table, Value};

/// What one of our crates may depend on.
struct Rule {
    name: &'static str,
    /// Our own crates that it may use.
    ours: &'static [&'static str],
    /// Our own crates that its tests may use beyond that.
    tests: &'static [&'static str],
    /// The only foreign crates that it may use, when that is restricted.
    foreign: Option<&'static [&'static str]>,
}

const RULES: &[Rule] = &[
    Rule {
        name: "switchboard-wire",
        ours: &[],
        tests: &[],
        foreign: Some(&["serde", "serde_json"]),
    },
    Rule {
        name: "switchboard-core",
        ours: &[],
        tests: &[],
        foreign: None,
    },
    Rule {
        name: "switchboard-process",
        ours: &["switchboard-core"],
        tests: &[],
        foreign: None,
    },
    Rule {
        name: "switchboard-client",
        ours: &[
            "switchboard-core",
            "switchboard-process",
            "switchboard-wire",
        ],
        tests: &[],
        foreign: None,
    },
    Rule {
        name: "switchboard-config",
        ours: &["switchboard-core"],
        tests: &[],
        foreign: None,
    },
    Rule {
        name: "switchboard-schema",
        ours: &["switchboard-core", "switchboard-wire"],
        tests: &[],
        foreign: None,
    },
    // What servers ask; it decides nothing for the user and knows no host.
    Rule {
        name: "switchboard-questions",
        ours: &["switchboard-client", "switchboard-core", "switchboard-wire"],
        tests: &[],
        foreign: None,
    },
    Rule {
        name: "switchboard",
        ours: &[
            "switchboard-client",
            "switchboard-config",
            "switchboard-core",
            "switchboard-questions",
            "switchboard-schema",
            "switchboard-wire",
        ],
        tests: &[],
        foreign: None,
    },
    // Servers between commands; it judges no server and knows no config file.
    Rule {
        name: "switchboard-daemon",
        ours: &["switchboard-core", "switchboard-process"],
        tests: &[],
        foreign: None,
    },
    // Between files and a host: it decides what is read again, and the host what becomes of it.
    Rule {
        name: "switchboard-reload",
        ours: &["switchboard"],
        tests: &[],
        foreign: None,
    },
    Rule {
        name: "switchboard-lock",
        ours: &["switchboard", "switchboard-wire"],
        tests: &[],
        foreign: None,
    },
    // A program that serves: it adds no policy to that of the host.
    Rule {
        name: "switchboard-gateway",
        ours: &["switchboard", "switchboard-wire"],
        tests: &["switchboard-testkit", "switchboard-tests"],
        foreign: None,
    },
    // Sharing more than the protocol would let a mistake of the client hide behind its own twin.
    Rule {
        name: "switchboard-testkit",
        ours: &["switchboard-wire"],
        tests: &[],
        foreign: None,
    },
    // Text from data: it knows neither servers nor config files.
    Rule {
        name: "switchboard-terminal",
        ours: &["switchboard-core", "switchboard-wire"],
        tests: &[],
        foreign: None,
    },
    // The terminal alone: it knows neither servers nor commands.
    Rule {
        name: "switchboard-console",
        ours: &["switchboard-core"],
        tests: &[],
        foreign: None,
    },
    // The parser alone: it runs no command and knows no terminal.
    Rule {
        name: "switchboard-args",
        ours: &["switchboard", "switchboard-testkit"],
        tests: &[],
        foreign: None,
    },
    Rule {
        name: "switchboard-cli",
        ours: &[
            "switchboard",
            "switchboard-args",
            "switchboard-console",
            "switchboard-daemon",
            "switchboard-gateway",
            "switchboard-lock",
            "switchboard-reload",
            "switchboard-wire",
            "switchboard-terminal",
            "switchboard-testkit",
        ],
        // It knows where the servers of others are.
        tests: &["switchboard-tests"],
        foreign: None,
    },
];

/// Returns what is wrong with the dependencies in the text of one `Cargo.toml` under `crates/`.
#[must_use]
pub fn violations(manifest: &str) -> Vec<String> {
    let table: Table = match manifest.parse() {
        Ok(table) => table,
        Err(error) => return vec![format!("not a manifest: {error}")],
    };
    let package = table.get("package").and_then(|package| package.get("name"));
    let Some(name) = package.and_then(Value::as_str) else {
        return vec!["a manifest without a package name".to_owned()];
    };
    let Some(rule) = RULES.iter().find(|rule| rule.name == name) else {
        return vec![format!(
            "{name} is a new crate: say what it may depend on in tests/src/architecture/crates.rs"
        )];
    };
    let mut found = Vec::new();
    for (kind, dependency) in dependencies(&table) {
        let is_ours = dependency == "switchboard" || dependency.starts_with("switchboard-");
        let for_tests = kind == "dev-dependencies";
        let allowed = if is_ours {
            rule.ours.contains(&dependency.as_str())
                || (for_tests && rule.tests.contains(&dependency.as_str()))
        } else {
            let listed = |only: &[&str]| only.contains(&dependency.as_str());
            for_tests || rule.foreign.is_none_or(listed)
        };
        if !allowed {
            found.push(format!("{name} must not have {dependency} in its {kind}"));
        }
    }
    found
}

/// Lists the dependencies of a manifest by kind, those of single platforms too.
fn dependencies(manifest: &Table) -> Vec<(&'static str, String)> {
    let mut tables = vec![manifest];
    if let Some(targets) = manifest.get("target").and_then(Value::as_table) {
        tables.extend(targets.values().filter_map(Value::as_table));
    }
    let mut found = Vec::new();
    for table in tables {
        for kind in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let Some(entries) = table.get(kind).and_then(Value::as_table) else {
                continue;
            };
            for (key, value) in entries {
                // A renamed dependency is judged by what it is, not by what it is called here.
                let name = value.get("package").and_then(Value::as_str).unwrap_or(key);
                found.push((kind, name.to_owned()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(name: &str, rest: &str) -> Vec<String> {
        violations(&format!("[package]\nname = \"{name}\"\n{rest}"))
    }

    #[test]
    fn what_the_design_draws_is_allowed() {
        let protocol = "[dependencies]\nserde.workspace = true\nserde_json = \"1\"\n\
                        [dev-dependencies]\nproptest = \"1\"";
        assert_eq!(judge("switchboard-wire", protocol), [""; 0]);
        let library = "[dependencies]\nswitchboard-wire.workspace = true\ntokio = \"1\"\n\
                       [dev-dependencies]\ntempfile = \"3\"";
        assert_eq!(judge("switchboard", library), [""; 0]);
    }

    #[test]
    fn an_edge_against_the_direction_is_found() {
        assert_eq!(
            judge(
                "switchboard-testkit",
                "[dependencies]\nswitchboard.workspace = true"
            ),
            ["switchboard-testkit must not have switchboard in its dependencies"]
        );
        assert_eq!(
            judge(
                "switchboard",
                "[build-dependencies]\nswitchboard-testkit.workspace = true"
            ),
            ["switchboard must not have switchboard-testkit in its build-dependencies"]
        );
    }

    #[test]
    fn the_protocol_does_no_input_or_output() {
        assert_eq!(
            judge("switchboard-wire", "[dependencies]\ntokio = \"1\""),
            ["switchboard-wire must not have tokio in its dependencies"]
        );
    }

    #[test]
    fn a_dependency_of_one_platform_or_under_another_name_is_found() {
        assert_eq!(
            judge(
                "switchboard-testkit",
                "[target.'cfg(unix)'.dependencies]\ninnocent = { package = \"switchboard-cli\" }"
            ),
            ["switchboard-testkit must not have switchboard-cli in its dependencies"]
        );
    }

    #[test]
    fn a_new_crate_has_to_be_given_a_rule() {
        let found = judge("switchboard-new", "");
        assert!(
            found.concat().contains("say what it may depend on"),
            "{found:?}"
        );
    }
}
