//! `switchboard remove`, `switchboard enable` and `switchboard disable`: edits of an existing entry, and of
//! its approval.

use std::path::PathBuf;

use serde_json::Value;
use switchboard::config::Entry;
use switchboard::config::edit::Change;
use switchboard::trust::{Claim, Content, EnvFile, Question};

use crate::approvals::{Approval, Approvals};
use crate::args::Edit;
use crate::editing::{Done, change, is_of};
use crate::exit::Exit;
use crate::login::LeftLogin;
use crate::problems;
use crate::report::Failure;
use crate::scope::{Files, Goal, place, server_name};
use crate::screen::Screen;

/// Takes a server out of its config file.
pub(crate) fn remove(args: &Edit) -> Exit {
    let screen = Screen::plain(args.json);
    screen.finish(remove_entry(args, &screen))
}

fn remove_entry(args: &Edit, screen: &Screen) -> Result<(), Failure> {
    let name = server_name(&args.name)?;
    let mut files = Files::read(args.target.config.as_deref())?;
    let goal = files.owner(name.as_str(), &args.target)?;
    let approvals = Approvals::of(&files.config, &files.environment)?;
    let entry = files.config.get(name.as_str());
    let entry = entry.filter(|entry| is_of(entry, &goal));
    // Approvals that cannot be read are no reason not to remove.
    // Looked up before the edit: afterwards there is no entry to compute a fingerprint of.
    let looked = entry.and_then(|entry| approvals.look(entry).ok());
    let login = entry.and_then(|entry| LeftLogin::of(entry, &files.environment));
    change(&goal, &Change::Remove { name: name.clone() })?;
    let mut done = Done::new(name, "removed", &goal);
    let mut line = format!("removed {} from {}", done.server, goal.file.display());
    // If the entry comes back with the next checkout, it must be approved again.
    if let Some((Approval::Given, Some(question))) = looked {
        approvals.forget(&question.claim)?;
        line.push_str(", and its approval");
    }
    files.again();
    if let Some(entry) = files.config.get(done.server.as_str()) {
        let place = place(entry.origin());
        done.notes.push(format!(
            "the server of the same name in {place} is used now"
        ));
    }
    if let Some(login) = login {
        let note = login.settle(done.server.as_str(), screen);
        done.notes.push(note);
    }
    problems::mention(&files.config, screen);
    done.print(&line, screen)
}

/// The wanted state of a server in its config file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Switch {
    On,
    Off,
}

/// Switches a server on or off in its config file.
pub(crate) fn toggle(args: &Edit, switch: Switch) -> Exit {
    let screen = Screen::plain(args.json);
    screen.finish(switch_entry(args, switch, &screen))
}

fn switch_entry(args: &Edit, switch: Switch, screen: &Screen) -> Result<(), Failure> {
    let name = server_name(&args.name)?;
    let mut files = Files::read(args.target.config.as_deref())?;
    let goal = files.owner(name.as_str(), &args.target)?;
    let before = used_entry(&files, name.as_str(), &goal).cloned();
    let approvals = Approvals::of(&files.config, &files.environment)?;
    // Approvals that cannot be read are no reason not to switch.
    let was = before.as_ref().and_then(|entry| approvals.look(entry).ok());
    let (word, wanted) = match switch {
        Switch::On => ("enabled", Change::Enable { name: name.clone() }),
        Switch::Off => ("disabled", Change::Disable { name: name.clone() }),
    };
    let edited = change(&goal, &wanted)?;
    // Reload, because `defaults` of the file may override the edit.
    files.again();
    let word_done = if edited.is_changed { word } else { "unchanged" };
    let mut done = Done::new(name, word_done, &goal);
    let after = used_entry(&files, done.server.as_str(), &goal);
    match after {
        Some(after) => {
            done.origin = after.origin().clone();
            if after.is_enabled() != (switch == Switch::On) {
                done.warnings.push(format!(
                    "it is still not {word}: `defaults` of the file override it"
                ));
            }
        }
        None => warn_of_other(&files, &mut done),
    }
    let before = before.as_ref().map(|entry| Before {
        entry,
        approval: was,
    });
    let settled = settle(before, after, &files, &mut done);
    let (name, file) = (&done.server, goal.file.display());
    let line = match done.change {
        "unchanged" => format!("{name} is already {word} in {file}"),
        word => format!("{word} {name} in {file}"),
    };
    problems::mention(&files.config, screen);
    done.print(&line, screen)?;
    settled
}

/// Returns the entry of that name if the file of `goal` is the one that is used.
fn used_entry<'f>(files: &'f Files, name: &str, goal: &Goal) -> Option<&'f Entry> {
    let entry = files.config.get(name);
    entry.filter(|entry| is_of(entry, goal))
}

fn warn_of_other(files: &Files, done: &mut Done) {
    if let Some(entry) = files.config.get(done.server.as_str()) {
        let place = place(entry.origin());
        done.warnings.push(format!(
            "no effect here: the server of the same name in {place} is used"
        ));
    }
}

/// Returns the files that an approval binds besides the entry.
fn bound_files(claim: &Claim) -> (&Option<PathBuf>, &Option<EnvFile>, &[Content]) {
    (&claim.program, &claim.env_file, &claim.contents)
}

/// An entry before the switch, with its approval if that could be looked up.
struct Before<'e> {
    entry: &'e Entry,
    approval: Option<(Approval, Option<Question>)>,
}

/// Carries an approval over the switch, if nothing but `enabled` has changed.
fn settle(
    before: Option<Before<'_>>,
    after: Option<&Entry>,
    files: &Files,
    done: &mut Done,
) -> Result<(), Failure> {
    let Some(after) = after else { return Ok(()) };
    let approvals = Approvals::of(&files.config, &files.environment)?;
    let (now, question) = approvals.look(after)?;
    done.approval = now;
    let Some(question) = question else {
        return Ok(());
    };
    done.fingerprint = Some(question.fingerprint);
    let is_same = before
        .as_ref()
        .is_some_and(|before| without_switch(before.entry) == without_switch(after));
    // The bound files were read before and after the edit, and may have changed in between.
    let was = before.and_then(|before| before.approval);
    let is_bound_alike = matches!(&was, Some((Approval::Given, Some(was)))
        if bound_files(&was.claim) == bound_files(&question.claim));
    if is_bound_alike && is_same && !done.approval.is_settled() {
        approvals.approve(&question.claim)?;
        done.approval = Approval::Given;
    }
    if !done.approval.is_settled() && after.is_enabled() {
        done.notes.push(format!(
            "it is not approved: `switchboard trust approve {}` shows it and asks",
            done.server
        ));
    }
    Ok(())
}

/// Returns an entry without its `enabled` member.
fn without_switch(entry: &Entry) -> Value {
    let mut value = entry.value().clone();
    if let Some(members) = value.as_object_mut() {
        members.remove("enabled");
    }
    value
}
