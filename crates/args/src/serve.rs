//! Options of `switchboard serve`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args};
use switchboard::policy::CallerId;
use switchboard::spec::ServerName;
use switchboard::trust::Fingerprint;

use crate::duration;

/// The time after which an unused server is stopped; `None` for never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleTime(pub Option<Duration>);

/// Reads a duration, or `never`.
fn idle_time(text: &str) -> Result<IdleTime, String> {
    if text == "never" {
        return Ok(IdleTime(None));
    }
    let time = duration::parse(text).map_err(|error| format!("{error}; or `never`"))?;
    Ok(IdleTime(Some(time)))
}

/// `switchboard serve`.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("listening").args(["http", "unix"]).multiple(true),
    after_help = "\
Without --http and --unix it serves one client over stdin and stdout, which is what a client's
config starts. Each client acts as the agent `gateway`, which may use everything that you have
approved, unless `agents.gateway` in your own config file says otherwise.

Examples:
  switchboard serve
  switchboard serve --http 8808
  switchboard serve --http 127.0.0.1:8808 --as planner
  claude mcp add switchboard -- switchboard serve --profile work"
)]
pub struct Serve {
    /// Serve over HTTP at this address: PORT or IP:PORT; port 0 picks a free one.
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub http: Option<SocketAddr>,
    /// Serve over HTTP on this Unix socket, for programs of the same user.
    #[arg(long, value_name = "PATH")]
    pub unix: Option<PathBuf>,
    /// Offer this profile of your own config file. Over HTTP each profile has a path: /mcp/p/NAME.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["listening", "server"])]
    pub profile: Option<String>,
    /// Offer this server alone, with its names unchanged. Over HTTP each server has a path: /mcp/s/NAME.
    #[arg(long, value_name = "NAME", conflicts_with = "listening")]
    pub server: Option<ServerName>,
    /// The agent that clients act as. Without it they are `gateway`.
    #[arg(long = "as", value_name = "AGENT")]
    pub agent: Option<CallerId>,
    /// Longest name of a tool or prompt, 24 to 128. Clients add a prefix of their own to it.
    #[arg(long, value_name = "N", default_value_t = 46)]
    pub name_length: usize,
    /// Time that the first list waits for servers that were never seen: 5s over stdio, 250ms over HTTP.
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub first_list: Option<Duration>,
    /// Stop a server that nothing has used for this time, or `never`; 30m, and 5m for one that each client
    /// has for itself. The next call starts it again.
    #[arg(long, value_name = "TIME", value_parser = idle_time)]
    pub idle_stop: Option<IdleTime>,
    /// Serve without a token, on loopback only.
    #[arg(long, requires = "http", conflicts_with = "token_file")]
    pub no_auth: bool,
    /// File of the token, made if it does not exist. Without it the file is in the state folder.
    #[arg(long, value_name = "FILE", requires = "http")]
    pub token_file: Option<PathBuf>,
    /// Also accept tokens of the issuer that this file describes, as JSON.
    #[arg(
        long,
        value_name = "FILE",
        requires = "http",
        conflicts_with = "no_auth"
    )]
    pub oauth: Option<PathBuf>,
    /// Also accept this `Host`.
    #[arg(long, value_name = "HOST", requires = "http")]
    pub allow_host: Vec<String>,
    /// Also accept requests of web pages of this origin.
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub allow_origin: Vec<String>,
    /// URL that clients reach the gateway by.
    #[arg(long, value_name = "URL", requires = "http")]
    pub public_url: Option<String>,
    /// Certificate chain for TLS, as PEM.
    #[arg(long, value_name = "FILE", requires_all = ["http", "tls_key"])]
    pub tls_cert: Option<PathBuf>,
    /// Private key for TLS, as PEM.
    #[arg(long, value_name = "FILE", requires_all = ["http", "tls_cert"])]
    pub tls_key: Option<PathBuf>,
    /// A proxy in front ends TLS, so plain HTTP may be served off loopback.
    #[arg(long, requires = "http", conflicts_with_all = ["tls_cert", "no_auth"])]
    pub behind_proxy: bool,
    /// Also serve the HTTP+SSE transport of 2024-11-05, at /sse.
    #[arg(long, requires = "listening")]
    pub legacy_sse: bool,
    /// Do not watch config files and approvals. SIGHUP has them read again.
    #[arg(long)]
    pub no_watch: bool,
    /// Use only this config file.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Approve the server with this fingerprint, for this run only.
    #[arg(long, value_name = "sha256:HASH")]
    pub trust: Vec<Fingerprint>,
    /// Maximum time for each operation of a server, such as 30s, 500ms, 2m or 1h.
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub timeout: Option<Duration>,
    /// Append events to this file, one line of JSON each.
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Print only errors.
    #[arg(short, long)]
    pub quiet: bool,
    /// Print more details about failures.
    #[arg(short, long)]
    pub verbose: bool,
}

/// Parses the address of `--http`: a port on loopback, or an address with a port.
fn address(text: &str) -> Result<SocketAddr, String> {
    let here = |port| SocketAddr::from((IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    let port = text.strip_prefix(':').unwrap_or(text).parse().map(here);
    let named = || match text.strip_prefix("localhost:") {
        Some(port) => port.parse().map(here).ok(),
        None => text.parse().ok(),
    };
    let address = port.ok().or_else(named);
    address.ok_or_else(|| "expected PORT or IP:PORT, such as 8808 or 127.0.0.1:8808".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_time_is_a_duration_or_never() {
        let minute = Duration::from_secs(60);
        assert_eq!(idle_time("1m"), Ok(IdleTime(Some(minute))));
        assert_eq!(idle_time("never"), Ok(IdleTime(None)));
        let error = idle_time("soon").unwrap_err();
        assert!(error.ends_with("or `never`"), "{error}");
    }

    #[test]
    fn an_address_is_a_port_or_an_ip_with_a_port() {
        for (text, expected) in [
            ("8808", Some("127.0.0.1:8808")),
            (":0", Some("127.0.0.1:0")),
            ("localhost:80", Some("127.0.0.1:80")),
            ("0.0.0.0:80", Some("0.0.0.0:80")),
            ("[::1]:80", Some("[::1]:80")),
            ("::1", None),
            ("example.com:80", None),
            ("70000", None),
            ("", None),
        ] {
            let read = address(text).ok().map(|address| address.to_string());
            assert_eq!(read.as_deref(), expected, "{text}");
        }
    }
}
