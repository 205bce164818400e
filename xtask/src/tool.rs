//! Running other programs, and saying what to do about those that are not there.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::workspace;

/// The oldest Node that the partners from npm run on.
const NODE: (u32, u32) = (20, 0);

/// The oldest Python that the locked versions of the partners from PyPI run on.
const PYTHON: (u32, u32) = (3, 11);

/// Returns the cargo that runs us, so that a toolchain chosen with `cargo +x` stays chosen.
pub(crate) fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.current_dir(workspace::root());
    command
}

/// Returns npm, under the name that it has on this platform.
pub(crate) fn npm() -> Command {
    Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" })
}

/// Returns the Python that virtual environments are made with.
pub(crate) fn python() -> Command {
    Command::new(if cfg!(windows) { "python" } else { "python3" })
}

/// Runs a command with its output going where ours goes.
///
/// # Errors
///
/// Names the command when it cannot be started or does not succeed.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|error| format!("cannot start `{}`: {error}", line(command)))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("`{}` failed: {status}", line(command)))
}

/// Runs a command quietly and returns what it wrote to stdout.
///
/// # Errors
///
/// Carries everything that the command wrote when it does not succeed.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start `{}`: {error}", line(command)))?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        return Ok(stdout.into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "`{}` failed: {}\n{stdout}{stderr}",
        line(command),
        output.status
    ))
}

/// Formats a command as it would be typed, its program without the folder.
pub(crate) fn line(command: &Command) -> String {
    let mut words = Vec::new();
    for (name, value) in command.get_envs() {
        let value = value.unwrap_or_default();
        words.push(format!("{}={}", name.to_string_lossy(), quote(value)));
    }
    let program = Path::new(command.get_program());
    words.push(quote(program.file_name().unwrap_or(program.as_os_str())));
    words.extend(command.get_args().map(quote));
    words.join(" ")
}

fn quote(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@,+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{word}'")
    }
}

/// Makes sure that Node, npm and Python are there and new enough.
///
/// # Errors
///
/// Says what is missing or too old, and what to install.
pub(crate) fn require_runtimes() -> Result<String, String> {
    let node = require(&mut Command::new("node"), "Node", NODE)?;
    output(npm().arg("--version")).map_err(|error| {
        format!(
            "{error}\nnpm is needed to install partners; it comes with Node {} or newer",
            NODE.0
        )
    })?;
    let python = require(&mut python(), "Python", PYTHON)?;
    Ok(format!("{node}, {python}"))
}

/// Returns the version of the machine's own Node, if it has one.
pub(crate) fn node_version() -> Option<(u32, u32)> {
    version(&output(Command::new("node").arg("--version")).ok()?)
}

fn require(command: &mut Command, what: &str, oldest: (u32, u32)) -> Result<String, String> {
    let hint = format!(
        "install {what} {}.{} or newer and put it into PATH",
        oldest.0, oldest.1
    );
    let text = output(command.arg("--version")).map_err(|error| format!("{error}\n{hint}"))?;
    let text = text.trim();
    match version(text) {
        Some(found) if found >= oldest => {
            Ok(format!("{what} {}", text.trim_start_matches("Python ")))
        }
        Some(_) => Err(format!("{text} is too old; {hint}")),
        None => Err(format!("`{}` answered {text:?}; {hint}", line(command))),
    }
}

/// Reads the first two numbers of `v20.1.2` or `Python 3.11.7`.
fn version(text: &str) -> Option<(u32, u32)> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let mut numbers = text.get(start..)?.split('.');
    let major = numbers.next()?.parse().ok()?;
    let minor = numbers.next()?.parse().ok()?;
    Some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_node_and_python_print_them() {
        assert_eq!(version("v20.20.2"), Some((20, 20)));
        assert_eq!(version("Python 3.11.7"), Some((3, 11)));
        assert_eq!(version("something else"), None);
    }

    #[test]
    fn a_missing_program_is_an_error_with_a_hint() {
        let mut missing = Command::new("switchboard-no-such-program");
        let error = require(&mut missing, "Node", (20, 0)).unwrap_err();
        assert!(error.contains("cannot start"), "{error}");
        assert!(error.contains("install Node 20.0 or newer"), "{error}");
    }

    #[test]
    fn a_command_is_shown_as_somebody_would_type_it() {
        let mut command = Command::new("/usr/bin/cargo");
        command
            .env("RUSTDOCFLAGS", "-D warnings")
            .args(["doc", "--no-deps"]);
        assert_eq!(
            line(&command),
            "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_failing_command_is_an_error_with_its_output() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo said; exit 3"]);
        let error = output(&mut command).unwrap_err();
        assert!(error.contains("said"), "{error}");
        assert!(error.contains('3'), "{error}");
    }
}
