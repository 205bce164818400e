//! The tests of the workspace: how they are built, and which of them need what.

use std::process::Command;

use serde_json::Value;

use crate::{tool, workspace};

/// Features of all test builds, whichever step runs them: one set of features for the whole
/// workspace, so that no step builds again what another has built.
const FEATURES: &str = "switchboard-tests/partners,switchboard-cli/partners";

/// The target that needs the fleet installed besides the partners.
pub(crate) const FLEET: &str = "fleet";

/// The targets whose sizes grow with the feature `soak`.
const SOAKED: [&str; 2] = ["alone", "endure"];

/// The names of the workspace's test targets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TestTargets {
    /// Those that need nothing but what cargo builds.
    pub(crate) offline: Vec<String>,
    /// Those that need partners installed.
    pub(crate) partners: Vec<String>,
}

impl TestTargets {
    /// Asks cargo for them, so that a new one is never forgotten.
    ///
    /// # Errors
    ///
    /// Says so when cargo cannot tell.
    pub(crate) fn read() -> Result<Self, String> {
        let mut metadata = tool::cargo();
        metadata.args(["metadata", "--locked", "--no-deps", "--format-version", "1"]);
        Self::parse(&tool::output(&mut metadata)?)
    }

    fn parse(metadata: &str) -> Result<Self, String> {
        let metadata: Value = serde_json::from_str(metadata)
            .map_err(|error| format!("cannot read what `cargo metadata` says: {error}"))?;
        let mut found = Self {
            offline: Vec::new(),
            partners: Vec::new(),
        };
        let packages = metadata.get("packages").and_then(Value::as_array);
        let targets = packages
            .into_iter()
            .flatten()
            .flat_map(|package| package["targets"].as_array());
        for target in targets
            .flatten()
            .filter(|target| has(&target["kind"], "test"))
        {
            let name = target["name"].as_str().unwrap_or_default().to_owned();
            if has(&target["required-features"], "partners") {
                found.partners.push(name);
            } else {
                found.offline.push(name);
            }
        }
        found.partners.retain(|name| name != FLEET);
        if found.offline.is_empty() || found.partners.is_empty() {
            return Err("`cargo metadata` lists no tests, offline or with partners".to_owned());
        }
        Ok(found)
    }

    /// Those that run in a full check after the offline ones: with partners, and with larger sizes.
    pub(crate) fn soaked(self) -> Vec<String> {
        let mut names = self.partners;
        names.extend(SOAKED.map(str::to_owned));
        names
    }
}

fn has(list: &Value, word: &str) -> bool {
    let list = list.as_array();
    list.is_some_and(|list| list.iter().any(|item| item == word))
}

/// Returns `cargo test` for the whole workspace, to be told which targets, with the partners where
/// they are installed.
pub(crate) fn command() -> Command {
    with_features(FEATURES)
}

/// Returns the same with the sizes of a full check.
pub(crate) fn soak_command() -> Command {
    with_features(&format!("{FEATURES},switchboard-tests/soak"))
}

fn with_features(features: &str) -> Command {
    let mut command = tool::cargo();
    command.env("SWITCHBOARD_PARTNERS", workspace::partners());
    command.args(["test", "--locked", "--workspace", "--features", features]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_told_apart_by_what_they_need() {
        let metadata = r#"{"packages": [
            {"targets": [
                {"kind": ["lib"], "name": "a"},
                {"kind": ["test"], "name": "offline"},
                {"kind": ["test"], "name": "interop", "required-features": ["partners"]}
            ]},
            {"targets": [{"kind": ["test"], "name": "fleet", "required-features": ["partners"]}]}
        ]}"#;
        let targets = TestTargets::parse(metadata).unwrap();
        assert_eq!(targets.offline, ["offline"]);
        assert_eq!(targets.partners, ["interop"]);
        assert_eq!(targets.soaked(), ["interop", "alone", "endure"]);
    }

    #[test]
    fn no_tests_are_an_error() {
        assert!(TestTargets::parse(r#"{"packages": []}"#).is_err());
        assert!(TestTargets::parse("cargo").is_err());
    }

    #[test]
    fn what_grows_in_a_soak_is_there() {
        let targets = TestTargets::read().unwrap();
        for name in SOAKED {
            assert!(targets.offline.iter().any(|known| known == name), "{name}");
        }
    }
}
