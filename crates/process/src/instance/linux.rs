//! Processes as shown by `/proc` on Linux.

use std::fs;
use std::os::fd::AsRawFd as _;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::StartTime;

/// The PID namespace whose numbers `/proc` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProcNamespace {
    /// Our own.
    Own,
    /// An outer one, this many levels up, because no `/proc` is mounted for ours.
    Outer(usize),
    /// Another one, whose numbers mean nothing here.
    Unknown,
}

impl ProcNamespace {
    fn of_proc() -> Self {
        static NUMBERS: OnceLock<ProcNamespace> = OnceLock::new();
        *NUMBERS.get_or_init(|| {
            let own = fs::read_link("/proc/self").ok();
            let own = own.and_then(|own| own.to_str()?.parse().ok());
            if own == Some(std::process::id()) {
                return Self::Own;
            }
            let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
            Self::of_status(&status, std::process::id())
        })
    }

    /// Interprets the `status` of this process, which has another number in `/proc`.
    fn of_status(status: &str, own: u32) -> Self {
        let levels = levels(status, "NSpid:");
        match levels.last() {
            Some(last) if *last == own && levels.len() > 1 => Self::Outer(levels.len() - 1),
            _ => Self::Unknown,
        }
    }
}

/// Reads a line of a `status` file that has a number for each PID namespace, beginning with that of `/proc`. A process
/// outside of a namespace has the number 0 in it.
fn levels(status: &str, name: &str) -> Vec<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let numbers = line.unwrap_or_default().split_ascii_whitespace();
    numbers.map_while(|number| number.parse().ok()).collect()
}

/// The number of one of our processes in an outer `/proc`.
fn number_outside(pid: u32) -> Option<u32> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
    let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{}", process.as_raw_fd())).ok()?;
    // It is -1 once the process has been reaped.
    levels(&info, "Pid:").first().copied()
}

/// The number here of a process in an outer `/proc`; 0 if it is outside of our namespace.
fn number_inside(outside: u32, level: usize) -> u32 {
    let status = fs::read_to_string(format!("/proc/{outside}/status")).unwrap_or_default();
    levels(&status, "NSpid:").get(level).copied().unwrap_or(0)
}

/// The fields of `/proc/PID/stat` that are needed here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) session: u32,
    /// The start time, in clock ticks since boot.
    pub(crate) ticks: u64,
}

impl Stat {
    /// Reads the state of a running process; `None` if it does not exist or is a zombie.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let (stat, is_dead) = Self::look(pid)?;
        (!is_dead).then_some(stat)
    }

    /// Reads the state of a process, and returns true with it if it is a zombie.
    pub(crate) fn look(pid: u32) -> Option<(Self, bool)> {
        let read = |pid| Self::parse(&fs::read(format!("/proc/{pid}/stat")).ok()?);
        match ProcNamespace::of_proc() {
            ProcNamespace::Own => read(pid),
            ProcNamespace::Outer(level) => {
                let outside = number_outside(pid)?;
                let (stat, is_dead) = read(outside)?;
                let status = fs::read_to_string(format!("/proc/{outside}/status")).ok()?;
                let number = |name| levels(&status, name).get(level).copied();
                let stat = Self {
                    parent: number_inside(stat.parent, level),
                    group: number("NSpgid:")?,
                    session: number("NSsid:")?,
                    ticks: stat.ticks,
                };
                Some((stat, is_dead))
            }
            ProcNamespace::Unknown => None,
        }
    }

    /// The numbers of all processes in our PID namespace.
    pub(crate) fn numbers() -> Vec<u32> {
        let Ok(entries) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        match ProcNamespace::of_proc() {
            ProcNamespace::Own => pids.collect(),
            ProcNamespace::Outer(level) => pids
                .filter_map(|outside| {
                    let pid = number_inside(outside, level);
                    // Processes of sibling namespaces have a number at this level too.
                    (number_outside(pid) == Some(outside)).then_some(pid)
                })
                .collect(),
            ProcNamespace::Unknown => Vec::new(),
        }
    }

    fn parse(bytes: &[u8]) -> Option<(Self, bool)> {
        // The name may contain spaces and brackets; only numbers follow its last bracket.
        let end = bytes.iter().rposition(|byte| *byte == b')')?;
        let rest = str::from_utf8(bytes.get(end + 1..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        let stat = Self {
            parent: fields.next()?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
            session: fields.next()?.parse().ok()?,
            // The 22nd field; the number, the name, the state and three more have been read.
            ticks: fields.nth(15)?.parse().ok()?,
        };
        Some((stat, ["Z", "X", "x"].contains(&state)))
    }
}

pub(super) fn start_time(pid: u32) -> Option<StartTime> {
    let Stat { ticks, .. } = Stat::of(pid)?;
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let a_second = rustix::param::clock_ticks_per_second().max(1);
    let since_boot = Duration::from_secs(ticks / a_second);
    Some(StartTime {
        // Ticks restart at boot, so the boot is part of the mark.
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
    // A container may share the host name of its machine and still number processes separately.
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
    fn an_outer_proc_is_known_by_the_numbers_of_this_process() {
        let status = |numbers: &str| format!("Name:\tNSpid: 1\nPid:\t4711\nNSpid:\t{numbers}\n");
        let numbers = |line: &str| ProcNamespace::of_status(&status(line), 5);
        assert_eq!(numbers("4711\t5"), ProcNamespace::Outer(1));
        assert_eq!(numbers("4711\t30\t5"), ProcNamespace::Outer(2));
        for line in ["5", "4711\t6", "4711", "", "4711\tx"] {
            assert_eq!(numbers(line), ProcNamespace::Unknown, "{line}");
        }
        assert_eq!(ProcNamespace::of_status("", 5), ProcNamespace::Unknown);
        assert_eq!(levels("Pid:\t-1\n", "Pid:"), Vec::<u32>::new());
    }

    #[test]
    fn this_process_has_started_before_now_and_not_long_ago() {
        let started = start_time(std::process::id()).unwrap();
        let age = SystemTime::now().duration_since(started.at);
        // The clock of the system may be a little off from the one that counts ticks.
        assert!(age.is_ok_and(|age| age < Duration::from_secs(3600)));
    }
}
