//! `switchboard import`: copies servers of other clients (see `crate::importing`) into a config file, after
//! asking about those that are not known to be the person's own.

use serde::Serialize;
use serde_json::{Map, Value};
use switchboard::config::edit::Change;
use switchboard::config::import::convert;
use switchboard::config::{Config, Places, Reference, secrets_as_variables, secrets_in_clear};
use switchboard::text::sanitise_line;
use switchboard::trust::Question;

use super::add::exposure_warning;
use crate::args::Import;
use crate::ask;
use crate::editing::{change, notes, result};
use crate::exit::Exit;
use crate::importing::{Found, ImportCandidate, find};
use crate::problems::{self, Source};
use crate::report::{Failure, Report};
use crate::scope::{Files, Goal, place};
use crate::screen::{Screen, talk};

/// Copies servers from another client's config files.
pub(crate) fn run(args: &Import) -> Exit {
    let screen = Screen::plain(args.json);
    screen.finish(import(args, &screen))
}

/// A server that is to be written to the file.
struct Planned<'c> {
    candidate: &'c ImportCandidate,
    entry: Map<String, Value>,
    notes: Vec<String>,
}

/// The candidates of an import.
struct Plan<'c> {
    planned: Vec<Planned<'c>>,
    /// Candidates that are left out, with the reason.
    skipped: Vec<(&'c ImportCandidate, String)>,
}

fn import(args: &Import, screen: &Screen) -> Result<(), Failure> {
    let files = Files::read(args.target.config.as_deref())?;
    let goal = files.goal(&args.target)?;
    let mut found = find(args, &files)?;
    // Select before checking for problems: those of other servers do not matter.
    found.only(&args.names)?;
    if found.candidates.is_empty()
        && let Some(problem) = found.problems.iter().find(|problem| problem.is_error())
    {
        return Err(problems::report(problem));
    }
    // Before the question: the person must not approve an import that cannot be written.
    goal.check()?;
    let plan = plan(&found, &files, &goal, args.secrets_as_vars);
    if !args.dry_run {
        // One question for all servers; nothing is written before the answer.
        ask_permission(&plan.planned, &goal, args, screen)?;
        for planned in &plan.planned {
            let add = Change::Add {
                name: planned.candidate.name.clone(),
                entry: planned.entry.clone().into(),
                replace: false,
            };
            change(&goal, &add)?;
        }
    }
    let outcome = ImportOutcome {
        plan,
        found: &found,
        goal: &goal,
        is_dry_run: args.dry_run,
    };
    outcome.print(screen)
}

/// Splits the candidates into those to write and those whose name is taken.
fn plan<'c>(found: &'c Found, files: &Files, goal: &Goal, as_vars: bool) -> Plan<'c> {
    // Names in the target file are taken even if their entries are invalid.
    let there = Config::load(&Places::only(&goal.file));
    let is_taken = |name: &str| {
        let mut bad = there.problems().iter();
        there.get(name).is_some() || bad.any(|problem| problem.server() == Some(name))
    };
    // Only in a project's file are relative paths based on the current folder.
    let folder = goal.layer.needs_approval().then(|| files.places.folder());
    let mut planned = Vec::new();
    let mut skipped = Vec::new();
    for candidate in &found.candidates {
        if is_taken(candidate.name.as_str()) {
            let reason = format!("{} has a server of that name", goal.file.display());
            skipped.push((candidate, reason));
            continue;
        }
        let (mut entry, mut notes) = (convert(&candidate.entry, folder), remarks(candidate));
        if as_vars {
            let variables = secrets_as_variables(&candidate.name, &mut entry);
            notes.extend(
                variables.iter().map(|(name, _)| {
                    format!("{}: set {name} where switchboard runs", candidate.name)
                }),
            );
        }
        planned.push(Planned {
            candidate,
            entry,
            notes,
        });
    }
    Plan { planned, skipped }
}

fn remarks(candidate: &ImportCandidate) -> Vec<String> {
    let (name, entry) = (&candidate.name, &candidate.entry);
    let mut notes = Vec::new();
    if let Some(original) = &candidate.original {
        notes.push(format!("{original:?} is called {name} here"));
    }
    let suggested = &entry.settings().suggested_tools;
    if !suggested.is_empty() {
        let tools = suggested.join(", ");
        notes.push(format!(
            "{name}: the other client never asks about {tools}; nothing is granted by that here"
        ));
    }
    for reference in entry.references() {
        if let Reference::Input(id) = reference {
            notes.push(format!("{name} asks for the input {id:?}"));
        }
    }
    notes
}

/// Returns a short summary of what a candidate runs, under its name.
fn summary(question: &Question) -> impl Iterator<Item = String> {
    let name = format!("server: {}", question.claim.server);
    std::iter::once(name).chain(question.summary())
}

/// Asks the person before servers of a project's file are copied into their own file.
fn ask_permission(
    planned: &[Planned<'_>],
    goal: &Goal,
    args: &Import,
    screen: &Screen,
) -> Result<(), Failure> {
    if goal.layer.needs_approval() {
        return Ok(());
    }
    let mut seen: Vec<(String, Vec<String>)> = Vec::new();
    for planned in planned {
        if let Some(question) = &planned.candidate.question {
            let mut lines = ask::approval::lines(question);
            // The fingerprint is that of the source entry, not of the one that is written.
            lines.retain(|line| !line.starts_with("fingerprint: "));
            seen.push((planned.candidate.name.to_string(), lines));
        }
    }
    if seen.is_empty() {
        return Ok(());
    }
    if !screen.is_json() {
        for (_, lines) in &seen {
            ask::show(lines);
        }
    }
    if args.yes {
        return Ok(());
    }
    if !screen.is_json() && ask::is_attended() {
        let lines = seen.iter().map(|(_, lines)| lines.len()).sum();
        let questions = planned.iter();
        let questions = questions.filter_map(|planned| planned.candidate.question.as_ref());
        let short: Vec<String> = questions.flat_map(summary).collect();
        talk(&ask::approval::summary(&short, lines));
    }
    let file = goal.file.display();
    let question = format!("write this to {file}, where nothing is asked about any more?");
    let answer = if screen.is_json() {
        None
    } else {
        ask::is_yes(&question)
    };
    let message = match answer {
        Some(true) => return Ok(()),
        Some(false) => "nothing was imported",
        None => "what a project's file brings needs a yes before it is written to your own",
    };
    let mut report = Report::new(Exit::Denied, "untrusted", message);
    if screen.is_json() {
        for (name, lines) in seen {
            report = report.evidence(format!("what {name} wants to do"), lines);
        }
    }
    if answer.is_none() {
        report = report.hint("look at each of them, then run it again with --yes");
    }
    Err(report)
}

/// The outcome of an import, or of a dry run.
struct ImportOutcome<'c> {
    plan: Plan<'c>,
    found: &'c Found,
    goal: &'c Goal,
    is_dry_run: bool,
}

impl ImportOutcome<'_> {
    fn print(&self, screen: &Screen) -> Result<(), Failure> {
        let (found, planned) = (self.found, &self.plan.planned);
        // Warnings and remarks are part of the JSON document, so they are collected first.
        let warnings = self.warnings();
        let remarks = self.remarks();
        if screen.is_json() {
            return result(&self.document(&warnings, &remarks), screen);
        }
        for problem in &found.problems {
            screen.warn(&problem.to_string());
        }
        for warning in &warnings {
            screen.warn(warning);
        }
        for planned in planned {
            notes(&planned.notes);
        }
        for (candidate, reason) in &self.plan.skipped {
            notes(&[format!("{} is left out: {reason}", candidate.name)]);
        }
        if found.candidates.is_empty() && !found.files.is_empty() {
            let files = found.files.iter().map(|file| file.display().to_string());
            let files: Vec<String> = files.collect();
            notes(&[format!("there are no servers in {}", files.join(", "))]);
        }
        notes(&remarks);
        let verb = if self.is_dry_run {
            "would import"
        } else {
            "imported"
        };
        let lines = planned.iter().map(|planned| {
            let from = place(planned.candidate.entry.origin());
            let line = format!(
                "{verb} {} from {from} to {}",
                planned.candidate.name,
                self.goal.file.display()
            );
            format!("{}\n", sanitise_line(&line))
        });
        screen.result(&lines.collect::<String>())
    }

    /// Returns the warnings of the files, and those about secrets in clear in a project's file.
    fn warnings(&self) -> Vec<String> {
        let mut warnings = self.found.warnings.clone();
        for Planned {
            candidate, entry, ..
        } in &self.plan.planned
        {
            for what in secrets_in_clear(entry) {
                let name = &candidate.name;
                warnings.push(if self.goal.layer.needs_approval() {
                    format!("{name}: {}", exposure_warning(&what, self.goal))
                } else {
                    format!(
                        "{name}: {what} is a secret, copied in clear; --secrets-as-vars avoids it"
                    )
                });
            }
        }
        warnings
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.found.notes.clone();
        let is_written = !self.plan.planned.is_empty() && !self.is_dry_run;
        if self.goal.layer.needs_approval() && is_written {
            remarks.push("nothing of it is approved: `switchboard trust approve` asks".to_owned());
        }
        remarks
    }

    fn document<'a>(&'a self, warnings: &'a [String], notes: &'a [String]) -> ImportDocument<'a> {
        let imported = self.plan.planned.iter().map(|planned| Imported {
            server: planned.candidate.name.as_str(),
            original_name: planned.candidate.original.as_deref(),
            transport: planned.candidate.entry.transport().to_string(),
            source: Source::of(planned.candidate.entry.origin()),
            suggested_tools: &planned.candidate.entry.settings().suggested_tools,
            notes: &planned.notes,
        });
        let skipped = self.plan.skipped.iter().map(|(candidate, reason)| Skipped {
            server: candidate.name.as_str(),
            source: Source::of(candidate.entry.origin()),
            reason,
        });
        ImportDocument {
            file: self.goal.file.display().to_string(),
            layer: self.goal.layer.to_string(),
            dry_run: self.is_dry_run,
            imported: imported.collect(),
            skipped: skipped.collect(),
            problems: problems::items(&self.found.problems),
            notes,
            warnings,
        }
    }
}

/// The document of `import --json`: see `docs/editing.md`.
#[derive(Serialize)]
struct ImportDocument<'a> {
    file: String,
    layer: String,
    dry_run: bool,
    imported: Vec<Imported<'a>>,
    skipped: Vec<Skipped<'a>>,
    problems: Vec<problems::ProblemItem<'a>>,
    notes: &'a [String],
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Imported<'a> {
    server: &'a str,
    original_name: Option<&'a str>,
    transport: String,
    source: Source,
    suggested_tools: &'a [String],
    notes: &'a [String],
}

#[derive(Serialize)]
struct Skipped<'a> {
    server: &'a str,
    source: Source,
    reason: &'a str,
}
