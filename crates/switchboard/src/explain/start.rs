//! Why a process did not start.

use super::Diagnosis;
use crate::transport::ConnectError;

pub(super) fn connecting(error: &ConnectError) -> Diagnosis {
    match error {
        ConnectError::NotFound { command, searched } => Diagnosis {
            title: format!("command {command:?} was not found"),
            facts: vec![(
                "searched",
                match searched.as_slice() {
                    [] => "no folder: the command is a path, or PATH is not set".to_owned(),
                    folders => folders
                        .iter()
                        .map(|folder| folder.display().to_string())
                        .collect::<Vec<_>>()
                        .join(":"),
                },
            )],
            causes: installer(command)
                .map(|(what, _)| what.to_owned())
                .into_iter()
                .collect(),
            steps: match installer(command) {
                Some((_, step)) => vec![
                    step.to_owned(),
                    "or write the whole path of the program".to_owned(),
                ],
                None => vec![
                    "check how the command is spelled, or write the whole path of the program"
                        .to_owned(),
                ],
            },
            ..Diagnosis::default()
        },
        ConnectError::NotExecutable { path } => Diagnosis {
            title: format!("{} may not be run", path.display()),
            steps: vec![format!("chmod +x {}", path.display())],
            ..Diagnosis::default()
        },
        ConnectError::NoFolder { path } => Diagnosis {
            title: format!("the working folder {} does not exist", path.display()),
            steps: vec!["create it, or change `cwd`".to_owned()],
            ..Diagnosis::default()
        },
        ConnectError::Spawn { path, source } => Diagnosis {
            title: format!("{} could not be started", path.display()),
            facts: vec![("the system says", source.to_string())],
            causes: match source.raw_os_error() {
                // ENOEXEC on every Unix.
                Some(8) => vec![
                    "it is a script without a `#!` line, or made for another machine".to_owned(),
                ],
                _ => Vec::new(),
            },
            ..Diagnosis::default()
        },
        ConnectError::Other { source } => Diagnosis {
            title: "no connection to the server".to_owned(),
            facts: vec![("reason", source.to_string())],
            ..Diagnosis::default()
        },
    }
}

/// What brings a command that is not there.
fn installer(command: &str) -> Option<(&'static str, &'static str)> {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    Some(match name {
        "npx" | "npm" | "node" => (
            "Node.js is not installed, or not in PATH",
            "install Node.js, which brings npx",
        ),
        "uvx" | "uv" => (
            "uv is not installed, or not in PATH",
            "install uv: pip install uv",
        ),
        "python" | "python3" | "pip" | "pip3" => (
            "Python is not installed, or has another name",
            "install Python 3, or write its whole path",
        ),
        "docker" => ("Docker is not installed, or not in PATH", "install Docker"),
        "bunx" | "bun" => ("Bun is not installed, or not in PATH", "install Bun"),
        "deno" => ("Deno is not installed, or not in PATH", "install Deno"),
        _ => return None,
    })
}
