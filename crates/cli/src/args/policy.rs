//! The options of verbs about agents' rights, and about what has changed since it was approved.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use switchboard::policy::{CallerId, Level};
use switchboard::spec::ServerName;

use super::{Connection, List};

/// `switchboard policy`.
#[derive(Debug, Args)]
pub(crate) struct Policy {
    #[command(subcommand)]
    pub(crate) verb: PolicyVerb,
}

/// What to tell about what agents may do.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyVerb {
    /// Say whether an agent may use something, and which rule decides. Starts nothing.
    Why(Why),
    /// List what was approved for agents for good.
    List(PolicyList),
    /// Take approvals back.
    Revoke(PolicyRevoke),
}

/// `switchboard policy why`.
#[derive(Debug, Args)]
pub(crate) struct Why {
    /// The agent.
    pub(crate) agent: CallerId,
    /// What it would use, by the server's own name for it: SERVER/TOOL, SERVER/resource/URI or
    /// SERVER/prompt/NAME.
    #[arg(value_name = "SERVER/TOOL")]
    pub(crate) target: String,
    /// The level that the agent would have: yolo, trusted or sandboxed.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) level: Option<Level>,
    /// Read this config file, and no other.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON: the decision on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `switchboard policy list`.
#[derive(Debug, Args)]
pub(crate) struct PolicyList {
    /// Print JSON: the list on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `switchboard policy revoke`.
#[derive(Debug, Args)]
pub(crate) struct PolicyRevoke {
    /// What was approved for this agent.
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<CallerId>,
    /// What was approved of servers with this name.
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Option<ServerName>,
    /// Everything.
    #[arg(long, conflicts_with_all = ["agent", "server"])]
    pub(crate) all: bool,
    /// Print JSON: what was revoked on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `switchboard pins`.
#[derive(Debug, Args)]
pub(crate) struct Pins {
    #[command(subcommand)]
    pub(crate) verb: PinsVerb,
}

/// What to do with what servers offered when they were approved.
#[derive(Debug, Subcommand)]
pub(crate) enum PinsVerb {
    /// List the servers whose definitions were approved. Starts nothing.
    List(PinsList),
    /// Connect, and show what is not as it was approved.
    Diff(List),
    /// Connect, show what is not as it was approved, and approve it.
    Approve(PinsApprove),
    /// Forget what was approved of a server, and a warning that the record of it is gone. Starts nothing.
    ///
    /// To agents the server is new afterwards: what it offers on their next use is remembered as approved.
    Revoke(PinsRevoke),
}

/// `switchboard pins list`.
#[derive(Debug, Args)]
pub(crate) struct PinsList {
    /// Print JSON: the list on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `switchboard pins revoke`.
#[derive(Debug, Args)]
pub(crate) struct PinsRevoke {
    /// The server. It need not be in a config file any more.
    pub(crate) server: ServerName,
    /// Print JSON: what was forgotten on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `switchboard pins approve`.
#[derive(Debug, Args)]
pub(crate) struct PinsApprove {
    /// The server.
    pub(crate) server: String,
    /// Only these tools, prompts or templates, by the server's own names for them.
    #[arg(value_name = "TOOL")]
    pub(crate) names: Vec<String>,
    /// Do not ask.
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `switchboard lock`.
#[derive(Debug, Args)]
pub(crate) struct Lock {
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `switchboard verify`.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Fail also where a server cannot be reached, or names a package without its version.
    #[arg(long)]
    pub(crate) locked: bool,
    #[command(flatten)]
    pub(crate) connection: Connection,
}
