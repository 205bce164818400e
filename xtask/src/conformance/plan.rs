//! What is asked of the suite.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use crate::workspace;

/// The revisions whose requirements are run as a whole.
const REVISIONS: &[&str] = &["2025-11-25", "2026-07-28"];

/// Every scenario that is no authorization and no extension, with the versions that have it.
const STRICT: &[(&str, &[&str])] = &[
    // The slowest first: it waits on purpose.
    ("sse-retry", &["2025-11-25"]),
    ("initialize", &["2025-06-18", "2025-11-25"]),
    ("tools_call", &["2025-06-18", "2025-11-25", "2026-07-28"]),
    ("elicitation-sep1034-client-defaults", &["2025-11-25"]),
    (
        "json-schema-2020-12-preservation",
        &["2025-11-25", "2026-07-28"],
    ),
    ("json-schema-ref-no-deref", &["2026-07-28"]),
    ("request-metadata", &["2026-07-28"]),
    ("sep-2322-client-request-state", &["2026-07-28"]),
    ("http-standard-headers", &["2026-07-28"]),
    ("http-custom-headers", &["2026-07-28"]),
    ("http-invalid-tool-headers", &["2026-07-28"]),
];

/// One run of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Job {
    /// All that a revision requires.
    Requirements(&'static str),
    /// One scenario, in the form in which everything counts.
    Strict(Scenario),
}

/// A scenario at a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
}

impl Job {
    /// What the suite is told, after the client's command.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let words: Vec<OsString> = match self {
            Self::Requirements(revision) => vec![
                "--requirements".into(),
                revision.into(),
                "--expected-failures".into(),
                expected_failures().into(),
            ],
            Self::Strict(Scenario { name, version }) => vec![
                "--scenario".into(),
                name.into(),
                "--spec-version".into(),
                version.into(),
            ],
        };
        words
    }

    /// What the suite says where all is well.
    pub(super) fn verdict(&self) -> &'static str {
        match self {
            Self::Requirements(_) => "Baseline check passed",
            Self::Strict(_) => "OVERALL: PASSED",
        }
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requirements(revision) => write!(f, "requirements of {revision}"),
            Self::Strict(Scenario { name, version }) => write!(f, "{name} ({version})"),
        }
    }
}

/// Returns all jobs.
pub(super) fn jobs() -> Vec<Job> {
    let whole = REVISIONS.iter().map(|revision| Job::Requirements(revision));
    let single = strict().into_iter().map(Job::Strict);
    whole.chain(single).collect()
}

/// Returns the scenarios that have to pass in the strict form.
pub(super) fn strict() -> Vec<Scenario> {
    let versions = |(name, versions): &(&'static str, &'static [&'static str])| {
        let name = *name;
        let scenario = move |version: &&'static str| Scenario { name, version };
        versions.iter().map(scenario).collect::<Vec<_>>()
    };
    STRICT.iter().flat_map(versions).collect()
}

/// The file of the scenarios that are known not to pass yet.
fn expected_failures() -> PathBuf {
    let tests = workspace::root().join("tests");
    tests.join("conformance").join("expected-failures.yml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_authorization_may_be_expected_to_fail() {
        let text = std::fs::read_to_string(expected_failures()).unwrap();
        let mut entries = 0;
        for line in text
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'))
        {
            match line.trim_start().strip_prefix("- ") {
                Some(entry) => {
                    assert!(entry.starts_with("auth/"), "{entry}");
                    entries += 1;
                }
                None => assert!(matches!(line, "" | "client:"), "{line}"),
            }
        }
        assert!(entries > 0);
    }

    #[test]
    fn both_forms_are_run() {
        let jobs = jobs();
        assert_eq!(
            jobs.iter().map(Job::to_string).take(3).collect::<Vec<_>>(),
            [
                "requirements of 2025-11-25",
                "requirements of 2026-07-28",
                "sse-retry (2025-11-25)"
            ]
        );
        assert_eq!(
            jobs.last().map(Job::arguments),
            Some(
                [
                    "--scenario",
                    "http-invalid-tool-headers",
                    "--spec-version",
                    "2026-07-28"
                ]
                .map(OsString::from)
                .to_vec()
            )
        );
    }
}
