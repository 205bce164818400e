//! The files and servers that an import is about. Nothing is expanded, looked up or run.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use switchboard::config::{Client, Entry, Problem, import, read_file};
use switchboard::spec::{Layer, ServerName};
use switchboard::text::closest;
use switchboard::trust::Question;

use crate::approvals::Approvals;
use crate::args::Import;
use crate::exit::Exit;
use crate::problems;
use crate::report::{Failure, Report};
use crate::scope::Files;

/// A server that can be imported.
pub(crate) struct ImportCandidate {
    pub(crate) name: ServerName,
    /// The name in its file, if that is not valid here.
    pub(crate) original: Option<String>,
    pub(crate) entry: Entry,
    /// The question to answer before it is trusted; `None` if it is in the person's own file.
    pub(crate) question: Option<Question>,
}

/// The servers and problems found in the files.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) candidates: Vec<ImportCandidate>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<String>,
    pub(crate) notes: Vec<String>,
    /// The files that exist.
    pub(crate) files: Vec<PathBuf>,
}

/// Reads the files that the command line names.
///
/// # Errors
/// Fails if there is no such client or file.
pub(crate) fn find(args: &Import, files: &Files) -> Result<Found, Failure> {
    let folder = current_folder(files)?;
    let Some(source) = args.source.as_deref() else {
        return find_all(files, &folder);
    };
    // The name of a client wins over a file of that name, unless --from is given.
    let (client, looked_for) = sources(source, args.from, files, &folder)?;
    let mut found = Found::default();
    for (layer, file) in &looked_for {
        if fs::symlink_metadata(file).is_ok() {
            found.files.push(file.clone());
            found.read(file, layer, client, files, &folder)?;
        }
    }
    if !found.files.is_empty() {
        return Ok(found);
    }
    let mut report = Report::new(
        Exit::Configuration,
        "configuration",
        match source.parse::<Client>() {
            Ok(client) => format!("there is no config file of {client}"),
            Err(_) => "there is no such file".to_owned(),
        },
    );
    for (_, file) in looked_for {
        report = report.fact("looked for", file.display().to_string());
    }
    Err(report)
}

/// Reads the person's own files of all clients. Those of projects need a decision for each client.
fn find_all(files: &Files, folder: &Path) -> Result<Found, Failure> {
    let mut all = Found::default();
    for client in Client::ALL
        .iter()
        .copied()
        .filter(|client| *client != Client::Switchboard)
    {
        let mut found = Found::default();
        for (layer, file) in client.places(&files.environment, folder) {
            if fs::symlink_metadata(&file).is_err() {
                continue;
            }
            if layer != Layer::User {
                let note = format!(
                    "{} belongs to this project: `switchboard import {client}` reads it, and asks",
                    file.display()
                );
                all.notes.push(note);
                continue;
            }
            found.read(&file, &layer, client, files, folder)?;
            let count = found.candidates.len();
            let servers = if count == 1 { "server" } else { "servers" };
            all.notes
                .push(format!("{client}: {count} {servers} in {}", file.display()));
            all.files.push(file);
        }
        all.problems.append(&mut found.problems);
        all.notes.append(&mut found.notes);
        for candidate in found.candidates {
            // The first client that has a server of that name wins.
            let mut known = all.candidates.iter();
            match known.find(|known| known.name == candidate.name) {
                Some(_) => all.notes.push(format!(
                    "{} of {client} is left out: another client has a server of that name",
                    candidate.name
                )),
                None => all.candidates.push(candidate),
            }
        }
    }
    if all.files.is_empty() {
        all.notes
            .push("no client has a config file of yours".to_owned());
    }
    Ok(all)
}

fn current_folder(files: &Files) -> Result<PathBuf, Failure> {
    let folder = std::path::absolute(files.places.folder());
    match std::env::current_dir().or(folder) {
        Ok(folder) => Ok(folder),
        Err(error) => {
            let message = "the current folder cannot be found";
            let report = Report::new(Exit::Internal, "internal", message);
            Err(report.fact("the system says", error.to_string()))
        }
    }
}

/// Returns the files to read, the farthest first, and the client whose format they have.
fn sources(
    source: &str,
    from: Option<Client>,
    files: &Files,
    folder: &Path,
) -> Result<(Client, Vec<(Layer, PathBuf)>), Failure> {
    if from.is_none()
        && let Ok(client) = source.parse::<Client>()
    {
        return Ok((client, client.places(&files.environment, folder)));
    }
    let file = Path::new(source);
    let is_there = fs::symlink_metadata(file).is_ok();
    let is_word = !source.contains(['/', '\\', '.']);
    if !is_there && is_word {
        return Err(unknown(source));
    }
    let file = whole(file);
    let client = from.or_else(|| Client::of_file(&file));
    let client = client.unwrap_or(Client::Switchboard);
    // Only known user files are trusted: any other file may have come from anywhere.
    let mut own = client.places(&files.environment, folder);
    own.retain(|(layer, _)| *layer == Layer::User);
    let real = |file: &Path| fs::canonicalize(file).ok();
    let is_own = |(_, own): &(Layer, PathBuf)| real(own).is_some() && real(own) == real(&file);
    let layer = if own.iter().any(is_own) {
        Layer::User
    } else {
        Layer::Project
    };
    Ok((client, vec![(layer, file)]))
}

/// Returns the absolute path of a file with links resolved, because paths based on it are written down. A
/// folder such as `.cursor` keeps its name: it is part of the project and must not be a link.
fn whole(file: &Path) -> PathBuf {
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let is_dot = |folder: &&Path| {
        let name = folder.file_name().map(OsStr::to_string_lossy);
        name.is_some_and(|name| name.starts_with('.'))
    };
    let folder = whole.parent();
    let folder = folder.filter(is_dot).and_then(Path::parent).or(folder);
    let Some(folder) = folder else {
        return whole;
    };
    match (folder.canonicalize(), whole.strip_prefix(folder)) {
        (Ok(real), Ok(below)) => real.join(below),
        _ => whole,
    }
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = Client::ALL.iter().map(|client| client.name()).collect();
    let message = format!("{name:?}: unknown client, and no such file");
    let report = Report::usage(message);
    let report = match closest(name, names.iter().copied()) {
        Some(meant) => report.hint(format!("did you mean {meant:?}?")),
        None => report,
    };
    report.hint(format!("the clients: {}", names.join(", ")))
}

impl Found {
    fn read(
        &mut self,
        file: &Path,
        layer: &Layer,
        client: Client,
        files: &Files,
        folder: &Path,
    ) -> Result<(), Failure> {
        // Checked and read through the same open file: the path may point elsewhere a moment later.
        let text = match read_file(file, layer) {
            Ok(Some((text, warning))) => {
                self.problems.extend(warning);
                text
            }
            // It has vanished since it was looked for.
            Ok(None) => return Ok(()),
            Err(problem) => {
                self.problems.push(problem);
                return Ok(());
            }
        };
        let import::ClientFile {
            config,
            renamed,
            problems,
            ..
        } = import::read(&text, file, layer, client);
        self.problems.extend(problems);
        let approvals = Approvals::of(&config, &files.environment)?;
        // Some clients keep servers per project in one file: those of the current folder count.
        let own = config.entries().iter();
        let of_folders = config.shadowed().iter();
        let of_folders = of_folders.filter(|entry| entry.project().is_some());
        for entry in own.chain(of_folders) {
            match entry.project() {
                Some(project) if project != folder => {
                    let (name, project) = (entry.name(), project.display());
                    let note = format!("{name} is for {project} and not imported here");
                    self.notes.push(note);
                    continue;
                }
                _ => {}
            }
            let claim = approvals.claim(entry)?;
            let mut renamed = renamed.iter();
            let renamed = renamed.find(|renamed| renamed.to == entry.name().as_str());
            self.add(ImportCandidate {
                name: entry.name().clone(),
                original: renamed.map(|renamed| renamed.from.clone()),
                entry: entry.clone(),
                question: claim.map(|claim| Question::new(claim, Vec::new())),
            });
        }
        Ok(())
    }

    /// Adds a server, which replaces a farther one of the same name.
    fn add(&mut self, new: ImportCandidate) {
        let mut known = self.candidates.iter_mut();
        match known.find(|known| known.name == new.name) {
            Some(known) => *known = new,
            None => self.candidates.push(new),
        }
    }

    /// Keeps only the servers of these names.
    ///
    /// # Errors
    /// Fails if there is no server of one of the names.
    pub(crate) fn only(&mut self, names: &[String]) -> Result<(), Failure> {
        let is = |candidate: &ImportCandidate, name: &str| {
            candidate.name.as_str() == name || candidate.original.as_deref() == Some(name)
        };
        for name in names {
            if self.candidates.iter().any(|candidate| is(candidate, name)) {
                continue;
            }
            let mut problems = self.problems.iter();
            // The entry exists but is invalid: its problem is the better report.
            let bad = problems.find(|bad| bad.is_error() && bad.server() == Some(name));
            if let Some(problem) = bad {
                return Err(problems::report(problem));
            }
            let message = format!("there is no server named {name:?} to import");
            let mut report = Report::new(Exit::Configuration, "configuration", message);
            let known: Vec<&str> = self
                .candidates
                .iter()
                .map(|candidate| candidate.name.as_str())
                .collect();
            if let Some(meant) = closest(name, known.iter().copied()) {
                report = report.hint(format!("did you mean {meant:?}?"));
            }
            return Err(report.hint("list them: leave the name out, and add --dry-run"));
        }
        if !names.is_empty() {
            self.candidates
                .retain(|candidate| names.iter().any(|name| is(candidate, name)));
        }
        Ok(())
    }
}
