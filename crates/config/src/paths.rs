//! Resolves relative paths in config files.

use std::path::{Path, PathBuf};

/// Folders that contain the settings of one program. Paths in their files are relative to the parent.
const DOT_FOLDERS: &[&str] = &[
    ".switchboard",
    ".vscode",
    ".cursor",
    ".codex",
    ".gemini",
    ".roo",
    ".nexus3",
    ".zed",
    ".claude",
    ".opencode",
];

/// The folder that relative paths in a file start from: the file's own, or its parent if that is the
/// folder of a program such as `.vscode`.
pub(super) fn base(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or_else(|| Path::new(""));
    // `.vscode/mcp.json` means the folder that contains `.vscode`.
    let is_dot = folder
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| DOT_FOLDERS.contains(&name));
    let above = if is_dot { folder.parent() } else { None };
    above.unwrap_or(folder).to_owned()
}

/// Joins a path to a folder, and removes redundant dots.
pub(super) fn join(folder: &Path, path: &str) -> PathBuf {
    folder.join(path).components().collect()
}

/// Returns true if a command is a path, and not a name to be looked up.
pub(super) fn is_path(command: &str) -> bool {
    command.contains('/') || (cfg!(windows) && command.contains('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_begin_at_the_file_or_at_its_project() {
        for (file, folder) in [
            ("/p/.mcp.json", "/p"),
            ("/p/.switchboard/mcp.json", "/p"),
            ("/p/.vscode/mcp.json", "/p"),
            (
                "/home/x/.config/switchboard/mcp.json",
                "/home/x/.config/switchboard",
            ),
            ("mcp.json", ""),
        ] {
            assert_eq!(base(Path::new(file)), Path::new(folder), "{file}");
        }
        assert_eq!(join(Path::new("/p"), "./bin/x"), Path::new("/p/bin/x"));
        assert_eq!(join(Path::new("/p"), "/bin/x"), Path::new("/bin/x"));
    }
}
