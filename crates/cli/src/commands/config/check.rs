//! `switchboard config check`: reports the problems of config files, and packages without a version.

use std::path::Path;

use serde::Serialize;
use switchboard::config::{Config, FileRead, Places, Problem, ProblemKind, ReadOptions};
use switchboard::host::agents;
use switchboard::spec::packages::package_of;

use super::{Looked, count};
use crate::args::ConfigCheck;
use crate::editing::result;
use crate::exit::Exit;
use crate::problems;
use crate::report::{Failure, Report};
use crate::scope::Files;
use crate::screen::{Screen, talk};

/// Reports the problems of config files.
pub(super) fn check(args: &ConfigCheck, screen: &Screen) -> Result<(), Failure> {
    let mut read: Vec<FileRead> = Vec::new();
    let mut problems: Vec<Problem> = Vec::new();
    let options = ReadOptions::default().strict(args.strict);
    let files = Files::read_with(None, options)?;
    if args.files.is_empty() {
        read.extend_from_slice(files.config.files());
        problems.extend(of_all(&files));
    }
    for file in &args.files {
        let (one, its) = of_file(file, &files, options);
        read.extend(one);
        problems.extend(its);
    }
    let errors = problems.iter().filter(|problem| problem.is_error()).count();
    let warnings = problems.len() - errors;
    if screen.is_json() {
        let found = read.iter().map(|file| Looked {
            file: file.path.display().to_string(),
            layer: file.layer.to_string(),
            exists: None,
            servers: file.entries,
            refused: file.is_refused,
        });
        let document = Checked {
            files: found.collect(),
            problems: problems::items(&problems),
            errors,
            warnings,
        };
        result(&document, screen)?;
    } else {
        let texts = problems.iter().map(problems::text);
        screen.result(&texts.collect::<String>())?;
    }
    let summary = format!(
        "{} in {}: {}, {}",
        count(read.iter().map(|file| file.entries).sum(), "server"),
        count(read.len(), "file"),
        count(errors, "error"),
        count(warnings, "warning"),
    );
    // The problems are printed; the report only sets the exit code and the summary.
    if errors > 0 {
        return Err(Report::new(Exit::Configuration, "configuration", summary));
    }
    if !screen.is_json() {
        talk(&format!("{summary}\n"));
    }
    Ok(())
}

/// Checks one file. A file that belongs to the config here is checked with the rules of its layer.
fn of_file(file: &Path, files: &Files, options: ReadOptions) -> (Vec<FileRead>, Vec<Problem>) {
    let real = |file: &Path| std::fs::canonicalize(file).ok();
    let own = real(file);
    let mut known = files.config.files().iter();
    // Compared by real path: the same file may be named by a link.
    let known = known.find(|known| own.is_some() && real(&known.path) == own);
    if let Some(known) = known {
        let mut problems = of_all(files);
        problems.retain(|problem| problem.file() == known.path);
        return (vec![known.clone()], problems);
    }
    let config = Config::load_with(&Places::only(file), options);
    let mut problems = config.problems().to_vec();
    problems.extend(agents::problems(&config));
    problems.extend(agents::agents_with_level_alone(&config));
    problems.extend(unpinned(&config));
    (config.files().to_vec(), problems)
}

/// Returns all problems of the files that apply here, unpinned packages included.
fn of_all(files: &Files) -> Vec<Problem> {
    let mut problems = problems::all(&files.config, &files.places);
    problems.extend(agents::agents_with_level_alone(&files.config));
    problems.extend(unpinned(&files.config));
    problems
}

/// Returns a warning for each entry whose package has no version, and can thus change from one day to the
/// next.
pub(crate) fn unpinned(config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    for entry in config.entries() {
        let package = package_of(entry.value());
        let Some(package) = package.filter(|package| !package.is_pinned()) else {
            continue;
        };
        // The message does not name the package: it is a value of the file and may be secret.
        let runner = package.runner;
        let message = format!("{runner} runs the latest version: pin one");
        let hint = "pin a version that you have reviewed";
        problems.push(entry.warning(ProblemKind::Suspicious, &message, hint));
    }
    problems
}

/// The document of `config check --json`: see `docs/editing.md`.
#[derive(Serialize)]
struct Checked<'a> {
    files: Vec<Looked>,
    problems: Vec<problems::ProblemItem<'a>>,
    errors: usize,
    warnings: usize,
}
