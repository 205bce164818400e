//! Files on Windows: who may write them is left to the folders that they are in.

use std::fs::{File, symlink_metadata};
use std::path::Path;

use super::{Access, Links, Unread};

/// Opens a file, if it is one, and says who may write it.
pub(super) fn open(path: &Path, links: Links) -> Result<(File, Access), Unread> {
    let found = symlink_metadata(path)?;
    if found.is_symlink() && links == Links::Refused {
        return Err(Unread::Link);
    }
    if !path.metadata()?.is_file() {
        return Err(Unread::NoFile);
    }
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(Unread::NoFile);
    }
    Ok((file, Access::Fine))
}
