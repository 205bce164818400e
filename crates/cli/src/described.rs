//! The servers that a command line describes itself: what `--stdio` starts, what is at `--url`, and
//! the bundled `demo`.

use std::sync::Arc;

use switchboard::Limits;
use switchboard::host::HostBuilder;
use switchboard::secret::mask_args;
use switchboard::spec::packages::launched;
use switchboard::spec::{ServerName, Settings};
use switchboard::transport::{Connect, Environment, Stdio};

use crate::args::Connection;
use crate::exit::Exit;
use crate::remote;
use crate::report::{Failure, Report};
use crate::state;

/// The name of the bundled server.
pub(crate) const DEMO: &str = "demo";

/// What a server of `--stdio` is called when nobody names it.
const UNNAMED: &str = "stdio";

/// Adds the server of `--stdio` or `--url`, under the name that it is given there. Nothing is
/// started.
///
/// # Errors
/// When the command line does not describe one.
pub(crate) fn add(
    builder: HostBuilder,
    name: Option<&str>,
    connection: &Connection,
    host: &Environment,
) -> Result<(HostBuilder, ServerName), Failure> {
    let mut settings = Settings::default();
    let (unnamed, connect): (_, Arc<dyn Connect>) = match &connection.remote.url {
        Some(url) => (
            remote::UNNAMED,
            remote::transport(url, &connection.remote, host)?,
        ),
        None => {
            let (program, args) = split(connection.stdio.as_deref().unwrap_or_default())?;
            let words: Vec<&str> = args.iter().map(String::as_str).collect();
            if launched(&program, &words).is_some() {
                // It may have to be fetched first.
                let connect = &mut settings.timeouts.connect;
                connect.idle = connect.idle.max(Limits::default().fetch);
            }
            let stdio = Stdio::new(program).args(args);
            let name = named(name.unwrap_or(UNNAMED))?;
            (UNNAMED, Arc::new(started(stdio, &name, connection, host)?))
        }
    };
    let name = named(name.unwrap_or(unnamed))?;
    settings.sampling = connection.allow_sampling;
    let builder = builder.transport(name.clone(), connect, settings);
    Ok((builder, name))
}

/// Adds the bundled server.
///
/// # Errors
/// When this program cannot be found.
pub(crate) fn add_demo(
    builder: HostBuilder,
    connection: &Connection,
    host: &Environment,
) -> Result<HostBuilder, Failure> {
    let name = ServerName::parse(DEMO).map_err(|error| internal(&error))?;
    let stdio = started(demo()?, &name, connection, host)?;
    Ok(builder.transport(name, stdio, Settings::default()))
}

/// Says how a server is started.
fn started(
    stdio: Stdio,
    name: &ServerName,
    connection: &Connection,
    host: &Environment,
) -> Result<Stdio, Failure> {
    let stdio = with_environment(stdio, connection)?.host(host);
    // Without a path to this program, servers end by their process groups.
    let stdio = match std::env::current_exe() {
        Ok(program) => stdio.keeper(program),
        Err(_) => stdio,
    };
    let stdio = match state::ledger(host) {
        Some(ledger) => stdio.record(&ledger, name),
        None => stdio,
    };
    Ok(match &connection.cwd {
        Some(folder) => stdio.cwd(folder),
        None => stdio,
    })
}

fn named(name: &str) -> Result<ServerName, Failure> {
    ServerName::parse(name).map_err(|error| Report::usage(error.to_string()))
}

/// This very program, as a server.
fn demo() -> Result<Stdio, Failure> {
    let program = std::env::current_exe().map_err(|error| internal(&error))?;
    match program.into_os_string().into_string() {
        Ok(program) => Ok(running(Stdio::new(program)).args(["test-server"])),
        Err(_) => Err(internal(&"this program's own path is not Unicode")),
    }
}

/// The same by a path that is good for as long as this runs: a prompt may outlive the file of its
/// program, as when that is upgraded.
fn running(stdio: Stdio) -> Stdio {
    if cfg!(target_os = "linux") {
        stdio.program("/proc/self/exe")
    } else {
        stdio
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
fn split(command: &str) -> Result<(String, Vec<String>), Failure> {
    let Some(mut words) = shlex::split(command) else {
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        let report = Report::usage("the command of --stdio has a quote that does not end");
        return Err(report.fact("command", mask_args(&words).join(" ")));
    };
    let args = words.split_off(1.min(words.len()));
    match words.pop() {
        Some(program) if !program.is_empty() => Ok((program, args)),
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
