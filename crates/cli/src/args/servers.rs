//! Options of commands that use servers: lists, calls, and subscriptions.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use switchboard::protocol::LogLevel;

use super::Connection;
use super::connection::level;
use crate::duration;
use crate::item_name::ItemName;

/// `switchboard servers`, `tools`, `resources`, `templates` and `prompts`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Server; all configured ones if omitted. With --stdio or --url, any name to show it under.
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `switchboard read`.
#[derive(Debug, Args)]
pub(crate) struct Read {
    /// Server and resource: SERVER URI; with --stdio or --url just URI. A template such as note:///{name} is
    /// filled in with the key=value arguments that follow.
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
    /// Prompt: SERVER/PROMPT; with --stdio or --url just PROMPT.
    #[arg(value_name = "[SERVER/]PROMPT")]
    pub(crate) prompt: ItemName,
    /// Arguments of the prompt, all strings: key=value or key=@FILE.
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
  key=value    typed by the tool's schema
  key=@FILE    the content of a file, typed the same way
  key:=JSON    JSON as it is, such as key:='\"@x\"' for a text that starts with @")]
pub(crate) struct Call {
    /// Tool: SERVER/TOOL, or its model-facing name; with --stdio or --url just TOOL, or NAME/TOOL to name the
    /// server.
    #[arg(value_name = "[SERVER/]TOOL")]
    pub(crate) tool: ItemName,
    /// Arguments of the tool: key=value, key:=JSON or key=@FILE.
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

/// `switchboard tool`.
#[derive(Debug, Args)]
pub(crate) struct ShowTool {
    /// Tool: SERVER/TOOL, or its model-facing name; with --stdio or --url just TOOL, or NAME/TOOL to name the
    /// server.
    #[arg(value_name = "[SERVER/]TOOL")]
    pub(crate) tool: ItemName,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// Options for the output of a result.
#[derive(Debug, Default, Args)]
pub(crate) struct Output {
    /// Write images, audio and other data to files in this folder, under generated names.
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    pub(crate) save: Option<PathBuf>,
    /// Write the text to this new file unchanged, or the image if the extension asks for one.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,
    /// Print the text unchanged, including control characters; refused at a terminal.
    #[arg(long, conflicts_with_all = ["json", "output"])]
    pub(crate) raw: bool,
    /// Mask the server's secrets in the result; by default the result is as the server sent it.
    #[arg(long)]
    pub(crate) mask: bool,
}

/// `switchboard logs`.
// Server logs are not for agents, so the options for an agent are hidden.
#[derive(Debug, Args)]
#[command(
    mut_arg("as", |arg| arg.hide(true)),
    mut_arg("level", |arg| arg.long("as-level").hide(true)),
    mut_arg("log_level", |arg| arg.hide(true))
)]
pub(crate) struct Logs {
    /// Server; all configured ones if omitted. With --stdio or --url, any name to show it under.
    pub(crate) server: Option<String>,
    /// Request and show only log messages at or above this level: debug, info, notice, warning, error,
    /// critical, alert or emergency. Without it servers choose their level, and those of 2026-07-28 log
    /// nothing. Lines on stderr have no level and are always shown.
    #[arg(long = "level", id = "log-level", value_name = "LEVEL", value_parser = level)]
    pub(crate) level: Option<LogLevel>,
    /// Stop after this time: 30s, 500ms, 2m, 1h, 1m30s, or a number of seconds. Without it, Ctrl-C stops.
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    pub(crate) time: Option<Duration>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `switchboard watch`.
#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// Server and resource: SERVER URI; with --stdio or --url just URI.
    #[arg(value_names = ["SERVER", "URI"], num_args = 1..=2, required = true)]
    pub(crate) resource: Vec<String>,
    /// Read the resource after each change, and show it below its URI.
    #[arg(long)]
    pub(crate) read: bool,
    /// Mask the server's secrets in what is read.
    #[arg(long, requires = "read")]
    pub(crate) mask: bool,
    /// Stop after this time: 30s, 500ms, 2m, 1h, 1m30s, or a number of seconds. Without it, Ctrl-C stops.
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    pub(crate) time: Option<Duration>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `switchboard doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Every server is started, listed and pinged once; servers of a project's file only if they are approved,
and disabled servers not at all. The exit code is that of the worst finding, or 0 if nothing is broken.")]
pub(crate) struct Doctor {
    /// Server; all configured ones if omitted. With --stdio or --url, any name to show it under.
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `switchboard repl`.
#[derive(Debug, Args)]
pub(crate) struct Repl {
    #[command(flatten)]
    pub(crate) connection: Connection,
}
