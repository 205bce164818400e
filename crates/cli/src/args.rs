//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use switchboard::protocol::LogLevel;
use switchboard::spec::Protocol;
use switchboard::trust::Fingerprint;

use crate::doctor_args;
use crate::duration;
use crate::edit_args;
use crate::elicit::Given;
use crate::output_args::{Output, ShowTool};
use crate::policy_args;
use crate::test_server_args;
use crate::watch_args;

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
    Logs(watch_args::Logs),
    /// Show when a resource changes, and what it holds then.
    Watch(watch_args::Watch),
    /// Write a server to a config file.
    Add(edit_args::Add),
    /// Take a server out of its config file.
    Remove(edit_args::Edit),
    /// Switch a server on in its config file.
    Enable(edit_args::Edit),
    /// Switch a server off in its config file.
    Disable(edit_args::Edit),
    /// Copy servers from another client's config files.
    Import(edit_args::Import),
    /// See, give and take back approvals for what came with a project.
    Trust(edit_args::Trust),
    /// See what the config files say, and what is wrong with them.
    Config(edit_args::Configs),
    /// See what agents may do and why, and take approvals back.
    Policy(policy_args::Policy),
    /// See and approve what servers offer otherwise than when they were approved.
    Pins(policy_args::Pins),
    /// Write down what the servers of a project are and offer, in mcp.lock.
    Lock(policy_args::Lock),
    /// Hold the servers of a project against its mcp.lock.
    Verify(policy_args::Verify),
    /// Look everything over: config, approvals, programs, and each server at work.
    Doctor(doctor_args::Doctor),
    /// Print servers in the form of another client's config file.
    Export(doctor_args::Export),
    /// Open a prompt; so does `switchboard` alone, at a terminal.
    Repl(Repl),
    /// List the servers that earlier runs have left running.
    Leftovers(Leftovers),
    /// Print a script that completes names in a shell.
    Completions(doctor_args::Completions),
    /// Print the manual page, or write one for each verb.
    Man(doctor_args::Man),
    /// Be a small MCP server, on stdin and stdout or over HTTP, to try clients with.
    TestServer(test_server_args::TestServer),
}

/// `switchboard servers`, `tools`, `resources`, `templates` and `prompts`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// The server; all that are configured where it is left out. With --stdio or --url any name to
    /// show it under.
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `switchboard read`.
#[derive(Debug, Args)]
pub(crate) struct Read {
    /// The server and the resource: SERVER URI; with --stdio or --url just URI. A template, such as
    /// note:///{name}, is filled in with the key=value that follow.
    #[arg(value_names = ["SERVER", "URI", "KEY=VALUE"], num_args = 1.., required = true)]
    pub(crate) resource: Vec<String>,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `switchboard prompt`.
#[derive(Debug, Args)]
pub(crate) struct Prompt {
    /// The prompt: SERVER/PROMPT; with --stdio or --url just PROMPT.
    #[arg(value_name = "[SERVER/]PROMPT")]
    pub(crate) prompt: String,
    /// The prompt's arguments, which are texts: key=value or key=@FILE.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) values: Vec<String>,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `switchboard call`.
#[derive(Debug, Args)]
#[command(after_help = "\
Values:
  key=value    typed by the tool's schema: a string stays one, a number is read as one
  key=@FILE    the content of a file, typed the same way
  key:=JSON    JSON as it is; key:='\"@x\"' is how a text that starts with @ is given")]
pub(crate) struct Call {
    /// The tool: SERVER/TOOL, or its name for models; with --stdio or --url just TOOL, or NAME/TOOL
    /// to name the server.
    #[arg(value_name = "[SERVER/]TOOL")]
    pub(crate) tool: String,
    /// The tool's arguments: key=value, key:=JSON or key=@FILE.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) values: Vec<String>,
    /// Arguments as one JSON object; `-` reads it from stdin.
    #[arg(long = "args", value_name = "JSON")]
    pub(crate) object: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// How to reach the server, and how to answer.
#[derive(Debug, Args)]
pub(crate) struct Connection {
    /// Start this command as the server; split like a shell would, run without one.
    #[arg(long, value_name = "CMD ARGS")]
    pub(crate) stdio: Option<String>,
    #[command(flatten)]
    pub(crate) remote: Remote,
    /// Use this config file and no other.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["stdio", "url"])]
    pub(crate) config: Option<PathBuf>,
    /// Approve, for this run, the description of a server that has this fingerprint.
    #[arg(long, value_name = "sha256:HASH")]
    pub(crate) trust: Vec<Fingerprint>,
    #[command(flatten)]
    pub(crate) acting: policy_args::Acting,
    /// Write what happens to the end of this file, a line of JSON for each event.
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Write every message that goes over the wire to the end of this file, a line of JSON each and
    /// without known secrets; `-` shows them on stderr.
    #[arg(long, value_name = "FILE", conflicts_with = "as")]
    pub(crate) trace: Option<PathBuf>,
    /// Show on stderr what servers log from this level on: debug, info, notice, warning, error, critical, alert or
    /// emergency.
    #[arg(long, value_name = "LEVEL", conflicts_with = "as", value_parser = watch_args::level)]
    pub(crate) log_level: Option<LogLevel>,
    /// Which protocol to speak: auto, legacy or 2026-07-28.
    #[arg(long, value_name = "ERA")]
    pub(crate) protocol: Option<Protocol>,
    /// Longest wait for anything: 30s, 500ms, 2m, 1h, 1m30s, or a number of seconds.
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) timeout: Option<Duration>,
    #[command(flatten)]
    pub(crate) given: Given,
    /// Set a variable for the server; its value is kept out of everything that is printed.
    // Not split by clap, whose complaint would show the value.
    #[arg(short = 'e', long, value_name = "NAME=VALUE", conflicts_with = "url")]
    pub(crate) env: Vec<String>,
    /// Let a variable of this environment through to the server.
    #[arg(long, value_name = "NAME", conflicts_with = "url")]
    pub(crate) env_passthrough: Vec<String>,
    /// The folder to start the server in.
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub(crate) cwd: Option<PathBuf>,
    /// Tell servers of this folder as one that they may use, unless their entry names others.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Let servers ask your model without asking you: those whose entry says `sampling`, and the one of
    /// --stdio or --url.
    #[arg(long)]
    pub(crate) allow_sampling: bool,
    /// Print JSON: the answer on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing but results and errors: no warnings, no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Say more about failures: what was tried before, and with which protocol.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

impl Connection {
    /// Whether it says nothing but how to show what comes of it.
    pub(crate) fn is_plain(&self) -> bool {
        let Self {
            stdio: None,
            remote,
            config: None,
            trust,
            acting,
            events: None,
            trace: None,
            log_level: None,
            protocol: None,
            timeout: None,
            given,
            env,
            env_passthrough,
            cwd: None,
            root,
            allow_sampling: false,
            json: _,
            quiet: _,
            verbose: _,
        } = self
        else {
            return false;
        };
        let is_bare = trust.is_empty() && env.is_empty() && env_passthrough.is_empty();
        let is_bare = is_bare && root.is_empty();
        is_bare && given.is_empty() && remote.url.is_none() && acting.agent.is_none()
    }

    /// Whether the command line itself says where the server is.
    pub(crate) fn describes_server(&self) -> bool {
        self.stdio.is_some() || self.remote.url.is_some()
    }
}

/// How to reach a server over HTTP.
#[derive(Debug, Args)]
pub(crate) struct Remote {
    /// Reach the server at this URL.
    #[arg(long, value_name = "URL", conflicts_with = "stdio")]
    pub(crate) url: Option<String>,
    /// Send this header with every request; its value is kept out of everything that is printed.
    // Not read by clap, whose complaint would show the value.
    #[arg(short = 'H', long, value_name = "NAME: VALUE", requires = "url")]
    pub(crate) header: Vec<String>,
    /// The transport to begin with; `http` goes on to `sse` where a server knows nothing else.
    #[arg(short = 't', long, value_enum, default_value_t = Transport::Http, requires = "url")]
    pub(crate) transport: Transport,
    /// Take no streams: a server that answers with one is an error.
    #[arg(long, requires = "url")]
    pub(crate) no_stream: bool,
    /// Trust the certificates in this file (PEM) as well.
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Go by the proxy that HTTPS_PROXY, http_proxy, ALL_PROXY and NO_PROXY name.
    #[arg(long, requires = "url")]
    pub(crate) proxy_from_env: bool,
}

/// The transports over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    /// Streamable HTTP, and the older one after it.
    #[value(aliases = ["streamable-http", "streamable_http", "streamableHttp"])]
    Http,
    /// HTTP with Server-Sent Events, as 2024-11-05 had it.
    Sse,
}

/// `switchboard repl`.
#[derive(Debug, Args)]
pub(crate) struct Repl {
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `switchboard leftovers`.
#[derive(Debug, Args)]
pub(crate) struct Leftovers {
    /// End them: first by asking, then by force.
    #[arg(long)]
    pub(crate) end: bool,
    /// Print JSON: the list on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
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
