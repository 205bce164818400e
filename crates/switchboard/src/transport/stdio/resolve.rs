//! Which file a command names.

use std::path::{Path, PathBuf};

use crate::transport::ConnectError;

/// Finds the program that `command` names.
///
/// A command with a separator is a path, relative to `cwd`; any other is looked up in `path`, a
/// list of folders as `PATH` has it. The current folder is never searched, nor is an empty or
/// relative entry of the list: both would let a project folder decide what runs.
///
/// # Errors
/// [`ConnectError::NotFound`] with the folders that were searched, or
/// [`ConnectError::NotExecutable`] when a file is there but may not be run.
pub fn resolve(
    command: &str,
    path: Option<&str>,
    cwd: Option<&Path>,
) -> Result<PathBuf, ConnectError> {
    let is_path = command.contains('/') || (cfg!(windows) && command.contains('\\'));
    if is_path {
        let file = match cwd {
            Some(folder) => folder.join(command),
            None => PathBuf::from(command),
        };
        return pick([file], command, Vec::new());
    }
    let folders: Vec<PathBuf> = path
        .map(|path| {
            std::env::split_paths(path)
                .filter(|folder| folder.is_absolute())
                .collect()
        })
        .unwrap_or_default();
    let files: Vec<PathBuf> = folders.iter().map(|folder| folder.join(command)).collect();
    pick(files, command, folders)
}

fn pick(
    files: impl IntoIterator<Item = PathBuf>,
    command: &str,
    searched: Vec<PathBuf>,
) -> Result<PathBuf, ConnectError> {
    let mut not_executable = None;
    for file in files.into_iter().filter(|_| !command.is_empty()) {
        for file in super::platform::candidates(file) {
            match super::platform::may_run(&file) {
                Some(true) => return Ok(file),
                Some(false) => not_executable = not_executable.or(Some(file)),
                None => {}
            }
        }
    }
    Err(match not_executable {
        Some(path) => ConnectError::NotExecutable { path },
        None => ConnectError::NotFound {
            command: command.to_owned(),
            searched,
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
        assert_eq!(resolve("tool", Some(&path), None).unwrap(), wanted);
    }

    #[test]
    fn a_file_that_may_not_be_run_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), "tool", 0o644);
        let list = folder.path().display().to_string();
        match resolve("tool", Some(&list), None).unwrap_err() {
            ConnectError::NotExecutable { path: named } => assert_eq!(named, path),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn the_current_folder_and_relative_entries_are_not_searched() {
        let folder = tempfile::tempdir().unwrap();
        file(folder.path(), "tool", 0o755);
        let error = resolve("tool", Some(".::bin:/nowhere"), Some(folder.path())).unwrap_err();
        match error {
            ConnectError::NotFound { searched, .. } => {
                assert_eq!(searched, [PathBuf::from("/nowhere")]);
            }
            other => panic!("{other}"),
        }
    }

    #[test]
    fn a_path_is_relative_to_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = file(folder.path(), "tool", 0o755);
        let found = resolve("./tool", None, Some(folder.path())).unwrap();
        assert_eq!(
            found.canonicalize().unwrap(),
            wanted.canonicalize().unwrap()
        );
    }

    #[test]
    fn an_empty_command_is_not_found() {
        assert!(resolve("", Some("/bin"), None).is_err());
    }
}
