//! Details about a program that was not found or could not be run, for error messages.

use std::fs;
use std::path::{Path, PathBuf};

use switchboard_core::files::{self, Source};
#[cfg(feature = "suggest")]
use switchboard_core::text::closest;

use super::platform::may_run;
use crate::{ProgramFile, ProgramForm, StartError};

/// The limits of the inspection.
struct Bounds {
    /// Files whose names are compared, in all folders together.
    #[cfg(feature = "suggest")]
    names: usize,
    /// The shortest name that is taken for a misspelling, in bytes.
    #[cfg(feature = "suggest")]
    shortest: usize,
    /// Bytes read from the beginning of a file.
    head_bytes: usize,
}

const BOUNDS: Bounds = Bounds {
    #[cfg(feature = "suggest")]
    names: 20_000,
    #[cfg(feature = "suggest")]
    shortest: 5,
    head_bytes: 256,
};

/// Other names of the same program, or of a replacement.
const OTHER_NAMES: &[(&str, &[&str])] = &[
    ("python", &["python3"]),
    ("python3", &["python"]),
    ("pip", &["pip3"]),
    ("pip3", &["pip"]),
    ("node", &["nodejs"]),
    ("nodejs", &["node"]),
    ("docker", &["podman"]),
];

/// Adds details about the program to an error.
pub fn add_details(error: StartError, cwd: Option<&Path>) -> StartError {
    match error {
        StartError::NotFound { command, .. } if folder(&command, cwd).is_some() => {
            StartError::NotExecutable {
                path: folder(&command, cwd).unwrap_or_default(),
                file: ProgramFile {
                    mode: None,
                    form: ProgramForm::Folder,
                },
            }
        }
        StartError::NotFound {
            command, searched, ..
        } => StartError::NotFound {
            near: near(&command, &searched, cwd),
            command,
            searched,
        },
        StartError::NotExecutable { path, .. } => StartError::NotExecutable {
            file: look_at(&path),
            path,
        },
        error => error,
    }
}

/// Returns the folder that a command with a path names, if it is one.
fn folder(command: &str, cwd: Option<&Path>) -> Option<PathBuf> {
    let path = cwd.map_or_else(|| PathBuf::from(command), |folder| folder.join(command));
    (command.contains(['/', '\\']) && path.is_dir()).then_some(path)
}

/// Finds a program with a similar name in the folders that were searched.
fn near(command: &str, searched: &[PathBuf], cwd: Option<&Path>) -> Option<PathBuf> {
    let path = Path::new(command);
    let name = path.file_name()?.to_str()?;
    let own;
    let folders = match (searched, path.parent()) {
        ([], Some(parent)) if command.contains('/') => {
            own = [cwd.map_or_else(|| parent.to_owned(), |folder| folder.join(parent))];
            &own[..]
        }
        (folders, _) => folders,
    };
    let is_there = |name: &str| {
        let mut files = folders.iter().map(|folder| folder.join(name));
        files.find(|file| may_run(file) == Some(true))
    };
    // Known alternatives first: `python3` is a better suggestion than any misspelling.
    let usual = OTHER_NAMES.iter().find(|(known, _)| *known == name);
    let usual = usual.into_iter().flat_map(|(_, others)| *others);
    if let Some(found) = usual.copied().find_map(is_there) {
        return Some(found);
    }
    is_there(&similar(name, folders)?)
}

/// Returns the name most like `name` in these folders.
#[cfg(feature = "suggest")]
fn similar(name: &str, folders: &[PathBuf]) -> Option<String> {
    // Short names are all similar: `npx` is not a misspelled `npm`.
    if name.len() < BOUNDS.shortest {
        return None;
    }
    let entries = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok());
    let names = entries.flatten().take(BOUNDS.names).flatten();
    let names: Vec<String> = names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|other| other != name)
        .collect();
    closest(name, &names).map(str::to_owned)
}

#[cfg(not(feature = "suggest"))]
fn similar(_: &str, _: &[PathBuf]) -> Option<String> {
    None
}

/// Inspects a file that could not be run.
pub(crate) fn look_at(path: &Path) -> ProgramFile {
    ProgramFile {
        mode: mode(path),
        form: head(path).map_or(ProgramForm::Unknown, |head| form(&head)),
    }
}

#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = fs::metadata(path).ok()?;
    Some(metadata.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode(_: &Path) -> Option<u32> {
    None
}

fn head(path: &Path) -> Option<Vec<u8>> {
    files::read_head(path, Source::Referenced, BOUNDS.head_bytes).ok()
}

fn form(head: &[u8]) -> ProgramForm {
    if head.is_empty() {
        return ProgramForm::Empty;
    }
    if let Some(rest) = head.strip_prefix(b"#!") {
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        return ProgramForm::Script {
            interpreter: String::from_utf8_lossy(line).trim_start().to_owned(),
        };
    }
    if let Some(made_for) = native(head) {
        return ProgramForm::Native { made_for };
    }
    if head.contains(&0) {
        ProgramForm::Unknown
    } else {
        ProgramForm::Text
    }
}

fn native(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"\x7fELF") {
        // The processor is a 16-bit number, whose byte order is given by the sixth byte.
        let &[low, high] = head.get(18..20)? else {
            return None;
        };
        let machine = match head.get(5) {
            Some(2) => u16::from_be_bytes([low, high]),
            _ => u16::from_le_bytes([low, high]),
        };
        return Some(match machine {
            0x03 => "Linux on x86",
            0x28 => "Linux on arm",
            0x3e => "Linux on x86_64",
            0xb7 => "Linux on aarch64",
            0xf3 => "Linux on riscv",
            _ => "Linux on another processor",
        });
    }
    let magic = head.get(..4)?;
    if [&[0xcf, 0xfa, 0xed, 0xfe], &[0xca, 0xfe, 0xba, 0xbe]].contains(&magic.try_into().ok()?) {
        return Some("macOS");
    }
    magic.starts_with(b"MZ").then_some("Windows")
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn folder_with(names: &[(&str, u32)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, mode) in names {
            let path = folder.path().join(name);
            fs::write(&path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
        }
        folder
    }

    #[test]
    fn another_name_of_the_same_program_is_found_before_a_similar_one() {
        let folder = folder_with(&[("python3", 0o755), ("pythom", 0o755)]);
        let searched = [folder.path().to_owned()];
        let found = near("python", &searched, None);
        assert_eq!(found, Some(folder.path().join("python3")));
        let found = near("pythn3", &searched, None);
        assert_eq!(found, Some(folder.path().join("python3")));
        assert_eq!(near("node", &searched, None), None);
        let folder = folder_with(&[("npm", 0o755)]);
        assert_eq!(near("npx", &[folder.path().to_owned()], None), None);
    }

    #[test]
    fn what_may_not_be_run_is_not_offered() {
        let folder = folder_with(&[("python3", 0o644)]);
        assert_eq!(near("python", &[folder.path().to_owned()], None), None);
    }

    #[test]
    fn beside_a_path_its_own_folder_is_looked_at() {
        let folder = folder_with(&[("server.sh", 0o755)]);
        let found = near("./servr.sh", &[], Some(folder.path())).unwrap();
        assert_eq!(found.file_name().unwrap(), "server.sh");
    }

    #[test]
    fn forms_are_told_apart_by_the_first_bytes() {
        let mut arm = b"\x7fELF\x02\x01\x01".to_vec();
        arm.resize(18, 0);
        arm.extend([0xb7, 0]);
        for (head, expected) in [
            (&b""[..], ProgramForm::Empty),
            (b"import sys\n", ProgramForm::Text),
            (b"a\0b", ProgramForm::Unknown),
            (
                b"#! /usr/bin/env node\r\nmore",
                ProgramForm::Script {
                    interpreter: "/usr/bin/env node\r".to_owned(),
                },
            ),
            (
                &arm,
                ProgramForm::Native {
                    made_for: "Linux on aarch64",
                },
            ),
            (
                b"MZ\x90\0",
                ProgramForm::Native {
                    made_for: "Windows",
                },
            ),
        ] {
            assert_eq!(form(head), expected);
        }
    }
}
