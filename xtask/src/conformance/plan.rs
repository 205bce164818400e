//! The runs of the conformance suite.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use crate::workspace;

/// The revisions whose requirements are run as a whole.
const REVISIONS: &[&str] = &["2025-11-25", "2026-07-28"];

/// Marker of the suite in place of a version, for scenarios of an extension.
pub(super) const EXTENSION: &str = "extension";

/// Scenarios of the extension for skills (SEP-2640), which the client does not have.
const OTHER_EXTENSIONS: &[&str] = &[
    "sep-2640-client-no-prefetch",
    "sep-2640-client-verify-digest",
    "sep-2640-client-verify-frontmatter",
    "sep-2640-client-verify-size",
];

/// The versions that have the first scenarios of authorization.
const LATER: &[&str] = &["2025-11-25", "2026-07-28"];
const SINCE_JUNE: &[&str] = &["2025-06-18", "2025-11-25", "2026-07-28"];

/// Every scenario but those of other extensions, with the versions that have it.
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
    ("auth/metadata-default", LATER),
    ("auth/metadata-var1", LATER),
    ("auth/metadata-var2", LATER),
    ("auth/metadata-var3", LATER),
    ("auth/basic-cimd", LATER),
    ("auth/scope-from-www-authenticate", LATER),
    ("auth/scope-from-scopes-supported", LATER),
    ("auth/scope-omitted-when-undefined", LATER),
    ("auth/scope-step-up", LATER),
    ("auth/scope-retry-limit", LATER),
    ("auth/pre-registration", LATER),
    ("auth/token-endpoint-auth-basic", SINCE_JUNE),
    ("auth/token-endpoint-auth-post", SINCE_JUNE),
    ("auth/token-endpoint-auth-none", SINCE_JUNE),
    ("auth/resource-mismatch", &["2026-07-28"]),
    ("auth/offline-access-scope", &["2026-07-28"]),
    ("auth/offline-access-not-supported", &["2026-07-28"]),
    ("auth/authorization-server-migration", &["2026-07-28"]),
    ("auth/iss-supported", &["2026-07-28"]),
    ("auth/iss-not-advertised", &["2026-07-28"]),
    ("auth/iss-supported-missing", &["2026-07-28"]),
    ("auth/iss-wrong-issuer", &["2026-07-28"]),
    ("auth/iss-unexpected", &["2026-07-28"]),
    ("auth/iss-normalized", &["2026-07-28"]),
    ("auth/metadata-issuer-mismatch", &["2026-07-28"]),
    ("auth/2025-03-26-oauth-metadata-backcompat", &["2025-03-26"]),
    ("auth/2025-03-26-oauth-endpoint-fallback", &["2025-03-26"]),
    ("auth/client-credentials-jwt", &[EXTENSION]),
    ("auth/client-credentials-basic", &[EXTENSION]),
    ("auth/enterprise-managed-authorization", &[EXTENSION]),
    ("auth/wif-jwt-bearer", &[EXTENSION]),
    ("auth/dpop", &[EXTENSION]),
    ("auth/dpop-nonce", &[EXTENSION]),
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
    /// Returns the arguments of the suite, after the client's command.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let words: Vec<OsString> = match self {
            Self::Requirements(revision) => vec![
                "--requirements".into(),
                revision.into(),
                "--expected-failures".into(),
                expected_failures().into(),
            ],
            // An extension is of no version; the suite chooses one.
            Self::Strict(Scenario {
                name,
                version: EXTENSION,
            }) => vec!["--scenario".into(), name.into()],
            Self::Strict(Scenario { name, version }) => vec![
                "--scenario".into(),
                name.into(),
                "--spec-version".into(),
                version.into(),
            ],
        };
        words
    }

    /// Returns the text that the suite prints on success.
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
    expand(STRICT)
}

/// Tells whether a scenario of the suite's list is not ours to pass.
pub(super) fn is_left_out(name: &str, _version: &str) -> bool {
    OTHER_EXTENSIONS.contains(&name)
}

/// Returns each scenario of a table at each of its versions.
pub(super) fn expand(table: &[(&'static str, &'static [&'static str])]) -> Vec<Scenario> {
    let versions = |(name, versions): &(&'static str, &'static [&'static str])| {
        let name = *name;
        let scenario = move |version: &&'static str| Scenario { name, version };
        versions.iter().map(scenario).collect::<Vec<_>>()
    };
    table.iter().flat_map(versions).collect()
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
    fn nothing_is_expected_to_fail() {
        let text = std::fs::read_to_string(expected_failures()).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(lines.collect::<Vec<_>>(), ["client: []"]);
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
        let versioned = Job::Strict(Scenario {
            name: "http-invalid-tool-headers",
            version: "2026-07-28",
        });
        assert_eq!(
            versioned.arguments(),
            [
                "--scenario",
                "http-invalid-tool-headers",
                "--spec-version",
                "2026-07-28"
            ]
            .map(OsString::from)
        );
        assert_eq!(
            jobs.last().map(Job::arguments),
            Some(
                ["--scenario", "auth/dpop-nonce"]
                    .map(OsString::from)
                    .to_vec()
            )
        );
    }
}
