//! Collects the problems of one file.

use std::ops::Range;
use std::sync::Arc;

use switchboard_core::secret::{self, MASK};
use switchboard_core::text::{closest, sanitise_line};

use super::excerpt::excerpt;
use super::limits::LIMITS;
use super::problem::{FilePlace, Problem, ProblemDetails, ProblemKind, Severity};
use super::read_options::ReadOptions;
use super::source::Source;

/// A problem without its position and excerpt.
pub(super) struct Note {
    severity: Severity,
    kind: ProblemKind,
    span: Range<usize>,
    message: String,
    expected: Option<String>,
    hints: Vec<String>,
}

impl Note {
    pub(super) fn error(kind: ProblemKind, span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            kind,
            span,
            message: message.into(),
            expected: None,
            hints: Vec::new(),
        }
    }

    pub(super) fn warning(
        kind: ProblemKind,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(kind, span, message)
        }
    }

    pub(super) fn expecting(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a suggestion if one of the candidates is similar.
    pub(super) fn did_you_mean<'c>(
        self,
        name: &str,
        candidates: impl IntoIterator<Item = &'c &'c str>,
    ) -> Self {
        match closest(name, candidates) {
            Some(meant) => self.hint(format!("did you mean `{meant}`?")),
            None => self,
        }
    }

    /// Converts to a problem, with its position in the file.
    pub(super) fn at(self, source: &Source, server: Option<&str>) -> Problem {
        let message = match server {
            Some(server) => format!("server {}: {}", quote_name(server), self.message),
            None => self.message,
        };
        Problem(Box::new(ProblemDetails {
            severity: self.severity,
            kind: self.kind,
            file: source.file.clone(),
            layer: source.layer.clone(),
            place: Some(source.place(self.span.start)),
            server: server.map(str::to_owned),
            message,
            expected: self.expected,
            hints: self.hints,
            excerpt: excerpt(source, &self.span),
        }))
    }
}

/// Collects the problems of one file.
pub(super) struct Report {
    pub(super) source: Arc<Source>,
    pub(super) options: ReadOptions,
    problems: Vec<Problem>,
    /// The number of problems beyond the limit.
    more: usize,
    /// The number of errors so far, including those beyond the limit.
    errors: usize,
    server: Option<String>,
}

impl Report {
    pub(super) fn new(source: Arc<Source>) -> Self {
        Self {
            source,
            options: ReadOptions::default(),
            problems: Vec::new(),
            more: 0,
            errors: 0,
            server: None,
        }
    }

    /// Sets the server whose entry the next problems are in.
    pub(super) fn set_server(&mut self, server: Option<&str>) {
        self.server = server.map(str::to_owned);
    }

    pub(super) fn add(&mut self, mut note: Note) {
        if self.options.strict && note.kind == ProblemKind::UnknownKey {
            note.severity = Severity::Error;
        }
        // Errors count even beyond the limit: an entry with one must not be used.
        if note.severity == Severity::Error {
            self.errors += 1;
        }
        // Each excerpt scans its line, and a line may be as long as the file: so stop at a limit.
        if !self.is_full() {
            self.problems
                .push(note.at(&self.source, self.server.as_deref()));
        } else {
            self.more += 1;
        }
    }

    /// Adds a problem that already has its position.
    pub(super) fn push(&mut self, problem: Problem) {
        self.errors += usize::from(problem.is_error());
        if self.is_full() {
            self.more += 1;
        } else {
            self.problems.push(problem);
        }
    }

    /// Returns true if further problems are only counted, so that searching for a hint is pointless.
    pub(super) fn is_full(&self) -> bool {
        self.problems.len() >= LIMITS.problems
    }

    /// Returns true if there is an error of this kind so far.
    pub(super) fn has_error(&self, kind: ProblemKind) -> bool {
        let mut problems = self.problems.iter();
        problems.any(|problem| problem.is_error() && problem.kind() == kind)
    }

    pub(super) fn errors(&self) -> usize {
        self.errors
    }

    /// Returns all problems, and the number of those beyond the limit.
    pub(super) fn finish(mut self) -> Vec<Problem> {
        if self.more > 0 {
            let place = FilePlace {
                file: &self.source.file,
                layer: &self.source.layer,
            };
            let message = format!("{} more problems are not shown", self.more);
            self.problems.push(Problem::of_file(
                Severity::Warning,
                ProblemKind::More,
                place,
                message,
            ));
        }
        self.problems
    }

    /// Returns the first error, for callers that report only one.
    pub(super) fn first_error(self) -> Option<Problem> {
        self.problems.into_iter().find(Problem::is_error)
    }
}

/// Quotes a name or a key for a message: shortened, sanitised, and masked if it looks like a secret in
/// the wrong place.
pub(super) fn quote_name(name: &str) -> String {
    if is_secret(name) {
        return format!("\"{MASK}\"");
    }
    let cut: String = name.chars().take(LIMITS.name_chars).collect();
    let more = if cut.len() < name.len() { "..." } else { "" };
    format!("\"{}{more}\"", sanitise_line(&cut))
}

/// Returns true if a key looks like a secret in the wrong place.
pub(super) fn is_secret(key: &str) -> bool {
    // No token is that short, but most keys are: a fast path, as a file may have very many of them.
    if key.len() <= 12 && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return false;
    }
    secret::is_secret("", key)
}
