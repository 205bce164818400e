//! The control group of a server, as its keeper has it.
//!
//! The host makes the group where the system lets it. A server is born into it, and what it starts
//! is in it too, so one write kills all of them at once, also those who fork as fast as they can.
//! Nothing here asks the allocator for memory once the server runs.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The longest name of a group's folder, its NUL included. Ours have half of that.
const NAME_BYTES: usize = 64;

/// A group that the server is born into.
pub(super) struct Cgroup {
    folder: OwnedFd,
    parent: OwnedFd,
    kill: OwnedFd,
    name: [u8; NAME_BYTES],
}

impl Cgroup {
    /// Opens a group by its folder; nothing where that cannot be used.
    pub(super) fn open(path: &CString) -> Option<Self> {
        let bytes = path.as_bytes();
        let at = bytes.iter().rposition(|byte| *byte == b'/')?;
        let (parent, last) = (bytes.get(..at)?, bytes.get(at + 1..)?);
        let mut name = [0; NAME_BYTES];
        // The last byte stays 0.
        name.get_mut(..last.len())
            .filter(|place| !place.is_empty() && place.len() < NAME_BYTES)?
            .copy_from_slice(last);
        let kill = CString::new([bytes, b"/cgroup.kill"].concat()).ok()?;
        let folder = libc::O_PATH | libc::O_DIRECTORY;
        Some(Self {
            folder: open(path, folder)?,
            parent: open(&CString::new(parent).ok()?, folder)?,
            kill: open(&kill, libc::O_WRONLY)?,
            name,
        })
    }

    /// The folder, which a process can be born into.
    pub(super) fn folder(&self) -> &OwnedFd {
        &self.folder
    }

    /// Kills everybody in the group.
    #[allow(unsafe_code)]
    pub(super) fn kill(&self) {
        // SAFETY: the byte is there for as long as the call takes. Where it fails, the tree of
        // processes is still gone through.
        unsafe { libc::write(self.kill.as_raw_fd(), c"1".as_ptr().cast(), 1) };
    }

    /// Removes the group, which works once nobody is in it.
    #[allow(unsafe_code)]
    pub(super) fn remove(&self) {
        let Ok(name) = CStr::from_bytes_until_nul(&self.name) else {
            return;
        };
        // SAFETY: the name is a C string. A group that somebody is in is left to the host.
        unsafe { libc::unlinkat(self.parent.as_raw_fd(), name.as_ptr(), libc::AT_REMOVEDIR) };
    }
}

#[allow(unsafe_code)]
fn open(path: &CStr, flags: libc::c_int) -> Option<OwnedFd> {
    // SAFETY: the path is a C string; the file is new and nobody else's.
    unsafe {
        let file = libc::open(path.as_ptr(), flags | libc::O_CLOEXEC);
        (file >= 0).then(|| OwnedFd::from_raw_fd(file))
    }
}
