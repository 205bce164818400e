//! The options of verbs that use servers: lists, calls, and what is watched.

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
    pub(crate) prompt: ItemName,
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
    pub(crate) tool: ItemName,
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

/// `switchboard tool`.
#[derive(Debug, Args)]
pub(crate) struct ShowTool {
    /// The tool: SERVER/TOOL, or its name for models; with --stdio or --url just TOOL, or NAME/TOOL
    /// to name the server.
    #[arg(value_name = "[SERVER/]TOOL")]
    pub(crate) tool: ItemName,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// What becomes of a result.
#[derive(Debug, Default, Args)]
pub(crate) struct Output {
    /// Write images, audio and other data to files in this folder, under names that Switchboard makes.
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    pub(crate) save: Option<PathBuf>,
    /// Write the text to this file, untouched, or the image if the name ends like one; there must be
    /// no file of that name.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,
    /// Print the text untouched, with whatever a terminal would obey; not to a terminal.
    #[arg(long, conflicts_with_all = ["json", "output"])]
    pub(crate) raw: bool,
    /// Replace the server's secrets in the result by ***. Without it a result is as the server sent it.
    #[arg(long)]
    pub(crate) mask: bool,
}

/// `switchboard logs`.
// What servers log is not for agents, so that there is no need here for an agent and its level.
#[derive(Debug, Args)]
#[command(
    mut_arg("as", |arg| arg.hide(true)),
    mut_arg("level", |arg| arg.long("as-level").hide(true)),
    mut_arg("log_level", |arg| arg.hide(true))
)]
pub(crate) struct Logs {
    /// The server; all that are configured where it is left out. With --stdio or --url any name to
    /// show it under.
    pub(crate) server: Option<String>,
    /// Ask for log messages from this level on, and show no others: debug, info, notice, warning,
    /// error, critical, alert or emergency. Without it servers log what they see fit, and those of
    /// 2026-07-28 nothing. Stderr has no level and is always shown.
    #[arg(long = "level", id = "log-level", value_name = "LEVEL", value_parser = level)]
    pub(crate) level: Option<LogLevel>,
    /// End after this time: 30s, 500ms, 2m, 1h, 1m30s, or a number of seconds. Without it Ctrl-C ends
    /// it.
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    pub(crate) time: Option<Duration>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `switchboard watch`.
#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// The server and the resource: SERVER URI; with --stdio or --url just URI.
    #[arg(value_names = ["SERVER", "URI"], num_args = 1..=2, required = true)]
    pub(crate) resource: Vec<String>,
    /// Read what has changed each time, and show it below its address.
    #[arg(long)]
    pub(crate) read: bool,
    /// Replace the server's secrets in what is read by ***.
    #[arg(long, requires = "read")]
    pub(crate) mask: bool,
    /// End after this time: 30s, 500ms, 2m, 1h, 1m30s, or a number of seconds. Without it Ctrl-C ends
    /// it.
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    pub(crate) time: Option<Duration>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `switchboard doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Every server is started, asked for its lists and asked once whether it is there; those of a project's
file only if they are approved, and those that are switched off not at all. The exit code is that of the
worst that was found, and 0 where nothing is broken.")]
pub(crate) struct Doctor {
    /// The server; all that are configured where it is left out. With --stdio or --url any name to
    /// show it under.
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
