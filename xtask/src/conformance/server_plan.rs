//! The runs of the suite's server scenarios.

use std::ffi::OsString;
use std::fmt;

use super::plan::{EXTENSION, Scenario, expand};

/// The revisions whose requirements are run as a whole, with the number of scenarios that each scores.
/// All of them have to pass.
const REVISIONS: &[(&str, usize)] = &[("2025-11-25", 30), ("2026-07-28", 37)];

const NOVEMBER: &[&str] = &["2025-11-25"];
const JULY: &[&str] = &["2026-07-28"];
const SESSIONS: &[&str] = &["2025-06-18", "2025-11-25"];
const LATER: &[&str] = &["2025-11-25", "2026-07-28"];
const SINCE_JUNE: &[&str] = &["2025-06-18", "2025-11-25", "2026-07-28"];

/// Every scenario but those of extensions, with the versions that have it.
const STRICT: &[(&str, &[&str])] = &[
    ("server-initialize", SESSIONS),
    (
        "server-session-lifecycle",
        &["2025-03-26", "2025-06-18", "2025-11-25"],
    ),
    ("server-stateless", JULY),
    ("logging-set-level", SESSIONS),
    ("ping", SESSIONS),
    ("completion-complete", SINCE_JUNE),
    ("tools-list", SINCE_JUNE),
    ("tools-call-simple-text", SINCE_JUNE),
    ("tools-call-image", SINCE_JUNE),
    ("tools-call-audio", SINCE_JUNE),
    ("tools-call-embedded-resource", SINCE_JUNE),
    ("tools-call-mixed-content", SINCE_JUNE),
    ("tools-call-with-logging", SESSIONS),
    ("tools-call-error", SINCE_JUNE),
    ("tools-call-with-progress", SINCE_JUNE),
    ("tools-call-sampling", SESSIONS),
    ("tools-call-elicitation", SESSIONS),
    ("json-schema-2020-12", LATER),
    ("elicitation-sep1034-defaults", NOVEMBER),
    ("server-sse-polling", NOVEMBER),
    ("server-sse-multiple-streams", LATER),
    ("elicitation-sep1330-enums", NOVEMBER),
    ("resources-list", SINCE_JUNE),
    ("resources-read-text", SINCE_JUNE),
    ("resources-read-binary", SINCE_JUNE),
    ("resources-templates-read", SINCE_JUNE),
    ("resources-subscribe", SESSIONS),
    ("resources-unsubscribe", SESSIONS),
    ("sep-2164-resource-not-found", JULY),
    ("prompts-list", SINCE_JUNE),
    ("prompts-get-simple", SINCE_JUNE),
    ("prompts-get-with-args", SINCE_JUNE),
    ("prompts-get-embedded-resource", SINCE_JUNE),
    ("prompts-get-with-image", SINCE_JUNE),
    ("dns-rebinding-protection", LATER),
    ("caching", JULY),
    ("http-header-validation", JULY),
    ("http-custom-header-server-validation", JULY),
    ("input-required-result-basic-elicitation", JULY),
    ("input-required-result-basic-sampling", JULY),
    ("input-required-result-basic-list-roots", JULY),
    ("input-required-result-request-state", JULY),
    ("input-required-result-multiple-input-requests", JULY),
    ("input-required-result-multi-round", JULY),
    ("input-required-result-missing-input-response", JULY),
    ("input-required-result-non-tool-request", JULY),
    ("input-required-result-result-type", JULY),
    ("input-required-result-unsupported-methods", JULY),
    ("input-required-result-tampered-state", JULY),
    ("input-required-result-capability-check", JULY),
    ("input-required-result-ignore-extra-params", JULY),
    ("input-required-result-validate-input", JULY),
];

/// One run of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerJob {
    /// All that a revision requires, and the number of scenarios that count.
    Requirements(&'static str, usize),
    /// One scenario, in which warnings count too.
    Strict(Scenario),
}

impl ServerJob {
    /// Tells whether the run is of the modern era.
    pub(super) fn is_modern(&self) -> bool {
        let (Self::Requirements(version, _) | Self::Strict(Scenario { version, .. })) = self;
        JULY.contains(version)
    }

    /// Tells whether it is that one scenario, run on its own.
    pub(super) fn is_alone(&self, name: &str) -> bool {
        matches!(self, Self::Strict(scenario) if scenario.name == name)
    }

    /// Returns the arguments of the suite, after the server's URL.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        match self {
            Self::Requirements(revision, _) => vec!["--requirements".into(), revision.into()],
            Self::Strict(Scenario { name, version }) => vec![
                "--scenario".into(),
                name.into(),
                "--spec-version".into(),
                version.into(),
            ],
        }
    }

    /// Judges what the suite printed on a run that ended well.
    ///
    /// # Errors
    ///
    /// Says what is missing: a scenario that is passed over ends well, too.
    pub(super) fn judge(&self, said: &str) -> Result<(), String> {
        match self {
            Self::Requirements(_, wanted) => {
                let passed = score(said);
                if passed == *wanted {
                    return Ok(());
                }
                Err(format!("{passed} of {wanted} scenarios passed"))
            }
            Self::Strict(_) => {
                let mut lines = said.lines();
                if lines.any(|line| is_clean(line).unwrap_or(false)) {
                    return Ok(());
                }
                Err("not every check passed without a warning".to_owned())
            }
        }
    }
}

impl fmt::Display for ServerJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requirements(revision, wanted) => {
                write!(f, "requirements of {revision}, {wanted} scenarios")
            }
            Self::Strict(Scenario { name, version }) => write!(f, "{name} ({version})"),
        }
    }
}

/// Returns all jobs.
pub(super) fn jobs() -> Vec<ServerJob> {
    let whole = REVISIONS.iter();
    let whole = whole.map(|(revision, count)| ServerJob::Requirements(revision, *count));
    whole
        .chain(strict().into_iter().map(ServerJob::Strict))
        .collect()
}

/// Returns the scenarios that have to pass on their own.
pub(super) fn strict() -> Vec<Scenario> {
    expand(STRICT)
}

/// Tells whether a scenario of the suite's list is not ours to pass: it is of an extension.
pub(super) fn is_left_out(_name: &str, version: &str) -> bool {
    version == EXTENSION
}

/// Counts the scenarios that passed and count: `✓ ping: 2 passed, 0 failed` in the summary, without
/// those that are listed again, indented, as not scored.
fn score(said: &str) -> usize {
    let summary = said
        .split_once("=== SUMMARY ===")
        .map_or("", |(_, rest)| rest);
    let unscored: Vec<&str> = summary
        .lines()
        .filter_map(|line| line.strip_prefix("  ✓ ")?.split(' ').next())
        .collect();
    let passed = summary
        .lines()
        .filter_map(|line| line.strip_prefix("✓ ")?.split(':').next());
    passed.filter(|name| !unscored.contains(name)).count()
}

/// Reads `Passed: 3/3, 0 failed, 0 warnings`.
fn is_clean(line: &str) -> Option<bool> {
    let (passed, rest) = line.strip_prefix("Passed: ")?.split_once('/')?;
    let (all, rest) = rest.split_once(", ")?;
    Some(passed == all && all != "0" && rest == "0 failed, 0 warnings")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
=== Running scenario: ping ===
✓ not a line of the summary: 1 passed, 0 failed
=== SUMMARY ===
✓ ping: 2 passed, 0 failed
✓ caching: 8 passed, 0 failed
✗ tools-list: 1 passed, 1 failed
✓ server-sse-polling: 3 passed, 0 failed

Not scored for 2025-11-25: 1 scenario(s) run, 0 failing. These do not affect conformance.
  ✓ server-sse-polling (pending)
";

    #[test]
    fn the_score_counts_what_passed_and_is_required() {
        assert_eq!(score(SAID), 2);
        assert_eq!(score(""), 0);
        let judge = |wanted| ServerJob::Requirements("2025-11-25", wanted).judge(SAID);
        assert_eq!(judge(2), Ok(()));
        assert_eq!(judge(3), Err("2 of 3 scenarios passed".to_owned()));
    }

    #[test]
    fn a_warning_a_failure_and_nothing_at_all_are_no_success() {
        let job = ServerJob::Strict(Scenario {
            name: "ping",
            version: "2025-11-25",
        });
        let judge = |line: &str| job.judge(&format!("Test Results:\n{line}\n")).is_ok();
        assert!(judge("Passed: 3/3, 0 failed, 0 warnings"));
        for line in [
            "Passed: 3/3, 0 failed, 1 warnings",
            "Passed: 2/3, 1 failed, 0 warnings",
            "Passed: 0/0, 0 failed, 0 warnings",
            "SKIPPED: scenario 'ping' is not applicable",
        ] {
            assert!(!judge(line), "{line}");
        }
    }

    #[test]
    fn each_run_is_of_one_era() {
        let (modern, legacy): (Vec<_>, Vec<_>) = jobs().into_iter().partition(ServerJob::is_modern);
        assert_eq!(modern[0], ServerJob::Requirements("2026-07-28", 37));
        assert_eq!(legacy[0], ServerJob::Requirements("2025-11-25", 30));
        assert!(
            modern
                .iter()
                .all(|job| job.to_string().contains("2026-07-28"))
        );
        assert!(
            !legacy
                .iter()
                .any(|job| job.to_string().contains("2026-07-28"))
        );
    }

    #[test]
    fn the_requirements_come_first_and_every_scenario_after_them() {
        let names: Vec<String> = jobs().iter().map(ServerJob::to_string).take(3).collect();
        assert_eq!(
            names,
            [
                "requirements of 2025-11-25, 30 scenarios",
                "requirements of 2026-07-28, 37 scenarios",
                "server-initialize (2025-06-18)"
            ]
        );
    }
}
