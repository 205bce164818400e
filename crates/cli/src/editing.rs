//! Edits of config files, and the report of what was edited.

use serde::Serialize;
use switchboard::config::Entry;
use switchboard::config::edit::{Change, EditError, EditLimits, Edited, edit};
use switchboard::spec::{Origin, ServerName};
use switchboard::text::sanitise_line;
use switchboard::trust::Fingerprint;

use crate::approvals::Approval;
use crate::exit::Exit;
use crate::problems::Source;
use crate::report::{Failure, Report};
use crate::scope::Goal;
use crate::screen::{Screen, talk};

/// The outcome of an edit.
pub(crate) struct Done {
    pub(crate) server: ServerName,
    /// The change in one word: `added`, `replaced`, `removed`, `enabled`, `disabled` or `unchanged`.
    pub(crate) change: &'static str,
    /// The place of the entry, now or before the edit.
    pub(crate) origin: Origin,
    /// The approval status after the edit.
    pub(crate) approval: Approval,
    pub(crate) fingerprint: Option<Fingerprint>,
    /// Remarks.
    pub(crate) notes: Vec<String>,
    /// Warnings, which need an action.
    pub(crate) warnings: Vec<String>,
}

impl Done {
    pub(crate) fn new(server: ServerName, change: &'static str, goal: &Goal) -> Self {
        Self {
            server,
            change,
            origin: Origin::of_file(goal.layer.clone(), &goal.file, ""),
            approval: Approval::NotNeeded,
            fingerprint: None,
            notes: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Prints the outcome: the change on stdout, notes and warnings on stderr.
    pub(crate) fn print(&self, line: &str, screen: &Screen) -> Result<(), Failure> {
        for warning in &self.warnings {
            screen.warn(warning);
        }
        if screen.is_json() {
            return result(&self.document(), screen);
        }
        notes(&self.notes);
        screen.result(&format!("{}\n", sanitise_line(line)))
    }

    fn document(&self) -> EditDocument<'_> {
        EditDocument {
            server: self.server.as_str(),
            change: self.change,
            source: Source::of(&self.origin),
            approval: self.approval.word(),
            fingerprint: self.fingerprint.map(|fingerprint| fingerprint.to_string()),
            notes: &self.notes,
            warnings: &self.warnings,
        }
    }
}

/// The document of `add`, `remove`, `enable` and `disable` with `--json`: see `docs/editing.md`.
#[derive(Serialize)]
struct EditDocument<'a> {
    server: &'a str,
    change: &'a str,
    source: Source,
    approval: &'a str,
    fingerprint: Option<String>,
    notes: &'a [String],
    warnings: &'a [String],
}

/// Prints a document of `--json`.
pub(crate) fn result(document: &impl Serialize, screen: &Screen) -> Result<(), Failure> {
    screen.result(&screen.json_line(document)?)
}

/// Prints remarks on stderr.
pub(crate) fn notes(notes: &[String]) {
    for note in notes {
        talk(&format!("note: {}\n", sanitise_line(note)));
    }
}

/// Edits a config file.
pub(crate) fn change(goal: &Goal, change: &Change) -> Result<Edited, Failure> {
    // A link in the project could redirect the edit to another file.
    goal.check()?;
    edit(&goal.file, change, goal.access(), &EditLimits::default())
        .map_err(|error| edit_failure(&error, goal, change.name()))
}

/// Builds the report of a failed edit.
fn edit_failure(error: &EditError, goal: &Goal, name: &ServerName) -> Failure {
    let (exit, kind) = exit_of(error);
    let (message, at) = match error {
        EditError::Syntax { line, column, what } => (what.clone(), Some((*line, *column))),
        error => (error.to_string(), None),
    };
    let report = Report::new(exit, kind, message).server(name.as_str());
    let report = report.described_at(&goal.layer, &goal.file, at);
    let report = match std::error::Error::source(error) {
        Some(source) => report.fact("the system says", source.to_string()),
        None => report,
    };
    match error {
        EditError::Exists(_) => report.hint("use another name, or --replace to replace it"),
        EditError::Syntax { .. } => {
            let file = goal.file.display();
            report.hint(format!("`switchboard config check {file}` shows where"))
        }
        _ => report,
    }
}

/// Returns the exit code and the kind of a failed edit: errors of the system are internal, all others are problems
/// of the file.
pub(crate) fn exit_of(error: &EditError) -> (Exit, &'static str) {
    match error {
        EditError::Io { .. } | EditError::Busy { .. } => (Exit::Internal, "internal"),
        _ => (Exit::Configuration, "configuration"),
    }
}

/// Returns true if an entry is in the file that is edited.
pub(crate) fn is_of(entry: &Entry, goal: &Goal) -> bool {
    entry.origin().file.as_deref() == Some(&goal.file)
}
