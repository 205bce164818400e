//! The command line of verbs that watch servers.

use std::time::Duration;

use clap::Args;
use switchboard::protocol::LogLevel;

use crate::args::Connection;
use crate::duration;

/// `switchboard logs`.
// What servers log is not for agents, so that there is no need here for an agent and its level.
#[derive(Debug, Args)]
#[command(
    mut_arg("as", |arg| arg.hide(true)),
    mut_arg("level", |arg| arg.long("as-level").hide(true)),
    mut_arg("log_level", |arg| arg.hide(true))
)]
pub(crate) struct Logs {
    /// The server; all that are configured where it is left out. With --stdio or --url any name to
    /// show it under.
    pub(crate) server: Option<String>,
    /// Ask for log messages from this level on, and show no others: debug, info, notice, warning,
    /// error, critical, alert or emergency. Without it servers log what they see fit, and those of
    /// 2026-07-28 nothing. Stderr has no level and is always shown.
    #[arg(long = "level", id = "log-level", value_name = "LEVEL", value_parser = level)]
    pub(crate) level: Option<LogLevel>,
    /// End after this time: 30s, 500ms, 2m, 1h, 1m30s, or a number of seconds. Without it Ctrl-C ends
    /// it.
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    pub(crate) time: Option<Duration>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `switchboard watch`.
#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// The server and the resource: SERVER URI; with --stdio or --url just URI.
    #[arg(value_names = ["SERVER", "URI"], num_args = 1..=2, required = true)]
    pub(crate) resource: Vec<String>,
    /// Read what has changed each time, and show it below its address.
    #[arg(long)]
    pub(crate) read: bool,
    /// Replace the server's secrets in what is read by ***.
    #[arg(long, requires = "read")]
    pub(crate) mask: bool,
    /// End after this time: 30s, 500ms, 2m, 1h, 1m30s, or a number of seconds. Without it Ctrl-C ends
    /// it.
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    pub(crate) time: Option<Duration>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// Reads a level as people write it.
pub(crate) fn level(text: &str) -> Result<LogLevel, String> {
    text.to_ascii_lowercase().parse().map_err(|_| {
        let names = LogLevel::ALL.map(LogLevel::as_str);
        format!("expected one of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_in_any_case_and_others_are_told_which_there_are() {
        assert_eq!(level("Warning"), Ok(LogLevel::Warning));
        assert!(level("loud").unwrap_err().ends_with("alert, emergency"));
    }
}
