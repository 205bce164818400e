//! The options of verbs about this program: what it left running, its completions, its manual, and
//! the server that it can be itself.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use switchboard_testkit::chaos::Chaos;
use switchboard_testkit::issuer::IssuerFault;

/// `switchboard leftovers`.
#[derive(Debug, Args)]
pub(crate) struct Leftovers {
    /// End them: first by asking, then by force.
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

/// `switchboard test-server`.
#[derive(Debug, Args)]
pub(crate) struct TestServer {
    /// Offer enough tools for three pages; MCP_TOOL_COUNT and MCP_PAGE_SIZE change how many.
    #[arg(long)]
    pub(crate) paginate: bool,
    /// The protocol eras to speak.
    #[arg(long, value_enum, default_value_t = Era::Both)]
    pub(crate) era: Era,
    /// Serve over HTTP on this port; 0 picks one. Prints the address.
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// The address to serve on.
    #[arg(
        long,
        value_name = "IP",
        default_value = "127.0.0.1",
        requires = "port"
    )]
    pub(crate) host: IpAddr,
    /// The HTTP transport to speak.
    #[arg(long, value_enum, default_value_t = HttpTransport::Streamable, requires = "port")]
    pub(crate) transport: HttpTransport,
    /// How to answer requests over HTTP.
    #[arg(long, value_enum, default_value_t = HttpAnswers::Auto, requires = "port")]
    pub(crate) answers: HttpAnswers,
    /// Give out no session ids over HTTP.
    #[arg(long, requires = "port")]
    pub(crate) stateless: bool,
    /// Offer tools with x-mcp-header as well.
    #[arg(long, value_enum, default_value_t = HeaderTools::None)]
    pub(crate) header_tools: HeaderTools,
    /// Misbehave in this way; can be given several times.
    #[arg(long, value_name = "FLAG[=ARG]")]
    pub(crate) chaos: Vec<Chaos>,
    /// Write each tool call to the end of this file before it is run, a line each.
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// Offer a tool that asks the client's model.
    #[arg(long)]
    pub(crate) asking_models: bool,
    /// Offer tools that send people to addresses, ask for folders and log, and arguments that can be completed.
    #[arg(long)]
    pub(crate) talking: bool,
    /// Offer tools that change what is offered while the server runs, and tell clients so.
    #[arg(long)]
    pub(crate) growing: bool,
    /// Offer the tool `whoami`, which answers with this name and the id of the process.
    #[arg(long, value_name = "NAME")]
    pub(crate) instance: Option<String>,
    /// Wait that many milliseconds before reading anything.
    #[arg(long, value_name = "MS")]
    pub(crate) start_delay: Option<u64>,
    /// Print all ways to misbehave.
    #[arg(long)]
    pub(crate) list_chaos: bool,
    /// Let in only requests with a token of an OAuth issuer, which runs beside the server.
    #[arg(long, requires = "port")]
    pub(crate) oauth: bool,
    /// Change a setting of the issuer; can be given several times.
    #[arg(long, value_name = "NAME=VALUE", requires = "oauth")]
    pub(crate) oauth_set: Vec<String>,
    /// Let the issuer misbehave in this way; can be given several times.
    #[arg(long, value_name = "NAME[=TIMES]", requires = "oauth")]
    pub(crate) issuer_fault: Vec<IssuerFault>,
    /// Print all ways in which the issuer can misbehave.
    #[arg(long)]
    pub(crate) list_issuer_faults: bool,
}

/// The protocol eras that a test server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Era {
    /// Whichever one the client begins with.
    Both,
    /// Only the handshake of 2025-11-25 and before.
    Legacy,
    /// Only 2026-07-28.
    Modern,
}

/// The HTTP transports that a test server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HttpTransport {
    /// Streamable HTTP, at /mcp.
    Streamable,
    /// The older HTTP+SSE, at /sse.
    Sse,
}

/// How a test server answers over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HttpAnswers {
    /// JSON, or a stream where there is more than the answer.
    Auto,
    /// JSON.
    Json,
    /// A stream of events.
    Sse,
}

/// Tools whose arguments are mirrored into headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeaderTools {
    /// None.
    None,
    /// One that has it right.
    Good,
    /// That, and one for each way to have it wrong.
    Bad,
}
