//! Processes as `/proc` shows them.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Started;

/// What `/proc/PID/stat` says of a process that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) session: u32,
    /// In ticks since the system was started.
    pub(crate) ticks: u64,
}

impl Stat {
    /// Looks at a process; nothing where there is none, or a dead one that nobody has fetched.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let (stat, is_dead) = Self::look(pid)?;
        (!is_dead).then_some(stat)
    }

    /// Looks at a process; says also whether it is a dead one that nobody has fetched.
    pub(crate) fn look(pid: u32) -> Option<(Self, bool)> {
        let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
        Self::parse(&bytes)
    }

    fn parse(bytes: &[u8]) -> Option<(Self, bool)> {
        // A name may have spaces and brackets in it; what comes after the last of them is numbers.
        let end = bytes.iter().rposition(|byte| *byte == b')')?;
        let rest = str::from_utf8(bytes.get(end + 1..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        let stat = Self {
            parent: fields.next()?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
            session: fields.next()?.parse().ok()?,
            // The 22nd of all; the number, the name, the state and three more were read.
            ticks: fields.nth(15)?.parse().ok()?,
        };
        Some((stat, ["Z", "X", "x"].contains(&state)))
    }
}

pub(super) fn started(pid: u32) -> Option<Started> {
    let Stat { ticks, .. } = Stat::of(pid)?;
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let a_second = rustix::param::clock_ticks_per_second().max(1);
    let since_boot = Duration::from_secs(ticks / a_second);
    Some(Started {
        // Ticks begin anew with the system.
        mark: format!("{}/{ticks}", boot.trim()),
        at: booted_at()? + since_boot,
    })
}

fn booted_at() -> Option<SystemTime> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let line = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    Some(UNIX_EPOCH + Duration::from_secs(line.trim().parse().ok()?))
}

pub(super) fn place() -> String {
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy();
    // A container may have the name of its machine and still count processes by itself.
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{name} {}", namespace.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_anything() {
        let tail = "10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 4711 29";
        let stat = |name: &str, state: &str| {
            let line = format!("7 ({name}) {state} 8 9 {tail}");
            Stat::parse(line.as_bytes())
        };
        let wanted = Stat {
            parent: 8,
            group: 9,
            session: 10,
            ticks: 26,
        };
        for name in ["sh", "a b", "x) S 1 2 3", ") Z", ""] {
            assert_eq!(stat(name, "S"), Some((wanted, false)), "{name}");
        }
        assert_eq!(stat("sh", "Z"), Some((wanted, true)));
        for broken in ["", "7 (sh", "7 (sh) S", "7 (sh) S 8 9 10", "7 (sh) S x 9"] {
            assert_eq!(Stat::parse(broken.as_bytes()), None, "{broken}");
        }
    }

    #[test]
    fn this_process_has_started_before_now_and_not_long_ago() {
        let started = started(std::process::id()).unwrap();
        let age = SystemTime::now().duration_since(started.at);
        // The clock of the system may be a little off from the one that counts ticks.
        assert!(age.is_ok_and(|age| age < Duration::from_secs(3600)));
    }
}
