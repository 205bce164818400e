//! The options of verbs that work on config files and approvals. None of them starts a server.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use switchboard::config::Client;
use switchboard::spec::TransportKind;

/// Whose file is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// Your own file. What is in it needs no approval.
    User,
    /// The file of the current folder.
    Project,
}

/// Which file to change.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// Whose file to change.
    #[arg(short = 's', long, value_enum)]
    pub(crate) scope: Option<Scope>,
    /// Change this file, and look at no other.
    #[arg(long, value_name = "FILE", conflicts_with = "scope")]
    pub(crate) config: Option<PathBuf>,
}

/// `switchboard add`.
#[derive(Debug, Args)]
#[command(
    override_usage = "switchboard add [OPTIONS] NAME --url URL\n       \
                      switchboard add [OPTIONS] NAME -- CMD [ARGS]...",
    after_help = "\
Without -s, the server is written to your own file. With -s project it is written to the file that
the current folder has, .switchboard/mcp.json before .mcp.json, or else to a new .mcp.json; what
you add there is approved at once, for you and as you typed it.

Examples:
  switchboard add time -- uvx mcp-server-time
  switchboard add wiki --url https://example.com/mcp -H 'Authorization: Bearer ${WIKI_TOKEN}'"
)]
pub(crate) struct Add {
    /// The name of the server.
    pub(crate) name: String,
    /// The command that starts the server, and its arguments, behind `--`.
    #[arg(last = true, value_name = "CMD ARGS", conflicts_with = "url")]
    pub(crate) command: Vec<String>,
    /// The URL of the server.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) target: Target,
    /// How the server is reached: stdio, http or sse.
    #[arg(short = 't', long, value_name = "TRANSPORT")]
    pub(crate) transport: Option<TransportKind>,
    /// Set a variable for the server; '${VAR}' in a value is filled in when the server is started.
    // Not split by clap, whose complaint would show the value.
    #[arg(short = 'e', long, value_name = "NAME=VALUE", conflicts_with = "url")]
    pub(crate) env: Vec<String>,
    /// Send this header with every request; '${VAR}' in its value is filled in then.
    // Not read by clap, whose complaint would show the value.
    #[arg(short = 'H', long, value_name = "NAME: VALUE", requires = "url")]
    pub(crate) header: Vec<String>,
    /// Let a variable of the environment through to the server.
    #[arg(long, value_name = "NAME", conflicts_with = "url")]
    pub(crate) env_passthrough: Vec<String>,
    /// The folder to start the server in.
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub(crate) cwd: Option<String>,
    /// Take the place of a server of the same name.
    #[arg(long)]
    pub(crate) replace: bool,
    /// Write it down without switching it on.
    #[arg(long)]
    pub(crate) disabled: bool,
    /// Print JSON: what was done on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `switchboard remove`, `enable` and `disable`.
#[derive(Debug, Args)]
pub(crate) struct Edit {
    /// The name of the server.
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Print JSON: what was done on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `switchboard import`.
#[derive(Debug, Args)]
#[command(after_help = "\
Clients: claude-desktop, claude-code, cursor, vscode, codex, gemini, windsurf, cline, roo, opencode,
zed, nexus3.

Servers are copied as they are written: references such as ${VAR} stay references, nothing is looked
up and nothing is run. Names that are taken stay as they are. What comes from a project's file, or from
a file that is not known to be your own, is shown and needs a yes before it is written to your own file.")]
pub(crate) struct Import {
    /// The client whose files to read, or a file.
    #[arg(value_name = "CLIENT|FILE")]
    pub(crate) source: String,
    /// Only these servers.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Whose form the file has, where its name does not tell.
    #[arg(long, value_name = "CLIENT")]
    pub(crate) from: Option<Client>,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Say what would be done, and do nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Say yes to what a project's file brings.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print JSON: what was done on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `switchboard trust`.
#[derive(Debug, Args)]
pub(crate) struct Trust {
    #[command(subcommand)]
    pub(crate) verb: TrustVerb,
}

/// What to do with approvals.
#[derive(Debug, Subcommand)]
pub(crate) enum TrustVerb {
    /// List what is approved, and what waits for it in this folder.
    List(TrustList),
    /// Show what a server of a project's file wants to do, and its fingerprint.
    Show(TrustShow),
    /// Approve servers of project files, exactly as they are described now.
    Approve(TrustApprove),
    /// Take approvals back.
    Revoke(TrustRevoke),
}

/// `switchboard trust list`.
#[derive(Debug, Args)]
pub(crate) struct TrustList {
    /// Print JSON: the list on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `switchboard trust show`.
#[derive(Debug, Args)]
pub(crate) struct TrustShow {
    /// The name of the server.
    pub(crate) name: String,
    /// Print JSON: the answer on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `switchboard trust approve`.
#[derive(Debug, Args)]
pub(crate) struct TrustApprove {
    /// The servers; without any, you are asked about each that waits in this folder.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// All that wait in this folder and are switched on.
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,
    /// Do not ask.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print JSON: what was approved on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `switchboard trust revoke`.
#[derive(Debug, Args)]
pub(crate) struct TrustRevoke {
    /// The name of a server, a file, or a fingerprint or at least 8 of its first digits.
    #[arg(value_name = "NAME|FILE|HASH", required_unless_present = "lost")]
    pub(crate) which: Option<String>,
    /// Forget approvals that were lost with their file, so that nothing warns of them any more.
    #[arg(long, conflicts_with = "which")]
    pub(crate) lost: bool,
    /// Print JSON: what was revoked on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `switchboard config`.
#[derive(Debug, Args)]
pub(crate) struct Configs {
    #[command(subcommand)]
    pub(crate) verb: ConfigVerb,
}

/// What to tell about config files.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Show the servers as they are described, and where. Values that may be secret are masked.
    Show(ConfigShow),
    /// Say what is wrong with config files.
    Check(ConfigCheck),
    /// Say which config files are looked for, the strongest last.
    Path(ConfigPath),
}

/// `switchboard config show`.
#[derive(Debug, Args)]
pub(crate) struct ConfigShow {
    /// Only this server.
    pub(crate) name: Option<String>,
    /// Read this file, and no other.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON: the servers on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `switchboard config check`.
#[derive(Debug, Args)]
pub(crate) struct ConfigCheck {
    /// Only these files.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print JSON: the problems on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `switchboard config path`.
#[derive(Debug, Args)]
pub(crate) struct ConfigPath {
    /// Print JSON: the files on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
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
            .map_err(|error: switchboard::config::ParseClientError| error.to_string()),
    }
}
