//! From a description to a transport.

use crate::error::{Error, HostError};
use crate::limits::Limits;
use crate::spec::{Endpoint, Process, ServerName, ServerSpec};
use crate::transport::{Connect, Stdio};

use super::options::Options;

/// Makes the transport that a description asks for. Nothing is started or sent.
///
/// # Errors
/// When nothing can be reached as it is described.
pub(super) fn transport(spec: &ServerSpec, options: &Options) -> Result<Box<dyn Connect>, Error> {
    if let (Endpoint::Remote(_), Some(problem)) = (&spec.endpoint, &options.no_network) {
        return Err(HostError::Problem(problem.clone()).into());
    }
    let limits = limits(spec, options);
    match &spec.endpoint {
        Endpoint::Process(process) => Ok(Box::new(stdio(&spec.name, process, limits, options))),
        #[cfg(feature = "http")]
        Endpoint::Remote(remote) => self::http::transport(remote, &limits, options),
        #[cfg(not(feature = "http"))]
        Endpoint::Remote(_) => Err(Error::configuration(
            "this program was built without HTTP: its feature `http` is off",
        )),
    }
}

/// The bounds of a connection to that server.
pub(super) fn limits(spec: &ServerSpec, options: &Options) -> Limits {
    let mut limits = options.limits.clone();
    let settings = &spec.settings;
    limits.retries = settings.max_retries.unwrap_or(limits.retries);
    limits.retry_first = settings.retry_backoff.unwrap_or(limits.retry_first);
    limits
}

fn stdio(name: &ServerName, process: &Process, limits: Limits, options: &Options) -> Stdio {
    let mut stdio = Stdio::new(&process.command)
        .args(&process.args)
        .env_passthrough(&process.env_passthrough)
        .host(&options.environment)
        .limits(limits);
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
    if let Some(ledger) = &options.ledger {
        stdio = stdio.record(ledger, name);
    }
    stdio
}

#[cfg(feature = "http")]
mod http {
    use super::Options;
    use crate::error::Error;
    use crate::limits::Limits;
    use crate::spec::{Remote, TransportKind};
    use crate::transport::{Connect, Header, Http, HttpError, IdRule, LegacySse, Streams};

    pub(super) fn transport(
        remote: &Remote,
        limits: &Limits,
        options: &Options,
    ) -> Result<Box<dyn Connect>, Error> {
        described(remote, limits, options).map_err(|error| Error::configuration(error.to_string()))
    }

    fn described(
        remote: &Remote,
        limits: &Limits,
        options: &Options,
    ) -> Result<Box<dyn Connect>, HttpError> {
        let url = remote.url.expose().as_str();
        let rule = match remote.strict_session_id {
            true => IdRule::Strict,
            false => IdRule::default(),
        };
        // The two have the same settings and no type in common.
        macro_rules! described {
            ($transport:expr) => {{
                let mut transport = $transport?.limits(limits).session_ids(rule);
                for (name, value) in &remote.headers {
                    transport = transport.header(Header::new(name, value.clone())?)?;
                }
                if let Some(pem) = &options.certificates {
                    transport = transport.certificates(pem);
                }
                if let Some(proxy) = &options.proxy {
                    transport = transport.proxy(proxy);
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
                Box::new(match remote.streamable {
                    true => transport,
                    false => transport.streams(Streams::Refused),
                })
            }
        })
    }
}
