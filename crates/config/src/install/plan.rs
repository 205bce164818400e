//! Decides what an install or an undo changes, from the texts of the files alone.

use serde_json::{Map, Value};
use switchboard_core::spec::ServerName;

use super::entry::{covers, starts_gateway};
use super::moving;
use super::record::{Before, FileEdit, Record};
use super::text::{set, unset, value_at};
use super::{InstallChange, InstallError, LeftReason, LeftServer, Target};
use crate::edit::held::RealFile;

/// The files of an install as they are.
pub(super) struct InstallFiles<'a> {
    pub(super) target: &'a Target,
    pub(super) name: &'a ServerName,
    /// The client's file, and its text.
    pub(super) real: &'a RealFile,
    pub(super) text: Option<&'a str>,
    /// The user's own file and its text, if servers are moved.
    pub(super) own: Option<(&'a RealFile, Option<&'a str>)>,
    pub(super) record: Option<&'a Record>,
}

/// A planned change.
pub(super) struct Plan {
    pub(super) change: InstallChange,
    /// The new text of the client's file; `None` if it does not exist afterwards.
    pub(super) text: Option<String>,
    /// The user's own file, if it changes.
    pub(super) own: Option<Before>,
    /// The new record.
    pub(super) record: Option<Record>,
    pub(super) moved: Vec<String>,
    pub(super) left: Vec<LeftServer>,
}

impl InstallFiles<'_> {
    fn plan(&self, change: InstallChange) -> Plan {
        Plan {
            change,
            text: self.text.map(str::to_owned),
            own: None,
            record: None,
            moved: Vec::new(),
            left: Vec::new(),
        }
    }

    /// The keys that lead to the entry.
    fn path(&self) -> Vec<&str> {
        let root = self.target.root().iter().map(String::as_str);
        root.chain([self.name.as_str()]).collect()
    }

    /// Returns true if an entry was written by an install, by whatever path the program had.
    fn is_ours(&self, found: &Value) -> bool {
        let recorded = self.record.map(|record| &record.entry);
        recorded.is_some_and(|entry| covers(found, entry)) || starts_gateway(found)
    }

    /// Plans an install of `entry`.
    pub(super) fn install(&self, entry: &Map<String, Value>) -> Result<Plan, InstallError> {
        let old = self.text.unwrap_or_default();
        let (mut change, mut text) = self.with_entry(old, entry)?;
        let mut plan = self.plan(change);
        let mut moved = self.record.and_then(|record| record.moved.clone());
        if let Some((real, own)) = self.own {
            let own_text = own.unwrap_or_default();
            let movable = moving::find(self.target, old, &real.path, own_text)?;
            plan.left = movable.left;
            if !movable.servers.is_empty() {
                let new = moving::add_to(own_text, &movable.servers)?;
                text = moving::take_from(self.target, &text, &movable.servers)?;
                plan.moved = movable.servers.iter().map(|it| it.to.clone()).collect();
                let record = moving::record(real, own, &new, movable.servers, moved.as_ref())?;
                moved = Some(record);
                plan.own = (own != Some(new.as_str())).then(|| Before {
                    text: Some(new),
                    missing: Vec::new(),
                });
                if change == InstallChange::Unchanged {
                    change = InstallChange::Updated;
                }
            }
        }
        plan.change = change;
        if change == InstallChange::Unchanged {
            return Ok(plan);
        }
        let before = self.before(change)?;
        let edit = FileEdit::new(&self.real.path, &before, &text);
        plan.record = Some(Record::new(self.name, entry.clone(), edit, moved));
        plan.text = Some(text);
        Ok(plan)
    }

    /// Sets the entry in a text.
    fn with_entry(
        &self,
        text: &str,
        entry: &Map<String, Value>,
    ) -> Result<(InstallChange, String), InstallError> {
        let path = self.path();
        let syntax = self.target.client().syntax();
        let Some(found) = value_at(syntax, text, &path)? else {
            let new = set(syntax, text, &path, &entry.clone().into())?;
            return Ok((InstallChange::Installed, new));
        };
        if covers(&found, entry) {
            return Ok((InstallChange::Unchanged, text.to_owned()));
        }
        if !self.is_ours(&found) {
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
        Ok((InstallChange::Updated, new))
    }

    /// The client's file as an undo restores it.
    fn before(&self, change: InstallChange) -> Result<Before, InstallError> {
        let now = Before {
            text: self.text.map(str::to_owned),
            missing: self.real.missing.clone(),
        };
        let (InstallChange::Updated, Some(record), Some(text)) = (change, self.record, self.text)
        else {
            return Ok(now);
        };
        // An undo leads back to the text before the first install.
        if let Some(first) = record.edit.before(text) {
            return Ok(first);
        }
        let without = unset(self.target.client().syntax(), text, &self.path())?;
        let moved = record.moved.iter().flat_map(|moved| &moved.servers);
        let moved: Vec<_> = moved.cloned().collect();
        Ok(Before {
            text: Some(moving::put_back(self.target, &without, &moved)?),
            missing: Vec::new(),
        })
    }

    /// Plans an undo.
    pub(super) fn undo(&self) -> Result<Plan, InstallError> {
        let moved = self.record.and_then(|record| record.moved.as_ref());
        let servers = moved.map_or(&[][..], |moved| &moved.servers);
        let mut plan = self.undo_in_client()?;
        // Nothing is taken out of the user's own file that the client does not have again.
        if let (Some(moved), Some((_, Some(own)))) = (moved, self.own)
            && plan.change.is_change()
        {
            let (before, kept) = moving::undo_in(own, moved)?;
            plan.own = (before.text.as_deref() != Some(own)).then_some(before);
            plan.moved = servers.iter().map(|server| server.to.clone()).collect();
            plan.left = kept
                .into_iter()
                .map(|name| LeftServer {
                    name,
                    reason: LeftReason::Changed,
                })
                .collect();
        }
        Ok(plan)
    }

    fn undo_in_client(&self) -> Result<Plan, InstallError> {
        let Some(text) = self.text else {
            return Ok(self.plan(InstallChange::NotInstalled));
        };
        if let Some(before) = self.record.and_then(|record| record.edit.before(text)) {
            let change = if before.text.is_some() {
                InstallChange::Restored
            } else {
                InstallChange::Deleted
            };
            let mut plan = self.plan(change);
            plan.text = before.text;
            return Ok(plan);
        }
        let path = self.path();
        let syntax = self.target.client().syntax();
        let mut new = text.to_owned();
        if let Some(found) = value_at(syntax, text, &path)? {
            if !self.is_ours(&found) {
                return Err(InstallError::NotOurs(self.name.clone()));
            }
            new = unset(syntax, text, &path)?;
        }
        if let Some(moved) = self.record.and_then(|record| record.moved.as_ref()) {
            new = moving::put_back(self.target, &new, &moved.servers)?;
        }
        if new == text {
            return Ok(self.plan(InstallChange::NotInstalled));
        }
        let mut plan = self.plan(InstallChange::Removed);
        plan.text = Some(new);
        Ok(plan)
    }
}
