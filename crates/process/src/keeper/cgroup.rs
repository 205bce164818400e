//! The keeper's side of a server's control group.
//!
//! The host creates the group if the system permits. The server is created inside it, and so are all its
//! descendants, so one write kills all of them at once, even if they fork as fast as they can. Nothing
//! here allocates memory once the server runs.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The maximum length of a group's folder name with its NUL. Ours have half of that.
const NAME_BYTES: usize = 64;

/// The control group that a server is created in.
pub(super) struct ServerCgroup {
    folder: OwnedFd,
    parent: OwnedFd,
    kill: OwnedFd,
    name: [u8; NAME_BYTES],
}

impl ServerCgroup {
    /// Opens a group by its folder; `None` if it cannot be used.
    pub(super) fn open(path: &CString) -> Option<Self> {
        let bytes = path.as_bytes();
        let at = bytes.iter().rposition(|byte| *byte == b'/')?;
        let (parent, last) = (bytes.get(..at)?, bytes.get(at + 1..)?);
        let mut name = [0; NAME_BYTES];
        // At least the last byte stays 0.
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

    /// The folder, for creating a process in the group.
    pub(super) fn folder(&self) -> &OwnedFd {
        &self.folder
    }

    /// Kills all processes in the group.
    #[allow(unsafe_code)]
    pub(super) fn kill(&self) {
        // SAFETY: the byte lives for the duration of the call. If it fails, the sweep of the process tree
        // still follows.
        unsafe { libc::write(self.kill.as_raw_fd(), c"1".as_ptr().cast(), 1) };
    }

    /// Removes the group, which works once it is empty.
    #[allow(unsafe_code)]
    pub(super) fn remove(&self) {
        let Ok(name) = CStr::from_bytes_until_nul(&self.name) else {
            return;
        };
        // SAFETY: the name is a C string. A group that is not empty is left to the host.
        unsafe { libc::unlinkat(self.parent.as_raw_fd(), name.as_ptr(), libc::AT_REMOVEDIR) };
    }
}

#[allow(unsafe_code)]
fn open(path: &CStr, flags: libc::c_int) -> Option<OwnedFd> {
    // SAFETY: the path is a C string; the file is new and has no other owner.
    unsafe {
        let file = libc::open(path.as_ptr(), flags | libc::O_CLOEXEC);
        (file >= 0).then(|| OwnedFd::from_raw_fd(file))
    }
}
