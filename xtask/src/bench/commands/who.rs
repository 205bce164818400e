//! The programs that are timed, and their commands.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::daemon;
use super::server::{LAST, Server};
use crate::partners::clients::CommandLineClient;
use crate::tool;

/// The task of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Task {
    /// Say which version it is.
    Version,
    /// Start a server and list its tools.
    Tools,
    /// Call a tool of a server that takes a second to start, and that the daemon has started before.
    Daemon,
}

impl Task {
    pub(super) const ALL: [Self; 3] = [Self::Version, Self::Tools, Self::Daemon];

    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Version => "--version",
            Self::Tools => "tools of a server",
            Self::Daemon => "call, with daemon",
        }
    }
}

/// The program that does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Who {
    /// No client: the server alone.
    Server,
    Ours,
    Inspector,
    Mcporter,
}

impl Who {
    pub(super) const ALL: [Self; 4] = [Self::Server, Self::Ours, Self::Inspector, Self::Mcporter];

    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Server => "the server alone",
            Self::Ours => "switchboard",
            Self::Inspector => "mcp-inspector --cli",
            Self::Mcporter => "mcporter",
        }
    }

    pub(super) fn does(self, task: Task) -> bool {
        match task {
            Task::Version => self != Self::Server,
            Task::Tools => true,
            Task::Daemon => self == Self::Ours,
        }
    }

    /// Does it once, and gives the time that it took.
    pub(super) fn time(
        self,
        task: Task,
        programs: &Path,
        server: &Server,
        home: &Path,
    ) -> Result<Duration, String> {
        let mut command = match self {
            Self::Server => return server.time(),
            Self::Ours => ours(task, programs, server),
            Self::Inspector => inspector(task, server)?,
            Self::Mcporter => mcporter(task, server)?,
        };
        daemon::in_home(&mut command, home);
        command.stdin(Stdio::null());
        let line = tool::line(&command);
        let started = Instant::now();
        let output = command
            .output()
            .map_err(|error| format!("`{line}` does not start: {error}"))?;
        let took = started.elapsed();
        let said = String::from_utf8_lossy(&output.stdout);
        let expected = match task {
            Task::Version => ".",
            Task::Tools => LAST,
            Task::Daemon => "hello",
        };
        if output.status.success() && said.contains(expected) {
            return Ok(took);
        }
        let complaint = String::from_utf8_lossy(&output.stderr);
        let status = output.status;
        Err(format!("`{line}` failed: {status}\n{said}{complaint}"))
    }
}

fn ours(task: Task, programs: &Path, server: &Server) -> Command {
    let program = programs.join("switchboard");
    let mut command = Command::new(&program);
    match task {
        Task::Version => drop(command.arg("--version")),
        Task::Tools => {
            command.args(["tools", "--no-daemon", "--stdio"]);
            command.arg(server.line());
        }
        Task::Daemon => daemon::call(&mut command, &program),
    }
    command
}

fn inspector(task: Task, server: &Server) -> Result<Command, String> {
    let mut command = CommandLineClient::Inspector.command()?;
    match task {
        Task::Version | Task::Daemon => command.arg("--version"),
        Task::Tools => command
            .args(["--cli", "--method", "tools/list", "--"])
            .arg(server.program())
            .args(server.arguments()),
    };
    Ok(command)
}

fn mcporter(task: Task, server: &Server) -> Result<Command, String> {
    let mut command = CommandLineClient::Mcporter.command()?;
    match task {
        Task::Version | Task::Daemon => command.arg("--version"),
        Task::Tools => {
            command.args(["list", "--stdio", server.program()]);
            for argument in server.arguments() {
                command.args(["--stdio-arg", argument]);
            }
            // As short as its list gets: ours shows no more.
            command.arg("--brief")
        }
    };
    Ok(command)
}
