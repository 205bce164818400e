//! Installs and removes the entry of a gateway.

use std::path::PathBuf;

use serde_json::{Map, Value};
use switchboard_core::spec::ServerName;

use super::diff::diff;
use super::entry::{covers, entry, starts_gateway};
use super::record::{Before, Record, RecordStore};
use super::text::{set, unset, value_at};
use super::{InstallChange, InstallError, Outcome, Target};
use crate::edit::held::{HeldFile, RealFile};
use crate::edit::{EditError, EditLimits};
use crate::{ProblemKind, read_client};

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
    limits: EditLimits,
}

/// A planned change of the file.
struct Plan {
    change: InstallChange,
    /// The new text; `None` deletes the file.
    text: Option<String>,
    /// The new record; `None` removes it.
    record: Option<Record>,
}

impl Installer {
    /// Creates an installer. `records` is a private folder for what [`Installer::undo`] needs.
    pub fn new(target: Target, name: ServerName, records: PathBuf) -> Self {
        Self {
            target,
            name,
            records,
            limits: EditLimits::default(),
        }
    }

    /// Adds the entry, or updates one that starts a gateway of this program.
    ///
    /// # Errors
    /// Fails if the file cannot be read, parsed or written, if another server has the name, or if a link leads out
    /// of the project. The file is unchanged then.
    pub fn install(&self, command: &GatewayCommand, mode: Mode) -> Result<Outcome, InstallError> {
        let entry = entry(self.target.client(), command)?;
        let real = self.target.real()?;
        self.run(&real, mode, |text, record| {
            self.plan_install(&real, text, record, &entry)
        })
    }

    /// Takes the entry out again. If the file is as the install left it, its text before is restored exactly.
    ///
    /// # Errors
    /// Fails like [`Installer::install`], and if the entry is not the one that was installed.
    pub fn undo(&self, mode: Mode) -> Result<Outcome, InstallError> {
        let real = self.target.real()?;
        // Without the folder there is no file, and nothing to undo: the folder must not be made for that.
        let mode = if real.missing.is_empty() {
            mode
        } else {
            Mode::DryRun
        };
        self.run(&real, mode, |text, record| self.plan_undo(text, record))
    }

    fn run(
        &self,
        real: &RealFile,
        mode: Mode,
        plan: impl FnOnce(Option<&str>, Option<&Record>) -> Result<Plan, InstallError>,
    ) -> Result<Outcome, InstallError> {
        let store = RecordStore::at(&self.records);
        let planned = |text: Option<&str>| -> Result<(Plan, Option<Record>), InstallError> {
            let record = store.read(&real.path, &self.name)?;
            let plan = plan(text, record.as_ref()).map_err(|error| self.with_place(error, text))?;
            Ok((plan, record))
        };
        if mode == Mode::DryRun {
            let text = real.read(&self.limits)?;
            let (plan, _) = planned(text.as_deref())?;
            return Ok(self.outcome(real, text.as_deref(), &plan));
        }
        real.hold(self.target.access(), &self.limits, |held| {
            let (plan, record) = planned(held.text())?;
            self.carry_out(held, &store, real, &plan, record.as_ref())?;
            Ok(self.outcome(real, held.text(), &plan))
        })?
    }

    fn outcome(&self, real: &RealFile, text: Option<&str>, plan: &Plan) -> Outcome {
        let diff = if plan.change.is_change() {
            let client = self.target.client();
            diff(client, &real.path, text, plan.text.as_deref())
        } else {
            String::new()
        };
        Outcome {
            change: plan.change,
            file: real.path.clone(),
            diff,
        }
    }

    fn plan_install(
        &self,
        real: &RealFile,
        text: Option<&str>,
        record: Option<&Record>,
        entry: &Map<String, Value>,
    ) -> Result<Plan, InstallError> {
        let before = Before {
            text: text.map(str::to_owned),
            missing: real.missing.clone(),
        };
        let text = text.unwrap_or_default();
        let path = self.path();
        let syntax = self.target.client().syntax();
        let installed = |change, text: String, before: &Before| Plan {
            change,
            record: Some(Record::new(
                &real.path,
                &self.name,
                entry.clone(),
                before,
                &text,
            )),
            text: Some(text),
        };
        let Some(found) = value_at(syntax, text, &path)? else {
            let new = set(syntax, text, &path, &entry.clone().into())?;
            return Ok(installed(InstallChange::Installed, new, &before));
        };
        if covers(&found, entry) {
            return Ok(Plan {
                change: InstallChange::Unchanged,
                text: before.text,
                record: None,
            });
        }
        let is_recorded = record.is_some_and(|record| covers(&found, &record.entry));
        if !is_recorded && !starts_gateway(&found) {
            return Err(InstallError::NameTaken(self.name.clone()));
        }
        // Only what differs, so that settings which the client has added stay.
        let mut new = text.to_owned();
        for (key, value) in entry {
            if found.get(key) != Some(value) {
                let path: Vec<&str> = path.iter().copied().chain([key.as_str()]).collect();
                new = set(syntax, &new, &path, value)?;
            }
        }
        // An undo leads back to the text before the first install.
        let before = match record {
            None => before,
            Some(record) => match record.original(text) {
                Some(original) => record.before(original),
                None => Before {
                    text: Some(unset(syntax, text, &path)?),
                    missing: Vec::new(),
                },
            },
        };
        Ok(installed(InstallChange::Updated, new, &before))
    }

    fn plan_undo(&self, text: Option<&str>, record: Option<&Record>) -> Result<Plan, InstallError> {
        let plan = |change, text| Plan {
            change,
            text,
            record: None,
        };
        let Some(text) = text else {
            return Ok(plan(InstallChange::NotInstalled, None));
        };
        if let Some(record) = record
            && let Some(original) = record.original(text)
        {
            return Ok(if record.existed {
                plan(InstallChange::Restored, Some(original))
            } else {
                plan(InstallChange::Deleted, None)
            });
        }
        let path = self.path();
        let syntax = self.target.client().syntax();
        let Some(found) = value_at(syntax, text, &path)? else {
            return Ok(plan(InstallChange::NotInstalled, Some(text.to_owned())));
        };
        let is_recorded = record.is_some_and(|record| covers(&found, &record.entry));
        if !is_recorded && !starts_gateway(&found) {
            return Err(InstallError::NotOurs(self.name.clone()));
        }
        Ok(plan(
            InstallChange::Removed,
            Some(unset(syntax, text, &path)?),
        ))
    }

    fn carry_out(
        &self,
        held: &HeldFile<'_>,
        store: &RecordStore,
        real: &RealFile,
        plan: &Plan,
        old: Option<&Record>,
    ) -> Result<(), InstallError> {
        let put = |record: Option<&Record>| store.put(&real.path, &self.name, record);
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
                let written = held.write(plan.text.as_deref().unwrap_or_default());
                if written.is_err() {
                    // The error of the write is the one to report; a record of no install does no harm.
                    let _ = put(old);
                }
                written?;
            }
            InstallChange::Restored | InstallChange::Removed | InstallChange::Deleted => {
                match &plan.text {
                    Some(text) => held.write(text)?,
                    None => held.delete()?,
                }
                if let (InstallChange::Deleted, Some(old)) = (plan.change, old) {
                    RealFile::remove_folders(&old.folders);
                }
                put(None)?;
            }
        }
        Ok(())
    }

    /// The keys that lead to the entry.
    fn path(&self) -> Vec<&str> {
        let root = self.target.root().iter().map(String::as_str);
        root.chain([self.name.as_str()]).collect()
    }

    /// Gives a syntax error its place and an excerpt, as the reader of config files does.
    fn with_place(&self, error: InstallError, text: Option<&str>) -> InstallError {
        if !matches!(error, InstallError::Edit(EditError::Syntax { .. })) {
            return error;
        }
        let target = &self.target;
        let text = text.unwrap_or_default();
        let config = read_client(text, target.file(), target.layer(), target.client());
        let mut problems = config.problems().iter();
        let broken = problems.find(|problem| {
            let kinds = [ProblemKind::Syntax, ProblemKind::TooDeep];
            kinds.contains(&problem.kind())
        });
        broken.cloned().map_or(error, InstallError::Broken)
    }
}
