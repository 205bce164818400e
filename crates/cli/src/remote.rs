//! The server at `--url`.

use std::path::Path;
use std::sync::Arc;

use switchboard::auth::{AuthError, Authorizer, TokenStore};
use switchboard::files::{self, Refusal, Source};
use switchboard::transport::guard::Forbidden;
use switchboard::transport::{
    Connect, Environment, Header, HeaderError, Http, HttpAuthFetch, HttpError, LegacySse, Proxy,
    Streams,
};

use crate::args::{Connection, Remote, Transport};
use crate::exit::Exit;
use crate::login::authorizer_at;
use crate::report::{Failure, Report};

/// Name of a server of `--url` that has none.
pub(crate) const UNNAMED: &str = "http";

/// Marker that every PEM file with certificates contains.
const CERTIFICATE: &[u8] = b"-----BEGIN CERTIFICATE-----";

/// Maximum size of a certificate file: a whole system list has a quarter of a megabyte.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Builds the login of the server at `--url`; `None` without a URL, or if a header authorizes the requests.
///
/// # Errors
/// Fails if its certificates cannot be read.
pub(crate) fn login(
    connection: &Connection,
    tokens: &Arc<dyn TokenStore>,
    host: &Environment,
) -> Result<Option<Authorizer>, Failure> {
    let remote = &connection.remote;
    let is_own = |header: &String| {
        let name = header.split(':').next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case("authorization")
    };
    let Some(url) = &remote.url else {
        return Ok(None);
    };
    if remote.header.iter().any(is_own) {
        return Ok(None);
    }
    let mut fetch = HttpAuthFetch::new();
    if let Some(file) = &remote.ca_file {
        fetch = fetch.certificates(&certificates(file)?);
    }
    if remote.proxy_from_env {
        fetch = fetch.proxy(&Proxy::of_environment(host));
    }
    let profile = connection.profile.as_deref().unwrap_or_default();
    match authorizer_at(url, profile, fetch, tokens) {
        Ok(login) => Ok(Some(login)),
        // The transport says it better.
        Err(AuthError::Forbidden { .. }) => Ok(None),
        Err(error) => Err(Report::usage(error.to_string())),
    }
}

/// Builds the transport for a URL. Nothing is sent yet.
///
/// # Errors
/// Fails if the URL, a header or the certificate file cannot be used. The report quotes no header value.
pub(crate) fn transport(
    url: &str,
    remote: &Remote,
    login: Option<&Authorizer>,
    host: &Environment,
) -> Result<Arc<dyn Connect>, Failure> {
    let certificates = match &remote.ca_file {
        Some(file) => Some(certificates(file)?),
        None => None,
    };
    let headers: Result<Vec<Header>, _> = remote.header.iter().map(|h| Header::parse(h)).collect();
    let headers = headers.map_err(|error| transport_failure(HttpError::Header(error)))?;
    // The two builders have the same methods but no common trait.
    macro_rules! described {
        ($transport:expr) => {{
            let mut transport = $transport.map_err(transport_failure)?;
            for header in headers {
                transport = transport.header(header).map_err(transport_failure)?;
            }
            if let Some(pem) = &certificates {
                transport = transport.certificates(pem);
            }
            if remote.proxy_from_env {
                transport = transport.proxy(&Proxy::of_environment(host));
            }
            if let Some(login) = login {
                transport = transport.authorization(Arc::new(login.clone()));
            }
            transport
        }};
    }
    match (remote.transport, remote.no_stream) {
        (Transport::Http, no_stream) => {
            let transport = described!(Http::new(url));
            let transport = if no_stream {
                transport.streams(Streams::Refused)
            } else {
                transport
            };
            Ok(Arc::new(transport))
        }
        (Transport::Sse, false) => {
            let transport = described!(LegacySse::new(url));
            Ok(Arc::new(transport))
        }
        (Transport::Sse, true) => Err(Report::usage(
            "--transport sse needs a stream, which --no-stream refuses",
        )),
    }
}

fn transport_failure(error: HttpError) -> Failure {
    match error {
        HttpError::Url(_) => Report::usage("--url: not a valid URL")
            .hint("write all of it, such as --url https://example.com/mcp"),
        HttpError::Forbidden(
            error @ (Forbidden::Scheme { .. } | Forbidden::NoHost | Forbidden::Userinfo),
        ) => {
            let report = Report::usage(format!("--url cannot be used: {error}"));
            match error {
                Forbidden::Userinfo => report.hint(
                    "-H \"Authorization: Basic $(printf USER:PASSWORD | base64)\" sends the same",
                ),
                _ => report.hint("a URL begins with https:// or http://"),
            }
        }
        // An address that is never dialled.
        HttpError::Forbidden(error) => Report::new(
            Exit::Connect,
            "connect",
            "the server's address is not allowed",
        )
        .fault("forbidden", None)
        .fact("reason", error.to_string())
        .hint("write the URL of the server itself"),
        HttpError::Header(error) => {
            let report = Report::usage(format!("--header: {error}"));
            match error {
                HeaderError::NoColon | HeaderError::BadName => {
                    report.hint("write it like -H \"Authorization: Bearer TOKEN\"")
                }
                _ => report,
            }
        }
        error => Report::usage(error.to_string()),
    }
}

fn certificates(file: &Path) -> Result<Vec<u8>, Failure> {
    let shown = || file.display().to_string();
    // Bounded, because the file may be a device or a pipe.
    let pem = files::read(file, Source::Named, MOST_BYTES).map_err(|error| {
        let report = Report::usage("--ca-file: the file cannot be read").fact("file", shown());
        match error.why() {
            Refusal::Io(error) => report.fact("the system says", error.to_string()),
            _ => report.fact("reason", error.to_string()),
        }
    })?;
    let pem = pem.bytes;
    let mut windows = pem.windows(CERTIFICATE.len());
    if windows.any(|window| window == CERTIFICATE) {
        return Ok(pem);
    }
    Err(Report::usage("--ca-file: no PEM certificate in the file")
        .fact("file", shown())
        .hint(format!(
            "openssl x509 -inform der -in {} -out CA.pem",
            shown()
        )))
}
