//! The tests of the workspace: how they are built, and which of them need what.

use std::process::Command;

use serde_json::Value;

use crate::{tool, workspace};

/// Features of all test builds, whichever step runs them: one set of features for the whole
/// workspace, so that no step builds again what another has built.
const FEATURES: &str = "switchboard-tests/partners,switchboard-cli/partners";

/// The target that needs the fleet installed besides the partners.
pub(crate) const FLEET: &str = "fleet";

/// The targets that measure what they start. Their sizes grow in a soak.
const MEASURING: [&str; 2] = ["alone", "endure"];

/// The targets whose tests start the program and wait for it most of the time.
const WAITING: [&str; 1] = ["cli"];

/// Tests of these targets that run at the same time, for each core.
const TESTS_PER_CORE: usize = 3;

/// The names of the workspace's test targets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TestTargets {
    /// Those that need nothing but what cargo builds, and neither measure nor wait.
    pub(crate) offline: Vec<String>,
    /// Those that need nothing else either, and wait for processes.
    pub(crate) waiting: Vec<String>,
    /// Those that need nothing else either, and measure what they start.
    pub(crate) measuring: Vec<String>,
    /// Those that need partners installed.
    pub(crate) partners: Vec<String>,
    /// The programs that have unit tests. `--bins` would build all others for tests, too.
    pub(crate) programs: Vec<String>,
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
            waiting: Vec::new(),
            measuring: Vec::new(),
            partners: Vec::new(),
            programs: Vec::new(),
        };
        let packages = metadata.get("packages").and_then(Value::as_array);
        let targets = packages
            .into_iter()
            .flatten()
            .flat_map(|package| package["targets"].as_array());
        for target in targets.flatten() {
            let name = target["name"].as_str().unwrap_or_default().to_owned();
            if has(&target["kind"], "bin") && target["test"] == true {
                found.programs.push(name);
            } else if !has(&target["kind"], "test") {
                continue;
            } else if has(&target["required-features"], "partners") {
                found.partners.push(name);
            } else if MEASURING.contains(&name.as_str()) {
                found.measuring.push(name);
            } else if WAITING.contains(&name.as_str()) {
                found.waiting.push(name);
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
}

fn has(list: &Value, word: &str) -> bool {
    let list = list.as_array();
    list.is_some_and(|list| list.iter().any(|item| item == word))
}

/// Returns `cargo test` for the whole workspace, to be told which targets, with the partners where
/// they are installed.
pub(crate) fn command() -> Command {
    let mut command = tool::cargo();
    command.env("SWITCHBOARD_PARTNERS", workspace::partners());
    command.args(["test", "--locked", "--workspace", "--features", FEATURES]);
    command
}

/// Returns the same for the tests of one target; several at once for each core if they wait most of the time.
pub(crate) fn command_for(target: &str) -> Command {
    let mut command = command();
    command.args(["--test", target]);
    if !WAITING.contains(&target) {
        return command;
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    command.env("RUST_TEST_THREADS", (cores * TESTS_PER_CORE).to_string());
    command
}

/// Returns the same with the sizes of a full check.
pub(crate) fn soak_command() -> Command {
    let mut command = command();
    command.env("SWITCHBOARD_SOAK", "1");
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
                {"kind": ["bin"], "name": "program", "test": true},
                {"kind": ["bin"], "name": "helper", "test": false},
                {"kind": ["test"], "name": "offline"},
                {"kind": ["test"], "name": "endure"},
                {"kind": ["test"], "name": "cli"},
                {"kind": ["test"], "name": "interop", "required-features": ["partners"]}
            ]},
            {"targets": [{"kind": ["test"], "name": "fleet", "required-features": ["partners"]}]}
        ]}"#;
        let targets = TestTargets::parse(metadata).unwrap();
        assert_eq!(targets.offline, ["offline"]);
        assert_eq!(targets.waiting, ["cli"]);
        assert_eq!(targets.measuring, ["endure"]);
        assert_eq!(targets.partners, ["interop"]);
        assert_eq!(targets.programs, ["program"]);
    }

    #[test]
    fn programs_that_are_not_built_for_tests_have_none() {
        let mut metadata = tool::cargo();
        metadata.args(["metadata", "--locked", "--no-deps", "--format-version", "1"]);
        let metadata: Value = serde_json::from_str(&tool::output(&mut metadata).unwrap()).unwrap();
        let packages = metadata["packages"].as_array().unwrap().iter();
        let targets = packages.flat_map(|package| package["targets"].as_array().unwrap());
        let untested: Vec<_> = targets
            .filter(|target| has(&target["kind"], "bin") && target["test"] == false)
            .collect();
        assert!(!untested.is_empty());
        for target in untested {
            let path = target["src_path"].as_str().unwrap();
            let text = std::fs::read_to_string(path).unwrap();
            assert!(
                !text.contains("test]"),
                "{path} has tests that no step runs"
            );
        }
    }

    #[test]
    fn no_tests_are_an_error() {
        assert!(TestTargets::parse(r#"{"packages": []}"#).is_err());
        assert!(TestTargets::parse("cargo").is_err());
    }

    #[test]
    fn the_targets_that_measure_or_wait_are_there() {
        let targets = TestTargets::read().unwrap();
        let mut measuring = targets.measuring;
        measuring.sort();
        assert_eq!(measuring, MEASURING);
        let known = [targets.waiting, targets.partners].concat();
        for name in WAITING {
            assert!(known.iter().any(|known| known == name), "{name}");
        }
    }
}
