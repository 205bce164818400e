//! Explains HTTP statuses other than success.

use super::{advice, lines, other_paths, try_sse, try_url};
use crate::explain::place::Place;
use crate::explain::{CredentialScheme, Diagnosis, Step, calls};
use crate::transport::{Fault, FaultKind};

/// Explains an answer with a status other than success.
pub(super) fn diagnose_status(fault: &Fault, place: Place<'_>) -> Diagnosis {
    let FaultKind::Status {
        status,
        excerpt,
        retry_after,
        challenge,
    } = &fault.kind
    else {
        return Diagnosis::default();
    };
    let mut diagnosis = match status {
        401 => unauthorized(fault, challenge.as_deref(), place),
        403 => forbidden(fault),
        404 | 410 => not_found(fault),
        405 => not_allowed(fault),
        407 => proxy(),
        429 => too_often(),
        500..=599 => diagnose_server_fault(*status),
        _ => other(*status, &fault.url, excerpt),
    };
    diagnosis.facts.insert(0, ("status", status_name(*status)));
    if let Some(challenge) = challenge {
        diagnosis.facts.push(("challenge", challenge.clone()));
    }
    if let Some(wait) = retry_after {
        let wait = calls::seconds(*wait);
        let step = format!("wait {wait}, as the server asks, and try again");
        // First: other steps would only be refused again.
        diagnosis.steps.insert(0, step.into());
        diagnosis.facts.push(("retry after", wait));
    }
    diagnosis.evidence = body(excerpt);
    diagnosis
}

/// Returns the body of the answer as evidence, unless it is blank.
pub(super) fn body(excerpt: &str) -> Vec<(&'static str, Vec<String>)> {
    if excerpt.trim().is_empty() {
        return Vec::new();
    }
    vec![("the answer begins", vec![excerpt.to_owned()])]
}

/// A status with its usual name.
pub(super) fn status_name(status: u16) -> String {
    let name = match status {
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        410 => "Gone",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => return status.to_string(),
    };
    format!("{status} {name}")
}

fn with_token(url: &str) -> Step {
    Step::SendCredentials {
        url: url.to_owned(),
        scheme: CredentialScheme::Bearer,
    }
}

fn unauthorized(fault: &Fault, challenge: Option<&str>, place: Place<'_>) -> Diagnosis {
    let scopes = demanded_scopes(challenge.unwrap_or_default());
    let challenge = challenge.unwrap_or_default().to_ascii_lowercase();
    // RFC 6750: a server that names the error has seen a token.
    let cause = if challenge.contains("invalid_token") || challenge.contains("expired") {
        "the token that was sent is wrong or has expired"
    } else {
        "no token was sent, or one that is wrong or has expired"
    };
    let mut steps = vec![with_token(&fault.url)];
    if challenge.starts_with("basic") {
        steps = vec![Step::SendCredentials {
            url: fault.url.clone(),
            scheme: CredentialScheme::Basic,
        }];
    }
    // RFC 9728: such a server can be logged in to.
    if challenge.contains("resource_metadata") {
        steps.push(Step::LogIn {
            server: place.0.server.clone(),
            scopes,
        });
    }
    Diagnosis {
        title: "the server requires authentication".to_owned(),
        causes: lines(&[cause]),
        steps,
        ..Diagnosis::default()
    }
}

/// Reads the scopes that a challenge demands.
fn demanded_scopes(challenge: &str) -> Vec<String> {
    let quoted = challenge.split_once("scope=\"");
    let scopes = quoted.and_then(|(_, rest)| rest.split_once('"'));
    let scopes = scopes.map_or("", |(scopes, _)| scopes);
    scopes.split_whitespace().map(str::to_owned).collect()
}

fn forbidden(fault: &Fault) -> Diagnosis {
    Diagnosis {
        title: "the server denies access".to_owned(),
        causes: lines(&[
            "the token lacks a permission, or no token was sent",
            "the server accepts only certain host names, and the URL has another",
        ]),
        steps: vec![with_token(&fault.url)],
        ..Diagnosis::default()
    }
}

fn not_found(fault: &Fault) -> Diagnosis {
    Diagnosis {
        title: "there is no MCP server at this path".to_owned(),
        causes: lines(&[
            "the path of the URL is wrong",
            "some servers answer so when you have no access",
        ]),
        steps: other_paths(&fault.url),
        ..Diagnosis::default()
    }
}

fn not_allowed(fault: &Fault) -> Diagnosis {
    let mut steps = vec![try_sse(&fault.url)];
    steps.extend(other_paths(&fault.url));
    Diagnosis {
        title: "this path does not accept MCP messages".to_owned(),
        causes: lines(&[
            "the server uses the older HTTP+SSE transport there",
            "the path of the URL is wrong",
        ]),
        steps,
        ..Diagnosis::default()
    }
}

fn proxy() -> Diagnosis {
    Diagnosis {
        title: "the proxy requires authentication".to_owned(),
        steps: advice(&["`export HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT`"]),
        ..Diagnosis::default()
    }
}

fn too_often() -> Diagnosis {
    Diagnosis {
        title: "the server received too many requests".to_owned(),
        causes: lines(&["it limits the number of requests in a period, or per token"]),
        ..Diagnosis::default()
    }
}

fn diagnose_server_fault(status: u16) -> Diagnosis {
    let (title, cause) = match status {
        502 | 504 => (
            "the server behind the proxy did not answer",
            "a proxy took the request; the MCP server behind it is not running, or too slow",
        ),
        503 => (
            "the server is not available",
            "it is starting, overloaded or under maintenance",
        ),
        _ => (
            "the server failed",
            "this is a bug in the server: its log says more",
        ),
    };
    Diagnosis {
        title: title.to_owned(),
        causes: lines(&[cause]),
        steps: advice(&["see the server's own log"]),
        ..Diagnosis::default()
    }
}

fn other(status: u16, url: &str, excerpt: &str) -> Diagnosis {
    let words = excerpt.to_ascii_lowercase();
    // What common servers write when they get plain HTTP on a port for TLS.
    let is_tls = words.contains("https server") || words.contains("to https port");
    let (causes, steps) = if url.starts_with("http://") && is_tls {
        let secure = url.replacen("http://", "https://", 1);
        (
            lines(&["the port uses TLS, but the URL begins with http"]),
            vec![try_url(&secure)],
        )
    } else {
        (
            lines(&["there is no MCP server at this URL, or one of another version"]),
            other_paths(url),
        )
    };
    Diagnosis {
        title: format!("the server refused the request with status {status}"),
        causes,
        steps,
        ..Diagnosis::default()
    }
}
