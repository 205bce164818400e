//! Descendants that have left the process group. Compiled by `cargo xtask platforms`, but run by
//! no test.
//!
//! macOS has nothing like a keeper: only launchd adopts orphans, and then their origin is lost. So the
//! tree below a server is read while it exists, at every step of ending it, and the processes found are
//! remembered by number and start time.

use std::ffi::c_int;
use std::mem;

use rustix::process::{Pid, Signal, kill_process};

use crate::instance::Instance;

/// The maximum number of children of one process that are read.
const MOST_CHILDREN: usize = 1024;

/// The maximum number of descendants that are remembered. Further ones are ended with the group only.
const MOST: usize = 4096;

/// The descendants found so far.
#[derive(Default)]
pub(super) struct Descendants {
    seen: Vec<Instance>,
}

impl Descendants {
    /// Reads the tree below a process, and the trees below the descendants found before.
    pub(super) fn look(&mut self, root: Pid) {
        let root = root.as_raw_nonzero().get().unsigned_abs();
        // First forget dead ones: their number may mean another process, whose children are not ours.
        self.seen.retain(Instance::is_running);
        let mut parents: Vec<u32> = self.seen.iter().map(|seen| seen.pid).collect();
        parents.push(root);
        while let Some(parent) = parents.pop() {
            for child in children(parent) {
                let is_new = child != root && self.seen.iter().all(|seen| seen.pid != child);
                if let Some(child) = Instance::of(child).filter(|_| is_new) {
                    if self.seen.len() == MOST {
                        return;
                    }
                    parents.push(child.pid);
                    self.seen.push(child);
                }
            }
        }
    }

    /// Signals each descendant that still runs.
    pub(super) fn signal(&self, signal: Signal) {
        for descendant in self.seen.iter().filter(|seen| seen.is_running()) {
            let pid = i32::try_from(descendant.pid).ok().and_then(Pid::from_raw);
            if let Some(pid) = pid {
                // A failure means that it has ended since.
                kill_process(pid, signal).ok();
            }
        }
    }
}

#[allow(unsafe_code)]
fn children(parent: u32) -> Vec<u32> {
    let mut pids: Vec<c_int> = vec![0; MOST_CHILDREN];
    let bytes = c_int::try_from(mem::size_of_val(pids.as_slice())).unwrap_or(0);
    if let Ok(parent) = c_int::try_from(parent) {
        // SAFETY: the buffer has the size given, and the type that is written.
        unsafe { libc::proc_listchildpids(parent, pids.as_mut_ptr().cast(), bytes) };
    }
    // Entries that were not written, also because of an error, are still 0.
    let pids = pids.into_iter().filter_map(|pid| u32::try_from(pid).ok());
    pids.filter(|pid| *pid != 0).collect()
}
