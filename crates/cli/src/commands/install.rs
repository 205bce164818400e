//! `switchboard install`: puts the gateway into another client's config file (see
//! `switchboard::config::install`), and takes it out again.

use std::path::{Path, PathBuf};

use serde::Serialize;
use switchboard::config::install::{
    GatewayCommand, InstallChange, InstallError, InstallScope, Installer, LeftReason, Mode,
    Outcome, Target,
};
use switchboard::config::{Client, Places};
use switchboard::text::sanitise_line;
use switchboard::transport::Environment;

use crate::args::{Install, Reach};
use crate::editing::{exit_of, notes, result};
use crate::exit::Exit;
use crate::problems;
use crate::report::{Failure, Report};
use crate::scope::{places, server_name};
use crate::screen::Screen;
use crate::state;

/// Installs the gateway into a client, or removes it.
pub(crate) fn run(args: &Install) -> Exit {
    let screen = Screen::plain(args.json);
    screen.finish(install(args, &screen))
}

fn install(args: &Install, screen: &Screen) -> Result<(), Failure> {
    let environment = Environment::of_process();
    let name = server_name(&args.name)?;
    let client: Client = args
        .to
        .parse()
        .map_err(|error: switchboard::config::ParseClientError| Report::usage(error.to_string()))?;
    let scope = match args.scope {
        Reach::User => InstallScope::User,
        Reach::Project => InstallScope::Project,
        Reach::Local => InstallScope::Local,
    };
    let places = places(None, &environment)?;
    let target = Target::find(client, scope, &environment, places.folder());
    let target = target.map_err(|error| failure(&error, None))?;
    let records = state::installs(&environment).ok_or_else(|| {
        let message = "cannot determine the folder for the record of the install";
        Report::new(Exit::Configuration, "configuration", message)
            .hint("set HOME, or XDG_STATE_HOME to an absolute path")
    })?;
    let mode = if args.dry_run {
        Mode::DryRun
    } else {
        Mode::Write
    };
    let mut installer = Installer::new(target.clone(), name, records);
    // Found before the file of the client is touched: a server must have a place to go to.
    if args.moves {
        installer = installer.moving_to(own_file(&places, scope)?);
    }
    let done = if args.undo {
        installer.undo(mode)
    } else {
        let command = GatewayCommand {
            program: this_program(&environment)?,
            arguments: serve_arguments(args),
        };
        installer.install(&command, mode)
    };
    let outcome = done.map_err(|error| failure(&error, Some(&target)))?;
    print(args, &target, &outcome, screen)
}

/// Returns the arguments of `serve` in the entry.
fn serve_arguments(args: &Install) -> Vec<String> {
    let options = [
        ("--profile", args.profile.clone()),
        ("--as", args.agent.as_ref().map(ToString::to_string)),
    ];
    let given = options.into_iter();
    let given = given.filter_map(|(option, value)| Some([option.to_owned(), value?]));
    given.flatten().collect()
}

/// Returns the file that servers are moved to.
fn own_file(places: &Places, scope: InstallScope) -> Result<PathBuf, Failure> {
    if scope != InstallScope::User {
        let message = "--move is for your own servers: those of a project stay with it";
        return Err(Report::usage(message).hint("leave --move out, or install with --scope user"));
    }
    places.user_file().map(Path::to_owned).ok_or_else(|| {
        let message = "cannot determine the folder of your config file";
        Report::new(Exit::Configuration, "configuration", message)
            .hint("set HOME, or XDG_CONFIG_HOME to an absolute path")
    })
}

/// Returns the path of this program for other programs to start.
///
/// The name in `PATH` is better than the file that it leads to: a package manager replaces that with each version.
fn this_program(environment: &Environment) -> Result<PathBuf, Failure> {
    let own = std::env::current_exe().map_err(|error| {
        let message = "cannot determine the path of this program";
        Report::new(Exit::Internal, "internal", message).fact("the system says", error.to_string())
    })?;
    let real = own.canonicalize().ok();
    let folders = environment.get("PATH").map(|path| path.expose().to_owned());
    let name = own.file_name().unwrap_or_default();
    let in_path = std::env::split_paths(&folders.unwrap_or_default())
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| real.is_some() && file.canonicalize().ok() == real);
    Ok(in_path.unwrap_or(own))
}

fn print(
    args: &Install,
    target: &Target,
    outcome: &Outcome,
    screen: &Screen,
) -> Result<(), Failure> {
    let mut remarks = remarks(args, target, outcome);
    let left = outcome.left.iter();
    let left: Vec<(&str, &str)> = left
        .map(|left| (left.name.as_str(), reason(left.reason)))
        .collect();
    if screen.is_json() {
        let document = InstallDocument {
            client: target.client().name(),
            server: &args.name,
            file: outcome.file.display().to_string(),
            layer: target.layer().to_string(),
            change: word(outcome.change),
            dry_run: args.dry_run,
            diff: &outcome.diff,
            moved: &outcome.moved,
            left: left
                .iter()
                .map(|(server, reason)| LeftItem { server, reason })
                .collect(),
            own_file: outcome
                .own_file
                .as_ref()
                .map(|file| file.display().to_string()),
            notes: &remarks,
        };
        return result(&document, screen);
    }
    remarks.extend(
        left.iter()
            .map(|(server, reason)| format!("{server} is not moved: {reason}")),
    );
    // On stderr, so that stdout has the change alone.
    notes(&remarks);
    let mut text = if args.dry_run {
        outcome.diff.clone()
    } else {
        String::new()
    };
    for line in std::iter::once(sentence(args, outcome)).chain(moved(args, outcome)) {
        text.push_str(&sanitise_line(&line));
        text.push('\n');
    }
    screen.result(&text)
}

fn sentence(args: &Install, outcome: &Outcome) -> String {
    let (name, file) = (&args.name, outcome.file.display());
    let would = |done: &str, plan: &str| {
        if args.dry_run {
            format!("would {plan}")
        } else {
            done.to_owned()
        }
    };
    match outcome.change {
        InstallChange::Installed => format!("{} {name} in {file}", would("installed", "install")),
        InstallChange::Updated => format!("{} {name} in {file}", would("updated", "update")),
        InstallChange::Unchanged => format!("{file} already has {name}"),
        InstallChange::Restored => {
            format!(
                "{} {file} to the text before the install",
                would("restored", "restore")
            )
        }
        InstallChange::Deleted => {
            format!(
                "{} {file}, which the install had created",
                would("deleted", "delete")
            )
        }
        InstallChange::Removed => format!("{} {name} from {file}", would("removed", "remove")),
        _ => format!("{file} does not have {name}: there is nothing to undo"),
    }
}

/// Returns the sentence about moved servers.
fn moved(args: &Install, outcome: &Outcome) -> Option<String> {
    let (own, client) = (outcome.own_file.as_ref()?.display(), outcome.file.display());
    let verb = if args.dry_run { "would move" } else { "moved" };
    let names = outcome.moved.join(", ");
    Some(if args.undo {
        format!("{verb} {names} from {own} to {client}")
    } else {
        format!("{verb} {names} from {client} to {own}")
    })
}

fn reason(reason: LeftReason) -> &'static str {
    match reason {
        LeftReason::Invalid => "its entry is not valid",
        LeftReason::NameTaken => "your own file has another server of that name",
        LeftReason::AsksForInput => "it asks for an input, which only this client can answer",
        _ => "it has changed in your own file since, and stays there too",
    }
}

fn word(change: InstallChange) -> &'static str {
    match change {
        InstallChange::Installed => "installed",
        InstallChange::Updated => "updated",
        InstallChange::Restored => "restored",
        InstallChange::Deleted => "deleted",
        InstallChange::Removed => "removed",
        InstallChange::NotInstalled => "not-installed",
        _ => "unchanged",
    }
}

fn remarks(args: &Install, target: &Target, outcome: &Outcome) -> Vec<String> {
    let mut remarks = Vec::new();
    match outcome.change {
        InstallChange::Installed | InstallChange::Updated => {
            if target.scope() == InstallScope::Project {
                remarks.push(
                    "the entry has the path of the program on this machine: others who share the file need their own"
                        .to_owned(),
                );
            }
            if !args.dry_run {
                remarks.push(format!("start {} again to use it", target.client()));
            }
        }
        InstallChange::Removed => remarks
            .push("the file has changed since the install: only the entry is taken out".to_owned()),
        _ => {}
    }
    remarks
}

/// Builds the report of a failed install.
fn failure(error: &InstallError, target: Option<&Target>) -> Failure {
    let report = match error {
        InstallError::Broken(problem) => {
            return problems::report(problem)
                .hint("the file is unchanged: fix it, and run this again");
        }
        InstallError::Edit(edit) => {
            let (exit, kind) = exit_of(edit);
            Report::new(exit, kind, edit.to_string())
        }
        error => Report::new(Exit::Configuration, "configuration", error.to_string()),
    };
    let report = match target {
        Some(target) => report.described_at(&target.layer(), target.file(), None),
        None => report,
    };
    let mut report = report;
    if let Some(source) = std::error::Error::source(error) {
        report = report.fact("the system says", source.to_string());
    }
    match error {
        InstallError::NoFile { client, scope } => match scope {
            InstallScope::Project | InstallScope::Local => report.hint(format!(
                "{client} has no file in this folder; install for all projects with --scope user"
            )),
            _ => report.hint("set HOME to your home folder"),
        },
        InstallError::Outside { leads_to, .. } => report
            .fact("it leads to", leads_to.display().to_string())
            .hint("replace the link with the file, or install with --scope user"),
        InstallError::NameTaken(_) => report.hint("choose another name with --name NAME"),
        InstallError::NotOurs(_) => report.hint("take it out by hand if it is not needed"),
        _ => report,
    }
}

/// The document of `install --json`: see `docs/gateway.md`.
#[derive(Serialize)]
struct InstallDocument<'a> {
    client: &'static str,
    server: &'a str,
    file: String,
    layer: String,
    change: &'static str,
    dry_run: bool,
    diff: &'a str,
    moved: &'a [String],
    left: Vec<LeftItem<'a>>,
    own_file: Option<String>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct LeftItem<'a> {
    server: &'a str,
    reason: &'a str,
}
