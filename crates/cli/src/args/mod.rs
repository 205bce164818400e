//! The command line: [`Cli`] and its verbs.
//!
//! The options that all verbs with servers share are in `connection`; the options of each verb are
//! beside those of its kind: `servers` has the verbs that use servers, `files` those that change and
//! show config files and approvals, `policy` those about agents and pinned definitions, `program`
//! those about this program itself.

mod connection;
mod files;
mod policy;
mod program;
mod servers;

use clap::{Parser, Subcommand};

pub(crate) use connection::{Acting, Connection, Remote, Transport};
pub(crate) use files::{
    Add, ConfigCheck, ConfigPath, ConfigShow, ConfigVerb, Configs, Edit, Export, Import, Scope,
    Target, Trust, TrustApprove, TrustList, TrustRevoke, TrustShow, TrustVerb,
};
pub(crate) use policy::{
    Lock, Pins, PinsApprove, PinsVerb, Policy, PolicyRevoke, PolicyVerb, Verify, Why,
};
pub(crate) use program::{
    Completions, Era, HeaderTools, HttpAnswers, HttpTransport, Leftovers, Man, TestServer,
};
pub(crate) use servers::{Call, Doctor, List, Logs, Output, Prompt, Read, Repl, ShowTool, Watch};

/// The commands that a first visitor should try.
pub(crate) const EXAMPLES: &str = "\
Examples:
  switchboard tools demo
  switchboard call demo/echo message=hello
  switchboard call --stdio \"uvx mcp-server-time\" get_current_time timezone=Europe/Berlin
  switchboard tools --url https://example.com/mcp -H \"Authorization: Bearer TOKEN\"";

/// See what Model Context Protocol servers offer, call them, and know why they do not start.
#[derive(Debug, Parser)]
#[command(name = "switchboard", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the servers that there are, and how they are.
    Servers(List),
    /// List tools.
    Tools(List),
    /// Show a tool: its arguments, its result, and how to call it.
    Tool(ShowTool),
    /// Call a tool.
    Call(Call),
    /// List resources.
    Resources(List),
    /// List templates of resources.
    Templates(List),
    /// Read a resource.
    Read(Read),
    /// List prompts.
    Prompts(List),
    /// Get a prompt, filled in with arguments.
    Prompt(Prompt),
    /// Ask servers whether they are there, and how fast they answer.
    Ping(List),
    /// Show what servers log and write to stderr, as they do.
    Logs(Logs),
    /// Show when a resource changes, and what it holds then.
    Watch(Watch),
    /// Write a server to a config file.
    Add(Add),
    /// Take a server out of its config file.
    Remove(Edit),
    /// Switch a server on in its config file.
    Enable(Edit),
    /// Switch a server off in its config file.
    Disable(Edit),
    /// Copy servers from another client's config files.
    Import(Import),
    /// See, give and take back approvals for what came with a project.
    Trust(Trust),
    /// See what the config files say, and what is wrong with them.
    Config(Configs),
    /// See what agents may do and why, and take approvals back.
    Policy(Policy),
    /// See and approve what servers offer otherwise than when they were approved.
    Pins(Pins),
    /// Write down what the servers of a project are and offer, in mcp.lock.
    Lock(Lock),
    /// Hold the servers of a project against its mcp.lock.
    Verify(Verify),
    /// Look everything over: config, approvals, programs, and each server at work.
    Doctor(Doctor),
    /// Print servers in the form of another client's config file.
    Export(Export),
    /// Open a prompt; so does `switchboard` alone, at a terminal.
    Repl(Repl),
    /// List the servers that earlier runs have left running.
    Leftovers(Leftovers),
    /// Print a script that completes names in a shell.
    Completions(Completions),
    /// Print the manual page, or write one for each verb.
    Man(Man),
    /// Be a small MCP server, on stdin and stdout or over HTTP, to try clients with.
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
