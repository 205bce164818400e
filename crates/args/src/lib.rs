//! The command line of the program `switchboard`: what may be typed, and what it means.
//!
//! [`Cli`] is the parser with its commands and options; [`slips`] corrects everyday mistakes before and
//! proposes commands after it; [`values`] reads arguments of tools. Nothing here runs a command, connects to a
//! server or prints. Of the outside it reads only what a value names, which is a file or stdin, and for
//! [`slips::with_name`] the words that the program was started with.
//!
//! The options that all commands with servers share are in `connection`; those of each command are grouped by
//! topic: `servers` for commands that use servers, `serve`, `token` and `install` for the gateway, `daemon` for
//! servers between commands, `files` for config files and approvals, `login` for logins, `policy` for agents
//! and pinned definitions, `program` for the program itself.

mod connection;
mod daemon;
mod duration;
mod files;
mod install;
mod item_name;
mod login;
mod policy;
mod program;
mod serve;
mod servers;
pub mod slips;
mod token;
pub mod values;

use clap::{Parser, Subcommand};

pub use connection::{Acting, Connection, Given, Remote, Transport};
pub use daemon::{DaemonState, Up};
pub use files::{
    Add, ConfigCheck, ConfigPath, ConfigShow, ConfigVerb, Configs, Edit, Export, Import, Scope,
    Target, Trust, TrustApprove, TrustList, TrustRevoke, TrustShow, TrustVerb,
};
pub use install::{Install, Reach};
pub use item_name::ItemName;
pub use login::{Auth, AuthStatus, AuthVerb, Login, Logout};
pub use policy::{
    Lock, Pins, PinsApprove, PinsList, PinsRevoke, PinsVerb, Policy, PolicyList, PolicyRevoke,
    PolicyVerb, Verify, Why,
};
pub use program::{
    Completions, Era, HeaderTools, HttpAnswers, HttpTransport, Leftovers, Man, Shell, TestServer,
};
pub use serve::{IdleTime, Serve};
pub use servers::{
    Call, Context, Doctor, List, Logs, Output, Prompt, Read, Repl, ShowTool, Tools, Watch,
};
pub use token::{TokenAdd, TokenArgs, TokenList, TokenName, TokenVerb};

/// Commands for a first try.
pub const EXAMPLES: &str = "\
Examples:
  switchboard tools demo
  switchboard call demo/echo message=hello
  switchboard call --stdio \"uvx mcp-server-time\" get_current_time timezone=Europe/Berlin
  switchboard tools --url https://example.com/mcp -H \"Authorization: Bearer TOKEN\"";

/// The version and the platform that the program is built for.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("SWITCHBOARD_TARGET"),
    ")"
);

/// List and call the tools of Model Context Protocol (MCP) servers, and find out why one does not start.
#[derive(Debug, Parser)]
#[command(name = "switchboard", version, long_version = VERSION, after_help = EXAMPLES)]
pub struct Cli {
    /// The command; none opens the prompt or explains itself.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show servers and their status.
    #[command(aliases = ["list", "ls", "get"])]
    Servers(List),
    /// List tools.
    Tools(Tools),
    /// Show a tool: arguments, result and an example call.
    Tool(ShowTool),
    /// Call a tool.
    Call(Call),
    /// List resources.
    Resources(List),
    /// List resource templates.
    Templates(List),
    /// Read a resource.
    Read(Read),
    /// Read resources for a model, the most important ones first, up to a size.
    Context(Context),
    /// List prompts.
    Prompts(List),
    /// Get a prompt, with its arguments filled in.
    Prompt(Prompt),
    /// Ping servers and show their latency.
    Ping(List),
    /// Follow log messages and stderr of servers.
    Logs(Logs),
    /// Watch a resource for changes.
    Watch(Watch),
    /// Offer all servers to clients as one, over stdio or HTTP.
    Serve(Box<Serve>),
    /// Make, list, rotate and revoke tokens of clients of the gateway.
    Token(TokenArgs),
    /// Put the gateway into another client's config file.
    Install(Install),
    /// Keep servers running between commands.
    Up(Up),
    /// Stop the daemon and its servers.
    Down,
    /// Show the daemon and its servers.
    Status(DaemonState),
    /// Log in to a server that uses OAuth.
    Login(Box<Login>),
    /// Log out of a server and revoke its tokens.
    Logout(Box<Logout>),
    /// Show where you are logged in.
    Auth(Box<Auth>),
    /// Add a server to a config file.
    Add(Add),
    /// Remove a server from its config file.
    #[command(alias = "rm")]
    Remove(Edit),
    /// Enable a server in its config file.
    Enable(Edit),
    /// Disable a server in its config file.
    Disable(Edit),
    /// Import servers from another client's config files.
    Import(Import),
    /// List, grant and revoke approvals for project servers.
    Trust(Trust),
    /// Show and check config files.
    Config(Configs),
    /// Explain agents' permissions and revoke approvals.
    Policy(Policy),
    /// Review and approve changed definitions.
    Pins(Pins),
    /// Lock a project's servers and definitions in mcp.lock.
    Lock(Lock),
    /// Check a project's servers against mcp.lock.
    Verify(Verify),
    /// Check config, approvals, programs and every server.
    Doctor(Doctor),
    /// Print servers in another client's config format.
    Export(Export),
    /// Open the interactive prompt (the default at a terminal).
    Repl(Repl),
    /// List server processes left over from earlier runs.
    Leftovers(Leftovers),
    /// Print a shell completion script.
    Completions(Completions),
    /// Print the manual page, or write one per command.
    Man(Man),
    /// Run a small MCP server for testing clients.
    TestServer(TestServer),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
