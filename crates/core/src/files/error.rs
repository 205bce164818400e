//! Errors of opening or reading a file, with a hint or a command that fixes them.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::text::shell_path;

/// A file that was not read, and the reason.
#[derive(Debug)]
pub struct FileError {
    path: PathBuf,
    /// The folder on the path to it, if that is the cause.
    folder: Option<PathBuf>,
    why: Refusal,
}

/// The reason why a file, or a folder on the path to it, was refused.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// It does not exist.
    Absent,
    /// It is a symbolic link where links are not allowed.
    Link,
    /// It is a folder, a pipe, a socket or a device.
    NotAFile,
    /// It is outside of its project's folder.
    Outside,
    /// It is larger than the limit.
    TooLarge {
        /// The limit.
        most_bytes: usize,
    },
    /// Any user may change it.
    WorldWritable {
        /// Its permissions.
        mode: u32,
    },
    /// It belongs to another user.
    Foreign {
        /// The owner's user id.
        owner: u32,
        /// Our user id.
        me: u32,
    },
    /// The operating system refused.
    Io(io::Error),
}

impl FileError {
    pub(super) fn new(path: &Path, why: Refusal) -> Self {
        Self {
            path: path.to_owned(),
            folder: None,
            why,
        }
    }

    #[cfg_attr(not(unix), allow(dead_code, reason = "only Unix judges folders"))]
    pub(super) fn at_folder(path: &Path, folder: &Path, why: Refusal) -> Self {
        Self {
            path: path.to_owned(),
            folder: Some(folder.to_owned()),
            why,
        }
    }

    /// The reason.
    pub fn why(&self) -> &Refusal {
        &self.why
    }

    /// The reason, by value.
    pub fn into_why(self) -> Refusal {
        self.why
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder at fault, unless it is the file itself.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns true if the file does not exist.
    pub fn is_absent(&self) -> bool {
        matches!(self.why, Refusal::Absent)
    }

    /// A shell command that fixes the problem, if one does.
    pub fn fix(&self) -> Option<String> {
        let at = self.folder.as_ref().unwrap_or(&self.path).to_string_lossy();
        let at = shell_path(&at);
        match &self.why {
            Refusal::WorldWritable { .. } => Some(format!("chmod o-w {at}")),
            Refusal::Foreign { me, .. } if self.folder.is_some() => {
                Some(format!("sudo chown {me} {at}"))
            }
            _ => None,
        }
    }

    /// Advice for the user, including the command if there is one.
    pub fn hint(&self) -> Option<String> {
        let fix = self.fix().unwrap_or_default();
        Some(match (&self.why, &self.folder) {
            (Refusal::Link, None) => "replace the link with the file".to_owned(),
            (Refusal::Link, Some(_)) => "replace the link with the folder".to_owned(),
            (Refusal::WorldWritable { .. }, _) => format!("if you know what is in it: `{fix}`"),
            (Refusal::Foreign { .. }, None) => "copy it, if you know what is in it".to_owned(),
            (Refusal::Foreign { .. }, Some(_)) => {
                format!("move it to a folder of your own, or run `{fix}`")
            }
            _ => return None,
        })
    }
}

impl fmt::Display for FileError {
    /// Writes the reason as one phrase. It names a folder at fault, but not the file, which the reader
    /// knows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_folder = self.folder.as_deref().map(Path::display);
        match (&self.why, of_folder) {
            (Refusal::Absent, _) => f.write_str("there is no such file"),
            (Refusal::Link, None) => f.write_str("it is a link"),
            (Refusal::Link, Some(folder)) => write!(f, "its folder {folder} is a link"),
            (Refusal::NotAFile, _) => f.write_str("it is not a regular file"),
            (Refusal::Outside, _) => f.write_str("it is outside of its project's folder"),
            (Refusal::TooLarge { most_bytes }, _) if *most_bytes >= 1024 => {
                write!(f, "it is longer than {} KiB", most_bytes / 1024)
            }
            (Refusal::TooLarge { most_bytes }, _) => {
                write!(f, "it is longer than {most_bytes} bytes")
            }
            (Refusal::WorldWritable { mode }, None) => {
                write!(f, "everybody may change it (mode {:03o})", mode & 0o777)
            }
            (Refusal::WorldWritable { mode }, Some(folder)) => write!(
                f,
                "everybody may change the folder {folder} (mode {:03o})",
                mode & 0o777
            ),
            (Refusal::Foreign { owner, .. }, None) => {
                write!(f, "it belongs to another user (uid {owner})")
            }
            (Refusal::Foreign { owner, .. }, Some(folder)) => {
                write!(
                    f,
                    "the folder {folder} belongs to another user (uid {owner})"
                )
            }
            (Refusal::Io(error), _) => write!(f, "it cannot be read: {error}"),
        }
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.why {
            Refusal::Io(error) => Some(error),
            _ => None,
        }
    }
}
