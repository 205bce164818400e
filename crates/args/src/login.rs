//! The options of verbs about logins.

use clap::{Arg, Args, Subcommand};

use super::Connection;

/// Options of verbs that use servers which mean nothing to a login.
const NOT_FOR_LOGINS: &[&str] = &[
    "stdio",
    "as",
    "level",
    "events",
    "trace",
    "log_level",
    "protocol",
    "answer",
    "answers",
    "env",
    "env_passthrough",
    "cwd",
    "root",
    "allow_sampling",
    "no_stream",
];

/// Hides what means nothing to a login.
fn for_logins(arg: Arg) -> Arg {
    if NOT_FOR_LOGINS.contains(&arg.get_id().as_str()) {
        arg.hide(true)
    } else {
        arg
    }
}

/// `switchboard login`.
#[derive(Debug, Args)]
#[command(
    mut_args(for_logins),
    after_help = "\
The login page opens in your browser, which then returns to a local port. If it cannot (over SSH, for
example), paste the URL that the browser ended at.

Examples:
  switchboard login tickets
  switchboard login tickets --device
  switchboard login tickets --no-browser
  switchboard login tickets --finish 'http://127.0.0.1:43210/callback?code=...&state=...'"
)]
pub struct Login {
    /// Name of the server; with --url, any name.
    pub server: Option<String>,
    /// Log in on another device with a code.
    #[arg(long, conflicts_with_all = ["no_browser", "finish"])]
    pub device: bool,
    /// Print the URL to open and exit; --finish completes the login.
    #[arg(long, conflicts_with = "finish")]
    pub no_browser: bool,
    /// Complete a login that --no-browser started, with the URL that the browser ended at; `-` reads it from
    /// stdin.
    #[arg(long, value_name = "URL")]
    pub finish: Option<String>,
    /// Request these additional scopes, separated by spaces or commas.
    #[arg(long, value_name = "SCOPES", conflicts_with = "finish")]
    pub scopes: Vec<String>,
    /// Log in again from scratch, ignoring the scopes, registration and issuer of earlier logins.
    #[arg(long, conflicts_with = "finish")]
    pub force: bool,
    /// Do not ask to confirm the issuer.
    #[arg(short, long)]
    pub yes: bool,
    /// The server, the caller, the answers and the output.
    #[command(flatten)]
    pub connection: Connection,
}

impl Login {
    /// The scopes, one by one.
    pub fn scopes(&self) -> Option<Vec<String>> {
        let words = self.scopes.iter();
        let words = words.flat_map(|text| text.split([' ', ',']));
        let scopes: Vec<String> = words
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        (!scopes.is_empty()).then_some(scopes)
    }
}

/// `switchboard logout`.
#[derive(Debug, Args)]
#[command(mut_args(for_logins))]
pub struct Logout {
    /// Name of the server; with --url, any name.
    pub server: Option<String>,
    /// Forget all stored logins, including those of servers that are no longer configured.
    #[arg(long, conflicts_with_all = ["server", "url"])]
    pub all: bool,
    /// The server, the caller, the answers and the output.
    #[command(flatten)]
    pub connection: Connection,
}

/// `switchboard auth`.
#[derive(Debug, Args)]
pub struct Auth {
    /// The subcommand.
    #[command(subcommand)]
    pub verb: AuthVerb,
}

/// A verb about logins.
#[derive(Debug, Subcommand)]
pub enum AuthVerb {
    /// Show logins, when they expire, and where they are stored.
    Status(AuthStatus),
}

/// `switchboard auth status`.
#[derive(Debug, Args)]
#[command(
    mut_args(for_logins),
    after_help = "\
Nothing is sent, and no token is shown. With a SERVER, the exit code is 3 if a login is needed."
)]
pub struct AuthStatus {
    /// Name of the server; all servers with a URL if omitted.
    pub server: Option<String>,
    /// The server, the caller, the answers and the output.
    #[command(flatten)]
    pub connection: Connection,
}
