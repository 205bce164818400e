//! The command line of looking servers over, and of what goes to others: their config files, shells, man.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use switchboard::config::Client;

use crate::args::Connection;

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

/// `switchboard export`.
#[derive(Debug, Args)]
#[command(after_help = "\
Clients: claude-desktop, claude-code (or claude), cursor, vscode, codex, gemini, windsurf, cline, roo,
opencode, zed, nexus3, switchboard.

Servers are written as they are described: references such as ${VAR} stay references, in the other
client's way of writing them where it has one. What the other client cannot be told is a warning.")]
pub(crate) struct Export {
    /// Only these servers.
    #[arg(value_name = "SERVER")]
    pub(crate) names: Vec<String>,
    /// The client to write them for.
    #[arg(long, value_name = "CLIENT", value_parser = client)]
    pub(crate) to: Client,
    /// Read this config file, and no other.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON: what is to be written on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A client by its name; `claude` is the one that has a command line.
fn client(name: &str) -> Result<Client, String> {
    match name {
        "claude" => Ok(Client::ClaudeCode),
        name => name
            .parse()
            .map_err(|error: switchboard::config::BadClient| error.to_string()),
    }
}

/// `switchboard completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Bash:  switchboard completions bash > ~/.local/share/bash-completion/completions/switchboard
Zsh:   switchboard completions zsh > \"${fpath[1]}/_switchboard\"
Fish:  switchboard completions fish > ~/.config/fish/completions/switchboard.fish

Names of servers are read from config files; names of tools, prompts and their arguments are those of the
last time that they were listed. Completing starts nothing.")]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// The shells that completions are there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// Bash 4 or newer.
    Bash,
    /// Zsh.
    Zsh,
    /// Fish.
    Fish,
}

impl Shell {
    /// The name that it has.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }
}

/// `switchboard man`.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write a page for each verb into this folder, instead of printing the one about all of them.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}
