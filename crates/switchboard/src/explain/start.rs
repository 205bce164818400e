//! Explains processes that did not start.

use std::io;
use std::path::{Path, PathBuf};

use super::place::Place;
use super::{Diagnosis, Step, TryPurpose};
use crate::text::shell_path;
use crate::transport::installer::{Installer, installer};
use crate::transport::{ConnectError, ProgramFile, ProgramForm, StartError};

pub(super) fn connecting(error: &ConnectError, place: Place<'_>) -> Diagnosis {
    match error {
        ConnectError::Start(error) => starting(error, place),
        ConnectError::Other { source } => Diagnosis {
            title: "no connection to the server".to_owned(),
            facts: vec![("reason", source.to_string())],
            steps: place.try_again(TryPurpose::Now).into_iter().collect(),
            ..Diagnosis::default()
        },
    }
}

fn starting(error: &StartError, place: Place<'_>) -> Diagnosis {
    match error {
        StartError::NotFound {
            command,
            searched,
            near,
        } => not_found(command, searched, near.as_deref(), place),
        StartError::NotExecutable { path, file } => not_executable(path, file, place),
        StartError::NoFolder { path } => {
            let create = format!(
                "create it: `mkdir -p {}`",
                shell_path(&path.display().to_string())
            );
            let steps = vec![
                Step::Do(create),
                Step::ChangeFolder {
                    entry: place.entry(),
                },
            ];
            Diagnosis {
                title: format!("the working folder {} does not exist", path.display()),
                steps,
                ..Diagnosis::default()
            }
        }
        StartError::Spawn { path, file, source } => diagnose_spawn(path, file, source, place),
    }
}

fn not_found(
    command: &str,
    searched: &[PathBuf],
    near: Option<&Path>,
    place: Place<'_>,
) -> Diagnosis {
    // A path is not searched for, so its causes and steps are others.
    let is_path = command.contains(['/', '\\']);
    let searched = match searched {
        [] if is_path => "nowhere: the command is a path".to_owned(),
        [] => "nowhere: PATH is empty or not set".to_owned(),
        folders => folders
            .iter()
            .map(|folder| folder.display().to_string())
            .collect::<Vec<_>>()
            .join(":"),
    };
    let mut diagnosis = Diagnosis {
        title: format!("command {command:?} was not found"),
        facts: vec![("searched", searched)],
        ..Diagnosis::default()
    };
    if let Some(near) = near {
        let name = near.file_name().unwrap_or_default().to_string_lossy();
        let whole = if is_path {
            near.display().to_string()
        } else {
            name.to_string()
        };
        diagnosis
            .facts
            .push(("there is", near.display().to_string()));
        diagnosis
            .causes
            .push(format!("there is a program with a similar name: {name}"));
        diagnosis.steps.push(Step::Do(match place.entry_place() {
            Some(entry) => format!("write `\"command\": \"{whole}\"` into its entry: {entry}"),
            None => format!("write `{whole}` instead"),
        }));
    }
    // A near name is the better guess: then nothing needs to be installed.
    if let (Some(Installer { package, .. }), None) = (installer(command, cfg!(windows)), near) {
        diagnosis
            .causes
            .push(format!("{package} is not installed, or not in PATH"));
        diagnosis.steps.extend(install(command));
    } else if near.is_none() {
        diagnosis.causes.push(if is_path {
            "there is no file at this path".to_owned()
        } else {
            "the command is misspelled, not installed, or not in PATH".to_owned()
        });
    }
    diagnosis.steps.push(Step::Do(match (is_path, place.entry_place()) {
        (true, Some(entry)) => format!("correct the path of `command` in its entry: {entry}"),
        (true, None) => "correct the path".to_owned(),
        (false, _) if cfg!(windows) => format!(
            "if it works in a terminal, write the full path that `where {command}` prints there; \
             start a `.cmd` or `.bat` file with `cmd /c`"
        ),
        // A desktop has another PATH than a terminal.
        (false, _) => format!(
            "if it works in a terminal, write the full path that `command -v {}` prints there",
            shell_path(command)
        ),
    }));
    diagnosis
}

fn not_executable(path: &Path, file: &ProgramFile, place: Place<'_>) -> Diagnosis {
    let shown = path.display().to_string();
    if file.form == ProgramForm::Folder {
        let step = match place.entry_place() {
            Some(entry) => format!("name the program in it as `command` of its entry: {entry}"),
            None => format!(
                "name the program in it: `ls {}` shows its files",
                shell_path(&shown)
            ),
        };
        return Diagnosis {
            title: format!("{shown} is a folder, not a program"),
            steps: vec![step.into()],
            ..Diagnosis::default()
        };
    }
    let mut diagnosis = Diagnosis {
        title: format!("{shown} is not executable"),
        causes: vec!["the file exists, but its permissions do not allow running it".to_owned()],
        ..Diagnosis::default()
    };
    let mode = file.mode.map(permissions);
    diagnosis
        .facts
        .extend(mode.map(|mode| ("permissions", mode)));
    describe_file(file, &mut diagnosis);
    // Windows has no such permission: there the file needs a program that reads it.
    let runs = runner(path, file);
    if cfg!(unix) {
        let step = format!("`chmod +x {}`", shell_path(&shown));
        diagnosis.steps.push(step.into());
        if matches!(file.form, ProgramForm::Text | ProgramForm::Empty) {
            without_first_line(runs, &shown, &mut diagnosis, place);
        }
    } else {
        without_first_line(runs, &shown, &mut diagnosis, place);
    }
    diagnosis
}

/// A program that is there, may be run, and that the system would not start.
fn diagnose_spawn(
    path: &Path,
    file: &ProgramFile,
    source: &io::Error,
    place: Place<'_>,
) -> Diagnosis {
    let shown = path.display().to_string();
    let mut diagnosis = Diagnosis {
        title: format!("{shown} could not be started"),
        facts: vec![("the system says", source.to_string())],
        ..Diagnosis::default()
    };
    describe_file(file, &mut diagnosis);
    // On every Unix: ENOENT, E2BIG, ENOEXEC, EAGAIN, ENOMEM, EACCES.
    match (source.raw_os_error(), &file.form) {
        (_, ProgramForm::Script { interpreter }) if interpreter.ends_with('\r') => {
            diagnosis.title = format!("{shown} has Windows line endings and cannot be started");
            diagnosis.causes.push(
                "its first line ends in a carriage return, which becomes part of the program's name"
                    .to_owned(),
            );
            let step = format!("`sed -i 's/\\r$//' {}`", shell_path(&shown));
            diagnosis.steps.push(step.into());
        }
        // The script is there, so it is its interpreter that was not found.
        (Some(2), ProgramForm::Script { interpreter }) => {
            let program = interpreter.split_whitespace().next().unwrap_or_default();
            diagnosis.title = format!("{shown} needs {program:?}, which does not exist");
            diagnosis.causes.push(
                "its first line names a program that is not installed at that place".to_owned(),
            );
            let name = program.rsplit('/').next().unwrap_or(program);
            let step = format!(
                "see where it is: `command -v {}`, and write `#!/usr/bin/env {name}` as the first line",
                shell_path(name)
            );
            diagnosis.steps.push(step.into());
        }
        (Some(8), ProgramForm::Native { made_for }) => {
            diagnosis.title = format!("{shown} is built for another machine: {made_for}");
            diagnosis.causes.push(format!(
                "this machine is {} on {}",
                system(),
                std::env::consts::ARCH
            ));
            diagnosis
                .steps
                .push("get the program for this machine, or build it here".into());
            let look = format!("look at it: `file {}`", shell_path(&shown));
            diagnosis.steps.push(look.into());
        }
        (Some(8), _) => {
            diagnosis.title = format!("{shown} is a script without a `#!` line");
            let runs = runner(path, file);
            without_first_line(runs, &shown, &mut diagnosis, place);
        }
        (Some(7), _) => diagnosis
            .causes
            .push("its arguments and variables are longer than the system allows".to_owned()),
        (Some(11 | 12), _) => {
            diagnosis
                .causes
                .push("the system has too many processes, or too little memory".to_owned());
            diagnosis.steps.push(Step::ListLeftovers);
        }
        (Some(13), _) => diagnosis.causes.push(
            "the file or its interpreter is not executable, or the disk is mounted `noexec`"
                .to_owned(),
        ),
        _ => {}
    }
    // At least one step, even for an error that is not in the table.
    if diagnosis.steps.is_empty() {
        diagnosis.steps.extend(super::handshake::by_hand(place));
    }
    diagnosis
}

fn describe_file(file: &ProgramFile, diagnosis: &mut Diagnosis) {
    let form = match &file.form {
        ProgramForm::Unknown | ProgramForm::Folder => return,
        ProgramForm::Empty => "an empty file".to_owned(),
        ProgramForm::Text => "text without a `#!` line".to_owned(),
        ProgramForm::Script { interpreter } => format!("a script for {}", interpreter.trim()),
        ProgramForm::Native { made_for } => format!("a program for {made_for}"),
    };
    diagnosis.facts.push(("the file is", form));
}

/// Explains a script that has no `#!` line to name its interpreter.
fn without_first_line(runs: Option<&str>, path: &str, diagnosis: &mut Diagnosis, place: Place<'_>) {
    diagnosis.causes.push(
        "without a `#!` line the system does not know which program runs the script".to_owned(),
    );
    let runs = runs.unwrap_or("sh");
    let path = shell_path(path);
    diagnosis.steps.push(Step::Do(match place.entry_place() {
        Some(entry) => format!(
            "name that program in its entry: `\"command\": \"{runs}\", \"args\": [\"{path}\"]` at {entry}"
        ),
        None => format!("name that program: `{runs} {path}`"),
    }));
    let first_line = format!("or write `#!/usr/bin/env {runs}` as its first line");
    diagnosis.steps.push(first_line.into());
}

/// Returns the interpreter for a script, by its file extension.
fn runner(path: &Path, file: &ProgramFile) -> Option<&'static str> {
    // A script with a first line says itself what reads it.
    if !matches!(file.form, ProgramForm::Text | ProgramForm::Unknown) {
        return None;
    }
    Some(match path.extension()?.to_str()? {
        "py" => "python3",
        "js" | "mjs" | "cjs" => "node",
        "ts" => "tsx",
        "rb" => "ruby",
        "pl" => "perl",
        "sh" => "sh",
        _ => return None,
    })
}

/// Permissions as `ls` and `chmod` write them.
fn permissions(mode: u32) -> String {
    let bits = [
        (0o400, 'r'),
        (0o200, 'w'),
        (0o100, 'x'),
        (0o040, 'r'),
        (0o020, 'w'),
        (0o010, 'x'),
        (0o004, 'r'),
        (0o002, 'w'),
        (0o001, 'x'),
    ];
    let letters: String = bits
        .iter()
        .map(|(bit, letter)| if mode & bit == 0 { '-' } else { *letter })
        .collect();
    format!("{letters} ({:03o})", mode & 0o777)
}

fn system() -> &'static str {
    match std::env::consts::OS {
        "linux" => "Linux",
        "macos" => "macOS",
        "windows" => "Windows",
        other => other,
    }
}

/// Returns the step that installs the package of a command, if it is known.
pub(super) fn install(command: &str) -> Option<Step> {
    let Installer { package, how } = installer(command, cfg!(windows))?;
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    Some(Step::Do(if package.eq_ignore_ascii_case(name) {
        format!("install {package}: {how}")
    } else {
        format!("install {package}, which provides {name}: {how}")
    }))
}
