//! Options of commands that work on config files and approvals. None of them starts a server.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use switchboard::config::Client;
use switchboard::spec::TransportKind;

/// The owner of a config file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scope {
    /// Your own file. Its servers need no approval.
    User,
    /// The file of the current folder.
    Project,
}

/// The file to edit.
#[derive(Debug, Args)]
pub struct Target {
    /// Config file to edit.
    #[arg(short = 's', long, value_enum)]
    pub scope: Option<Scope>,
    /// Edit this file and ignore all others.
    #[arg(long, value_name = "FILE", conflicts_with = "scope")]
    pub config: Option<PathBuf>,
}

/// `switchboard add`.
#[derive(Debug, Args)]
#[command(
    override_usage = "\
switchboard add [OPTIONS] NAME --url URL
       switchboard add [OPTIONS] NAME -- CMD [ARGS]...",
    after_help = "\
Without -s, the server is added to your own file. With -s project it is added to the file of the
current folder: .switchboard/mcp.json if that exists, otherwise .mcp.json. A server that you add
there is approved at once.

Examples:
  switchboard add time -- uvx mcp-server-time
  switchboard add wiki --url https://example.com/mcp -H 'Authorization: Bearer ${WIKI_TOKEN}'"
)]
pub struct Add {
    /// Name of the server.
    pub name: String,
    /// Command that starts the server, with its arguments, after `--`.
    #[arg(last = true, value_name = "CMD ARGS", conflicts_with = "url")]
    pub command: Vec<String>,
    /// URL of the server.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The file to edit.
    #[command(flatten)]
    pub target: Target,
    /// Transport of the server: stdio, http or sse.
    #[arg(short = 't', long, value_name = "TRANSPORT")]
    pub transport: Option<TransportKind>,
    /// Set a variable for the server; '${VAR}' in its value is expanded when the server starts.
    // Not split by clap, whose error message would show the value.
    #[arg(short = 'e', long, value_name = "NAME=VALUE", conflicts_with = "url")]
    pub env: Vec<String>,
    /// Send this header with every request; '${VAR}' in its value is expanded on each connection.
    // Not parsed by clap, whose error message would show the value.
    #[arg(short = 'H', long, value_name = "NAME: VALUE", requires = "url")]
    pub header: Vec<String>,
    /// Pass a variable of the environment to the server.
    #[arg(long, value_name = "NAME", conflicts_with = "url")]
    pub env_passthrough: Vec<String>,
    /// Folder to start the server in.
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub cwd: Option<String>,
    /// Replace a server of the same name.
    #[arg(long)]
    pub replace: bool,
    /// Add the server as disabled.
    #[arg(long)]
    pub disabled: bool,
    /// Print JSON: the change on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard remove`, `enable` and `disable`.
#[derive(Debug, Args)]
pub struct Edit {
    /// Name of the server.
    pub name: String,
    /// The file to edit.
    #[command(flatten)]
    pub target: Target,
    /// Print JSON: the change on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard import`.
#[derive(Debug, Args)]
#[command(after_help = "\
Clients: claude-desktop, claude-code, cursor, vscode, codex, gemini, windsurf, cline, roo, opencode,
zed, goose, mcporter, nexus3. Without one, your own files of all of them are read.

Servers are copied as they are written: references such as ${VAR} stay references, and nothing is
looked up or run. Servers whose names are taken are skipped. Servers of a project's file, or of a file
that is not known to be yours, are shown first and need a yes before they are added to your own file.")]
pub struct Import {
    /// Client whose config files to read, or a file; all clients if omitted.
    #[arg(value_name = "CLIENT|FILE")]
    pub source: Option<String>,
    /// Import only these servers.
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Format of the file, if its name does not tell.
    #[arg(long, value_name = "CLIENT")]
    pub from: Option<Client>,
    /// The file to edit.
    #[command(flatten)]
    pub target: Target,
    /// Show what would be imported, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Answer yes to questions about servers of a project's file.
    #[arg(long)]
    pub yes: bool,
    /// Write secrets as references such as ${GITHUB_TOKEN}, to be set where switchboard runs.
    #[arg(long)]
    pub secrets_as_vars: bool,
    /// Print JSON: the changes on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard trust`.
#[derive(Debug, Args)]
pub struct Trust {
    /// The subcommand.
    #[command(subcommand)]
    pub verb: TrustVerb,
}

/// The subcommands of `trust`.
#[derive(Debug, Subcommand)]
pub enum TrustVerb {
    /// List approved servers, and servers of this project that need approval.
    List(TrustList),
    /// Show what a project server would run, and its fingerprint.
    Show(TrustShow),
    /// Approve project servers as they are defined now.
    Approve(TrustApprove),
    /// Revoke approvals.
    Revoke(TrustRevoke),
}

/// `switchboard trust list`.
#[derive(Debug, Args)]
pub struct TrustList {
    /// Print JSON: the list on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard trust show`.
#[derive(Debug, Args)]
pub struct TrustShow {
    /// Name of the server.
    pub name: String,
    /// Print JSON: the server on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard trust approve`.
#[derive(Debug, Args)]
pub struct TrustApprove {
    /// Servers to approve; asks about each server of this project if omitted.
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Approve all enabled servers of this project.
    #[arg(long, conflicts_with = "names")]
    pub all: bool,
    /// Don't ask.
    #[arg(long)]
    pub yes: bool,
    /// Print JSON: the approved servers on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard trust revoke`.
#[derive(Debug, Args)]
pub struct TrustRevoke {
    /// Server name, file, or fingerprint (at least 8 digits).
    #[arg(value_name = "NAME|FILE|HASH", required_unless_present = "lost")]
    pub which: Option<String>,
    /// Dismiss the warning about lost approvals.
    #[arg(long, conflicts_with = "which")]
    pub lost: bool,
    /// Print JSON: the revoked approvals on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard config`.
#[derive(Debug, Args)]
pub struct Configs {
    /// The subcommand.
    #[command(subcommand)]
    pub verb: ConfigVerb,
}

/// The subcommands of `config`.
#[derive(Debug, Subcommand)]
pub enum ConfigVerb {
    /// Show the configured servers and their files, with secrets masked.
    Show(ConfigShow),
    /// Check config files for problems.
    Check(ConfigCheck),
    /// List the config files, in order of increasing priority.
    Path(ConfigPath),
    /// Print the JSON Schema of config files, for editors.
    Schema,
}

/// `switchboard config show`.
#[derive(Debug, Args)]
pub struct ConfigShow {
    /// Show only this server.
    pub name: Option<String>,
    /// Read only this file.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print JSON: the servers on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard config check`.
#[derive(Debug, Args)]
pub struct ConfigCheck {
    /// Check only these files.
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Report unknown keys as errors.
    #[arg(long)]
    pub strict: bool,
    /// Print JSON: the problems on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard config path`.
#[derive(Debug, Args)]
pub struct ConfigPath {
    /// Print JSON: the files on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard export`.
#[derive(Debug, Args)]
#[command(after_help = "\
Clients: claude-desktop, claude-code (or claude), cursor, vscode, codex, gemini, windsurf, cline, roo,
opencode, zed, goose, mcporter, nexus3, switchboard.

Secrets are written as references such as ${GITHUB_TOKEN}; references stay references, in the syntax of
the other client if it has one. A setting that the other client does not have is a warning.")]
pub struct Export {
    /// Export only these servers.
    #[arg(value_name = "SERVER")]
    pub names: Vec<String>,
    /// Client whose format to write.
    #[arg(long, value_name = "CLIENT", value_parser = client)]
    pub to: Client,
    /// Read only this config file.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Write secrets in clear instead of as references such as ${GITHUB_TOKEN}.
    #[arg(long)]
    pub with_secrets: bool,
    /// Print JSON: the exported text on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// Parses the name of a client; `claude` is Claude Code.
fn client(name: &str) -> Result<Client, String> {
    match name {
        "claude" => Ok(Client::ClaudeCode),
        name => name
            .parse()
            .map_err(|error: switchboard::config::ParseClientError| error.to_string()),
    }
}
