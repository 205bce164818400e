//! Installs and removes the entry of a gateway.

use std::path::{Path, PathBuf};

use switchboard_core::spec::{Layer, ServerName};

use super::diff::diff;
use super::entry::entry;
use super::plan::{InstallFiles, Plan};
use super::record::{Record, RecordStore};
use super::text::value_at;
use super::{InstallChange, InstallError, Outcome, Target};
use crate::edit::held::{HeldFile, RealFile};
use crate::edit::{Access, EditError, EditLimits};
use crate::{Client, Problem, ProblemKind, read_client};

/// The command that starts a gateway over stdio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayCommand {
    /// The path of the program, which should be absolute: clients start it from other folders.
    pub program: PathBuf,
    /// Its arguments after `serve`.
    pub arguments: Vec<String>,
}

/// Whether changes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Changes are written.
    Write,
    /// Changes are only described; no file or folder is created.
    DryRun,
}

/// Installs a gateway into one file under one name.
#[derive(Debug, Clone)]
pub struct Installer {
    target: Target,
    name: ServerName,
    records: PathBuf,
    own_file: Option<PathBuf>,
    limits: EditLimits,
}

/// The files that an install changes.
struct Files {
    client: RealFile,
    /// The user's own file, if servers are moved.
    own: Option<RealFile>,
}

/// What decides on the changes.
type Decide<'a> = &'a dyn Fn(&InstallFiles<'_>) -> Result<Plan, InstallError>;

impl Installer {
    /// Creates an installer. `records` is a private folder for what [`Installer::undo`] needs.
    pub fn new(target: Target, name: ServerName, records: PathBuf) -> Self {
        Self {
            target,
            name,
            records,
            own_file: None,
            limits: EditLimits::default(),
        }
    }

    /// Moves the client's servers to the user's own file, so that only the gateway is left in the client's. Servers
    /// that cannot be moved stay: [`Outcome::left`] has them.
    #[must_use]
    pub fn moving_to(mut self, own_file: PathBuf) -> Self {
        self.own_file = Some(own_file);
        self
    }

    /// Adds the entry, or updates one that starts a gateway of this program.
    ///
    /// # Errors
    /// Fails if a file cannot be read, parsed or written, if another server has the name, or if a link leads out
    /// of the project. The files are unchanged then.
    pub fn install(&self, command: &GatewayCommand, mode: Mode) -> Result<Outcome, InstallError> {
        let entry = entry(self.target.client(), command)?;
        let own = self.own_file.as_deref().map(RealFile::of).transpose()?;
        let client = self.target.real()?;
        self.run(&Files { client, own }, mode, &|found| found.install(&entry))
    }

    /// Takes the entry out again, and brings moved servers back. If a file is as the install left it, its text before
    /// is restored exactly.
    ///
    /// # Errors
    /// Fails like [`Installer::install`], and if the entry is not the one that was installed.
    pub fn undo(&self, mode: Mode) -> Result<Outcome, InstallError> {
        let client = self.target.real()?;
        let record = self.store().read(&client.path, &self.name)?;
        let moved = record.and_then(|record| record.moved);
        let own = moved
            .map(|moved| RealFile::of(Path::new(&moved.file)))
            .transpose()?;
        // No folder is made for an undo: without it there is no file, and nothing to take out.
        let own = own.filter(|own| own.missing.is_empty());
        let mode = if client.missing.is_empty() {
            mode
        } else {
            Mode::DryRun
        };
        self.run(&Files { client, own }, mode, &|found| found.undo())
    }

    fn run(&self, files: &Files, mode: Mode, decide: Decide<'_>) -> Result<Outcome, InstallError> {
        let (client, limits) = (&files.client, &self.limits);
        match (mode, &files.own) {
            (Mode::DryRun, own) => {
                let text = client.read(limits)?;
                let own = match own {
                    Some(own) => own.read(limits)?,
                    None => None,
                };
                let (plan, _) = self.plan(files, text.as_deref(), own.as_deref(), decide)?;
                Ok(self.outcome(files, text.as_deref(), own.as_deref(), plan))
            }
            (Mode::Write, None) => client.hold(self.target.access(), limits, |held| {
                self.change(files, held, None, decide)
            })?,
            // Always the client's file first, so that two installs cannot wait for each other.
            (Mode::Write, Some(own)) => client.hold(self.target.access(), limits, |held| {
                own.hold(Access::Private, limits, |own| {
                    self.change(files, held, Some(own), decide)
                })?
            })?,
        }
    }

    fn store(&self) -> RecordStore<'_> {
        RecordStore::at(&self.records, self.target.root())
    }

    fn plan(
        &self,
        files: &Files,
        text: Option<&str>,
        own: Option<&str>,
        decide: Decide<'_>,
    ) -> Result<(Plan, Option<Record>), InstallError> {
        // Broken files are found first, with a place: the edits would name none.
        self.check(self.target.file(), self.target.client(), text)?;
        if let Some(file) = &files.own {
            self.check(&file.path, Client::Switchboard, own)?;
        }
        let record = self.store().read(&files.client.path, &self.name)?;
        let plan = decide(&InstallFiles {
            target: &self.target,
            name: &self.name,
            real: &files.client,
            text,
            own: files.own.as_ref().map(|file| (file, own)),
            record: record.as_ref(),
        })?;
        Ok((plan, record))
    }

    /// Plans and carries out a change of files that are held.
    fn change(
        &self,
        files: &Files,
        client: &HeldFile<'_>,
        own: Option<&HeldFile<'_>>,
        decide: Decide<'_>,
    ) -> Result<Outcome, InstallError> {
        let own_text = own.and_then(HeldFile::text);
        let (plan, old) = self.plan(files, client.text(), own_text, decide)?;
        let store = self.store();
        let put = |record: Option<&Record>| store.put(&files.client.path, &self.name, record);
        let write_own = || match (&plan.own, own) {
            (Some(new), Some(own)) => write(own, new.text.as_deref(), &new.missing),
            _ => Ok(()),
        };
        let folders = |record: Option<&Record>| -> Vec<PathBuf> {
            let folders = record.map_or(&[][..], |record| &record.edit.folders);
            folders.iter().map(PathBuf::from).collect()
        };
        match plan.change {
            InstallChange::Unchanged => {}
            InstallChange::NotInstalled => {
                if old.is_some() {
                    put(None)?;
                }
            }
            InstallChange::Installed | InstallChange::Updated => {
                // The record first: without it, an install that was interrupted could not be undone.
                put(plan.record.as_ref())?;
                // Our file before the client's: a server may be in both for a moment, but never in none.
                let done = write_own().and_then(|()| {
                    write(client, plan.text.as_deref(), &[]).inspect_err(|_| {
                        if let (Some(_), Some(own), Some(file)) = (&plan.own, own, &files.own) {
                            // The error of the write is the one to report.
                            let _ = own.restore();
                            RealFile::remove_folders(&file.missing);
                        }
                    })
                });
                if done.is_err() {
                    // A record of no install does no harm.
                    let _ = put(old.as_ref());
                }
                done?;
            }
            InstallChange::Restored | InstallChange::Removed | InstallChange::Deleted => {
                let made = if plan.change == InstallChange::Deleted {
                    folders(old.as_ref())
                } else {
                    Vec::new()
                };
                write(client, plan.text.as_deref(), &made)?;
                write_own()?;
                put(None)?;
            }
        }
        Ok(self.outcome(files, client.text(), own_text, plan))
    }

    fn outcome(&self, files: &Files, text: Option<&str>, own: Option<&str>, plan: Plan) -> Outcome {
        let path = &files.client.path;
        let mut shown = String::new();
        if plan.change.is_change() {
            shown = diff(self.target.client(), path, text, plan.text.as_deref());
        }
        if let (Some(file), Some(new)) = (&files.own, &plan.own) {
            let new = new.text.as_deref();
            shown.push_str(&diff(Client::Switchboard, &file.path, own, new));
        }
        let own_file = files.own.as_ref().map(|file| file.path.clone());
        Outcome {
            change: plan.change,
            file: path.clone(),
            diff: shown,
            own_file: own_file.filter(|_| !plan.moved.is_empty()),
            moved: plan.moved,
            left: plan.left,
        }
    }

    /// Refuses a text that cannot be parsed, with its place and an excerpt, as the reader of config files does.
    fn check(&self, file: &Path, client: Client, text: Option<&str>) -> Result<(), InstallError> {
        let text = text.unwrap_or_default();
        let Err(error) = value_at(client.syntax(), text, &[]) else {
            return Ok(());
        };
        let layer = if client == self.target.client() {
            self.target.layer()
        } else {
            Layer::User
        };
        let config = read_client(text, file, layer, client);
        let is_broken = |problem: &&Problem| {
            let kinds = [ProblemKind::Syntax, ProblemKind::TooDeep];
            kinds.contains(&problem.kind())
        };
        let problem = config.problems().iter().find(is_broken);
        Err(problem.map_or(InstallError::Edit(error), |problem| {
            InstallError::Broken(problem.clone())
        }))
    }
}

/// Writes a file, or deletes it with the folders that were made for it.
fn write(held: &HeldFile<'_>, text: Option<&str>, folders: &[PathBuf]) -> Result<(), EditError> {
    match text {
        Some(text) if held.text() == Some(text) => Ok(()),
        Some(text) => held.write(text),
        None if held.text().is_none() => Ok(()),
        None => {
            held.delete()?;
            RealFile::remove_folders(folders);
            Ok(())
        }
    }
}
