//! What is wrong with config files, as a person or a program reads it.

use serde::Serialize;
use switchboard::Diagnosis;
use switchboard::config::{Config, Places, Problem, Severity};
use switchboard::host::{agents, surroundings};
use switchboard::spec::Origin;
use switchboard::text::sanitise_line;

use crate::exit::Exit;
use crate::report::{Failure, Report};
use crate::screen::Screen;

/// Everything that is wrong with config files, with what they need, and with the folder that their servers would be
/// started in.
pub(crate) fn all(config: &Config, places: &Places) -> Vec<Problem> {
    let mut problems = config.problems().to_vec();
    problems.extend(agents::problems(config));
    problems.extend(surroundings::problems(
        config,
        places.folder(),
        places.home(),
    ));
    problems
}

/// Where something stands, in JSON: see `docs/editing.md`.
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
pub(crate) struct Item<'p> {
    severity: &'static str,
    kind: String,
    server: Option<&'p str>,
    message: &'p str,
    source: Source,
    expected: Option<&'p str>,
    hints: &'p [String],
    excerpt: &'p [String],
}

/// Problems in JSON.
pub(crate) fn items<'p>(problems: impl IntoIterator<Item = &'p Problem>) -> Vec<Item<'p>> {
    let items = problems.into_iter().map(|problem| Item {
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

/// A problem with all that is known of it, for people.
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

/// A problem that cost what a command is about.
pub(crate) fn report(problem: &Problem) -> Failure {
    let diagnosis = Diagnosis::of_problem(problem);
    let report = Report::diagnosed(Exit::Configuration, "configuration", diagnosis);
    match problem.server() {
        Some(name) => report.server(name),
        None => report,
    }
}

/// Mentions what costs entries, for a verb that is about others.
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

/// `UnknownKey` as `unknown-key`.
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
