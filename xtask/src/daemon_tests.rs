//! The tests of the command line once more, with a daemon that lends them their servers.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::{test_targets, tool, workspace};

/// The variable that names the folder of the daemon.
const FOLDER: &str = "SWITCHBOARD_DAEMON";

/// The modules whose tests run again: what commands show, ask, report and refuse.
const MODULES: &[&str] = &[
    "arguments",
    "calls",
    "canned",
    "chaos",
    "context_verb",
    "elicit",
    "failure_table",
    "failures",
    "hostile",
    "journal",
    "left_out",
    "lists",
    "log_level",
    "output",
    "own_sections",
    "pins_verbs",
    "plainness",
    "policy_verbs",
    "progress",
    "prompt",
    "repl",
    "results",
    "sampling",
    "schemas",
    "screens",
    "secrets",
    "signals",
    "sinks",
    "slips",
    "states",
    "stopped",
    "table_verbs",
    "talking",
    "tool_verb",
    "visits",
    "watch_verb",
    "watching",
];

/// The other modules, by the reason that a daemon changes nothing for them.
#[cfg(test)]
const OTHERS: &[(&str, &[&str])] = &[
    (
        "they are about files, approvals and words, and use servers at most to have some",
        &[
            "approval_screen",
            "broken_configs",
            "cloned",
            "completions",
            "config",
            "documented",
            "edits",
            "export",
            "guarded",
            "imports",
            "install",
            "lost_state",
            "token_verb",
            "trust_verbs",
            "upgrade",
            "usage",
        ],
    ),
    (
        "their commands start servers without the daemon",
        &[
            "doctor",
            "lock_verbs",
            "serve_asks",
            "serve_ends",
            "serve_options",
            "serve_reloads",
            "serve_verb",
        ],
    ),
    ("their servers are at URLs", &["http", "logins"]),
    (
        "they are about the processes that a command starts, or about the daemon",
        &[
            "blocked",
            "daemon",
            "keepers",
            "leftovers",
            "signal_matrix",
            "starting",
        ],
    ),
    (
        "they help other tests, or test such help",
        &["at_once", "home", "pty", "run", "script", "serving"],
    ),
];

/// Tests of those modules that hold for the servers of a command alone: with a daemon they outlive it, and write to
/// stderr at their start alone.
const SKIPPED: &[&str] = &[
    "hostile::no_process_is_left_behind",
    "repl::lines::signals_end_it_and_its_servers",
    "watching::a_trace_has_every_message_with_its_time_and_no_secret",
];

/// A daemon in the foreground; stopped with this value.
struct Daemon {
    program: PathBuf,
    folder: PathBuf,
    process: Child,
}

impl Daemon {
    fn start(program: PathBuf) -> Result<Self, String> {
        // Below the folder for temporary files: the path of a socket has to be short.
        let folder = std::env::temp_dir().join(format!("switchboard-check-{}", std::process::id()));
        let failed = |error: std::io::Error| format!("the daemon does not start: {error}");
        let process = command(&program, &folder, &["up", "--foreground"])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut daemon = Self {
            program,
            folder,
            process: process.map_err(failed)?,
        };
        let mut line = String::new();
        if let Some(stderr) = daemon.process.stderr.take() {
            BufReader::new(stderr)
                .read_line(&mut line)
                .map_err(failed)?;
        }
        if line.starts_with("the daemon runs") {
            Ok(daemon)
        } else {
            Err(format!("the daemon does not start: {line}"))
        }
    }

    /// Fails if no test has used it.
    fn check_uses(&self) -> Result<(), String> {
        let status = tool::output(&mut command(&self.program, &self.folder, &["status"]))?;
        if status.contains(", used ") {
            Ok(())
        } else {
            Err(format!("no test has used the daemon: {status}"))
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if tool::output(&mut command(&self.program, &self.folder, &["down"])).is_err() {
            // It is ours, and its servers end with it.
            self.process.kill().ok();
        }
        self.process.wait().ok();
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

fn command(program: &Path, folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).env(FOLDER, folder.join("daemon"));
    command.env("XDG_STATE_HOME", folder);
    command
}

/// Runs the tests.
///
/// # Errors
///
/// Fails if one of them does, or if none has used the daemon.
pub(crate) fn check() -> Result<(), String> {
    if cfg!(windows) {
        println!("there is no daemon on Windows");
        return Ok(());
    }
    let tests = || test_targets::command_for("cli");
    // First the program, which the tests bring along.
    tool::run(tests().arg("--no-run"))?;
    let program = workspace::root()
        .join("target")
        .join("debug")
        .join("switchboard");
    let daemon = Daemon::start(program)?;
    let mut again = tests();
    again.env(FOLDER, daemon.folder.join("daemon"));
    again.arg("--");
    again.args(MODULES.iter().map(|module| format!("{module}::")));
    for test in SKIPPED {
        again.args(["--skip", test]);
    }
    println!("$ {FOLDER}=... {}", tool::line(&again));
    tool::run(&mut again)?;
    daemon.check_uses()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    fn folder() -> PathBuf {
        workspace::root().join("crates/cli/tests/cli")
    }

    #[test]
    fn every_module_of_the_tests_runs_again_or_has_a_reason() {
        let text = fs::read_to_string(folder().join("main.rs")).unwrap();
        let declared = text
            .lines()
            .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
        let declared: BTreeSet<&str> = declared.collect();
        let others = OTHERS.iter().flat_map(|(_, modules)| *modules);
        let known: Vec<&str> = MODULES.iter().chain(others).copied().collect();
        assert_eq!(known.iter().copied().collect::<BTreeSet<_>>(), declared);
        assert_eq!(known.len(), declared.len(), "a module is named twice");
    }

    #[test]
    fn every_test_that_is_left_out_exists() {
        for test in SKIPPED {
            let (module, name) = test.rsplit_once("::").unwrap();
            let file = folder().join(format!("{}.rs", module.replace("::", "/")));
            let text = fs::read_to_string(&file).unwrap();
            assert!(text.contains(&format!("fn {name}()")), "{test}");
            assert!(
                MODULES.iter().any(|known| test.starts_with(known)),
                "{test}"
            );
        }
    }
}
