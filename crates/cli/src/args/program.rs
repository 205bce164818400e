//! Options of commands about this program: leftovers, completions, manual pages and the test server.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use switchboard_testkit::chaos::Chaos;
use switchboard_testkit::issuer::IssuerFault;

/// `switchboard leftovers`.
#[derive(Debug, Args)]
pub(crate) struct Leftovers {
    /// End them, by force if needed.
    #[arg(long)]
    pub(crate) end: bool,
    /// Print JSON: the list on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `switchboard completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Bash:  switchboard completions bash > ~/.local/share/bash-completion/completions/switchboard
Zsh:   switchboard completions zsh > \"${fpath[1]}/_switchboard\"
Fish:  switchboard completions fish > ~/.config/fish/completions/switchboard.fish

Server names come from config files; names of tools, prompts and arguments come from the last listing.
Completion starts no server.")]
pub(crate) struct Completions {
    /// Shell to complete in.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// The supported shells.
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
    /// Returns the name of the shell.
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
    /// Write a page for each command into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// `switchboard test-server`.
#[derive(Debug, Args)]
pub(crate) struct TestServer {
    /// Offer enough tools for three pages; MCP_TOOL_COUNT and MCP_PAGE_SIZE change the numbers.
    #[arg(long)]
    pub(crate) paginate: bool,
    /// Protocol eras to speak.
    #[arg(long, value_enum, default_value_t = Era::Both)]
    pub(crate) era: Era,
    /// Serve over HTTP on this port; 0 picks one. Prints the address.
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Address to serve on.
    #[arg(
        long,
        value_name = "IP",
        default_value = "127.0.0.1",
        requires = "port"
    )]
    pub(crate) host: IpAddr,
    /// HTTP transport to speak.
    #[arg(long, value_enum, default_value_t = HttpTransport::Streamable, requires = "port")]
    pub(crate) transport: HttpTransport,
    /// Form of HTTP responses.
    #[arg(long, value_enum, default_value_t = HttpAnswers::Auto, requires = "port")]
    pub(crate) answers: HttpAnswers,
    /// Do not assign session ids over HTTP.
    #[arg(long, requires = "port")]
    pub(crate) stateless: bool,
    /// Also offer tools with x-mcp-header.
    #[arg(long, value_enum, default_value_t = HeaderTools::None)]
    pub(crate) header_tools: HeaderTools,
    /// Misbehave in this way; repeatable.
    #[arg(long, value_name = "FLAG[=ARG]")]
    pub(crate) chaos: Vec<Chaos>,
    /// Append each tool call to this file before it runs, one line each.
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// Offer a tool that asks the client's model.
    #[arg(long)]
    pub(crate) asking_models: bool,
    /// Offer tools that ask for URLs and roots and that log, and arguments with completions.
    #[arg(long)]
    pub(crate) talking: bool,
    /// Offer what the official conformance suite's server scenarios ask for, instead of the usual catalog.
    #[arg(long)]
    pub(crate) conformance: bool,
    /// Offer the tool `shape`, which returns results that are odd but valid, by number.
    #[arg(long)]
    pub(crate) shapes: bool,
    /// Offer tools that change the tool list while the server runs, with notifications.
    #[arg(long)]
    pub(crate) growing: bool,
    /// Offer the tool `whoami`, which returns this name and the process id.
    #[arg(long, value_name = "NAME")]
    pub(crate) instance: Option<String>,
    /// Wait this many milliseconds before reading anything.
    #[arg(long, value_name = "MS")]
    pub(crate) start_delay: Option<u64>,
    /// List all ways to misbehave.
    #[arg(long)]
    pub(crate) list_chaos: bool,
    /// Require a token of an OAuth issuer, which runs beside the server.
    #[arg(long, requires = "port")]
    pub(crate) oauth: bool,
    /// Change a setting of the issuer; repeatable.
    #[arg(long, value_name = "NAME=VALUE", requires = "oauth")]
    pub(crate) oauth_set: Vec<String>,
    /// Let the issuer misbehave in this way; repeatable.
    #[arg(long, value_name = "NAME[=TIMES]", requires = "oauth")]
    pub(crate) issuer_fault: Vec<IssuerFault>,
    /// List all ways in which the issuer can misbehave.
    #[arg(long)]
    pub(crate) list_issuer_faults: bool,
}

/// Protocol eras of the test server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Era {
    /// The one that the client begins with.
    Both,
    /// Only the handshake of 2025-11-25 and before.
    Legacy,
    /// Only 2026-07-28.
    Modern,
}

/// HTTP transports of the test server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HttpTransport {
    /// Streamable HTTP, at /mcp.
    Streamable,
    /// The older HTTP+SSE, at /sse.
    Sse,
}

/// Form of the test server's HTTP responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HttpAnswers {
    /// JSON, or a stream if there is more than the response.
    Auto,
    /// Always JSON.
    Json,
    /// Always a stream of events.
    Sse,
}

/// Tools whose arguments are mirrored into headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeaderTools {
    /// None.
    None,
    /// One valid tool.
    Good,
    /// A valid tool, and one for each kind of mistake.
    Bad,
}
