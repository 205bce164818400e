//! Files on Unix: opened component by component where links or owners matter.

use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, open as open_at_path, openat, statat};
use rustix::io::Errno;

use super::judge::{self, Access, Me};
use super::{FileError, Opened, Refusal, Source, walk};

/// Flags for files: never wait for the other end of a pipe, never acquire a controlling terminal.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);

/// Flags for folders that are only traversed, so that they need not be listable.
#[cfg(target_os = "linux")]
pub(super) const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
pub(super) const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

pub(super) fn open(path: &Path, source: Source<'_>) -> Result<Opened, FileError> {
    match source {
        Source::Project(root) => open_below(root, path),
        Source::Own => walk::own(path, Me::here()),
        Source::Plain => open_at(path, OFlags::NOFOLLOW),
        Source::Referenced => open_at(path, OFlags::empty()),
        Source::Named => open_named(path),
    }
}

/// Opens a file below a folder without following any link there.
fn open_below(root: &Path, path: &Path) -> Result<Opened, FileError> {
    let failed = |errno: Errno| errno_error(path, errno);
    let Ok(inside) = path.strip_prefix(root) else {
        return Err(FileError::new(path, Refusal::Outside));
    };
    let mut names = Vec::new();
    for part in inside.components() {
        match part {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            _ => return Err(FileError::new(path, Refusal::Outside)),
        }
    }
    // The last name is the file; everything before it must be folders.
    let Some((name, folders)) = names.split_last() else {
        return Err(FileError::new(path, Refusal::NotAFile));
    };
    let here = if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        root
    };
    // Descend one component at a time: only so `NOFOLLOW` applies to the folders too.
    let mut folder = open_at_path(here, FOLDER, Mode::empty()).map_err(failed)?;
    let mut so_far = root.to_owned();
    for name in folders {
        so_far.push(name);
        folder = match openat(&folder, *name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(folder) => folder,
            // The error for a link differs between systems, so ask for the file type instead.
            Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) if is_link(&folder, name) => {
                return Err(FileError::at_folder(path, &so_far, Refusal::Link));
            }
            Err(errno) => return Err(failed(errno)),
        };
    }
    regular(&folder, name, path)
}

/// Opens a regular file in a folder, unless it is a link.
pub(super) fn regular(folder: &OwnedFd, name: &OsStr, path: &Path) -> Result<Opened, FileError> {
    let failed = |errno: Errno| errno_error(path, errno);
    // Opening a device can have side effects, so look before opening. The opened file is checked again.
    let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
    match kind(&found) {
        FileType::RegularFile => {}
        FileType::Symlink => return Err(FileError::new(path, Refusal::Link)),
        _ => return Err(FileError::new(path, Refusal::NotAFile)),
    }
    match openat(folder, name, FILE | OFlags::NOFOLLOW, Mode::empty()) {
        Ok(file) => check_opened(File::from(file), path, Vec::new()),
        Err(Errno::LOOP | Errno::MLINK) => Err(FileError::new(path, Refusal::Link)),
        // It has become a pipe without a writer, or a socket, since the check above.
        Err(Errno::NXIO | Errno::OPNOTSUPP) => Err(FileError::new(path, Refusal::NotAFile)),
        Err(errno) => Err(failed(errno)),
    }
}

/// Checks the type and the owner of an open file.
fn check_opened(
    file: File,
    path: &Path,
    group_writable: Vec<PathBuf>,
) -> Result<Opened, FileError> {
    let failed = |error: io::Error| FileError::new(path, error.into());
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(FileError::new(path, Refusal::NotAFile));
    }
    Ok(Opened {
        access: judge::file(metadata.uid(), metadata.mode(), me()),
        path: path.to_owned(),
        file,
        metadata,
        group_writable,
    })
}

/// Opens a regular file by its path.
fn open_at(path: &Path, more: OFlags) -> Result<Opened, FileError> {
    let failed = |error: io::Error| FileError::new(path, error.into());
    let found = if more.contains(OFlags::NOFOLLOW) {
        path.symlink_metadata()
    } else {
        path.metadata()
    };
    let found = found.map_err(failed)?;
    if found.is_symlink() {
        return Err(FileError::new(path, Refusal::Link));
    }
    if !found.is_file() {
        return Err(FileError::new(path, Refusal::NotAFile));
    }
    match open_at_path(path, FILE | more, Mode::empty()) {
        Ok(file) => check_opened(File::from(file), path, Vec::new()),
        Err(Errno::LOOP | Errno::MLINK) if more.contains(OFlags::NOFOLLOW) => {
            Err(FileError::new(path, Refusal::Link))
        }
        Err(Errno::NXIO | Errno::OPNOTSUPP) => Err(FileError::new(path, Refusal::NotAFile)),
        Err(errno) => Err(errno_error(path, errno)),
    }
}

/// Opens a file that the user named, as a shell would: this blocks on a pipe.
fn open_named(path: &Path) -> Result<Opened, FileError> {
    let failed = |error: io::Error| FileError::new(path, error.into());
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NOCTTY);
    let file = options.open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(FileError::new(path, Refusal::NotAFile));
    }
    Ok(Opened {
        access: judge::file(metadata.uid(), metadata.mode(), me()),
        path: path.to_owned(),
        file,
        metadata,
        group_writable: Vec::new(),
    })
}

/// The reason to refuse a file with this access, if any.
pub(super) fn refusal(access: Access, metadata: &Metadata, me: u32) -> Option<Refusal> {
    match access {
        Access::WorldWritable => Some(Refusal::WorldWritable {
            mode: metadata.mode(),
        }),
        Access::Foreign => Some(Refusal::Foreign {
            owner: metadata.uid(),
            me,
        }),
        Access::Fine | Access::GroupWritable => None,
    }
}

/// Refuses a file that another user may write.
pub(super) fn refuse_foreign(opened: &Opened) -> Option<Refusal> {
    refusal(opened.access, &opened.metadata, me())
}

fn me() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn is_link(folder: impl AsFd, name: &OsStr) -> bool {
    let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|found| kind(&found) == FileType::Symlink)
}

pub(super) fn kind(found: &Stat) -> FileType {
    FileType::from_raw_mode(found.st_mode)
}

/// Returns owner and mode, whose integer types differ between systems.
#[allow(clippy::useless_conversion, reason = "16 bits on macOS, 32 on Linux")]
pub(super) fn owner_and_mode(found: &Stat) -> (u32, u32) {
    (found.st_uid, u32::from(found.st_mode))
}

pub(super) fn errno_error(path: &Path, errno: Errno) -> FileError {
    FileError::new(path, io::Error::from(errno).into())
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // A file in place of a folder: everything below it does not exist.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Absent,
            _ => Self::Io(error),
        }
    }
}

impl Me {
    /// The user that this process acts as.
    pub(super) fn here() -> Self {
        static OUTSIDE: OnceLock<Option<u32>> = OnceLock::new();
        Self {
            user: me(),
            outside: *OUTSIDE.get_or_init(outside),
        }
    }
}

/// The owner that a user namespace shows for users outside of it; `None` if all users are inside.
#[cfg(target_os = "linux")]
fn outside() -> Option<u32> {
    let read = |file: &str| {
        let bytes = super::read_head(Path::new(file), Source::Plain, 4096).ok()?;
        String::from_utf8(bytes).ok()
    };
    let map = read("/proc/self/uid_map")?;
    let has_all = map.split_whitespace().eq(["0", "0", "4294967295"]);
    let owner = read("/proc/sys/kernel/overflowuid")?.trim().parse().ok();
    owner.filter(|_| !has_all)
}

#[cfg(not(target_os = "linux"))]
fn outside() -> Option<u32> {
    None
}
