//! Options of `switchboard install`.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueEnum};
use switchboard::config::Client;
use switchboard::config::install::Target;
use switchboard::policy::CallerId;

/// The reach of an entry in a client's config.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Reach {
    /// All your projects: the client's own file.
    User,
    /// The current folder: the client's file there, which others may share.
    Project,
    /// The current folder, for you alone: Claude Code's own file.
    Local,
}

/// `switchboard install`.
#[derive(Debug, Args)]
#[command(after_help = "\
The client gets one entry that starts `switchboard serve`, with the absolute path of this program.
Comments, order and everything else in its file stay as they are, and a second run changes nothing.
--undo restores the file byte for byte. If the file has changed since, it takes out the entry alone.

Examples:
  switchboard install --to claude-code
  switchboard install --to cursor --dry-run
  switchboard install --to vscode --scope project
  switchboard install --to claude-desktop --move
  switchboard install --to gemini --profile work --as gemini
  switchboard install --to cursor --undo")]
pub struct Install {
    /// Client to install into.
    #[arg(long, value_name = "CLIENT", value_parser = clients())]
    pub to: String,
    /// File of the client.
    #[arg(short = 's', long, value_enum, default_value = "user")]
    pub scope: Reach,
    /// Name of the entry.
    #[arg(long, value_name = "NAME", default_value = "switchboard")]
    pub name: String,
    /// Offer this profile of your own config file alone: `serve --profile`.
    #[arg(long, value_name = "NAME", conflicts_with = "undo")]
    pub profile: Option<String>,
    /// The agent that the client acts as: `serve --as`.
    #[arg(long = "as", value_name = "AGENT", conflicts_with = "undo")]
    pub agent: Option<CallerId>,
    /// Move the client's servers to your own file, which the gateway offers.
    #[arg(id = "move", long = "move", conflicts_with = "undo")]
    pub moves: bool,
    /// Take the entry out again, and bring moved servers back.
    #[arg(long)]
    pub undo: bool,
    /// Show the difference, with secrets masked, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON: the change on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// The clients by name; `claude` is Claude Code.
fn clients() -> impl clap::builder::TypedValueParser<Value = String> {
    let clients = Target::CLIENTS.iter().map(|client| {
        let value = PossibleValue::new(client.name());
        if *client == Client::ClaudeCode {
            value.alias("claude")
        } else {
            value
        }
    });
    PossibleValuesParser::new(clients).map(|name| match name.as_str() {
        "claude" => Client::ClaudeCode.name().to_owned(),
        _ => name,
    })
}
