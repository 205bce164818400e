//! Files on Unix: opened component by component where links or owners matter.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, open as open_at_path, openat};
use rustix::fs::{readlinkat, statat};
use rustix::io::Errno;

use super::judge::{self, Access, Me};
use super::{FileError, Opened, Refusal, Source};

/// How many links are followed on the way to one file, as the system does.
const LINKS: usize = 40;

/// A file is opened without waiting for a pipe's other end, and without becoming our terminal.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);

/// A folder is only gone through: it need not be listed.
#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

pub(super) fn open(path: &Path, source: Source<'_>) -> Result<Opened, FileError> {
    match source {
        Source::Project(root) => below(root, path),
        Source::Own => own(path, Me::here()),
        Source::Plain => at_path(path, OFlags::NOFOLLOW),
        Source::Referenced => at_path(path, OFlags::empty()),
        Source::Named => named(path),
    }
}

pub(super) fn judge_folders(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let mut walk = Walk::begin(folder, Me::here())?;
    while let Some(name) = walk.left.pop_front() {
        match walk.step(&name) {
            Ok(Step::Into) => {}
            Ok(Step::File) => break,
            // What is not there yet will be made by us, in folders that were judged.
            Err(error) if error.is_absent() => break,
            Err(error) => return Err(error),
        }
    }
    Ok(walk.group_writable)
}

/// Opens a file below a folder without following any link there.
fn below(root: &Path, path: &Path) -> Result<Opened, FileError> {
    let failed = |errno: Errno| refused(path, errno);
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
    let Some((name, folders)) = names.split_last() else {
        return Err(FileError::new(path, Refusal::NotAFile));
    };
    let here = if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        root
    };
    let mut folder = open_at_path(here, FOLDER, Mode::empty()).map_err(failed)?;
    let mut so_far = root.to_owned();
    for name in folders {
        so_far.push(name);
        folder = match openat(&folder, *name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(folder) => folder,
            // Which error a link gives differs between systems.
            Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) if is_link(&folder, name) => {
                return Err(FileError::at_folder(path, &so_far, Refusal::Link));
            }
            Err(errno) => return Err(failed(errno)),
        };
    }
    regular(&folder, name, path)
}

/// Opens a regular file in a folder, if it is not a link.
fn regular(folder: &OwnedFd, name: &OsStr, path: &Path) -> Result<Opened, FileError> {
    let failed = |errno: Errno| refused(path, errno);
    // Opening a device can have an effect, so this is looked at before; what is read is judged below.
    let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
    match kind(&found) {
        FileType::RegularFile => {}
        FileType::Symlink => return Err(FileError::new(path, Refusal::Link)),
        _ => return Err(FileError::new(path, Refusal::NotAFile)),
    }
    match openat(folder, name, FILE | OFlags::NOFOLLOW, Mode::empty()) {
        Ok(file) => judged(File::from(file), path, Vec::new()),
        Err(Errno::LOOP | Errno::MLINK) => Err(FileError::new(path, Refusal::Link)),
        // Nobody reads from the other end: it has become a pipe or a socket.
        Err(Errno::NXIO | Errno::OPNOTSUPP) => Err(FileError::new(path, Refusal::NotAFile)),
        Err(errno) => Err(failed(errno)),
    }
}

/// Judges a file that is open, and has it wait from now on as others do.
fn judged(file: File, path: &Path, group_writable: Vec<PathBuf>) -> Result<Opened, FileError> {
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

fn at_path(path: &Path, more: OFlags) -> Result<Opened, FileError> {
    let failed = |error: io::Error| FileError::new(path, error.into());
    let found = match more.contains(OFlags::NOFOLLOW) {
        true => path.symlink_metadata(),
        false => path.metadata(),
    };
    let found = found.map_err(failed)?;
    if found.is_symlink() {
        return Err(FileError::new(path, Refusal::Link));
    }
    if !found.is_file() {
        return Err(FileError::new(path, Refusal::NotAFile));
    }
    match open_at_path(path, FILE | more, Mode::empty()) {
        Ok(file) => judged(File::from(file), path, Vec::new()),
        Err(Errno::LOOP | Errno::MLINK) if more.contains(OFlags::NOFOLLOW) => {
            Err(FileError::new(path, Refusal::Link))
        }
        Err(Errno::NXIO | Errno::OPNOTSUPP) => Err(FileError::new(path, Refusal::NotAFile)),
        Err(errno) => Err(refused(path, errno)),
    }
}

/// Opens what the person has named, as the shell would: a pipe is waited for.
fn named(path: &Path) -> Result<Opened, FileError> {
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

/// Opens a file of the person's own: through links, and through no folder that others can change.
pub(super) fn own(path: &Path, me: Me) -> Result<Opened, FileError> {
    let mut walk = Walk::begin(path, me)?;
    while let Some(name) = walk.left.pop_front() {
        match walk.step(&name)? {
            Step::Into => {}
            Step::File if walk.left.is_empty() => return walk.file(&name),
            // A file where a folder should be means that what is below it is not there.
            Step::File => return Err(FileError::new(path, Refusal::Absent)),
        }
    }
    Err(FileError::new(path, Refusal::NotAFile))
}

/// The way from the root of the file system to a file, one folder after the other.
struct Walk<'p> {
    /// What is looked for, for errors.
    goal: &'p Path,
    me: Me,
    /// The folders from the root to here, each judged.
    folders: Vec<(OwnedFd, PathBuf)>,
    /// The names that are still to come.
    left: VecDeque<OsString>,
    links: usize,
    group_writable: Vec<PathBuf>,
}

enum Step {
    /// It was a folder, which is entered, or a link, whose names come next.
    Into,
    /// It is something else.
    File,
}

impl<'p> Walk<'p> {
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
        let root = open_at_path("/", FOLDER, Mode::empty());
        walk.enter(
            root.map_err(|errno| refused(goal, errno))?,
            PathBuf::from("/"),
        )?;
        Ok(walk)
    }

    fn step(&mut self, name: &OsStr) -> Result<Step, FileError> {
        if name == ".." {
            if self.folders.len() > 1 {
                self.folders.pop();
            }
            return Ok(Step::Into);
        }
        let Some((folder, place)) = self.folders.last() else {
            return Err(FileError::new(self.goal, Refusal::Absent));
        };
        let failed = |errno: Errno| refused(self.goal, errno);
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
                Ok(Step::Into)
            }
            _ => Ok(Step::File),
        }
    }

    /// Judges a folder, on the descriptor that everything below it is opened from.
    fn enter(&mut self, folder: OwnedFd, place: PathBuf) -> Result<(), FileError> {
        let found = fstat(&folder).map_err(|errno| refused(self.goal, errno))?;
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

    /// Puts the names of a link's target before those that are left.
    fn follow(&mut self, link: &Stat, place: &Path, target: OsString) -> Result<Step, FileError> {
        let (owner, _) = owner_and_mode(link);
        // The mode of a link says nothing; who made it decides where it leads.
        if judge::folder(owner, 0, self.me) == Access::Foreign {
            let me = self.me.user;
            return Err(FileError::at_folder(
                self.goal,
                place,
                Refusal::Foreign { owner, me },
            ));
        }
        self.links += 1;
        if self.links > LINKS {
            return Err(refused(self.goal, Errno::LOOP));
        }
        let target = PathBuf::from(target);
        if target.is_absolute() {
            self.folders.truncate(1);
        }
        for name in names(&target).into_iter().rev() {
            self.left.push_front(name);
        }
        Ok(Step::Into)
    }

    /// Opens the file at the end of the way.
    fn file(self, name: &OsStr) -> Result<Opened, FileError> {
        let Some((folder, place)) = self.folders.last() else {
            return Err(FileError::new(self.goal, Refusal::Absent));
        };
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

/// Why a file that was judged like this is refused, if it is.
fn refusal(access: Access, metadata: &Metadata, me: u32) -> Option<Refusal> {
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

/// Refuses a file that somebody else may write.
pub(super) fn refuse_foreign(opened: &Opened) -> Option<Refusal> {
    refusal(opened.access, &opened.metadata, me())
}

fn me() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The names that a path has, `..` among them.
fn names(path: &Path) -> VecDeque<OsString> {
    let parts = path.components();
    parts
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .map(|part| OsStr::from_bytes(part.as_os_str().as_bytes()).to_owned())
        .collect()
}

fn is_link(folder: impl AsFd, name: &OsStr) -> bool {
    let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|found| kind(&found) == FileType::Symlink)
}

fn kind(found: &Stat) -> FileType {
    FileType::from_raw_mode(found.st_mode)
}

/// The widths of these differ between systems.
#[allow(clippy::useless_conversion, reason = "16 bits on macOS, 32 on Linux")]
fn owner_and_mode(found: &Stat) -> (u32, u32) {
    (found.st_uid, u32::from(found.st_mode))
}

fn refused(path: &Path, errno: Errno) -> FileError {
    FileError::new(path, io::Error::from(errno).into())
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // A file where a folder should be means that what is below it is not there.
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

/// The owner that a user namespace shows for users who are not in it; nothing where all users are.
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
