//! Options of commands about this program: leftovers, completions, manual pages and the test server.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use switchboard_testkit::chaos::Chaos;
use switchboard_testkit::issuer::IssuerFault;

/// `switchboard leftovers`.
#[derive(Debug, Args)]
pub struct Leftovers {
    /// End them, by force if needed.
    #[arg(long)]
    pub end: bool,
    /// Print JSON: the list on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Bash:  switchboard completions bash > ~/.local/share/bash-completion/completions/switchboard
Zsh:   switchboard completions zsh > \"${fpath[1]}/_switchboard\"
Fish:  switchboard completions fish > ~/.config/fish/completions/switchboard.fish

Server names come from config files; names of tools, prompts and arguments come from the last listing.
Completion starts no server.")]
pub struct Completions {
    /// Shell to complete in.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// The supported shells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// Bash 4 or newer.
    Bash,
    /// Zsh.
    Zsh,
    /// Fish.
    Fish,
}

impl Shell {
    /// Returns the name of the shell.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }
}

/// `switchboard man`.
#[derive(Debug, Args)]
pub struct Man {
    /// Write a page for each command into this folder.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// `switchboard test-server`.
#[derive(Debug, Args)]
pub struct TestServer {
    /// Offer enough tools for three pages; MCP_TOOL_COUNT and MCP_PAGE_SIZE change the numbers.
    #[arg(long)]
    pub paginate: bool,
    /// Protocol eras to speak.
    #[arg(long, value_enum, default_value_t = Era::Both)]
    pub era: Era,
    /// Serve over HTTP on this port; 0 picks one. Prints the address.
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Address to serve on.
    #[arg(
        long,
        value_name = "IP",
        default_value = "127.0.0.1",
        requires = "port"
    )]
    pub host: IpAddr,
    /// HTTP transport to speak.
    #[arg(long, value_enum, default_value_t = HttpTransport::Streamable, requires = "port")]
    pub transport: HttpTransport,
    /// Form of HTTP responses.
    #[arg(long, value_enum, default_value_t = HttpAnswers::Auto, requires = "port")]
    pub answers: HttpAnswers,
    /// Do not assign session ids over HTTP.
    #[arg(long, requires = "port")]
    pub stateless: bool,
    /// Also offer tools with x-mcp-header.
    #[arg(long, value_enum, default_value_t = HeaderTools::None)]
    pub header_tools: HeaderTools,
    /// Misbehave in this way; repeatable.
    #[arg(long, value_name = "FLAG[=ARG]")]
    pub chaos: Vec<Chaos>,
    /// Append each tool call to this file before it runs, one line each.
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    /// Offer a tool that asks the client's model.
    #[arg(long)]
    pub asking_models: bool,
    /// Offer tools that ask for URLs and roots and that log, and arguments with completions.
    #[arg(long)]
    pub talking: bool,
    /// Offer what the official conformance suite's server scenarios ask for, instead of the usual catalog.
    #[arg(long)]
    pub conformance: bool,
    /// Offer the tool `shape`, which returns results that are odd but valid, by number.
    #[arg(long)]
    pub shapes: bool,
    /// Offer tools that change the tool list while the server runs, with notifications.
    #[arg(long)]
    pub growing: bool,
    /// Offer the tool `whoami`, which returns this name and the process id.
    #[arg(long, value_name = "NAME")]
    pub instance: Option<String>,
    /// Wait this many milliseconds before reading anything.
    #[arg(long, value_name = "MS")]
    pub start_delay: Option<u64>,
    /// List all ways to misbehave.
    #[arg(long)]
    pub list_chaos: bool,
    /// Require a token of an OAuth issuer, which runs beside the server.
    #[arg(long, requires = "port")]
    pub oauth: bool,
    /// Change a setting of the issuer; repeatable.
    #[arg(long, value_name = "NAME=VALUE", requires = "oauth")]
    pub oauth_set: Vec<String>,
    /// Let the issuer misbehave in this way; repeatable.
    #[arg(long, value_name = "NAME[=TIMES]", requires = "oauth")]
    pub issuer_fault: Vec<IssuerFault>,
    /// List all ways in which the issuer can misbehave.
    #[arg(long)]
    pub list_issuer_faults: bool,
}

/// Protocol eras of the test server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Era {
    /// The one that the client begins with.
    Both,
    /// Only the handshake of 2025-11-25 and before.
    Legacy,
    /// Only 2026-07-28.
    Modern,
}

/// HTTP transports of the test server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HttpTransport {
    /// Streamable HTTP, at /mcp.
    Streamable,
    /// The older HTTP+SSE, at /sse.
    Sse,
}

/// Form of the test server's HTTP responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HttpAnswers {
    /// JSON, or a stream if there is more than the response.
    Auto,
    /// Always JSON.
    Json,
    /// Always a stream of events.
    Sse,
}

/// Tools whose arguments are mirrored into headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HeaderTools {
    /// None.
    None,
    /// One valid tool.
    Good,
    /// A valid tool, and one for each kind of mistake.
    Bad,
}
