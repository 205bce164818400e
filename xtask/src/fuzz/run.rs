//! One target, for as long as it was given.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Folders, create};
use crate::tool;

/// Longest input: what the targets make of it can be longer.
const LONGEST: &str = "-max_len=2048";
/// Seconds after which an input counts as a hang.
const HANG: &str = "-timeout=10";
/// Memory after which an input counts as a leak; a target has some 30 MiB.
const MEMORY: &str = "-rss_limit_mb=512";

/// Runs a target and says how much it did.
///
/// # Errors
///
/// Names the input that it failed on and how to run it again.
pub(super) fn run(
    folders: &Folders,
    target: &str,
    program: &Path,
    minutes: f64,
) -> Result<String, String> {
    let (stored, found) = (folders.stored(target), folders.findings(target));
    let findings = folders.out.join("findings");
    let logs = folders.out.join("log");
    for folder in [&stored, &found, &findings, &logs] {
        create(folder)?;
    }
    let log = logs.join(target);
    let goal = Duration::from_secs_f64(minutes * 60.0);
    let mut total = Total::default();
    // A busy machine gives less than it takes; the rest is run again.
    while total.spent < goal || total.runs == 0 {
        let seconds = (goal - total.spent.min(goal)).as_secs().max(5);
        let mut command = command(target, program, folders, &findings);
        command.arg(format!("-max_total_time={seconds}"));
        // New inputs go to the first folder.
        command.args([&found, &stored]);
        println!("{target}: {seconds} seconds, log in {}", log.display());
        let written = File::create(&log)
            .map_err(|error| format!("cannot write {}: {error}", log.display()))?;
        let (start, before) = (Instant::now(), children());
        let status = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(written)
            .status()
            .map_err(|error| format!("cannot start `{}`: {error}", tool::line(&command)))?;
        let text = fs::read(&log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        if !status.success() {
            return Err(finding(target, program, &text));
        }
        let spent = match (before, children()) {
            (Some(before), Some(after)) => after.saturating_sub(before),
            _ => start.elapsed(),
        };
        total.add(spent, &text);
    }
    Ok(total.to_string())
}

fn command(target: &str, program: &Path, folders: &Folders, findings: &Path) -> Command {
    let mut command = Command::new(program);
    command.args([LONGEST, HANG, MEMORY, "-print_final_stats=1"]);
    let prefix = findings.join(format!("{target}-"));
    command.arg(format!("-artifact_prefix={}", prefix.display()));
    let words = folders
        .sources
        .join("dictionaries")
        .join(format!("{target}.dict"));
    if words.exists() {
        command.arg(format!("-dict={}", words.display()));
    }
    command
}

/// Totals of the rounds of a target.
#[derive(Debug, Default, PartialEq)]
struct Total {
    runs: usize,
    spent: Duration,
    inputs: u64,
    coverage: String,
}

impl Total {
    fn add(&mut self, spent: Duration, log: &str) {
        self.runs += 1;
        self.spent += spent;
        let counted = log.lines().find_map(|line| {
            let count = line.strip_prefix("stat::number_of_executed_units:")?;
            count.trim().parse::<u64>().ok()
        });
        self.inputs += counted.unwrap_or_default();
        let last = log.lines().rev().find_map(|line| {
            let (_, after) = line.split_once(" cov: ")?;
            let mut words = after.split_whitespace();
            let (edges, features) = (words.next()?, words.nth(1)?);
            Some(format!("{edges} edges, {features} features"))
        });
        self.coverage = last.unwrap_or_default();
    }
}

impl std::fmt::Display for Total {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let minutes = self.spent.as_secs_f64() / 60.0;
        write!(
            f,
            "{} inputs in {minutes:.1} minutes, {}, no finding",
            self.inputs, self.coverage
        )
    }
}

/// The CPU time of the children that have ended, where the system tells.
fn children() -> Option<Duration> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program comes second, in brackets, and may hold anything.
    let (_, after) = text.rsplit_once(')')?;
    let mut fields = after.split_whitespace().skip(13);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    // Linux counts in hundredths of a second for programs, whatever its own clock does.
    Some(Duration::from_millis((ticks()? + ticks()?) * 10))
}

fn finding(target: &str, program: &Path, log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let panic = lines.iter().position(|line| line.contains("panicked at"));
    let from = panic.unwrap_or(lines.len().saturating_sub(20));
    let said: Vec<&str> = lines.iter().skip(from).take(6).copied().collect();
    let input = log
        .lines()
        .find_map(|line| line.split_once("Test unit written to "))
        .map_or("the log", |(_, path)| path);
    format!(
        "{target} found something:\n{}\nto see it again: {} {input}\n\
         once it is fixed, keep the input in fuzz/corpus/{target}, under a name of its own",
        said.join("\n"),
        program.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "#2\tINITED cov: 5 ft: 6 corp: 1/1b exec/s: 0 rss: 30Mb\n\
        #90\tNEW    cov: 12 ft: 34 corp: 9/20b lim: 4 exec/s: 45 rss: 31Mb L: 3/4 MS: 1 -\n\
        Done 100 runs in 2 second(s)\nstat::number_of_executed_units: 100\n";

    #[test]
    fn rounds_are_added_up_and_the_last_coverage_counts() {
        let mut total = Total::default();
        total.add(Duration::from_secs(30), LOG);
        total.add(Duration::from_secs(60), LOG);
        assert_eq!(
            total.to_string(),
            "200 inputs in 1.5 minutes, 12 edges, 34 features, no finding"
        );
    }

    #[test]
    fn a_finding_is_told_with_its_input() {
        let log = "x\nthread '<unnamed>' panicked at a.rs:1:2:\nboom\nartifact_prefix='/p/'; \
            Test unit written to /p/lines-crash-1\n";
        let told = finding("lines", Path::new("/b/lines"), log);
        assert!(told.contains("boom"), "{told}");
        assert!(told.contains("/b/lines /p/lines-crash-1"), "{told}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_time_of_children_is_known() {
        assert!(children().is_some());
    }
}
