//! The command line of how results are shown and kept.

use std::path::PathBuf;

use clap::Args;

use crate::args::Connection;

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

/// `switchboard tool`.
#[derive(Debug, Args)]
pub(crate) struct ShowTool {
    /// The tool: SERVER/TOOL, or its name for models; with --stdio or --url just TOOL, or NAME/TOOL
    /// to name the server.
    #[arg(value_name = "[SERVER/]TOOL")]
    pub(crate) tool: String,
    #[command(flatten)]
    pub(crate) connection: Connection,
}
