//! The transport for a description: standard streams, or one of the two over HTTP.

use std::sync::Arc;

use crate::error::Error;
#[cfg(feature = "config")]
use crate::error::HostError;
use crate::limits::{Deadline, Limits};
use crate::spec::packages::launched;
use crate::spec::{Endpoint, Process, ServerName, ServerSpec, Settings};
use crate::transport::{Connect, Stdio};

use super::Options;

/// The login that a transport uses, if the server has one.
#[cfg(feature = "auth")]
pub(in crate::host) type MemberLogin<'a> = Option<&'a crate::auth::Authorizer>;
#[cfg(not(feature = "auth"))]
pub(in crate::host) type MemberLogin<'a> = Option<&'a std::convert::Infallible>;

/// Makes the transport that a description asks for. Nothing is started or sent.
///
/// # Errors
/// Fails if no transport can be made from the description.
pub(in crate::host) fn transport(
    spec: &ServerSpec,
    options: &Options,
    login: MemberLogin<'_>,
) -> Result<Box<dyn Connect>, Error> {
    #[cfg(feature = "config")]
    if let (Endpoint::Remote(_), Some(problem)) = (&spec.endpoint, &options.no_network) {
        return Err(HostError::Problem(problem.clone()).into());
    }
    #[cfg(not(feature = "http"))]
    let _ = login;
    let limits = limits(&spec.settings, options);
    match &spec.endpoint {
        Endpoint::Process(process) => Ok(Box::new(stdio(&spec.name, process, limits, options))),
        #[cfg(feature = "http")]
        Endpoint::Remote(remote) => self::http::transport(remote, &limits, options, login),
        #[cfg(not(feature = "http"))]
        Endpoint::Remote(_) => Err(Error::configuration(
            "this program was built without HTTP: its feature `http` is off",
        )),
    }
}

/// The limits of a connection to a server: those of the host, with what the server's settings say.
pub(super) fn limits(settings: &Settings, options: &Options) -> Limits {
    let mut limits = options.limits.clone();
    limits.message_bytes = settings.message_bytes.unwrap_or(limits.message_bytes);
    limits.retries = settings.max_retries.unwrap_or(limits.retries);
    limits.retry_first = settings.retry_backoff.unwrap_or(limits.retry_first);
    limits
}

fn stdio(name: &ServerName, process: &Process, limits: Limits, options: &Options) -> Stdio {
    let mut stdio = Stdio::new(&process.command)
        .args(&process.args)
        .env_passthrough(&process.env_passthrough)
        .environment(&options.environment)
        .limits(limits);
    if process.is_env_clean {
        stdio = stdio.clean_env();
    }
    for (name, value) in &process.env {
        stdio = stdio.env(name, value.expose());
    }
    if let Some(program) = &process.program {
        stdio = stdio.program(program);
    }
    if let Some(folder) = &process.cwd {
        stdio = stdio.cwd(folder);
    }
    if let Some(keeper) = &options.keeper {
        stdio = stdio.keeper(keeper);
    }
    if let Some(launcher) = &options.launcher {
        stdio = stdio.launcher(Arc::clone(launcher));
    }
    if let Some(ledger) = &options.ledger {
        stdio = stdio.record(ledger, name);
    }
    stdio
}

/// Gives a server that `npx`, `uvx` or another launcher may have to fetch first the time for that,
/// unless its settings differ from the usual ones.
pub(super) fn allow_fetch_time(spec: &mut ServerSpec, limits: &Limits) {
    let Endpoint::Process(process) = &spec.endpoint else {
        return;
    };
    let args: Vec<&str> = process.args.iter().map(String::as_str).collect();
    let connect = &mut spec.settings.timeouts.connect;
    let is_usual = connect.idle == Deadline::default().idle;
    if is_usual && launched(&process.command, &args).is_some() {
        connect.idle = limits.fetch;
        connect.total = connect.total.max(limits.fetch);
    }
}

#[cfg(feature = "http")]
mod http {
    #[cfg(feature = "auth")]
    use std::sync::Arc;

    use super::{MemberLogin, Options};
    use crate::error::Error;
    use crate::limits::Limits;
    use crate::spec::{Remote, TransportKind};
    use crate::transport::{
        Connect, Header, Http, HttpError, IdRule, LegacySse, Redirects, Streams,
    };

    pub(super) fn transport(
        remote: &Remote,
        limits: &Limits,
        options: &Options,
        login: MemberLogin<'_>,
    ) -> Result<Box<dyn Connect>, Error> {
        http_transport(remote, limits, options, login)
            .map_err(|error| Error::configuration(error.to_string()))
    }

    fn http_transport(
        remote: &Remote,
        limits: &Limits,
        options: &Options,
        login: MemberLogin<'_>,
    ) -> Result<Box<dyn Connect>, HttpError> {
        #[cfg(not(feature = "auth"))]
        let _ = login;
        let url = remote.url.expose().as_str();
        let rule = if remote.strict_session_id {
            IdRule::Strict
        } else {
            IdRule::default()
        };
        let redirects = if remote.follow_redirects {
            Redirects::Follow
        } else {
            Redirects::Refuse
        };
        // The two have the same settings and no type in common.
        macro_rules! described {
            ($transport:expr) => {{
                let mut transport = $transport?.limits(limits).session_ids(rule);
                transport = transport.redirects(redirects);
                for (name, value) in &remote.headers {
                    let header = if remote.override_headers {
                        Header::overriding(name, value.clone())?
                    } else {
                        Header::new(name, value.clone())?
                    };
                    transport = transport.header(header)?;
                }
                if let Some(pem) = &options.certificates {
                    transport = transport.certificates(pem);
                }
                if let Some(proxy) = &options.proxy {
                    transport = transport.proxy(proxy);
                }
                #[cfg(feature = "auth")]
                if let Some(authorizer) = login {
                    transport = transport.authorization(Arc::new(authorizer.clone()));
                }
                transport
            }};
        }
        Ok(match remote.transport {
            TransportKind::Sse => {
                Box::new(described!(LegacySse::allowing(url, &options.addresses)))
            }
            _ => {
                let transport = described!(Http::allowing(url, &options.addresses));
                Box::new(if remote.streamable {
                    transport
                } else {
                    transport.streams(Streams::Refused)
                })
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn time(command: &str, args: &[&str], own: Option<u64>) -> Duration {
        let spec = ServerSpec::stdio("it", command).unwrap();
        let mut spec = spec.args(args.iter().copied());
        if let Some(seconds) = own {
            spec.settings.timeouts.connect = Deadline::within(Duration::from_secs(seconds));
        }
        allow_fetch_time(&mut spec, &Limits::default());
        spec.settings.timeouts.connect.idle
    }

    #[test]
    fn launchers_get_two_minutes_and_others_half_of_one() {
        for (command, args) in [
            ("npx", &["-y", "@playwright/mcp"][..]),
            ("/usr/bin/npx", &["thing"]),
            ("uvx", &["mcp-server-time"]),
            ("bunx", &["thing"]),
            ("pnpm", &["dlx", "thing"]),
            ("pipx", &["run", "thing"]),
            ("uv", &["tool", "run", "thing"]),
            ("cmd", &["/c", "npx", "-y", "thing"]),
        ] {
            let seconds = time(command, args, None).as_secs();
            assert_eq!(seconds, 120, "{command} {args:?}");
            assert_eq!(time(command, args, Some(5)).as_secs(), 5, "{command}");
        }
        for (command, args) in [
            ("node", &["server.js"][..]),
            ("uv", &["run", "server.py"]),
            ("pnpm", &["start"]),
            ("docker", &["run", "-i", "thing"]),
        ] {
            assert_eq!(time(command, args, None).as_secs(), 30, "{command}");
        }
    }
}
