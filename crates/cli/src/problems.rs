//! Problems of config files as text and as JSON.

use serde::Serialize;
use switchboard::Diagnosis;
use switchboard::config::{Config, Places, Problem, Severity};
use switchboard::host::{agents, surroundings};
use switchboard::spec::Origin;
use switchboard::text::sanitise_line;

use crate::exit::Exit;
use crate::report::{Failure, Report};
use crate::screen::Screen;

/// Returns all problems of the config files, of the things that they need, and of the folder that servers are
/// started in.
pub(crate) fn all(config: &Config, places: &Places) -> Vec<Problem> {
    let mut problems = config.problems().to_vec();
    // The `agents` section and the surroundings are checked apart from the syntax of entries.
    problems.extend(agents::problems(config));
    problems.extend(surroundings::problems(
        config,
        places.folder(),
        places.home(),
    ));
    problems
}

/// The place of an entry in JSON: see `docs/editing.md`.
#[derive(Debug, Serialize)]
pub(crate) struct Source {
    file: Option<String>,
    layer: String,
    line: Option<usize>,
    column: Option<usize>,
}

impl Source {
    pub(crate) fn of(origin: &Origin) -> Self {
        let file = origin.file.as_deref();
        Self {
            file: file.map(|file| file.display().to_string()),
            layer: origin.layer.to_string(),
            line: origin.line,
            column: origin.column,
        }
    }
}

/// A problem in JSON: see `docs/editing.md`.
#[derive(Debug, Serialize)]
pub(crate) struct ProblemItem<'p> {
    severity: &'static str,
    kind: String,
    server: Option<&'p str>,
    message: &'p str,
    source: Source,
    expected: Option<&'p str>,
    hints: &'p [String],
    excerpt: &'p [String],
}

/// Converts problems to JSON items.
pub(crate) fn items<'p>(problems: impl IntoIterator<Item = &'p Problem>) -> Vec<ProblemItem<'p>> {
    let items = problems.into_iter().map(|problem| ProblemItem {
        severity: severity(problem),
        kind: kebab(&format!("{:?}", problem.kind())),
        server: problem.server(),
        message: problem.message(),
        source: Source {
            file: Some(problem.file().display().to_string()),
            layer: problem.layer().to_string(),
            line: problem.line(),
            column: problem.column(),
        },
        expected: problem.expected(),
        hints: problem.hints(),
        excerpt: problem.excerpt(),
    });
    items.collect()
}

/// Formats a problem in full.
pub(crate) fn text(problem: &Problem) -> String {
    let mut lines = vec![format!("{}: {problem}", severity(problem))];
    let excerpt = problem.excerpt().iter();
    lines.extend(excerpt.map(|line| format!("    {line}")));
    let expected = problem.expected();
    lines.extend(expected.map(|expected| format!("  expected: {expected}")));
    let hints = problem.hints().iter();
    lines.extend(hints.map(|hint| format!("  what to do: {hint}")));
    let lines = lines.iter().map(|line| sanitise_line(line));
    lines.map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Builds the report of a problem that keeps a command from working.
pub(crate) fn report(problem: &Problem) -> Failure {
    let diagnosis = Diagnosis::of_problem(problem);
    let report = Report::diagnosed(Exit::Configuration, "configuration", diagnosis);
    match problem.server() {
        Some(name) => report.server(name),
        None => report,
    }
}

/// Warns of problems that cost entries, for a command about other entries.
pub(crate) fn mention(config: &Config, screen: &Screen) {
    let errors = config.problems().iter();
    for problem in errors.filter(|problem| problem.is_error()) {
        screen.warn(&problem.to_string());
    }
}

fn severity(problem: &Problem) -> &'static str {
    match problem.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// Converts `UnknownKey` to `unknown-key`.
fn kebab(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
