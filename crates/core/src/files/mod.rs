//! Opens every file that the product reads, and checks it on the open descriptor.
//!
//! Checking the descriptor rather than the path leaves no moment in which the file could be replaced.
//! The [`Source`] of a file decides the rules:
//!
//! - [`Source::Project`]: the file came with a folder, such as a clone. Nothing below that folder may
//!   be a link, and only regular files are read.
//! - [`Source::Own`]: the user's own file. Links are followed, and no other user may be able to change
//!   any folder on the path, up to the root of the file system.
//! - [`Source::Referenced`], [`Source::Plain`]: a regular file of any owner.
//! - [`Source::Named`]: a file on the command line, which may be a pipe.
//!
//! Only [`Source::Named`] may block: a pipe in place of a file is refused before anything is read from
//! it. Every read has a limit. On systems without owners and modes, write access is left to the
//! folders.

mod error;
#[cfg_attr(not(unix), allow(dead_code, reason = "only Unix has owners and modes"))]
mod judge;
#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
mod walk;

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

pub use error::{FileError, Refusal};
pub use judge::Access;
#[cfg(not(unix))]
use other as platform;
#[cfg(unix)]
use unix as platform;

/// Creates a folder and its missing parents with mode 0700. An existing one stays as it is.
///
/// # Errors
/// Fails if the operating system refuses.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Sets options that create a file with mode 0600, follow no link, and do not block on a pipe.
pub fn make_private(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    #[cfg(not(unix))]
    let _ = options;
}

/// The origin of a file, which decides the rules for opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source<'a> {
    /// A project with this folder. The path to the folder may have links, the path below it may not.
    Project(&'a Path),
    /// The user. Every folder on the path to the file is checked, through links too.
    Own,
    /// An entry that names a file outside of its project, or the user's own entry.
    Referenced,
    /// The program itself. The file must not be a link; its owner is for the caller to check.
    Plain,
    /// The command line. Anything that can be read, also a pipe, on which this blocks.
    Named,
}

/// A file that was opened and checked.
#[derive(Debug)]
pub struct Opened {
    file: File,
    path: PathBuf,
    metadata: Metadata,
    access: Access,
    group_writable: Vec<PathBuf>,
}

/// The content of a file, and the users who may write it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Content {
    /// The whole content.
    pub bytes: Vec<u8>,
    /// The users, besides us, who may write the file itself.
    pub access: Access,
    /// The file and the folders that a group may write, from the root down. Folders are checked for
    /// [`Source::Own`] only.
    pub group_writable: Vec<PathBuf>,
}

/// Opens a file and checks it by the rules of its source.
///
/// # Errors
/// Fails if it does not exist, is not a file, or breaks the rules of its source.
pub fn open(path: &Path, source: Source<'_>) -> Result<Opened, FileError> {
    platform::open(path, source)
}

/// Reads a file of at most `most_bytes` bytes.
///
/// # Errors
/// Fails like [`open`], and if the file is larger.
pub fn read(path: &Path, source: Source<'_>, most_bytes: usize) -> Result<Content, FileError> {
    open(path, source)?.read(most_bytes)
}

/// Reads the beginning of a file.
///
/// # Errors
/// Fails like [`open`].
pub fn read_head(path: &Path, source: Source<'_>, bytes: usize) -> Result<Vec<u8>, FileError> {
    let opened = open(path, source)?;
    opened.head(bytes).map(|(head, _)| head)
}

/// Checks every folder from the root of the file system down to this one, through links, and returns
/// those that a group may write. The folder and its parents need not exist.
///
/// # Errors
/// Fails if another user could change one of them: it is world-writable and not sticky, or it belongs
/// to a user who is neither us nor root.
pub fn judge_folders(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    #[cfg(unix)]
    return walk::judge_folders(folder);
    #[cfg(not(unix))]
    platform::judge_folders(folder)
}

/// Opens a folder in order to lock or sync it.
///
/// # Errors
/// Fails if the operating system refuses.
#[cfg_attr(
    not(unix),
    allow(dead_code, reason = "folders are opened on Unix alone")
)]
pub fn open_folder(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// Resolves `.` and `..` in a path textually, without following links.
///
/// The path then means what its text says: `a/../b` is `b`, even if `a` is a link.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                // A leading `..` stays; above the root there is nothing to go up to.
                Some(Component::Normal(_)) => drop(out.pop()),
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => out.push(".."),
            },
            part => out.push(part),
        }
    }
    out
}

impl Opened {
    /// The metadata of the open file.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The file itself.
    pub fn into_file(self) -> File {
        self.file
    }

    /// Refuses a file that another user may write: world-writable, or owned by someone else.
    /// [`Source::Own`] has checked that already.
    ///
    /// # Errors
    /// Fails if another user may write it.
    pub fn unless_others_write(self) -> Result<Self, FileError> {
        // By the metadata of the open file, which cannot change identity any more.
        match platform::refuse_foreign(&self) {
            Some(why) => Err(FileError::new(&self.path, why)),
            None => Ok(self),
        }
    }

    /// Reads the whole file, if it has at most `most_bytes` bytes.
    ///
    /// # Errors
    /// Fails if it is larger, or reading fails.
    pub fn read(self, most_bytes: usize) -> Result<Content, FileError> {
        // Read one byte more than allowed instead of trusting the reported size, which is wrong for pipes
        // and growing files.
        let (mut bytes, opened) = self.head(most_bytes.saturating_add(1))?;
        if bytes.len() > most_bytes {
            let why = Refusal::TooLarge { most_bytes };
            return Err(FileError::new(&opened.path, why));
        }
        bytes.shrink_to_fit();
        Ok(Content {
            bytes,
            access: opened.access,
            group_writable: opened.group_writable,
        })
    }

    fn head(mut self, bytes: usize) -> Result<(Vec<u8>, Self), FileError> {
        let limit = u64::try_from(bytes).unwrap_or(u64::MAX);
        let mut head = Vec::new();
        (&mut self.file)
            .take(limit)
            .read_to_end(&mut head)
            .map_err(|error| FileError::new(&self.path, Refusal::Io(error)))?;
        Ok((head, self))
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
