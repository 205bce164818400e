//! A daemon that runs as long as commands are timed, with a server that takes a second to start.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::tool;

/// Time that the server takes to start, in milliseconds.
pub(super) const START: &str = "1000";

/// A daemon in a home of its own; stopped with this value.
pub(super) struct Daemon {
    program: PathBuf,
    home: PathBuf,
}

impl Daemon {
    /// Starts the daemon, and its server with a first call.
    pub(super) fn start(programs: &Path, home: &Path) -> Result<Self, String> {
        let daemon = Self {
            program: programs.join("switchboard"),
            home: home.to_owned(),
        };
        // What an earlier run may have left is of another build.
        daemon.run(&mut daemon.command(&["down"]))?;
        daemon.run(&mut daemon.command(&["up"]))?;
        daemon.run(&mut daemon.call())?;
        Ok(daemon)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args);
        in_home(&mut command, &self.home);
        command
    }

    fn call(&self) -> Command {
        let mut command = Command::new(&self.program);
        call(&mut command, &self.program);
        in_home(&mut command, &self.home);
        command
    }

    fn run(&self, command: &mut Command) -> Result<(), String> {
        let line = tool::line(command);
        let output = command.stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("`{line}` does not start: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        let complaint = String::from_utf8_lossy(&output.stderr);
        Err(format!("`{line}` failed: {}\n{complaint}", output.status))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It would end on its own only when somebody stops it.
        if let Err(error) = self.run(&mut self.command(&["down"])) {
            eprintln!("{error}");
        }
    }
}

/// A call of a tool of the server.
pub(super) fn call(command: &mut Command, program: &Path) {
    let server = format!("{} test-server --start-delay {START}", program.display());
    command.args(["call", "--stdio", &server, "echo", "message=hello"]);
}

/// Nothing that is configured on the machine is read, and nothing of it is written.
pub(super) fn in_home(command: &mut Command, home: &Path) {
    command
        .current_dir(home)
        .env("HOME", home)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_STATE_HOME");
}
