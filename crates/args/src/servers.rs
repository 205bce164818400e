//! Options of commands that use servers: lists, calls, and subscriptions.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use switchboard::limits::parse_byte_count;
use switchboard::protocol::LogLevel;

use super::Connection;
use super::connection::level;
use crate::duration;
use crate::item_name::ItemName;

/// `switchboard servers`, `tools`, `resources`, `templates` and `prompts`.
#[derive(Debug, Args)]
pub struct List {
    /// Server; all configured servers if omitted. With --stdio or --url, any name.
    pub server: Option<String>,
    /// The server, the caller, the answers and the output.
    #[command(flatten)]
    pub connection: Connection,
}

/// `switchboard tools`.
#[derive(Debug, Args)]
pub struct Tools {
    /// The server, and how it is reached.
    #[command(flatten)]
    pub list: List,
    /// Show signatures, with the types of arguments.
    #[arg(short, long)]
    pub long: bool,
    /// Show what each definition costs of a model's context, in tokens (estimated: 4 characters each).
    #[arg(long)]
    pub tokens: bool,
}

/// `switchboard read`.
#[derive(Debug, Args)]
pub struct Read {
    /// Server and resource: SERVER URI; with --stdio or --url just URI. The key=value arguments that follow
    /// fill in a template such as note:///{name}.
    #[arg(value_names = ["SERVER", "URI", "KEY=VALUE"], num_args = 1.., required = true)]
    pub resource: Vec<String>,
    /// Options for the output of the result.
    #[command(flatten)]
    pub output: Output,
    /// The server, the caller, the answers and the output.
    #[command(flatten)]
    pub connection: Connection,
}

/// `switchboard context`.
#[derive(Debug, Args)]
#[command(after_help = "\
Resources for models come first by priority, then by the time of their last change. Those for people
only, those that do not fit and those that cannot be read are left out and named on stderr.")]
pub struct Context {
    /// Server, and the URIs of the resources to read; all resources, of all servers, if omitted.
    #[arg(value_names = ["SERVER", "URI"], num_args = 0..)]
    pub resources: Vec<String>,
    /// Maximum size of all texts together: 32KiB, 1MiB, or a number of bytes.
    #[arg(long, value_name = "SIZE", default_value = "32KiB", value_parser = parse_byte_count)]
    pub budget: u64,
    /// The server, the caller, the answers and the output.
    #[command(flatten)]
    pub connection: Connection,
}

/// `switchboard prompt`.
#[derive(Debug, Args)]
pub struct Prompt {
    /// Prompt: SERVER/PROMPT; with --stdio or --url just PROMPT.
    #[arg(value_name = "[SERVER/]PROMPT")]
    pub prompt: ItemName,
    /// Arguments of the prompt, all strings: key=value or key=@FILE.
    #[arg(value_name = "KEY=VALUE")]
    pub values: Vec<String>,
    /// Options for the output of the result.
    #[command(flatten)]
    pub output: Output,
    /// The server, the caller, the answers and the output.
    #[command(flatten)]
    pub connection: Connection,
}

/// `switchboard call`.
#[derive(Debug, Args)]
#[command(after_help = "\
Values:
  key=value    typed by the tool's schema
  key=@FILE    the content of a file, typed the same way
  key:=JSON    JSON as it is, such as key:='\"@x\"' for a text that starts with @")]
pub struct Call {
    /// Tool: SERVER/TOOL, or its model-facing name; with --stdio or --url just TOOL, or NAME/TOOL to name the
    /// server.
    #[arg(value_name = "[SERVER/]TOOL")]
    pub tool: ItemName,
    /// Arguments of the tool: key=value, key:=JSON or key=@FILE.
    #[arg(value_name = "KEY=VALUE")]
    pub values: Vec<String>,
    /// All arguments as one JSON object; `-` reads it from stdin.
    #[arg(long = "args", value_name = "JSON")]
    pub object: Option<String>,
    /// Options for the output of the result.
    #[command(flatten)]
    pub output: Output,
    /// The server, the caller, the answers and the output.
    #[command(flatten)]
    pub connection: Connection,
}

/// `switchboard tool`.
#[derive(Debug, Args)]
pub struct ShowTool {
    /// Tool: SERVER/TOOL, or its model-facing name; with --stdio or --url just TOOL, or NAME/TOOL to name the
    /// server.
    #[arg(value_name = "[SERVER/]TOOL")]
    pub tool: ItemName,
    /// The server, the caller, the answers and the output.
    #[command(flatten)]
    pub connection: Connection,
}

/// Options for the output of a result.
#[derive(Debug, Default, Args)]
pub struct Output {
    /// Save images, audio and other data in this folder, under generated names.
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    pub save: Option<PathBuf>,
    /// Write the text to this new file, or the image if the file extension asks for one.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub output: Option<PathBuf>,
    /// Print raw text, including control characters. Not at a terminal.
    #[arg(long, conflicts_with_all = ["json", "output"])]
    pub raw: bool,
    /// Mask the server's secrets in the result, which is otherwise printed as sent.
    #[arg(long)]
    pub mask: bool,
}

/// `switchboard logs`.
// Server logs are not for agents, so the options for an agent are hidden.
#[derive(Debug, Args)]
#[command(
    mut_arg("as", |arg| arg.hide(true)),
    mut_arg("level", |arg| arg.long("as-level").hide(true)),
    mut_arg("log_level", |arg| arg.hide(true))
)]
pub struct Logs {
    /// Server; all configured servers if omitted. With --stdio or --url, any name.
    pub server: Option<String>,
    /// Show log messages at or above this level: debug, info, notice, warning, error, critical, alert or
    /// emergency. By default servers choose, and those of 2026-07-28 log nothing. Lines on stderr are always
    /// shown.
    #[arg(long = "level", id = "log-level", value_name = "LEVEL", value_parser = level)]
    pub level: Option<LogLevel>,
    /// Stop after this time, such as 30s or 2m; Ctrl-C stops it otherwise.
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    pub time: Option<Duration>,
    /// The server, the caller, the answers and the output.
    #[command(flatten)]
    pub connection: Connection,
}

/// `switchboard watch`.
#[derive(Debug, Args)]
pub struct Watch {
    /// Server and resource: SERVER URI; with --stdio or --url just URI.
    #[arg(value_names = ["SERVER", "URI"], num_args = 1..=2, required = true)]
    pub resource: Vec<String>,
    /// Read and print the resource after each change.
    #[arg(long)]
    pub read: bool,
    /// Mask the server's secrets in the content.
    #[arg(long, requires = "read")]
    pub mask: bool,
    /// Stop after this time, such as 30s or 2m; Ctrl-C stops it otherwise.
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    pub time: Option<Duration>,
    /// The server, the caller, the answers and the output.
    #[command(flatten)]
    pub connection: Connection,
}

/// `switchboard doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Starts, lists and pings every server once. Project servers are started only if they are approved, and
disabled servers not at all. The exit code is that of the worst problem, or 0 if everything works.")]
pub struct Doctor {
    /// Server; all configured servers if omitted. With --stdio or --url, any name.
    pub server: Option<String>,
    /// The server, the caller, the answers and the output.
    #[command(flatten)]
    pub connection: Connection,
}

/// `switchboard repl`.
#[derive(Debug, Args)]
pub struct Repl {
    /// The server, the caller, the answers and the output.
    #[command(flatten)]
    pub connection: Connection,
}
