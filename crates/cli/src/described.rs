//! Servers that are not in a config file: the command of `--stdio`, the server at `--url`, and the bundled
//! `demo`.

use std::sync::Arc;

use switchboard::Limits;
use switchboard::auth::Authorizer;
use switchboard::host::HostBuilder;
use switchboard::secret::mask_args;
use switchboard::spec::packages::launched;
use switchboard::spec::{ServerName, Settings};
use switchboard::transport::{Connect, Stdio};

use crate::args::Connection;
use crate::exit::Exit;
use crate::hosting::HostSource;
use crate::remote;
use crate::report::{Failure, Report};
use crate::scope::server_name;
use crate::state;

/// The name of the bundled server.
pub(crate) const DEMO: &str = "demo";

/// Name of a server of `--stdio` that has none.
const UNNAMED: &str = "stdio";

/// Adds the server of `--stdio` or `--url` to the builder, under the given name. Nothing is started.
///
/// # Errors
/// Returns a usage error if the command line describes no valid server.
pub(crate) fn add(
    builder: HostBuilder,
    name: Option<&str>,
    login: &Option<Authorizer>,
    source: HostSource<'_>,
) -> Result<(HostBuilder, ServerName), Failure> {
    let (connection, host) = (source.connection, source.environment);
    let mut settings = Settings::default();
    let (unnamed, connect): (_, Arc<dyn Connect>) = match &connection.remote.url {
        Some(url) => (
            remote::UNNAMED,
            remote::transport(url, &connection.remote, login.as_ref(), host)?,
        ),
        None => {
            let (program, args) = split(connection.stdio.as_deref().unwrap_or_default())?;
            crate::report::note_command(&program, &args);
            let words: Vec<&str> = args.iter().map(String::as_str).collect();
            if launched(&program, &words).is_some() {
                // A launcher such as npx may have to download the package first.
                let connect = &mut settings.timeouts.connect;
                connect.idle = connect.idle.max(Limits::default().fetch);
            }
            let stdio = Stdio::new(program).args(args);
            let name = server_name(name.unwrap_or(UNNAMED))?;
            (UNNAMED, Arc::new(configure(stdio, &name, source)?))
        }
    };
    let name = server_name(name.unwrap_or(unnamed))?;
    // Without an entry there is no `sampling` setting: the option stands for it.
    settings.sampling = connection.allow_sampling;
    let builder = builder.transport(name.clone(), connect, settings);
    Ok((builder, name))
}

/// Adds the bundled server to the builder.
///
/// # Errors
/// Fails if the path of this program is unknown.
pub(crate) fn add_demo(
    builder: HostBuilder,
    source: HostSource<'_>,
) -> Result<HostBuilder, Failure> {
    let name = ServerName::parse(DEMO).map_err(|error| internal(&error))?;
    let stdio = configure(demo()?, &name, source)?;
    Ok(builder.transport(name, stdio, Settings::default()))
}

/// Configures a child process: environment, keeper, ledger entry and folder.
fn configure(stdio: Stdio, name: &ServerName, source: HostSource<'_>) -> Result<Stdio, Failure> {
    let (connection, host) = (source.connection, source.environment);
    let stdio = with_environment(stdio, connection)?.environment(host);
    // Without the path of this program there is no keeper, and servers are ended by their process group.
    let stdio = match std::env::current_exe() {
        Ok(program) => stdio.keeper(program),
        Err(_) => stdio,
    };
    let stdio = match state::ledger(host) {
        Some(ledger) => stdio.record(&ledger, name),
        None => stdio,
    };
    let stdio = match source.launcher() {
        Some(launcher) => stdio.launcher(launcher),
        None => stdio,
    };
    Ok(match &connection.cwd {
        Some(folder) => stdio.cwd(folder),
        None => stdio,
    })
}

/// Returns this program as a server.
fn demo() -> Result<Stdio, Failure> {
    let program = std::env::current_exe().map_err(|error| internal(&error))?;
    match program.into_os_string().into_string() {
        Ok(program) => Ok(running(Stdio::new(program)).args(["test-server"])),
        Err(_) => Err(internal(&"the path of this program is not valid Unicode")),
    }
}

/// Runs the program by a path that stays valid while this process runs: a prompt may outlive the file of its
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

/// Splits a command as a shell would, to run it without one.
fn split(command: &str) -> Result<(String, Vec<String>), Failure> {
    let Some(mut words) = shlex::split(command) else {
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        let report = Report::usage("--stdio: a quote is not closed");
        return Err(report.fact("command", mask_args(&words).join(" ")));
    };
    let args = words.split_off(1.min(words.len()));
    match words.pop() {
        Some(program) if !program.is_empty() => Ok((program, args)),
        _ => Err(Report::usage("--stdio: the command is empty")
            .hint("write a command, such as --stdio \"uvx mcp-server-time\"")),
    }
}

/// Adds the variables of `--env` and `--env-passthrough`. Errors do not show a value.
fn with_environment(mut stdio: Stdio, connection: &Connection) -> Result<Stdio, Failure> {
    for word in &connection.env {
        match word.split_once('=') {
            Some((name, value)) if !name.is_empty() => stdio = stdio.env(name, value),
            _ => {
                return Err(Report::usage("--env must be NAME=VALUE")
                    .hint("to pass on a variable of this shell, use --env-passthrough NAME"));
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
