//! Findings about the surroundings of servers: files, programs, folders and processes of earlier runs.

use std::fs;
use std::path::{Path, PathBuf};

use switchboard::config::{Entry, Problem};
use switchboard::leftovers;
use switchboard::private_store::PrivateStore;
use switchboard::text::shell_word;
use switchboard::transport::{Environment, Search, resolve};
use switchboard::trust::StoreError;
use switchboard::{Error, OpenError};

use super::checks::first_lines;
use super::{Check, Finding};
use crate::exit::Exit;
use crate::lost_records::LostRecords;
use crate::state;
use crate::timestamp;

/// Makes a finding of a config problem.
pub(crate) fn problem(check: Check, problem: &Problem) -> Finding {
    let mut finding = if problem.is_error() {
        Finding::failure(check, Exit::Configuration, problem.to_string())
    } else {
        Finding::remark(check, problem.to_string())
    };
    if let Some(expected) = problem.expected() {
        finding = finding.fact("expected", expected);
    }
    if !problem.excerpt().is_empty() {
        finding = finding.evidence("the file says", problem.excerpt().to_vec());
    }
    problem.hints().iter().fold(finding, Finding::fix)
}

/// Makes a finding of a package without a version.
pub(crate) fn package(problem: &Problem) -> Finding {
    let finding = Finding::remark(Check::Packages, problem.message());
    problem.hints().iter().fold(finding, Finding::fix)
}

/// Resolves the command of an entry to its program, or to a finding if there is none. Returns `None` if the
/// command contains a reference, which is expanded only when the server is started.
pub(crate) fn program(entry: &Entry, host: &Environment) -> Option<Result<PathBuf, Finding>> {
    let is_plain = |text: &&str| !text.contains("${");
    // References are not expanded here: that could read files and ask for inputs.
    let command = entry.command().filter(is_plain)?;
    let own = entry
        .value()
        .pointer("/env/PATH")
        .and_then(|path| path.as_str());
    let variable = |name: &str| host.get(name).map(|value| value.expose().as_str());
    let found = resolve(&Search {
        command,
        path: own.filter(is_plain).or_else(|| variable("PATH")),
        pathext: variable("PATHEXT"),
        cwd: Some(entry.folder()),
    });
    Some(found.map_err(|error| {
        let error = Error::from(OpenError::Connect(error.into()));
        Finding::from_error(Check::Program, &error)
    }))
}

/// Reports servers that earlier runs have left running.
pub(crate) fn leftover_servers(host: &Environment, server: Option<&str>) -> Option<Finding> {
    let folder = state::running(host)?;
    let left = match leftovers::list(&folder) {
        Ok(left) => left,
        Err(error) => {
            let text = "cannot list servers left over from earlier runs";
            let finding = Finding::remark(Check::Leftovers, text);
            let finding = finding.fact("folder", folder.display().to_string());
            return Some(finding.fact("the system says", error.to_string()));
        }
    };
    let left = left.iter();
    // Only the leftovers of the server that doctor was asked about.
    let left = left.filter(|left| server.is_none_or(|server| left.server().as_str() == server));
    let lines = left.map(|left| {
        format!(
            "{} (process {}, since {})",
            left.server(),
            left.pid(),
            timestamp::utc_seconds(left.started())
        )
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return None;
    }
    let finding = Finding::remark(
        Check::Leftovers,
        "servers of earlier runs are still running",
    );
    let finding = finding.evidence("processes", first_lines(lines));
    Some(finding.fix("switchboard leftovers --end"))
}

/// Checks the folders of state that outlives a run.
pub(crate) fn folders(host: &Environment) -> Vec<Finding> {
    let Some(folder) = state::state(host) else {
        let text = "there is no folder to keep approvals in";
        let finding = Finding::remark(Check::State, text);
        return vec![finding.fix("set HOME, or XDG_STATE_HOME to an absolute path")];
    };
    let mut findings = Vec::new();
    // From the outside in: if the folder itself is unsafe, its content need not be checked.
    findings.extend(check_folder(&folder, None));
    if findings.is_empty() {
        for (name, exit) in [
            // Approvals that cannot be read count as not given.
            ("trust", Some(Exit::Denied)),
            ("approvals", Some(Exit::Denied)),
            ("pins", Some(Exit::Denied)),
            ("running", None),
            ("catalog", None),
        ] {
            findings.extend(check_folder(&folder.join(name), exit));
        }
    }
    if findings.is_empty() {
        let contents = [
            state::trust(host).list().err(),
            state::approvals(host).list().err(),
            state::pins(host).list().err(),
        ];
        let contents = contents.into_iter().flatten();
        findings.extend(contents.map(|error| unsafe_store(&error, Some(Exit::Denied))));
    }
    for (text, fix) in LostRecords::look(host).warnings() {
        let finding = Finding::remark(Check::State, text);
        findings.push(finding.fix(fix));
    }
    findings
}

/// Checks that a folder, if it exists, is accessible to its owner alone.
fn check_folder(folder: &Path, exit: Option<Exit>) -> Option<Finding> {
    match PrivateStore::at(folder.to_owned(), "doctor").files() {
        Err(error) => Some(unsafe_store(&error, exit)),
        Ok(_) => {
            let mode = mode(folder)?;
            (mode & 0o077 != 0).then(|| {
                let text = format!("other users can read {}", folder.display());
                let finding = Finding::remark(Check::State, text);
                let finding = finding.fact("mode", format!("{:03o}", mode & 0o777));
                finding.fix(private(folder))
            })
        }
    }
}

fn unsafe_store(error: &StoreError, exit: Option<Exit>) -> Finding {
    let finding = Finding {
        exit,
        ..Finding::remark(Check::State, error.to_string())
    };
    match error {
        StoreError::Unsafe { fix: Some(fix), .. } => finding.fix(fix.clone()),
        StoreError::Unsafe { path, .. } => finding.fix(private(path)),
        error => match std::error::Error::source(error) {
            Some(source) => finding.fact("the system says", source.to_string()),
            None => finding,
        },
    }
}

fn private(path: &Path) -> String {
    let path = path.display().to_string();
    format!("chmod go= {}", shell_word(&path))
}

#[cfg(unix)]
fn mode(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    Some(fs::symlink_metadata(folder).ok()?.mode())
}

#[cfg(not(unix))]
fn mode(folder: &Path) -> Option<u32> {
    fs::symlink_metadata(folder).ok().map(|_| 0)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn folders_that_others_reach_are_told_with_what_mends_them() {
        let home = tempfile::tempdir().unwrap();
        let pair = (
            "XDG_STATE_HOME".to_owned(),
            home.path().display().to_string(),
        );
        let host: Environment = [pair].into_iter().collect();
        assert_eq!(folders(&host), []);
        let state = home.path().join("switchboard");
        fs::create_dir_all(state.join("trust")).unwrap();
        let set = |folder: &Path, mode| {
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
        };
        set(&state, 0o700);
        set(&state.join("trust"), 0o700);
        assert_eq!(folders(&host), []);
        set(&state.join("trust"), 0o750);
        let found = folders(&host);
        assert_eq!((found.len(), found[0].exit), (1, None));
        set(&state.join("trust"), 0o770);
        let found = folders(&host);
        assert_eq!((found.len(), found[0].exit), (1, Some(Exit::Denied)));
        let fix = private(&state.join("trust"));
        assert_eq!(found[0].fixes, [fix]);
    }
}
