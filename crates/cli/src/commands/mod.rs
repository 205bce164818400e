//! The commands, one module each. [`run`] dispatches; commands that use servers can also run on an open host,
//! which is how the prompt runs them.

pub(crate) mod add;
pub(crate) mod auth;
pub(crate) mod call;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod daemon;
pub(crate) mod doctor;
pub(crate) mod edit;
pub(crate) mod export;
mod find_tool;
pub(crate) mod import;
pub(crate) mod install;
pub(crate) mod leftovers;
pub(crate) mod listing;
pub(crate) mod lock;
pub(crate) mod login;
pub(crate) mod logout;
pub(crate) mod logs;
pub(crate) mod manual;
pub(crate) mod ping;
pub(crate) mod pins;
pub(crate) mod policy;
pub(crate) mod prompts;
pub(crate) mod resources;
pub(crate) mod serve;
pub(crate) mod servers;
pub(crate) mod test_server;
mod token;
pub(crate) mod tool;
pub(crate) mod tools;
pub(crate) mod trust;
pub(crate) mod watch;

use clap::Parser as _;

use crate::args::{AuthVerb, Cli, Command, Connection};
use crate::daemon::Starter;
use crate::exit::Exit;
use crate::hosting::{Hosting, Selector, with_host};
use crate::repl;
use crate::report::{Failure, Report};
use edit::Switch;

/// Runs the command of the command line.
pub(crate) fn run(command: &Command) -> Exit {
    match command {
        Command::Servers(_)
        | Command::Tools(_)
        | Command::Tool(_)
        | Command::Call(_)
        | Command::Resources(_)
        | Command::Templates(_)
        | Command::Read(_)
        | Command::Context(_)
        | Command::Prompts(_)
        | Command::Prompt(_)
        | Command::Ping(_)
        | Command::Logs(_)
        | Command::Watch(_)
        | Command::Login(_)
        | Command::Logout(_)
        | Command::Auth(_) => with_servers(command),
        Command::Add(args) => add::run(args),
        Command::Remove(args) => edit::remove(args),
        Command::Enable(args) => edit::toggle(args, Switch::On),
        Command::Disable(args) => edit::toggle(args, Switch::Off),
        Command::Import(args) => import::run(args),
        Command::Install(args) => install::run(args),
        Command::Token(args) => token::run(args),
        Command::Trust(args) => trust::run(args),
        Command::Config(args) => config::run(args),
        Command::Policy(args) => policy::run(args),
        Command::Pins(args) => pins::run(args),
        Command::Lock(args) => lock::run(args),
        Command::Verify(args) => lock::verify(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Export(args) => export::run(args),
        Command::Leftovers(args) => leftovers::run(args),
        Command::Completions(args) => manual::completions(args),
        Command::Man(args) => manual::man(args),
        Command::TestServer(args) => test_server::run(args),
        Command::Repl(args) => repl::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Up(args) => daemon::run_up(args),
        Command::Down => daemon::run_down(),
        Command::Status(args) => daemon::run_status(args),
    }
}

/// Runs a command on a host of its own: opens the servers, and closes them afterwards.
fn with_servers(command: &Command) -> Exit {
    match connection(command) {
        Some(connection) => {
            let work = async |hosting: &Hosting<'_>| run_on(command, hosting).await;
            with_host(starter(command), selector(command), connection, work)
        }
        None => Exit::Internal,
    }
}

/// Returns who starts the servers of a command.
fn starter(command: &Command) -> Starter {
    match command {
        // About the start of a server and what it says then, or about no running server at all.
        Command::Logs(_) | Command::Login(_) | Command::Logout(_) | Command::Auth(_) => {
            Starter::Command
        }
        _ => Starter::Daemon,
    }
}

/// Opens the prompt, for a command line without a command.
pub(crate) fn prompt() -> Exit {
    match Cli::try_parse_from(["switchboard", "repl"]) {
        Ok(Cli {
            command: Some(command),
        }) => run(&command),
        _ => Exit::Internal,
    }
}

/// Returns the connection options of a command that can run on an open host.
pub(crate) fn connection(command: &Command) -> Option<&Connection> {
    Some(match command {
        Command::Servers(args)
        | Command::Resources(args)
        | Command::Templates(args)
        | Command::Prompts(args)
        | Command::Ping(args) => &args.connection,
        Command::Tools(args) => &args.list.connection,
        Command::Logs(args) => &args.connection,
        Command::Watch(args) => &args.connection,
        Command::Tool(args) => &args.connection,
        Command::Call(args) => &args.connection,
        Command::Read(args) => &args.connection,
        Command::Context(args) => &args.connection,
        Command::Prompt(args) => &args.connection,
        Command::Doctor(args) => &args.connection,
        Command::Login(args) => &args.connection,
        Command::Logout(args) => &args.connection,
        Command::Auth(args) => {
            let AuthVerb::Status(args) = &args.verb;
            &args.connection
        }
        _ => return None,
    })
}

/// Returns the servers that such a command needs.
///
/// # Errors
/// Returns a usage error if the command names no server but needs one.
pub(crate) fn selector(command: &Command) -> Result<Selector<'_>, Failure> {
    match command {
        Command::Servers(args)
        | Command::Resources(args)
        | Command::Templates(args)
        | Command::Prompts(args)
        | Command::Ping(args) => Ok(Selector::from_name(args.server.as_deref())),
        Command::Tools(args) => Ok(Selector::from_name(args.list.server.as_deref())),
        Command::Logs(args) => Ok(Selector::from_name(args.server.as_deref())),
        Command::Watch(args) => Ok(watch::selector(args)),
        Command::Tool(args) => tool::selector(args),
        Command::Call(args) => call::selector(args),
        Command::Read(args) => Ok(resources::selector(args)),
        Command::Context(args) => Ok(context::selector(args)),
        Command::Prompt(args) => Ok(prompts::selector(args)),
        Command::Doctor(args) => Ok(Selector::from_name(args.server.as_deref())),
        Command::Login(args) => Ok(Selector::from_name(args.server.as_deref())),
        Command::Logout(args) => Ok(Selector::from_name(args.server.as_deref())),
        Command::Auth(args) => Ok(auth::selector(args)),
        _ => Ok(Selector::Any),
    }
}

/// Runs such a command on an open host.
///
/// # Errors
/// Returns the report of a command that failed.
pub(crate) async fn run_on(command: &Command, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    let exit = match command {
        Command::Servers(args) => servers::run_on(args, hosting).await,
        Command::Tools(args) => tools::run_on(args, hosting).await,
        Command::Resources(args) => resources::RESOURCES.run_on(args, hosting).await,
        Command::Prompts(args) => prompts::PROMPTS.run_on(args, hosting).await,
        Command::Templates(args) => resources::TEMPLATES.run_on(args, hosting).await,
        Command::Tool(args) => tool::run_on(args, hosting).await,
        Command::Call(args) => call::run_on(args, hosting).await,
        Command::Read(args) => resources::read(args, hosting).await,
        Command::Context(args) => context::run_on(args, hosting).await,
        Command::Prompt(args) => prompts::get(args, hosting).await,
        Command::Ping(args) => ping::run_on(args, hosting).await,
        Command::Logs(args) => logs::run_on(args, hosting).await,
        Command::Watch(args) => watch::run_on(args, hosting).await,
        Command::Doctor(args) => doctor::run_on(args, hosting).await,
        Command::Login(args) => Box::pin(login::run_on(args, hosting)).await,
        Command::Logout(args) => Box::pin(logout::run_on(args, hosting)).await,
        Command::Auth(args) => Box::pin(auth::run_on(args, hosting)).await,
        _ => Err(Report::usage("this command does not run on open servers")),
    }?;
    hosting.screen.show_pages().await?;
    Ok(exit)
}
