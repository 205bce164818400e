//! The servers that a command line can name: `demo`, what `--stdio` starts, and what is at `--url`.

use switchboard::secret::mask_args;
use switchboard::spec::ServerName;
use switchboard::text::closest;
use switchboard::transport::{Environment, Stdio};
use switchboard::{Deadline, Server, SessionOptions, Timeouts};

use crate::args::Connection;
use crate::exit::Exit;
use crate::remote;
use crate::report::{Failure, Report};
use crate::state;

/// The name of the bundled server.
const DEMO: &str = "demo";

/// What a server of `--stdio` is called when nobody names it.
const UNNAMED: &str = "stdio";

/// Finds the server that a command is about. Nothing is started yet.
///
/// # Errors
/// When the command line does not describe one.
pub(crate) fn find(
    name: Option<&str>,
    connection: &Connection,
    host: &Environment,
) -> Result<Server, Failure> {
    let mut options = SessionOptions::default().protocol(connection.protocol);
    if let Some(time) = connection.timeout {
        options = options.timeouts(Timeouts::all(Deadline::within(time)));
    }
    if let Some(url) = &connection.remote.url {
        let name = named(name.unwrap_or(remote::UNNAMED))?;
        return remote::find(name, url, &connection.remote, host, options);
    }
    let (name, stdio) = match (&connection.stdio, name) {
        (Some(command), name) => (named(name.unwrap_or(UNNAMED))?, split(command)?),
        // Where no server is named, all that are known are meant: so far that is one.
        (None, None | Some(DEMO)) => (
            ServerName::parse(DEMO).map_err(|error| internal(&error))?,
            demo()?,
        ),
        (None, Some(name)) => return Err(unknown(name)),
    };
    let stdio = with_environment(stdio, connection)?.host(host);
    // Without a path to this program, servers end by their process groups.
    let stdio = match std::env::current_exe() {
        Ok(program) => stdio.keeper(program),
        Err(_) => stdio,
    };
    let stdio = match state::ledger(host) {
        Some(ledger) => stdio.record(&ledger, &name),
        None => stdio,
    };
    let stdio = match &connection.cwd {
        Some(folder) => stdio.cwd(folder),
        None => stdio,
    };
    Ok(Server::new(name, stdio, options))
}

fn named(name: &str) -> Result<ServerName, Failure> {
    ServerName::parse(name).map_err(|error| Report::usage(error.to_string()))
}

fn unknown(name: &str) -> Failure {
    let report = Report::new(
        Exit::Configuration,
        "configuration",
        format!("there is no server named {name:?}"),
    );
    let report = match closest(name, [DEMO]) {
        Some(meant) => report.hint(format!("did you mean {meant:?}?")),
        None => report.hint("the bundled server is named `demo`"),
    };
    report
        .hint("start any other with --stdio \"CMD ARGS\"")
        .hint("or reach it with --url URL")
}

/// This very program, as a server.
fn demo() -> Result<Stdio, Failure> {
    let program = std::env::current_exe().map_err(|error| internal(&error))?;
    match program.into_os_string().into_string() {
        Ok(program) => Ok(Stdio::new(program).args(["test-server"])),
        Err(_) => Err(internal(&"this program's own path is not Unicode")),
    }
}

fn internal(what: &impl ToString) -> Failure {
    Report::new(
        Exit::Internal,
        "internal",
        "the bundled server cannot be found",
    )
    .fact("reason", what.to_string())
}

/// Splits a command as a shell would, for running it without one.
fn split(command: &str) -> Result<Stdio, Failure> {
    let Some(words) = shlex::split(command) else {
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        let report = Report::usage("the command of --stdio has a quote that does not end");
        return Err(report.fact("command", mask_args(&words).join(" ")));
    };
    match words.split_first() {
        Some((program, args)) if !program.is_empty() => {
            Ok(Stdio::new(program).args(args.iter().cloned()))
        }
        _ => Err(Report::usage("the command of --stdio is empty")
            .hint("write a command, such as --stdio \"uvx mcp-server-time\"")),
    }
}

/// Adds the variables; what is wrong with one is said without its value.
fn with_environment(mut stdio: Stdio, connection: &Connection) -> Result<Stdio, Failure> {
    for word in &connection.env {
        match word.split_once('=') {
            Some((name, value)) if !name.is_empty() => stdio = stdio.env(name, value),
            _ => {
                return Err(Report::usage("--env must be NAME=VALUE")
                    .hint("to hand on a variable of this shell, use --env-passthrough NAME"));
            }
        }
    }
    for name in &connection.env_passthrough {
        if name.is_empty() || name.contains('=') {
            return Err(
                Report::usage("--env-passthrough must be the name of a variable")
                    .hint("to set a variable, use --env NAME=VALUE"),
            );
        }
    }
    Ok(stdio.env_passthrough(connection.env_passthrough.iter().cloned()))
}
