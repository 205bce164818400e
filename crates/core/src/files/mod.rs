//! Opens every file that the product reads, and judges it on the descriptor that it is read from.
//!
//! A [`Source`] says where a file comes from, and that decides the rules:
//!
//! - [`Source::Project`]: it came with a folder, such as a clone. Nothing below that folder may be a
//!   link, and only a regular file is read.
//! - [`Source::Own`]: the person's own file. Links are followed, and every folder on the way, up to the
//!   root of the file system, must be one that nobody else can change.
//! - [`Source::Referenced`], [`Source::Plain`]: a regular file, whoever owns it.
//! - [`Source::Named`]: a file on the command line, which may be a pipe.
//!
//! Nothing but [`Source::Named`] waits: a pipe in the place of a file is refused before anybody reads
//! from it. Every read has a bound. On systems without owners and modes, who can write a file is left to
//! the folders that it is in.

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

/// Makes a folder and what is missing above it, for its owner alone (0700). One that is there stays as it is.
///
/// # Errors
/// When the system refuses.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Has a file made for its owner alone (0600); no link is followed, and a pipe in its place does not block.
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

/// Where a file comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source<'a> {
    /// A project, whose folder this is. The way to the folder may have links; below it there are none.
    Project(&'a Path),
    /// The person. Every folder on the way to the file is judged, through links too.
    Own,
    /// An entry that names a file outside of its project, or the person's own entry.
    Referenced,
    /// The program itself. The file must not be a link; who may have written it is for the caller to judge.
    Plain,
    /// The command line. Anything that can be read, also a pipe, for which this waits.
    Named,
}

/// A file that was opened and judged.
#[derive(Debug)]
pub struct Opened {
    file: File,
    path: PathBuf,
    metadata: Metadata,
    access: Access,
    group_writable: Vec<PathBuf>,
}

/// What a file holds, and what was noticed about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Content {
    /// All of it.
    pub bytes: Vec<u8>,
    /// Who else may write the file itself.
    pub access: Access,
    /// The file and the folders that others of a group may write, the farthest first. Folders are judged
    /// for [`Source::Own`] alone.
    pub group_writable: Vec<PathBuf>,
}

/// Opens a file.
///
/// # Errors
/// When it is not there, not a file, or refused by the rules of its source.
pub fn open(path: &Path, source: Source<'_>) -> Result<Opened, FileError> {
    platform::open(path, source)
}

/// Reads a file that has at most so many bytes.
///
/// # Errors
/// As for [`open`], and when it is larger.
pub fn read(path: &Path, source: Source<'_>, most_bytes: usize) -> Result<Content, FileError> {
    open(path, source)?.read(most_bytes)
}

/// Reads the beginning of a file.
///
/// # Errors
/// As for [`open`].
pub fn read_head(path: &Path, source: Source<'_>, bytes: usize) -> Result<Vec<u8>, FileError> {
    let opened = open(path, source)?;
    opened.head(bytes).map(|(head, _)| head)
}

/// Judges every folder from the root of the file system down to this one, through links, and gives those
/// that others of a group may write. The folder, and what is above it, need not be there.
///
/// # Errors
/// When somebody else could change one of them: anybody may write it and it is not sticky, or it belongs
/// to another user who is not root.
pub fn judge_folders(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    #[cfg(unix)]
    return walk::judge_folders(folder);
    #[cfg(not(unix))]
    platform::judge_folders(folder)
}

/// Opens a folder, to lock or to sync it.
///
/// # Errors
/// When the system refuses.
#[cfg_attr(
    not(unix),
    allow(dead_code, reason = "folders are opened on Unix alone")
)]
pub fn open_folder(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// Resolves the `.` and `..` of a path by its text alone, without following links.
///
/// What is opened then is what the text says: `a/../b` is `b`, whatever `a` is a link to.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
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
    /// What the system says about the file that is open.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The file itself.
    pub fn into_file(self) -> File {
        self.file
    }

    /// Refuses it when somebody else may write it: anybody, or an owner who is another user.
    /// [`Source::Own`] has done so already.
    ///
    /// # Errors
    /// When that is so.
    pub fn unless_others_write(self) -> Result<Self, FileError> {
        match platform::refuse_foreign(&self) {
            Some(why) => Err(FileError::new(&self.path, why)),
            None => Ok(self),
        }
    }

    /// Reads all of it, if it has at most so many bytes.
    ///
    /// # Errors
    /// When it is larger, or reading fails.
    pub fn read(self, most_bytes: usize) -> Result<Content, FileError> {
        // One more than is allowed: the size that the system reports is not what a pipe or a growing
        // file will give.
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
