//! A control group for each server with a keeper, if the system lets us create one.
//!
//! That requires the version 2 hierarchy, and write access to the group of this process, as in a user
//! session of systemd or as root. Nothing depends on it. With a group, one write kills all processes in
//! it, even after its keeper is gone. A server that wants to leave its group can.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The file that kills all processes in a group (Linux 5.14).
const KILL: &str = "cgroup.kill";

/// A group of our own; dropping it removes the group if it is empty.
#[derive(Debug)]
pub(crate) struct Cgroup {
    folder: PathBuf,
}

impl Cgroup {
    /// Creates a group; `None` if that is not possible.
    pub(crate) fn make() -> Option<Self> {
        static OWN: OnceLock<Option<PathBuf>> = OnceLock::new();
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let own = OWN.get_or_init(own).as_ref()?;
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = own.join(format!("switchboard-{}-{next}", std::process::id()));
        if fs::create_dir(&folder).is_err() {
            // Left by an earlier process with our number. If processes are in it, removing it fails.
            fs::remove_dir(&folder).ok();
            fs::create_dir(&folder).ok()?;
        }
        let cgroup = Self { folder };
        // On an older kernel the value is dropped here, which removes the group again.
        cgroup.folder.join(KILL).exists().then_some(cgroup)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Kills all processes in the group of a folder.
pub(crate) fn kill(folder: &Path) {
    // A failure means that the group is gone already.
    fs::write(folder.join(KILL), "1").ok();
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // Mostly the keeper has removed it already.
        fs::remove_dir(&self.folder).ok();
    }
}

/// Lists the processes in the group of a folder.
pub(crate) fn members(folder: &Path) -> BTreeSet<u32> {
    // reads because: it is a file of the kernel, in a folder that we have made.
    let list = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    // A process outside of our PID namespace is shown as 0.
    let pids = list.lines().filter_map(|line| line.parse().ok());
    pids.filter(|pid| *pid != 0).collect()
}

/// The group of this process.
fn own() -> Option<PathBuf> {
    let mounts = fs::read("/proc/self/mountinfo").ok()?;
    let own = fs::read("/proc/self/cgroup").ok()?;
    let mount = mount(&mounts)?;
    let own = own.split(|byte| *byte == b'\n');
    let own = own.filter_map(|line| line.strip_prefix(b"0::/")).next()?;
    Some(mount.join(OsStr::from_bytes(own)))
}

/// The mount point of the version 2 hierarchy, if its root is mounted.
///
/// Reads lines such as `28 24 0:25 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw`.
fn mount(mounts: &[u8]) -> Option<PathBuf> {
    mounts.split(|byte| *byte == b'\n').find_map(|line| {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
        let end = fields.iter().position(|field| *field == b"-")?;
        let is_meant = *fields.get(end + 1)? == b"cgroup2" && *fields.get(3)? == b"/";
        is_meant.then_some(())?;
        Some(PathBuf::from(unescape(fields.get(4)?)))
    })
}

/// Decodes a path of `mountinfo`, which writes spaces and the like as three octal digits.
fn unescape(field: &[u8]) -> OsString {
    let mut path = Vec::new();
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                path.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                path.push(*first);
                rest = after;
            }
        }
    }
    OsString::from_vec(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hierarchy_is_found_where_it_is_mounted_whole() {
        let found = |text: &str| mount(text.as_bytes());
        let before = "25 24 0:23 / /proc rw - proc proc rw\n";
        let whole = "28 24 0:25 / /sys/fs/c\\040g rw shared:4 - cgroup2 cgroup2 rw\n";
        let part = "28 24 0:25 /a /sys/fs/part rw - cgroup2 cgroup2 rw\n";
        let older = "28 24 0:25 / /sys/fs/old rw - cgroup cgroup rw,cpu\n";
        assert_eq!(
            found(&format!("{before}{part}{older}{whole}")),
            Some(PathBuf::from("/sys/fs/c g"))
        );
        assert_eq!(found(&format!("{before}{part}{older}")), None);
        assert_eq!(found("garbage\n- cgroup2\n\n"), None);
    }
}
