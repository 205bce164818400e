//! Opens the user's own files: walks from the root down, through links, and checks every folder.
//!
//! Each folder is opened relative to the checked descriptor of its parent, so that none can be swapped
//! between check and use.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, open, openat, readlinkat, statat};
use rustix::io::Errno;

use super::judge::{self, Access, Me};
use super::unix::{FOLDER, errno_error, kind, owner_and_mode, refusal, regular};
use super::{FileError, Opened, Refusal};

/// Links followed on the path to one file, as in the kernel.
const LINKS: usize = 40;

pub(super) fn judge_folders(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let mut walk = FolderWalk::begin(folder, Me::here())?;
    while let Some(name) = walk.left.pop_front() {
        match walk.step(&name) {
            Ok(WalkStep::Into) => {}
            Ok(WalkStep::File) => break,
            // We will create the missing folders ourselves, inside folders that were checked.
            Err(error) if error.is_absent() => break,
            Err(error) => return Err(error),
        }
    }
    Ok(walk.group_writable)
}

/// Opens a file of the user: follows links, and refuses folders that other users can change.
pub(super) fn own(path: &Path, me: Me) -> Result<Opened, FileError> {
    let mut walk = FolderWalk::begin(path, me)?;
    while let Some(name) = walk.left.pop_front() {
        match walk.step(&name)? {
            WalkStep::Into => {}
            WalkStep::File if walk.left.is_empty() => return walk.file(&name),
            // A file in place of a folder: everything below it does not exist.
            WalkStep::File => return Err(FileError::new(path, Refusal::Absent)),
        }
    }
    Err(FileError::new(path, Refusal::NotAFile))
}

/// The walk from the root of the file system to a file, one folder after the other.
struct FolderWalk<'p> {
    /// The path wanted, for errors.
    goal: &'p Path,
    me: Me,
    /// The folders from the root to the current one, all checked.
    folders: Vec<(OwnedFd, PathBuf)>,
    /// The names still to visit.
    left: VecDeque<OsString>,
    links: usize,
    group_writable: Vec<PathBuf>,
}

enum WalkStep {
    /// A folder, which was entered, or a link, whose names come next.
    Into,
    /// Anything else.
    File,
}

impl<'p> FolderWalk<'p> {
    fn begin(goal: &'p Path, me: Me) -> Result<Self, FileError> {
        let whole = std::path::absolute(goal);
        let whole = whole.map_err(|error| FileError::new(goal, error.into()))?;
        let mut walk = Self {
            goal,
            me,
            folders: Vec::new(),
            left: names(&whole),
            links: 0,
            group_writable: Vec::new(),
        };
        let root = open("/", FOLDER, Mode::empty());
        walk.enter(
            root.map_err(|errno| errno_error(goal, errno))?,
            PathBuf::from("/"),
        )?;
        Ok(walk)
    }

    fn step(&mut self, name: &OsStr) -> Result<WalkStep, FileError> {
        // Go back to the checked parent instead of asking the file system for `..`.
        if name == ".." {
            if self.folders.len() > 1 {
                self.folders.pop();
            }
            return Ok(WalkStep::Into);
        }
        let Some((folder, place)) = self.folders.last() else {
            return Err(FileError::new(self.goal, Refusal::Absent));
        };
        let failed = |errno: Errno| errno_error(self.goal, errno);
        let place = place.join(name);
        let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
        match kind(&found) {
            FileType::Symlink => {
                let target = readlinkat(folder, name, Vec::new()).map_err(failed)?;
                self.follow(&found, &place, OsString::from_vec(target.into_bytes()))
            }
            FileType::Directory => {
                let opened = openat(folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
                let opened = opened.map_err(failed)?;
                self.enter(opened, place)?;
                Ok(WalkStep::Into)
            }
            _ => Ok(WalkStep::File),
        }
    }

    /// Checks a folder on the descriptor that everything below it is opened from.
    fn enter(&mut self, folder: OwnedFd, place: PathBuf) -> Result<(), FileError> {
        let found = fstat(&folder).map_err(|errno| errno_error(self.goal, errno))?;
        let (owner, mode) = owner_and_mode(&found);
        let at = |why| FileError::at_folder(self.goal, &place, why);
        match judge::folder(owner, mode, self.me) {
            Access::WorldWritable => return Err(at(Refusal::WorldWritable { mode })),
            Access::Foreign => {
                let me = self.me.user;
                return Err(at(Refusal::Foreign { owner, me }));
            }
            Access::GroupWritable if !self.group_writable.contains(&place) => {
                self.group_writable.push(place.clone());
            }
            Access::GroupWritable | Access::Fine => {}
        }
        self.folders.push((folder, place));
        Ok(())
    }

    /// Puts the names of a link's target before the names still to visit.
    fn follow(
        &mut self,
        link: &Stat,
        place: &Path,
        target: OsString,
    ) -> Result<WalkStep, FileError> {
        let (owner, _) = owner_and_mode(link);
        // A link's mode says nothing. Its owner chose the target, so the owner must be trusted.
        if judge::folder(owner, 0, self.me) == Access::Foreign {
            let me = self.me.user;
            return Err(FileError::at_folder(
                self.goal,
                place,
                Refusal::Foreign { owner, me },
            ));
        }
        // Count links: a cycle would otherwise never end.
        self.links += 1;
        if self.links > LINKS {
            return Err(errno_error(self.goal, Errno::LOOP));
        }
        // A relative target starts at the current folder, an absolute one at the root.
        let target = PathBuf::from(target);
        if target.is_absolute() {
            self.folders.truncate(1);
        }
        for name in names(&target).into_iter().rev() {
            self.left.push_front(name);
        }
        Ok(WalkStep::Into)
    }

    /// Opens the file at the end of the walk.
    fn file(self, name: &OsStr) -> Result<Opened, FileError> {
        let Some((folder, place)) = self.folders.last() else {
            return Err(FileError::new(self.goal, Refusal::Absent));
        };
        // The file itself is judged like its folders: no other user may write it.
        let mut opened = regular(folder, name, self.goal)?;
        let metadata = &opened.metadata;
        opened.access = judge::file(metadata.uid(), metadata.mode(), self.me.user);
        if let Some(why) = refusal(opened.access, metadata, self.me.user) {
            return Err(FileError::new(self.goal, why));
        }
        let of_file = (opened.access == Access::GroupWritable).then(|| place.join(name));
        opened.group_writable = self.group_writable;
        opened.group_writable.extend(of_file);
        Ok(opened)
    }
}

/// The names of a path, including `..`.
fn names(path: &Path) -> VecDeque<OsString> {
    let parts = path.components();
    parts
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .map(|part| part.as_os_str().to_owned())
        .collect()
}
