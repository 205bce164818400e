//! `/mcp ...`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Servers, and what they offer.
#[derive(Debug, Parser)]
#[command(name = "/mcp", no_binary_name = true, disable_version_flag = true)]
pub(super) struct Slash {
    #[command(subcommand)]
    pub(super) verb: Option<SlashVerb>,
}

/// What to do with servers.
#[derive(Debug, Subcommand)]
pub(super) enum SlashVerb {
    /// Connect to a server.
    Connect {
        /// The server.
        name: String,
        /// Ask about nothing that the agent was granted of it, as long as this prompt is open.
        #[arg(long)]
        allow_all: bool,
        /// Let all agents see it that were granted something of it, not only the one that connects.
        #[arg(long)]
        shared: bool,
    },
    /// Close the connection to a server.
    Disconnect {
        /// The server.
        name: String,
    },
    /// List tools.
    Tools {
        /// The server; all where it is left out.
        server: Option<String>,
    },
    /// List resources.
    Resources {
        /// The server; all where it is left out.
        server: Option<String>,
    },
    /// List prompts.
    Prompts {
        /// The server; all where it is left out.
        server: Option<String>,
    },
    /// Get a prompt, filled in with arguments.
    Prompt {
        /// The prompt: SERVER/PROMPT.
        name: String,
        /// Its arguments: key=value.
        #[arg(value_name = "KEY=VALUE")]
        values: Vec<String>,
    },
    /// Show which folders a server is told that it may use, or tell it of others.
    Roots {
        /// The server.
        name: String,
        /// The folders, in place of those that it was told of.
        #[arg(value_name = "DIR")]
        folders: Vec<PathBuf>,
    },
    /// Connect to a server again, and read its lists anew.
    Retry {
        /// The server.
        name: String,
    },
}
