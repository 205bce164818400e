//! Explains problems of config files.

use super::{Diagnosis, Step};
use crate::config::{Problem, ProblemKind};
use crate::error::Context;
use crate::spec::ServerName;

/// Explains a problem of a file.
pub(super) fn diagnose_problem(problem: &Problem) -> Diagnosis {
    let file = problem.file().display();
    let mut diagnosis = Diagnosis {
        title: match problem.line() {
            Some(_) => problem.message().to_owned(),
            None => format!("{file} cannot be used: {}", problem.message()),
        },
        steps: problem.hints().iter().cloned().map(Step::Do).collect(),
        ..Diagnosis::default()
    };
    let expected = problem.expected().map(|what| ("expected", what.to_owned()));
    diagnosis.facts.extend(expected);
    if !problem.excerpt().is_empty() {
        let lines = problem.excerpt().to_vec();
        diagnosis.evidence.push(("the file says", lines));
    }
    if problem.kind() == ProblemKind::NoTransport {
        let name = problem.server().unwrap_or("NAME");
        let sample = |members: &str| vec![format!("{name:?}: {{ {members} }}")];
        diagnosis.evidence.push((
            "one that is started looks like this",
            sample("\"command\": \"npx\", \"args\": [\"-y\", \"PACKAGE\"]"),
        ));
        diagnosis.evidence.push((
            "one that runs elsewhere looks like this",
            sample("\"url\": \"https://HOST/mcp\""),
        ));
    }
    diagnosis.causes = causes(problem.kind());
    diagnosis.steps.push(Step::CheckConfig {
        file: problem.file().to_owned(),
        line: problem.line(),
    });
    diagnosis
}

fn causes(kind: ProblemKind) -> Vec<String> {
    let causes: &[&str] = match kind {
        ProblemKind::Syntax => {
            &["a comma, a quote or a brace is missing or too many, here or just before"]
        }
        ProblemKind::UnsetVariable => {
            &["it is set in another shell, or in a file that this one has not read"]
        }
        ProblemKind::Refused => &["another user could have written the file"],
        _ => &[],
    };
    causes.iter().map(|cause| (*cause).to_owned()).collect()
}

impl Diagnosis {
    /// Explains a problem of a config file. No value of the file is in it.
    pub fn of_problem(problem: &Problem) -> Self {
        let server = problem
            .server()
            .and_then(|name| ServerName::parse(name).ok());
        Self {
            context: Context {
                server,
                file: Some(problem.file().to_owned()),
                layer: Some(problem.layer().to_string()),
                line: problem.line(),
                column: problem.column(),
                ..Context::default()
            },
            ..diagnose_problem(problem)
        }
    }
}
