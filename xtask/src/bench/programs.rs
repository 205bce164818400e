//! The programs of a benchmark: built, found, started, and their complaints passed on.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::plan::{Contender, Row};

/// The cargo profile that shipped binaries are built with, and so everything that is measured.
const PROFILE: &str = "dist";

/// The folder of the benchmark programs, and the cores that they run on.
pub(super) struct Programs {
    folder: PathBuf,
    cpus: (usize, usize),
}

impl Programs {
    /// Builds the programs, and makes sure that those of the system are there.
    pub(super) fn prepare(
        root: &Path,
        cpus: Option<(usize, usize)>,
        callgrind: bool,
    ) -> Result<Self, String> {
        need(
            "taskset",
            "it pins client and server to a core each: install util-linux",
        )?;
        if callgrind {
            need(
                "valgrind",
                "it counts instructions: install valgrind, or leave the counts out with --no-callgrind",
            )?;
        }
        let cpus = match cpus {
            Some(cpus) => cpus,
            None => first_two()?,
        };
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--profile", PROFILE])
            .args(["--package", "switchboard-bench"])
            .args(["--package", "switchboard-cli", "--bins"])
            .current_dir(root)
            .status()
            .map_err(|error| format!("cargo does not start: {error}"))?;
        if !built.success() {
            return Err("the programs of the benchmark do not build".to_owned());
        }
        let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let target = root.join(target.unwrap_or_else(|| "target".into()));
        Ok(Self {
            folder: target.join(PROFILE),
            cpus,
        })
    }

    /// The folder that they are in.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The core of the clients and that of the servers.
    pub(super) fn cpus(&self) -> (usize, usize) {
        self.cpus
    }

    /// Runs the client pinned; gives the line that it prints.
    pub(super) fn run(&self, row: Row, who: Contender, count: u32) -> Result<String, String> {
        let output = self.start(row, who, count, &[])?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Runs the client under callgrind and the server as it is; gives what valgrind says.
    pub(super) fn count(&self, row: Row, who: Contender, count: u32) -> Result<String, String> {
        let valgrind = [
            "valgrind",
            "--tool=callgrind",
            "--trace-children=no",
            "--callgrind-out-file=/dev/null",
        ];
        let output = self.start(row, who, count, &valgrind)?;
        Ok(String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn start(
        &self,
        row: Row,
        who: Contender,
        count: u32,
        under: &[&str],
    ) -> Result<Output, String> {
        let (client_cpu, other_cpu) = self.cpus;
        let server_cpu = if row.one_core() {
            client_cpu
        } else {
            other_cpu
        };
        let mut command = Command::new("taskset");
        command.args(["-c", &client_cpu.to_string()]).args(under);
        command.arg(self.folder.join("bench-client"));
        command.args(["--client", who.client.name()]);
        command.args(["--runtime", who.runtime.name()]);
        command.args(["--work", row.work()]);
        command.args(["--count", &count.to_string()]);
        command.args(["--server-cpu", &server_cpu.to_string()]);
        let what = format!(
            "{} ({} on {})",
            row.name(),
            who.client.name(),
            who.runtime.name()
        );
        let output = command
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("{what} does not start: {error}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!(
                "{what} failed with {}:\n{}",
                output.status,
                said.trim()
            ));
        }
        Ok(output)
    }
}

fn need(program: &str, hint: &str) -> Result<(), String> {
    let found = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match found {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!("{program} is missing; {hint}")),
    }
}

/// The first two cores that this process may use.
fn first_two() -> Result<(usize, usize), String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| {
        format!("the usable cores are not known ({error}): name two with --cpus")
    })?;
    let cores = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .map(allowed)
        .unwrap_or_default();
    match cores.as_slice() {
        [client, server, ..] => Ok((*client, *server)),
        _ => Err("a benchmark needs two cores: one for the client, one for the server".to_owned()),
    }
}

/// Reads a list of cores such as `0-2,5`.
fn allowed(list: &str) -> Vec<usize> {
    let ranges = list.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?)
    });
    ranges.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usable_cores_are_read_from_ranges_and_single_ones() {
        assert_eq!(allowed("\t0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(allowed("7"), [7]);
        assert_eq!(allowed(""), [0usize; 0]);
    }

    #[test]
    fn a_missing_program_is_named_with_what_to_do() {
        let error = need("a-program-that-nobody-has", "install it").unwrap_err();
        assert_eq!(error, "a-program-that-nobody-has is missing; install it");
    }
}
