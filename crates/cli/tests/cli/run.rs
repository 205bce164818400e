//! Runs the binary and keeps what it says.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

/// What became of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        let own = env!("CARGO_BIN_EXE_switchboard");
        let text = |bytes| {
            String::from_utf8(bytes)
                .unwrap()
                .replace(own, "[switchboard]")
        };
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Runs a command that has this to read.
    pub(crate) fn reading(mut command: Command, input: &str) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        drop(stdin);
        Self::of(child.wait_with_output().unwrap())
    }

    /// The same, once what `--json` printed was held against its schema.
    pub(crate) fn checked(self, args: &[&str]) -> Self {
        #[cfg(unix)]
        crate::schemas::check(args, &self);
        self
    }

    /// The error object of `--json`: all of stderr, on one line.
    pub(crate) fn error(&self) -> serde_json::Value {
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        serde_json::from_str(&self.stderr).unwrap()
    }
}

/// The binary, with an environment that no machine changes.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard"));
    command.args(args).stdin(Stdio::null());
    for name in ["MCP_TOOL_COUNT", "MCP_PAGE_SIZE", "COLUMNS"] {
        command.env_remove(name);
    }
    // What outlives a run stays with what the tests leave behind.
    command.env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    // Nor is anything put into the keyring of who runs the tests.
    command.env("SWITCHBOARD_KEYRING", "off");
    // Nothing that is configured on the machine is seen.
    command.env("XDG_CONFIG_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

/// Runs the binary.
pub(crate) fn switchboard(args: &[&str]) -> Run {
    Run::of(command(args).output().unwrap()).checked(args)
}

/// Runs the binary with `--for` a second, and once more for much longer where that was not enough for
/// a machine that has much else to do.
pub(crate) fn switchboard_for(args: &[&str], is_enough: impl Fn(&Run) -> bool) -> Run {
    let within = |time| switchboard(&[args, &["--for", time]].concat());
    let run = within("1s");
    if is_enough(&run) { run } else { within("40s") }
}

/// Runs the binary with variables set.
pub(crate) fn switchboard_with(variables: &[(&str, &str)], args: &[&str]) -> Run {
    Run::of(
        command(args)
            .envs(variables.iter().copied())
            .output()
            .unwrap(),
    )
    .checked(args)
}

/// Runs the binary with something to read.
pub(crate) fn switchboard_reading(input: &str, args: &[&str]) -> Run {
    Run::reading(command(args), input).checked(args)
}

/// What a run is that says this and nothing else.
pub(crate) fn said(code: i32, stdout: &str, stderr: &str) -> Run {
    Run {
        code: Some(code),
        stdout: stdout.to_owned(),
        stderr: stderr.to_owned(),
    }
}
