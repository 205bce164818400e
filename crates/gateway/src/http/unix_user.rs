//! The user that this process runs as.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;

/// The user id of this process.
pub(super) fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns true if a file belongs to this process' user.
pub(super) fn is_ours(metadata: &Metadata) -> bool {
    metadata.uid() == own_uid()
}
