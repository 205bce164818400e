//! Files on Unix: owners and modes are looked at.

use std::fs::{File, OpenOptions, symlink_metadata};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::{Access, Links, Unread};

const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;

/// Opens a file, if it is one, and says who may write it.
pub(super) fn open(path: &Path, links: Links) -> Result<(File, Access), Unread> {
    // Looked at first, because opening a device can have an effect; and once more below,
    // because it may be another by then.
    let found = symlink_metadata(path)?;
    let mut flags = libc::O_NONBLOCK | libc::O_CLOEXEC;
    if found.is_symlink() {
        if links == Links::Refused {
            return Err(Unread::Link);
        }
        if !path.metadata()?.is_file() {
            return Err(Unread::NoFile);
        }
    } else if found.is_file() {
        flags |= libc::O_NOFOLLOW;
    } else {
        return Err(Unread::NoFile);
    }
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(Unread::NoFile);
    }
    let us = rustix::process::geteuid().as_raw();
    Ok((file, judge(found.uid(), found.mode(), us)))
}

fn judge(owner: u32, mode: u32, us: u32) -> Access {
    if owner != us && owner != 0 {
        Access::Foreign
    } else if mode & OTHERS_WRITE != 0 {
        Access::WorldWritable
    } else if mode & GROUP_WRITES != 0 {
        Access::GroupWritable
    } else {
        Access::Fine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_judged_by_its_owner_and_its_mode() {
        assert_eq!(judge(1000, 0o100_644, 1000), Access::Fine);
        assert_eq!(judge(0, 0o100_644, 1000), Access::Fine);
        assert_eq!(judge(1001, 0o100_600, 1000), Access::Foreign);
        assert_eq!(judge(1001, 0o100_600, 0), Access::Foreign);
        assert_eq!(judge(1000, 0o100_664, 1000), Access::GroupWritable);
        assert_eq!(judge(1000, 0o100_666, 1000), Access::WorldWritable);
        assert_eq!(judge(1000, 0o100_602, 1000), Access::WorldWritable);
    }
}
