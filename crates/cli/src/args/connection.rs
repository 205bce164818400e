//! The options of every verb that uses servers: how to reach them, as whom to act, and how to answer.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use switchboard::policy::{CallerId, Level};
use switchboard::protocol::LogLevel;
use switchboard::spec::Protocol;
use switchboard::talk::Answers;
use switchboard::trust::Fingerprint;

use crate::duration;
use crate::report::{Failure, Report};
use crate::values;

/// How to reach the server, and how to answer.
#[derive(Debug, Args)]
pub(crate) struct Connection {
    /// Start this command as the server; split like a shell would, run without one.
    #[arg(long, value_name = "CMD ARGS")]
    pub(crate) stdio: Option<String>,
    #[command(flatten)]
    pub(crate) remote: Remote,
    /// Use this config file and no other.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["stdio", "url"])]
    pub(crate) config: Option<PathBuf>,
    /// Approve, for this run, the description of a server that has this fingerprint.
    #[arg(long, value_name = "sha256:HASH")]
    pub(crate) trust: Vec<Fingerprint>,
    #[command(flatten)]
    pub(crate) acting: Acting,
    /// Write what happens to the end of this file, a line of JSON for each event.
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Write every message that goes over the wire to the end of this file, a line of JSON each and
    /// without known secrets; `-` shows them on stderr.
    #[arg(long, value_name = "FILE", conflicts_with = "as")]
    pub(crate) trace: Option<PathBuf>,
    /// Show on stderr what servers log from this level on: debug, info, notice, warning, error, critical, alert or
    /// emergency.
    #[arg(long, value_name = "LEVEL", conflicts_with = "as", value_parser = level)]
    pub(crate) log_level: Option<LogLevel>,
    /// Which protocol to speak: auto, legacy or 2026-07-28.
    #[arg(long, value_name = "ERA")]
    pub(crate) protocol: Option<Protocol>,
    /// Longest wait for anything: 30s, 500ms, 2m, 1h, 1m30s, or a number of seconds.
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) timeout: Option<Duration>,
    #[command(flatten)]
    pub(crate) given: Given,
    /// Set a variable for the server; its value is kept out of everything that is printed.
    // Not split by clap, whose complaint would show the value.
    #[arg(short = 'e', long, value_name = "NAME=VALUE", conflicts_with = "url")]
    pub(crate) env: Vec<String>,
    /// Let a variable of this environment through to the server.
    #[arg(long, value_name = "NAME", conflicts_with = "url")]
    pub(crate) env_passthrough: Vec<String>,
    /// The folder to start the server in.
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub(crate) cwd: Option<PathBuf>,
    /// Tell servers of this folder as one that they may use, unless their entry names others.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Let servers ask your model without asking you: those whose entry says `sampling`, and the one of
    /// --stdio or --url.
    #[arg(long)]
    pub(crate) allow_sampling: bool,
    /// Print JSON: the answer on stdout, an error on stderr.
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing but results and errors: no warnings, no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Say more about failures: what was tried before, and with which protocol.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

impl Connection {
    /// Whether it says nothing but how to show what comes of it.
    pub(crate) fn is_plain(&self) -> bool {
        let Self {
            stdio: None,
            remote,
            config: None,
            trust,
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
            json: _,
            quiet: _,
            verbose: _,
        } = self
        else {
            return false;
        };
        let is_bare = trust.is_empty() && env.is_empty() && env_passthrough.is_empty();
        let is_bare = is_bare && root.is_empty();
        is_bare && given.is_empty() && remote.url.is_none() && acting.agent.is_none()
    }

    /// Whether the command line itself says where the server is.
    pub(crate) fn describes_server(&self) -> bool {
        self.stdio.is_some() || self.remote.url.is_some()
    }
}

/// How to reach a server over HTTP.
#[derive(Debug, Args)]
pub(crate) struct Remote {
    /// Reach the server at this URL.
    #[arg(long, value_name = "URL", conflicts_with = "stdio")]
    pub(crate) url: Option<String>,
    /// Send this header with every request; its value is kept out of everything that is printed.
    // Not read by clap, whose complaint would show the value.
    #[arg(short = 'H', long, value_name = "NAME: VALUE", requires = "url")]
    pub(crate) header: Vec<String>,
    /// The transport to begin with; `http` goes on to `sse` where a server knows nothing else.
    #[arg(short = 't', long, value_enum, default_value_t = Transport::Http, requires = "url")]
    pub(crate) transport: Transport,
    /// Take no streams: a server that answers with one is an error.
    #[arg(long, requires = "url")]
    pub(crate) no_stream: bool,
    /// Trust the certificates in this file (PEM) as well.
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Go by the proxy that HTTPS_PROXY, http_proxy, ALL_PROXY and NO_PROXY name.
    #[arg(long, requires = "url")]
    pub(crate) proxy_from_env: bool,
}

/// The transports over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    /// Streamable HTTP, and the older one after it.
    #[value(aliases = ["streamable-http", "streamable_http", "streamableHttp"])]
    Http,
    /// HTTP with Server-Sent Events, as 2024-11-05 had it.
    Sse,
}

/// As whom to look and call.
#[derive(Debug, Args)]
pub(crate) struct Acting {
    /// Look and call as this agent: see and use only what your own config file grants it.
    #[arg(long = "as", id = "as", value_name = "AGENT")]
    pub(crate) agent: Option<CallerId>,
    /// The level that the agent has in this run: yolo, trusted or sandboxed.
    #[arg(long, value_name = "LEVEL", requires = "as")]
    pub(crate) level: Option<Level>,
}

/// What to answer servers that ask.
#[derive(Debug, Default, Args)]
pub(crate) struct Given {
    /// Answer servers that ask for a field of this name: key=value, key:=JSON or key=@FILE; can be given
    /// several times. What is not answered has the form's default, or is asked at a terminal.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) answer: Vec<String>,
    /// Answer servers that ask for fields with those of a JSON object in this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) answers: Option<PathBuf>,
}

impl Given {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.answer.is_empty() && self.answers.is_none()
    }

    /// Reads them.
    ///
    /// # Errors
    /// When they are not written as answers.
    pub(crate) fn read(&self) -> Result<Answers, Failure> {
        let answers = values::answers(self.answers.as_deref(), &self.answer);
        answers.map_err(|error| Report::usage(error.to_string()))
    }
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
