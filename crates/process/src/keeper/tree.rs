//! The descendants of a keeper, found in `/proc`.
//!
//! A keeper adopts every orphan among its descendants, so none of them can escape: a process whose
//! parent is a descendant is one too. Nothing here allocates memory: a keeper has given its heap back.

use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, kill_process_group, pidfd_open, pidfd_send_signal,
};

use super::memory::{Table, read};

/// Initial capacity, in processes of the system. Pages are used only when there are that many.
const ROOM: usize = 1 << 12;

/// A process, with its parent and its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProcEntry {
    pid: i32,
    parent: i32,
    group: i32,
    /// True if it is a zombie.
    is_dead: bool,
    /// True if it is one of our descendants.
    is_descendant: bool,
}

/// The PID namespace whose numbers `/proc` shows.
#[derive(Clone, Copy)]
struct ProcNumbers {
    /// The number of this process in `/proc`.
    me: i32,
    /// The number of PID namespaces between `/proc` and ours; mostly 0, more if no `/proc` is mounted for ours.
    level: usize,
}

impl ProcNumbers {
    /// Detects the namespace; `None` if the numbers of `/proc` mean nothing here.
    fn of_proc() -> Option<Self> {
        let mut buffer = [0_u8; 256];
        let read = read(&open(b"/proc/self/stat\0", 0)?, &mut buffer);
        let me = number(buffer.get(..read)?.split(|byte| *byte == b' ').next())?;
        let own = getpid().as_raw_nonzero().get();
        if me == own {
            return Some(Self { me, level: 0 });
        }
        status(me, |status| {
            let count = levels(status, b"NSpid:")?.count();
            let level = count.checked_sub(1)?;
            let last = number(levels(status, b"NSpid:")?.nth(level));
            (last == Some(own)).then_some(Self { me, level })
        })
    }

    /// Converts a number of `/proc` to ours, by the line `name` in the `status` of a process.
    fn here(self, pid: i32, name: &[u8], in_proc: i32) -> Option<Pid> {
        let found = match self.level {
            0 => Some(in_proc),
            level => status(pid, |status| number(levels(status, name)?.nth(level))),
        };
        found.and_then(Pid::from_raw)
    }

    fn pid_here(self, entry: &ProcEntry) -> Option<Pid> {
        self.here(entry.pid, b"NSpid:", entry.pid)
    }

    fn group_here(self, entry: &ProcEntry) -> Option<Pid> {
        self.here(entry.pid, b"NSpgid:", entry.group)
    }
}

/// Sends a signal to every descendant once.
pub(super) fn signal(signal: Signal) {
    each_descendant(|numbers, entry| signal_one(numbers, entry, signal));
}

/// Kills every descendant, and every process group that contains one.
///
/// A process that forks and exits all the time has a new number whenever we look; killing its group also
/// hits the process that is just being born. A group contains only descendants: it belongs to a session
/// that a descendant has created.
pub(super) fn kill_groups() {
    each_descendant(|numbers, entry| {
        if entry.group != numbers.me
            && let Some(group) = numbers.group_here(entry)
        {
            // The only failure: the group is empty, or we may not kill its processes.
            kill_process_group(group, Signal::KILL).ok();
        }
        signal_one(numbers, entry, Signal::KILL);
    });
}

/// Calls `act` with each descendant that still runs.
pub(super) fn each_left(mut act: impl FnMut(i32)) {
    each_descendant(|numbers, entry| {
        if !entry.is_dead
            && let Some(pid) = numbers.pid_here(entry)
        {
            act(pid.as_raw_nonzero().get());
        }
    });
}

/// Signals a process if it is still the one that was seen, because numbers are reused.
fn signal_one(numbers: ProcNumbers, seen: &ProcEntry, signal: Signal) {
    let Some(number) = numbers.pid_here(seen) else {
        return;
    };
    let Ok(process) = pidfd_open(number, PidfdFlags::empty()) else {
        return;
    };
    // From here on the descriptor means one process. If its parent is that of the process we saw, or
    // is us because we have adopted it since, it is a descendant.
    let is_same = |now: ProcEntry| {
        (now.parent == seen.parent || now.parent == numbers.me)
            && numbers.pid_here(&now) == Some(number)
    };
    if look(seen.pid).is_some_and(is_same) {
        // A failure means that it is gone, or belongs to another user.
        pidfd_send_signal(&process, signal).ok();
    }
}

fn each_descendant(mut act: impl FnMut(ProcNumbers, &ProcEntry)) {
    // Without memory or /proc nothing can be found; the server then ends with its keeper.
    let Some(numbers) = ProcNumbers::of_proc() else {
        return;
    };
    let Some(mut table) = Table::with_room(ROOM) else {
        return;
    };
    each_number_in_proc(|pid| {
        if let Some(entry) = look(pid) {
            // Without memory for it, a later round finds it, when others are gone.
            table.push(entry);
        }
    });
    let entries = table.as_mut_slice();
    mark(entries, numbers.me);
    entries
        .iter()
        .filter(|entry| entry.is_descendant)
        .for_each(|entry| act(numbers, entry));
}

/// Marks all descendants of a process in a list that is sorted by number.
fn mark(entries: &mut [ProcEntry], ancestor: i32) {
    // One pass is mostly enough: a child has a higher number than its parent, until numbers wrap.
    loop {
        let mut changed = false;
        for at in 0..entries.len() {
            let Some(entry) = entries.get(at).filter(|entry| !entry.is_descendant) else {
                continue;
            };
            let parent = entry.parent;
            let of_descendant = || {
                let found = entries.binary_search_by_key(&parent, |entry| entry.pid);
                let parent = found.ok().and_then(|at| entries.get(at));
                parent.is_some_and(|parent| parent.is_descendant)
            };
            if (parent == ancestor || of_descendant())
                && let Some(entry) = entries.get_mut(at)
            {
                entry.is_descendant = true;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// Calls `act` with the number of each process in `/proc`, in ascending order.
#[allow(unsafe_code)]
fn each_number_in_proc(mut act: impl FnMut(i32)) {
    /// The offsets of the length and of the name in a directory entry.
    const LENGTH: usize = 16;
    const NAME: usize = 19;
    let Some(folder) = open(b"/proc\0", libc::O_DIRECTORY) else {
        return;
    };
    let mut buffer = [0_u8; 4096];
    loop {
        // SAFETY: the system writes no more than the length of the buffer.
        let read = unsafe {
            libc::syscall(
                libc::SYS_getdents64,
                folder.as_raw_fd(),
                buffer.as_mut_ptr(),
                buffer.len(),
            )
        };
        let read = usize::try_from(read).unwrap_or(0);
        let mut rest = buffer.get(..read).unwrap_or_default();
        if rest.is_empty() {
            return;
        }
        while let Some([low, high]) = rest.get(LENGTH..LENGTH + 2) {
            let length = usize::from(u16::from_ne_bytes([*low, *high]));
            let name = rest.get(NAME..length).unwrap_or_default();
            if let Some(pid) = number(name.split(|byte| *byte == 0).next()) {
                act(pid);
            }
            rest = rest.get(length.max(1)..).unwrap_or_default();
        }
    }
}

/// Reads the state of a process.
fn look(pid: i32) -> Option<ProcEntry> {
    let mut path = [0; 32];
    write!(&mut path[..], "/proc/{pid}/stat\0").ok()?;
    let file = open(&path, 0)?;
    // Enough for the fields that are needed; the text before them has at most 64 bytes.
    let mut buffer = [0_u8; 256];
    let read = read(&file, &mut buffer);
    parse(pid, buffer.get(..read)?)
}

/// Reads the `status` of a process and passes it to `take`.
fn status<T>(pid: i32, take: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
    let mut path = [0; 32];
    write!(&mut path[..], "/proc/{pid}/status\0").ok()?;
    let file = open(&path, 0)?;
    // The kernel returns it in pieces. Before the needed lines come the user's groups, mostly a few.
    let mut buffer = [0_u8; 8192];
    let mut held = 0;
    loop {
        match read(&file, buffer.get_mut(held..)?) {
            0 => return take(buffer.get(..held)?),
            more => held += more,
        }
    }
}

/// Reads a line of `status` that has a number for each PID namespace, beginning with that of `/proc`.
fn levels<'a>(status: &'a [u8], name: &[u8]) -> Option<impl Iterator<Item = &'a [u8]>> {
    let mut lines = status.split(|byte| *byte == b'\n');
    let line = lines.find_map(|line| line.strip_prefix(name))?;
    let numbers = line.split(|byte| byte.is_ascii_whitespace());
    Some(numbers.filter(|number| !number.is_empty()))
}

/// Parses `PID (NAME) STATE PARENT GROUP ...`, in which the name may contain anything.
fn parse(pid: i32, stat: &[u8]) -> Option<ProcEntry> {
    let after_name = stat.rsplit(|byte| *byte == b')').next()?;
    let mut fields = after_name
        .split(|byte| *byte == b' ')
        .filter(|field| !field.is_empty());
    let state = fields.next()?;
    Some(ProcEntry {
        pid,
        parent: number(fields.next())?,
        group: number(fields.next())?,
        is_dead: matches!(state, b"Z" | b"X"),
        is_descendant: false,
    })
}

fn number(text: Option<&[u8]>) -> Option<i32> {
    std::str::from_utf8(text?).ok()?.parse().ok()
}

/// Opens a file by a path that ends with a NUL.
#[allow(unsafe_code)]
pub(super) fn open(path: &[u8], flags: libc::c_int) -> Option<OwnedFd> {
    let path = std::ffi::CStr::from_bytes_until_nul(path).ok()?;
    // SAFETY: the path is a C string; the file is new and has no other owner.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC | flags);
        (file >= 0).then(|| OwnedFd::from_raw_fd(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(pid: i32, parent: i32) -> ProcEntry {
        ProcEntry {
            pid,
            parent,
            group: 1,
            is_dead: false,
            is_descendant: false,
        }
    }

    #[test]
    fn a_name_may_look_like_numbers() {
        let seen = parse(12, b"12 (a) S 1 (b)) R 34 56 78 0 -1");
        let wanted = ProcEntry {
            group: 56,
            ..entry(12, 34)
        };
        assert_eq!(seen, Some(wanted));
        let dead = parse(12, b"12 (a) Z 34 56 78 0 -1");
        assert!(dead.is_some_and(|entry| entry.is_dead));
        assert_eq!(parse(12, b"12 (a) S x"), None);
    }

    #[test]
    fn this_process_is_found_with_its_parent() {
        let parent = rustix::process::getppid().unwrap();
        let parent = parent.as_raw_nonzero().get();
        let me = ProcNumbers::of_proc().unwrap().me;
        let (mut found, mut last) = (false, 0);
        each_number_in_proc(|pid| {
            assert!(pid > last, "in the order of the numbers");
            last = pid;
            found |= pid == me;
        });
        assert!(found);
        assert_eq!(look(me).map(|entry| entry.parent), Some(parent));
    }

    #[test]
    fn numbers_are_found_for_every_namespace() {
        let text = b"Name:\tx\nGroups:\t0 1\nNSpid:\t4711\t30\t5\nNSpgid:\t4711\t0\t0\n";
        let at = |name: &[u8], level| number(levels(text, name).unwrap().nth(level));
        assert_eq!(at(b"NSpid:", 2), Some(5));
        assert_eq!(at(b"NSpgid:", 2), Some(0));
        assert_eq!(at(b"NSpid:", 3), None);
        assert!(levels(text, b"NSsid:").is_none());
        let me = ProcNumbers::of_proc().unwrap().me;
        let own = status(me, |status| number(levels(status, b"NSpid:")?.last()));
        assert_eq!(own, Some(getpid().as_raw_nonzero().get()));
    }

    #[test]
    fn descendants_are_marked_whatever_their_numbers() {
        // 9 is the ancestor; 3 is a child of 20, which is a child of 12.
        let mut entries = [
            entry(1, 0),
            entry(3, 20),
            entry(9, 1),
            entry(12, 9),
            entry(13, 1),
            entry(20, 12),
        ];
        mark(&mut entries, 9);
        let marked = entries.iter().filter(|entry| entry.is_descendant);
        let marked: Vec<i32> = marked.map(|entry| entry.pid).collect();
        assert_eq!(marked, [3, 12, 20]);
    }
}
