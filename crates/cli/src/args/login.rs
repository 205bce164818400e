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
The login page opens in your browser, which comes back to a port of this machine. Where it cannot, as
over SSH, paste the address that it ended at.

Examples:
  switchboard login tickets
  switchboard login tickets --device
  switchboard login tickets --no-browser
  switchboard login tickets --finish 'http://127.0.0.1:43210/callback?code=...&state=...'"
)]
pub(crate) struct Login {
    /// The server; with --url any name to show it under.
    pub(crate) server: Option<String>,
    /// Log in on another device, with a code that is shown here.
    #[arg(long, conflicts_with_all = ["no_browser", "finish"])]
    pub(crate) device: bool,
    /// Print the address to open, and end; --finish goes on.
    #[arg(long, conflicts_with = "finish")]
    pub(crate) no_browser: bool,
    /// Finish a login that --no-browser began, with the address that the browser ended at; `-` reads it
    /// from stdin.
    #[arg(long, value_name = "URL")]
    pub(crate) finish: Option<String>,
    /// Ask for these scopes besides those of an earlier login, separated by spaces or commas.
    #[arg(long, value_name = "SCOPES", conflicts_with = "finish")]
    pub(crate) scopes: Vec<String>,
    /// Log in anew: scopes, registration and issuer of an earlier login do not count.
    #[arg(long, conflicts_with = "finish")]
    pub(crate) force: bool,
    /// Go on without asking whether the issuer is the right one.
    #[arg(short, long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

impl Login {
    /// The scopes, one by one.
    pub(crate) fn scopes(&self) -> Option<Vec<String>> {
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
pub(crate) struct Logout {
    /// The server; with --url any name to show it under.
    pub(crate) server: Option<String>,
    /// Forget every login that is stored, also those of servers that are in no config file any more.
    #[arg(long, conflicts_with_all = ["server", "url"])]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `switchboard auth`.
#[derive(Debug, Args)]
pub(crate) struct Auth {
    #[command(subcommand)]
    pub(crate) verb: AuthVerb,
}

/// A verb about logins.
#[derive(Debug, Subcommand)]
pub(crate) enum AuthVerb {
    /// Show who is logged in where, until when, and where that is kept.
    Status(AuthStatus),
}

/// `switchboard auth status`.
#[derive(Debug, Args)]
#[command(
    mut_args(for_logins),
    after_help = "\
Nothing is sent, and no token is shown. With a SERVER the exit code is 3 where a login is needed."
)]
pub(crate) struct AuthStatus {
    /// The server; all that are reached by URL where it is left out.
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}
