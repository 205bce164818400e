//! Options of `switchboard up`, `down` and `status`.

use std::time::Duration;

use clap::Args;

use crate::duration;

/// `switchboard up`.
#[derive(Debug, Args)]
#[command(after_help = "\
While the daemon runs, commands that use servers lend them from it: the first one starts a server, and
the next ones find it running. Nothing else changes; --no-daemon and SWITCHBOARD_NO_DAEMON=1 start
servers directly. A daemon of another version is replaced.

Examples:
  switchboard up
  switchboard up --idle 1h
  switchboard status
  switchboard down")]
pub struct Up {
    /// Stay in the foreground until a signal, as a service manager wants it.
    #[arg(long)]
    pub foreground: bool,
    /// End a server that no command has used for this long.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration::parse)]
    pub idle: Duration,
    /// Leave the session of the terminal, and say on stdout when it runs: how `up` starts the daemon.
    #[arg(long, hide = true, requires = "foreground")]
    pub detached: bool,
}

/// `switchboard status`.
#[derive(Debug, Args)]
pub struct DaemonState {
    /// Print JSON: the state on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
}
