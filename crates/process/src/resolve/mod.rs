//! Which file a command names.
//!
//! What is looked for, and in which order, is a pure function of the [`Search`]: `unix` and
//! `windows` have the rules, and both are tested on every system. Only looking whether a file is
//! there is left to the system.

mod unix;
mod windows;

use std::path::{Path, PathBuf};

use switchboard_core::environment::Family;

use crate::{ProgramFile, StartError};

/// What decides which file a command names.
#[derive(Debug, Clone, Copy, Default)]
pub struct Search<'a> {
    /// The command as it was written.
    pub command: &'a str,
    /// A list of folders, as `PATH` has it.
    pub path: Option<&'a str>,
    /// The endings that a program may have, as `PATHEXT` has them. Only read on Windows.
    pub pathext: Option<&'a str>,
    /// The folder that a path is relative to.
    pub cwd: Option<&'a Path>,
}

/// Finds the program that a command names.
///
/// A command with a separator is a path, relative to `cwd`; any other is looked up in `path`. The
/// current folder is never searched, nor is an empty or relative entry of the list: both would let
/// a project folder decide what runs.
///
/// On Windows a name stands for files with the endings of `pathext`, as far as the system can run
/// them, and `python3` and `pip3` stand for `python` and `pip` where there are none.
///
/// # Errors
/// [`StartError::NotFound`] with the folders that were searched, or
/// [`StartError::NotExecutable`] when a file is there but may not be run.
pub fn resolve(search: &Search<'_>) -> Result<PathBuf, StartError> {
    find(search, Family::HERE, super::platform::may_run)
}

/// What a command may mean.
#[derive(Debug, Default, PartialEq, Eq)]
struct Meanings {
    /// The files, best first.
    files: Vec<Candidate>,
    /// The folders they are in, where the command did not say.
    searched: Vec<PathBuf>,
}

/// A file that a command may mean.
#[derive(Debug, PartialEq, Eq)]
struct Candidate {
    file: PathBuf,
    /// Whether the system can run a file of that name, if there is one.
    is_program: bool,
}

/// Finds the file by the rules of one family. `may_run` says whether a file may be run, and
/// nothing where there is none.
fn find(
    search: &Search<'_>,
    family: Family,
    may_run: impl Fn(&Path) -> Option<bool>,
) -> Result<PathBuf, StartError> {
    let meanings = match (search.command, family) {
        // Joined to a folder it would be that folder.
        ("", _) => Meanings::default(),
        (_, Family::Unix) => unix::meanings(search),
        (_, Family::Windows) => windows::meanings(search),
    };
    let mut not_executable = None;
    for Candidate { file, is_program } in meanings.files {
        match may_run(&file) {
            Some(true) if is_program => return Ok(file),
            Some(_) => not_executable = not_executable.or(Some(file)),
            None => {}
        }
    }
    Err(match not_executable {
        Some(path) => StartError::NotExecutable {
            path,
            file: ProgramFile::default(),
        },
        None => StartError::NotFound {
            command: search.command.to_owned(),
            searched: meanings.searched,
            near: None,
        },
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn file(folder: &Path, name: &str, mode: u32) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn the_first_executable_in_the_list_wins() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        file(one.path(), "tool", 0o644);
        let wanted = file(two.path(), "tool", 0o755);
        let path = format!("{}:{}", one.path().display(), two.path().display());
        let search = Search {
            command: "tool",
            path: Some(&path),
            ..Search::default()
        };
        assert_eq!(resolve(&search).unwrap(), wanted);
    }

    #[test]
    fn a_file_that_may_not_be_run_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), "tool", 0o644);
        let list = folder.path().display().to_string();
        let search = Search {
            command: "tool",
            path: Some(&list),
            ..Search::default()
        };
        match resolve(&search).unwrap_err() {
            StartError::NotExecutable { path: named, .. } => assert_eq!(named, path),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn the_current_folder_and_relative_entries_are_not_searched() {
        let folder = tempfile::tempdir().unwrap();
        file(folder.path(), "tool", 0o755);
        let search = Search {
            command: "tool",
            path: Some(".::bin:/nowhere"),
            pathext: None,
            cwd: Some(folder.path()),
        };
        match resolve(&search).unwrap_err() {
            StartError::NotFound { searched, .. } => {
                assert_eq!(searched, [PathBuf::from("/nowhere")]);
            }
            other => panic!("{other}"),
        }
    }

    #[test]
    fn a_path_is_relative_to_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = file(folder.path(), "tool", 0o755);
        let search = Search {
            command: "./tool",
            cwd: Some(folder.path()),
            ..Search::default()
        };
        assert_eq!(
            resolve(&search).unwrap().canonicalize().unwrap(),
            wanted.canonicalize().unwrap()
        );
    }

    #[test]
    fn an_empty_command_is_not_found() {
        let search = Search {
            path: Some("/bin"),
            ..Search::default()
        };
        assert!(resolve(&search).is_err());
    }
}
