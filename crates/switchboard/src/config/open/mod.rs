//! Opens files that others may have put there.
//!
//! Nothing here waits: a pipe in the place of a file is seen before anybody reads from it.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

use super::bounds::BOUNDS;

/// Whether a link may stand in the place of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    Followed,
    Refused,
}

/// What was found to be wrong with who may write a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(windows, allow(dead_code, reason = "only Unix looks at it"))]
pub(super) enum Access {
    Fine,
    GroupWritable,
    WorldWritable,
    Foreign,
}

/// What a file holds.
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    pub(super) access: Access,
}

/// Why a file was not read.
#[derive(Debug)]
pub(super) enum Unread {
    /// There is none.
    Absent,
    /// A link, where none may be.
    Link,
    /// A folder, a pipe, a device.
    NoFile,
    TooLarge,
    WorldWritable,
    Foreign,
    Io(io::Error),
}

/// Reads a config file, if it is one and nobody else may write it.
pub(super) fn config(path: &Path, links: Links) -> Result<Content, Unread> {
    let (mut file, access) = platform::open(path, links)?;
    match access {
        Access::WorldWritable => return Err(Unread::WorldWritable),
        Access::Foreign => return Err(Unread::Foreign),
        Access::Fine | Access::GroupWritable => {}
    }
    let bytes = bounded(&mut file)?;
    Ok(Content { bytes, access })
}

/// Reads a file that an entry refers to, whoever it belongs to. Says why in one phrase.
pub(super) fn reference(path: &Path) -> Result<String, &'static str> {
    let read = platform::open(path, Links::Followed)
        .and_then(|(mut file, _)| bounded(&mut file))
        .map_err(|unread| match unread {
            Unread::Absent => "there is none",
            Unread::TooLarge => "it is too large",
            Unread::Io(error) if error.kind() == ErrorKind::PermissionDenied => "permission denied",
            Unread::NoFile => "it is no file",
            _ => "reading fails",
        })?;
    String::from_utf8(read).map_err(|_| "it is not UTF-8")
}

fn bounded(file: &mut File) -> Result<Vec<u8>, Unread> {
    let most = BOUNDS.file_bytes;
    let mut bytes = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit)
        .read_to_end(&mut bytes)
        .map_err(Unread::Io)?;
    if bytes.len() > most {
        return Err(Unread::TooLarge);
    }
    Ok(bytes)
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // A file where a folder should be means that what is below it is not there.
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::Absent,
            _ => Self::Io(error),
        }
    }
}
