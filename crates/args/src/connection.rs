//! Options of every command that uses servers: connection, caller, answers and output.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use switchboard::policy::{CallerId, Level};
use switchboard::protocol::LogLevel;
use switchboard::spec::Protocol;
use switchboard::talk::Answers;
use switchboard::trust::Fingerprint;

use crate::duration;
use crate::values::{self, Unreadable};

/// Options of every command that uses servers.
#[derive(Debug, Default, Args)]
pub struct Connection {
    /// Start this command as the server. It is split into words like a shell does, but run without one.
    #[arg(long, value_name = "CMD ARGS")]
    pub stdio: Option<String>,
    /// Options of a server over HTTP.
    #[command(flatten)]
    pub remote: Remote,
    /// Use only this config file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["stdio", "url"])]
    pub config: Option<PathBuf>,
    /// Approve the server with this fingerprint, for this run only.
    #[arg(long, value_name = "sha256:HASH")]
    pub trust: Vec<Fingerprint>,
    /// Use this login, if you have several accounts on a server.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// The caller.
    #[command(flatten)]
    pub acting: Acting,
    /// Append events to this file, one line of JSON each.
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Append every protocol message to this file, one line of JSON each, with secrets masked; `-` is stderr.
    #[arg(long, value_name = "FILE", conflicts_with = "as")]
    pub trace: Option<PathBuf>,
    /// Show server log messages at or above this level on stderr: debug, info, notice, warning, error,
    /// critical, alert or emergency.
    #[arg(long, value_name = "LEVEL", conflicts_with = "as", value_parser = level)]
    pub log_level: Option<LogLevel>,
    /// Protocol to use: auto, legacy or 2026-07-28.
    #[arg(long, value_name = "ERA")]
    pub protocol: Option<Protocol>,
    /// Maximum time for each operation, such as 30s, 500ms, 2m or 1h.
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub timeout: Option<Duration>,
    /// Answers to questions of servers.
    #[command(flatten)]
    pub given: Given,
    /// Set a variable for the server; its value is never printed.
    // Not split by clap, whose error message would show the value.
    #[arg(short = 'e', long, value_name = "NAME=VALUE", conflicts_with = "url")]
    pub env: Vec<String>,
    /// Pass a variable of this environment to the server.
    #[arg(long, value_name = "NAME", conflicts_with = "url")]
    pub env_passthrough: Vec<String>,
    /// Folder to start the server in.
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub cwd: Option<PathBuf>,
    /// Expose this folder to servers as a root, unless their entry names others.
    #[arg(long, value_name = "DIR")]
    pub root: Vec<PathBuf>,
    /// Let servers use your model without asking: those with `sampling` in their entry, and the one of --stdio
    /// or --url.
    #[arg(long)]
    pub allow_sampling: bool,
    /// Start servers directly, even if a daemon runs.
    #[arg(long)]
    pub no_daemon: bool,
    /// Print JSON: the result on stdout, an error on stderr.
    #[arg(long)]
    pub json: bool,
    /// Print only results and errors: no warnings, no progress.
    #[arg(short, long)]
    pub quiet: bool,
    /// Print more details about failures.
    #[arg(short, long)]
    pub verbose: bool,
    /// Print long output directly, without a pager.
    #[arg(long)]
    pub no_pager: bool,
}

impl Connection {
    /// Returns true if only output options (`--json`, `-q`, `-v`) are set, so that the command can run on
    /// open servers.
    pub fn is_plain(&self) -> bool {
        // Every field is named here, so that a new option cannot be forgotten.
        let Self {
            stdio: None,
            remote,
            config: None,
            trust,
            profile: None,
            acting,
            events: None,
            trace: None,
            log_level: None,
            protocol: None,
            timeout: None,
            given,
            env,
            env_passthrough,
            cwd: None,
            root,
            allow_sampling: false,
            no_daemon: false,
            json: _,
            quiet: _,
            verbose: _,
            no_pager: _,
        } = self
        else {
            return false;
        };
        let is_bare = trust.is_empty() && env.is_empty() && env_passthrough.is_empty();
        let is_bare = is_bare && root.is_empty();
        is_bare && given.is_empty() && remote.url.is_none() && acting.agent.is_none()
    }

    /// Returns true if the command line describes the server itself.
    pub fn describes_server(&self) -> bool {
        self.stdio.is_some() || self.remote.url.is_some()
    }
}

/// Options of a server that is reached over HTTP.
#[derive(Debug, Default, Args)]
pub struct Remote {
    /// Connect to the server at this URL.
    #[arg(long, value_name = "URL", conflicts_with = "stdio")]
    pub url: Option<String>,
    /// Send this header with every request; its value is never printed.
    // Not parsed by clap, whose error message would show the value.
    #[arg(short = 'H', long, value_name = "NAME: VALUE", requires = "url")]
    pub header: Vec<String>,
    /// Transport to try first; `http` falls back to `sse` for servers that support nothing else.
    #[arg(short = 't', long, value_enum, default_value_t, requires = "url")]
    pub transport: Transport,
    /// Treat streamed responses as errors.
    #[arg(long, requires = "url")]
    pub no_stream: bool,
    /// Also trust the certificates in this PEM file.
    #[arg(long, value_name = "FILE", requires = "url")]
    pub ca_file: Option<PathBuf>,
    /// Use the proxy of HTTPS_PROXY, http_proxy, ALL_PROXY and NO_PROXY.
    #[arg(long, requires = "url")]
    pub proxy_from_env: bool,
}

/// The HTTP transports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// Streamable HTTP, then HTTP+SSE if the server has only that.
    #[value(aliases = ["streamable-http", "streamable_http", "streamableHttp"])]
    #[default]
    Http,
    /// HTTP+SSE of 2024-11-05.
    Sse,
}

/// The caller that a command acts as.
#[derive(Debug, Default, Args)]
pub struct Acting {
    /// Act as this agent, with the permissions that your own config file grants it.
    #[arg(long = "as", id = "as", value_name = "AGENT")]
    pub agent: Option<CallerId>,
    /// Level of the agent for this run: yolo, trusted or sandboxed.
    #[arg(long, value_name = "LEVEL", requires = "as")]
    pub level: Option<Level>,
}

/// Answers to questions of servers.
#[derive(Debug, Default, Args)]
pub struct Given {
    /// Answer this field of a server's question: key=value, key:=JSON or key=@FILE; repeatable. Other fields
    /// get their default, or are asked for at a terminal.
    #[arg(long, value_name = "KEY=VALUE")]
    pub answer: Vec<String>,
    /// Answer servers' questions with the fields of the JSON object in this file.
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
}

impl Given {
    /// Returns true if there are no answers.
    pub fn is_empty(&self) -> bool {
        self.answer.is_empty() && self.answers.is_none()
    }

    /// Parses the answers.
    ///
    /// # Errors
    /// Returns the problem if one is malformed.
    pub fn read(&self) -> Result<Answers, Unreadable> {
        values::answers(self.answers.as_deref(), &self.answer)
    }
}

/// Parses a log level, in any case.
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
