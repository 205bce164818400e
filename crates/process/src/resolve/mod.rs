//! Finds the file that a command names.
//!
//! The candidates and their order are a pure function of the [`Search`]: `unix` and `windows` contain
//! the rules, and both are tested on every system. Only the check whether a file exists asks the system.

mod unix;
mod windows;

use std::path::{Path, PathBuf};

use switchboard_core::environment::Family;

use crate::{ProgramFile, StartError};

/// The inputs of a search.
#[derive(Debug, Clone, Copy, Default)]
pub struct Search<'a> {
    /// The command as it was written.
    pub command: &'a str,
    /// A list of folders, in the form of `PATH`.
    pub path: Option<&'a str>,
    /// The extensions of programs, in the form of `PATHEXT`. Used on Windows only.
    pub pathext: Option<&'a str>,
    /// The folder that relative paths start from.
    pub cwd: Option<&'a Path>,
}

/// Finds the program that a command names.
///
/// A command with a separator is a path, relative to `cwd`; any other is looked up in `path`. The
/// current folder is never searched, and neither are empty or relative entries of the list: both would
/// let a project folder decide what runs.
///
/// On Windows a name also stands for files with the extensions in `pathext` that the system can run, and
/// `python3` and `pip3` also stand for `python` and `pip`.
///
/// # Errors
/// Fails with [`StartError::NotFound`] and the folders that were searched, or with
/// [`StartError::NotExecutable`] if a file exists but is not executable.
pub fn resolve(search: &Search<'_>) -> Result<PathBuf, StartError> {
    find(search, Family::HERE, super::platform::may_run)
}

/// The files that a command may mean.
#[derive(Debug, Default, PartialEq, Eq)]
struct Meanings {
    /// The candidates, best first.
    files: Vec<Candidate>,
    /// The folders that were searched; empty for a path.
    searched: Vec<PathBuf>,
}

/// A file that a command may mean.
#[derive(Debug, PartialEq, Eq)]
struct Candidate {
    file: PathBuf,
    /// True if the system can run a file of that name.
    is_program: bool,
}

/// Finds the file by the rules of one family. `may_run` returns true if a file is executable, and
/// `None` if it does not exist.
fn find(
    search: &Search<'_>,
    family: Family,
    may_run: impl Fn(&Path) -> Option<bool>,
) -> Result<PathBuf, StartError> {
    let meanings = match (search.command, family) {
        // Joined to a folder, an empty name would be the folder itself.
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
