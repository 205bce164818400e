//! Options of commands about agents' permissions and pinned definitions.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use switchboard::policy::{CallerId, Level};
use switchboard::spec::ServerName;

use super::{Connection, List};

/// `switchboard policy`.
#[derive(Debug, Args)]
pub struct Policy {
    /// The subcommand.
    #[command(subcommand)]
    pub verb: PolicyVerb,
}

/// The subcommands of `policy`.
#[derive(Debug, Subcommand)]
pub enum PolicyVerb {
    /// Show whether an agent may use an item, and why. Starts no server.
    Why(Why),
    /// List permanent approvals for agents.
    List(PolicyList),
    /// Revoke approvals.
    Revoke(PolicyRevoke),
}

/// `switchboard policy why`.
#[derive(Debug, Args)]
pub struct Why {
    /// The agent.
    pub agent: CallerId,
    /// Item: SERVER/TOOL, SERVER/resource/URI or SERVER/prompt/NAME.
    #[arg(value_name = "SERVER/TOOL")]
    pub target: String,
    /// Assume this level of the agent: yolo, trusted or sandboxed.
    #[arg(long, value_name = "LEVEL")]
    pub level: Option<Level>,
    /// Read only this config file.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print JSON: the decision on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard policy list`.
#[derive(Debug, Args)]
pub struct PolicyList {
    /// Print JSON: the list on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard policy revoke`.
#[derive(Debug, Args)]
pub struct PolicyRevoke {
    /// Revoke approvals for this agent.
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<CallerId>,
    /// Revoke approvals for servers of this name.
    #[arg(long, value_name = "SERVER")]
    pub server: Option<ServerName>,
    /// Revoke all approvals.
    #[arg(long, conflicts_with_all = ["agent", "server"])]
    pub all: bool,
    /// Print JSON: the revoked approvals on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard pins`.
#[derive(Debug, Args)]
pub struct Pins {
    /// The subcommand.
    #[command(subcommand)]
    pub verb: PinsVerb,
}

/// The subcommands of `pins`.
#[derive(Debug, Subcommand)]
pub enum PinsVerb {
    /// List servers with approved definitions. Starts no server.
    List(PinsList),
    /// Connect and show differences from the approved definitions.
    Diff(List),
    /// Connect, show differences from the approved definitions, and approve them.
    Approve(PinsApprove),
    /// Forget the approved definitions of a server. Starts no server.
    ///
    /// Also dismisses the warning about a lost record. The definitions that agents see next are recorded as
    /// approved.
    Revoke(PinsRevoke),
}

/// `switchboard pins list`.
#[derive(Debug, Args)]
pub struct PinsList {
    /// Print JSON: the list on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard pins revoke`.
#[derive(Debug, Args)]
pub struct PinsRevoke {
    /// Name of the server; it may be removed from the config already.
    pub server: ServerName,
    /// Print JSON: the forgotten definitions on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard pins approve`.
#[derive(Debug, Args)]
pub struct PinsApprove {
    /// Name of the server.
    pub server: String,
    /// Approve only these tools, prompts or templates.
    #[arg(value_name = "TOOL")]
    pub names: Vec<String>,
    /// Don't ask.
    #[arg(long)]
    pub yes: bool,
    /// The server, the caller, the answers and the output.
    #[command(flatten)]
    pub connection: Connection,
}

/// `switchboard lock`.
#[derive(Debug, Args)]
pub struct Lock {
    /// The server, the caller, the answers and the output.
    #[command(flatten)]
    pub connection: Connection,
}

/// `switchboard verify`.
#[derive(Debug, Args)]
pub struct Verify {
    /// Also fail if a server cannot be reached or has an unpinned package.
    #[arg(long)]
    pub locked: bool,
    /// The server, the caller, the answers and the output.
    #[command(flatten)]
    pub connection: Connection,
}
