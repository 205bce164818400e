//! The list of the suite's scenarios, so that new ones do not go unnoticed.

use super::plan::Scenario;

/// Reads one of the suite's lists of scenarios, without those that are left out. An extension has the
/// word `extension` for a version.
///
/// A line is `  - tools_call [2025-06-18,2025-11-25]`.
pub(super) fn parse(text: &str, is_left_out: fn(&str, &str) -> bool) -> Vec<(String, String)> {
    let lines = text.lines().filter_map(|line| {
        let (name, versions) = line.trim().strip_prefix("- ")?.split_once(" [")?;
        Some((name, versions.strip_suffix(']')?))
    });
    lines
        .flat_map(|(name, versions)| {
            let version = |version: &str| (name.to_owned(), version.to_owned());
            let versions = versions.split(',');
            let kept = versions.filter(|version| !is_left_out(name, version));
            kept.map(version).collect::<Vec<_>>()
        })
        .collect()
}

/// Compares what is run with what there is.
///
/// # Errors
///
/// Names the scenarios that are on one side only.
pub(super) fn compare(
    run: &[Scenario],
    offered: &[(String, String)],
    plan: &str,
) -> Result<(), String> {
    let is_same = |scenario: &Scenario, (name, version): &(String, String)| {
        scenario.name == name && scenario.version == version
    };
    let mut faults = Vec::new();
    for other in offered {
        if !run.iter().any(|scenario| is_same(scenario, other)) {
            faults.push(format!("{} ({}) is not run", other.0, other.1));
        }
    }
    for scenario in run {
        if !offered.iter().any(|other| is_same(scenario, other)) {
            let Scenario { name, version } = scenario;
            faults.push(format!("{name} ({version}) is not in the suite"));
        }
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{}; xtask/src/conformance/{plan} says what is run",
        faults.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
Client scenarios (test against a client):
  - a [2025-11-25,2026-07-28]
  - auth/b [2025-11-25]
  - c [extension]
";

    #[test]
    fn each_scenario_is_read_once_for_each_version() {
        let pair = |name: &str, version: &str| (name.to_owned(), version.to_owned());
        assert_eq!(
            parse(LIST, |_, _| false),
            [
                pair("a", "2025-11-25"),
                pair("a", "2026-07-28"),
                pair("auth/b", "2025-11-25"),
                pair("c", "extension"),
            ]
        );
        let versions = parse(LIST, |_, version| version != "extension");
        assert_eq!(versions, [pair("c", "extension")]);
    }

    #[test]
    fn what_is_on_one_side_only_is_named() {
        let scenario = |name, version| Scenario { name, version };
        let all = [
            scenario("a", "2025-11-25"),
            scenario("a", "2026-07-28"),
            scenario("auth/b", "2025-11-25"),
            scenario("c", "extension"),
        ];
        let offered = parse(LIST, |_, _| false);
        assert_eq!(compare(&all, &offered, "plan.rs"), Ok(()));
        let others = [
            scenario("a", "2025-11-25"),
            scenario("auth/b", "2025-11-25"),
            scenario("c", "extension"),
            scenario("d", "2026-07-28"),
        ];
        let error = compare(&others, &offered, "plan.rs").unwrap_err();
        assert!(
            error.starts_with("a (2026-07-28) is not run, d (2026-07-28) is not in the suite;"),
            "{error}"
        );
    }
}
