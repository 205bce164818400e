//! Descendants that have left the process group. Compiled by `cargo xtask platforms`, but run by
//! no test.
//!
//! There is nothing like a keeper on macOS: nobody adopts a process but the system's first one, and
//! then nothing tells whose it was. So the tree below a server is looked at while it stands, at
//! every step of ending it, and who was seen once is remembered by number and start time.

use std::ffi::c_int;
use std::mem;

use rustix::process::{Pid, Signal, kill_process};

use crate::instance::Instance;

/// The most children of one process that are looked at.
const MOST_CHILDREN: usize = 1024;

/// The most descendants that are remembered. A server with more is ended by its group only.
const MOST: usize = 4096;

/// Descendants that were seen.
#[derive(Default)]
pub(super) struct Descendants {
    seen: Vec<Instance>,
}

impl Descendants {
    /// Looks at the tree below a process, and at the trees below those that were seen before.
    pub(super) fn look(&mut self, root: Pid) {
        let root = root.as_raw_nonzero().get().unsigned_abs();
        // Whose number means another process by now has no children of ours.
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

    /// Signals each that still runs.
    pub(super) fn signal(&self, signal: Signal) {
        for descendant in self.seen.iter().filter(|seen| seen.is_running()) {
            let pid = i32::try_from(descendant.pid).ok().and_then(Pid::from_raw);
            if let Some(pid) = pid {
                // One that has ended since needs no signal.
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
        // SAFETY: the buffer is as large as it is said to be, and of the type that is written.
        unsafe { libc::proc_listchildpids(parent, pids.as_mut_ptr().cast(), bytes) };
    }
    // What was not written, be it for an error, is still 0.
    let pids = pids.into_iter().filter_map(|pid| u32::try_from(pid).ok());
    pids.filter(|pid| *pid != 0).collect()
}
