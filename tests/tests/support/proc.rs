//! What Linux says about processes.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test file uses a part of this, and a failure here is a failed test"
)]

/// The numbers that are names in a folder, such as those of processes, threads or files.
fn numbers_in(folder: &str) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        // A process that is gone has none.
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect()
}

/// How many files this process has open.
pub(crate) fn files() -> usize {
    numbers_in("/proc/self/fd").len()
}

/// How many threads this process has.
pub(crate) fn threads() -> usize {
    numbers_in("/proc/self/task").len()
}

/// A process's state and parent; none if it is gone.
fn state_and_parent(pid: u32) -> Option<(char, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut after_name = stat.rsplit(')').next()?.split_whitespace();
    let state = after_name.next()?.chars().next()?;
    Some((state, after_name.next()?.parse().ok()?))
}

/// The parent of a process that is there.
pub(crate) fn parent(pid: u32) -> u32 {
    state_and_parent(pid).unwrap().1
}

/// The processes that this one has started and not fetched, dead or alive.
pub(crate) fn children() -> Vec<u32> {
    children_that(|_| true)
}

/// Those of them that run.
pub(crate) fn living_children() -> Vec<u32> {
    children_that(|state| !matches!(state, 'Z' | 'X'))
}

fn children_that(is_meant: impl Fn(char) -> bool) -> Vec<u32> {
    let me = std::process::id();
    let mut pids = numbers_in("/proc");
    pids.retain(|pid| {
        let found = state_and_parent(*pid);
        found.is_some_and(|(state, parent)| parent == me && is_meant(state))
    });
    pids
}

/// A number of KiB out of a file of a process, such as `VmRSS` in `status`.
pub(crate) fn kib(pid: u32, file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.unwrap().trim_start_matches(':').trim();
    number.trim_end_matches(" kB").parse().unwrap()
}

/// How often each thread of a process was given a processor, or nearly: it counts how often it gave
/// it back.
pub(crate) fn switches(pid: u32) -> Vec<(u32, u64)> {
    let threads = numbers_in(&format!("/proc/{pid}/task"));
    let of_thread = |thread: u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/task/{thread}/status")).unwrap();
        let lines = status.lines().filter(|line| line.contains("ctxt_switches"));
        let numbers = lines.filter_map(|line| line.split_whitespace().next_back());
        (thread, numbers.map(|n| n.parse::<u64>().unwrap()).sum())
    };
    threads.into_iter().map(of_thread).collect()
}
