//! Options of `switchboard token`.

use clap::{Args, Subcommand};
use switchboard::policy::Level;

/// `switchboard token`.
#[derive(Debug, Args)]
pub struct TokenArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub verb: TokenVerb,
}

/// The subcommands of `token`.
#[derive(Debug, Subcommand)]
pub enum TokenVerb {
    /// Make a token and print it, this once.
    Add(TokenAdd),
    /// List tokens. Their texts are not kept.
    List(TokenList),
    /// Revoke a token. Its sessions end within a second.
    Revoke(TokenName),
    /// Replace a token by a new one with the same rights, and print it, this once.
    Rotate(TokenName),
}

/// `switchboard token add`.
#[derive(Debug, Args)]
#[command(after_help = "\
Clients of `switchboard serve --http 8808` that come with the token act as the agent of its name if `agents`
of your own config file has one, and otherwise as the agent of the gateway within --grants. Without either
they may use nothing. --grants and --level narrow what the agent may do.

Examples:
  switchboard token add laptop --grants 'mcp:*:*'
  switchboard token add ci --grants 'mcp:github:get_*' --level yolo --expires 30d")]
pub struct TokenAdd {
    /// Name of the token and of its agent: letters, digits, `-`, `_` and `.`.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Allow only this, such as mcp:SERVER:TOOL; can be given more than once.
    #[arg(long, value_name = "GRANT")]
    pub grants: Vec<String>,
    /// Highest level of the agent: yolo, trusted or sandboxed.
    #[arg(long, value_name = "LEVEL")]
    pub level: Option<Level>,
    /// End of the token: an age such as 12h, 30d or 8w, or a date such as 2027-01-31.
    #[arg(long, value_name = "TIME")]
    pub expires: Option<String>,
    /// Print JSON: the token on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard token list`.
#[derive(Debug, Args)]
pub struct TokenList {
    /// Print JSON: the list on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}

/// `switchboard token revoke` and `switchboard token rotate`.
#[derive(Debug, Args)]
pub struct TokenName {
    /// Name of the token.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Print JSON: the result on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}
