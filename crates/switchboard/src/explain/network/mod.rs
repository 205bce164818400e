//! Explains HTTP exchanges without an answer.

mod status;
mod tls;

use std::net::IpAddr;
use std::time::Duration;

use url::Url;

use super::place::Place;
use super::{Diagnosis, Step, StepTarget, TryPurpose, calls};
use crate::secret::SafeUrl;
use crate::text::shell_path;
use crate::transport::{Fault, FaultKind};

/// Explains a fault. The caller adds whether the request was sent.
pub(super) fn exchange(fault: &Fault, place: Place<'_>) -> Diagnosis {
    let mut diagnosis = match &fault.kind {
        FaultKind::Resolve { what } => resolve(fault, what),
        FaultKind::Forbidden { what } => forbidden(what),
        // An invalid DNS name fails before the lookup, so it arrives as a connect error.
        FaultKind::Connect { what } if what.contains("dns name") => resolve(fault, what),
        FaultKind::Connect { what } => connect(fault, what),
        FaultKind::Tls { what } => tls::unproven(fault, what),
        FaultKind::Interrupted { what } => interrupted(fault, what),
        FaultKind::Status { .. } => status::diagnose_status(fault, place),
        FaultKind::Authorization { error, .. } => Diagnosis {
            title: error.to_string(),
            ..Diagnosis::default()
        },
        FaultKind::Redirect {
            status,
            location,
            what,
        } => redirect(fault, *status, location, what),
        FaultKind::ContentType { found, excerpt } => content_type(fault, found, excerpt),
        FaultKind::NoAnswer { what } => no_answer(fault, what),
        FaultKind::StreamRefused => stream_refused(),
        FaultKind::TooLarge { limit_bytes } => calls::too_large(*limit_bytes),
        FaultKind::SessionLost { what } => session_lost(what),
        FaultKind::SessionId { what } => session_id(what),
        FaultKind::TooManyAttempts { wait } => left_alone(fault, *wait),
    };
    // First of the facts, whatever went wrong: it is the one thing that people can check.
    diagnosis.facts.insert(0, ("url", fault.url.clone()));
    diagnosis.steps.extend(in_entry(&fault.kind, place));
    diagnosis
}

/// Returns the change to make in the server's config entry.
fn in_entry(kind: &FaultKind, place: Place<'_>) -> Option<Step> {
    // A server without an entry (a URL on the command line) has nothing to edit.
    let entry = place.entry_place()?;
    let correct_url = || Step::Do(format!("then correct `url` in its entry: {entry}"));
    match kind {
        FaultKind::Status {
            status: 401 | 403, ..
        } => place.edit("\"headers\": {\"Authorization\": \"Bearer ${TOKEN}\"}"),
        FaultKind::Status {
            status: 404 | 405 | 410 | 400,
            ..
        }
        | FaultKind::Resolve { .. }
        | FaultKind::Connect { .. }
        | FaultKind::Forbidden { .. }
        | FaultKind::Redirect { .. }
        | FaultKind::ContentType { .. } => Some(correct_url()),
        FaultKind::Tls { what } if tls::is_about_url(what) => Some(correct_url()),
        FaultKind::Status { .. }
        | FaultKind::Tls { .. }
        | FaultKind::Interrupted { .. }
        | FaultKind::NoAnswer { .. }
        | FaultKind::TooManyAttempts { .. } => place.try_again(TryPurpose::Repaired),
        _ => None,
    }
}

/// Explains a server at a URL that takes the handshake and says nothing.
pub(super) fn silence(after: Duration, place: Place<'_>) -> Diagnosis {
    let mut diagnosis = Diagnosis {
        title: format!(
            "the server did not answer the handshake within {}",
            calls::seconds(after)
        ),
        causes: lines(&[
            "it is busy, or waits for something itself: a login, another service",
            "a proxy or load balancer accepts connections but passes nothing on",
            "the program that listens there is not an MCP server",
        ]),
        ..Diagnosis::default()
    };
    let url = place.url().unwrap_or_default();
    let look = format!("see what answers there: `curl -sv {}`", shell_path(url));
    diagnosis.steps.push(look.into());
    place.more_time("connect_timeout", &mut diagnosis);
    diagnosis
}

fn resolve(fault: &Fault, what: &str) -> Diagnosis {
    Diagnosis {
        title: format!("the host {:?} was not found", host(&fault.url)),
        facts: system(what),
        causes: lines(&[
            "the name is misspelled",
            "it is only known inside another network: a VPN, a container, a cluster",
            "this machine is offline, or reaches the network through a proxy only",
        ]),
        steps: vec![
            format!("`getent hosts {}`", host(&fault.url)).into(),
            Step::UseProxy,
        ],
        ..Diagnosis::default()
    }
}

fn forbidden(what: &str) -> Diagnosis {
    Diagnosis {
        title: "Switchboard never connects to this server's address".to_owned(),
        facts: vec![("reason", what.to_owned())],
        causes: lines(&[
            "the name resolves to an address of a cloud metadata service, or to one that is not a \
             single server's",
            "a public name resolves to an address in this network",
        ]),
        steps: advice(&[
            "use the URL of the server itself",
            "if the address is right, and yours: add it to `allowed_addresses` under `network` in your own config file",
        ]),
        ..Diagnosis::default()
    }
}

fn connect(fault: &Fault, what: &str) -> Diagnosis {
    let place = place(&fault.url);
    let mut steps = advice(&["start the server, and look at the address that it prints"]);
    // No proxy is between this machine and itself.
    let host = host(&fault.url);
    let address = host.trim_matches(['[', ']']).parse();
    if host != "localhost" && !address.is_ok_and(|address: IpAddr| address.is_loopback()) {
        steps.push(Step::UseProxy);
    }
    // Refused means that the machine is there; anything else may be the network.
    let (title, causes) = if what.to_ascii_lowercase().contains("refused") {
        (
            format!("nothing listens on {place}"),
            lines(&[
                "the server is not running",
                "it listens on another port, or on another address of that machine",
            ]),
        )
    } else {
        (
            format!("no connection to {place}"),
            lines(&[
                "the machine is off, or a firewall blocks the connection",
                "this network requires a proxy",
            ]),
        )
    };
    Diagnosis {
        title,
        facts: system(what),
        causes,
        steps,
        ..Diagnosis::default()
    }
}

fn interrupted(fault: &Fault, what: &str) -> Diagnosis {
    let mut causes = lines(&[
        "the server ended or was restarted",
        "a proxy in between has a time limit of its own",
    ]);
    if fault.url.starts_with("http://") {
        causes.push("the port uses TLS, so the URL must begin with https".to_owned());
    }
    Diagnosis {
        title: "the connection was lost before the answer was complete".to_owned(),
        facts: vec![("reason", what.to_owned())],
        causes,
        steps: advice(&["see the server's own log"]),
        ..Diagnosis::default()
    }
}

fn redirect(fault: &Fault, status: u16, location: &str, what: &str) -> Diagnosis {
    let aim = Url::parse(&fault.url).and_then(|url| url.join(location));
    // The location may contain a token, so mask it.
    let aim = aim.map(|url| SafeUrl::from(url).to_string());
    let aim = aim.unwrap_or_else(|_| location.to_owned());
    // Older HTTP+SSE transport: not a redirect, but the endpoint in the first event.
    if status == 200 {
        return Diagnosis {
            title: format!(
                "the server's `endpoint` is on another origin: {}",
                origin(&aim)
            ),
            facts: vec![("endpoint", aim.clone()), ("reason", what.to_owned())],
            causes: lines(&["it is behind a proxy, and does not know its public URL"]),
            steps: vec![
                "configure the server's public URL in the server".into(),
                Step::FollowRedirect {
                    url: other_origin(&aim, &fault.url),
                },
            ],
            ..Diagnosis::default()
        };
    }
    Diagnosis {
        title: "the server redirects to another place, and Switchboard does not follow".to_owned(),
        facts: vec![
            ("status", status::status_name(status)),
            ("leads to", aim.clone()),
            ("reason", what.to_owned()),
        ],
        causes: lines(&[
            "the server has moved, or the URL lacks a slash, a prefix or the s of https",
            "a sign-in page is in front of the server",
        ]),
        steps: vec![Step::FollowRedirect { url: aim }],
        ..Diagnosis::default()
    }
}

fn content_type(fault: &Fault, found: &str, excerpt: &str) -> Diagnosis {
    // Some servers send pages without saying so.
    let is_page = found.contains("html") || excerpt.trim_start().starts_with('<');
    let (title, causes) = if is_page {
        (
            "the server answered with a web page, not with an MCP message".to_owned(),
            lines(&[
                "the URL is that of a website, not of an MCP server",
                "a sign-in page or a proxy answers instead",
            ]),
        )
    } else {
        (
            format!("the server answered with {found}, which is not an MCP message"),
            lines(&["the URL is not that of an MCP server"]),
        )
    };
    Diagnosis {
        title,
        facts: vec![("content type", found.to_owned())],
        evidence: status::body(excerpt),
        causes,
        steps: other_paths(&fault.url),
        ..Diagnosis::default()
    }
}

fn no_answer(fault: &Fault, what: &str) -> Diagnosis {
    Diagnosis {
        title: "the server accepted the request but did not answer it".to_owned(),
        facts: vec![("reason", what.to_owned())],
        causes: lines(&[
            "the server uses the older HTTP+SSE transport there",
            "this is a bug in the server, or in a proxy in front of it",
        ]),
        steps: vec![try_sse(&fault.url)],
        ..Diagnosis::default()
    }
}

fn stream_refused() -> Diagnosis {
    Diagnosis {
        title: "the server answered with a stream, and streams are refused".to_owned(),
        steps: vec![Step::AllowStreams],
        ..Diagnosis::default()
    }
}

fn session_lost(what: &str) -> Diagnosis {
    Diagnosis {
        title: "the server has lost the session, and did not start a new one".to_owned(),
        facts: vec![("reason", what.to_owned())],
        causes: lines(&[
            "it was restarted",
            "several instances run, and each knows only its own sessions",
        ]),
        steps: advice(&["try again: the next call starts a new session"]),
        ..Diagnosis::default()
    }
}

fn session_id(what: &str) -> Diagnosis {
    Diagnosis {
        title: "the server sent an invalid session id".to_owned(),
        facts: vec![("problem", what.to_owned())],
        causes: lines(&["this is a bug in the server"]),
        ..Diagnosis::default()
    }
}

fn left_alone(fault: &Fault, wait: Duration) -> Diagnosis {
    Diagnosis {
        title: "the server failed too often; Switchboard waits before it tries again".to_owned(),
        facts: vec![("for", calls::seconds(wait))],
        steps: vec![
            "see the server's own log".into(),
            Step::TryAgain {
                target: StepTarget::Url(fault.url.clone()),
                purpose: TryPurpose::Next,
            },
        ],
        ..Diagnosis::default()
    }
}

fn lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

fn system(what: &str) -> Vec<(&'static str, String)> {
    vec![("the system says", what.to_owned())]
}

fn advice(lines: &[&str]) -> Vec<Step> {
    lines.iter().copied().map(Step::from).collect()
}

/// Proposes a URL.
fn try_url(url: &str) -> Step {
    Step::TryUrl {
        url: url.to_owned(),
    }
}

/// Proposes the older transport.
fn try_sse(url: &str) -> Step {
    Step::TrySse {
        url: url.to_owned(),
    }
}

/// Returns the tried path on the origin of another URL.
fn other_origin(aim: &str, tried: &str) -> String {
    let path = tried.get(origin(tried).len()..).unwrap_or_default();
    format!("{}{path}", origin(aim))
}

/// Scheme, host and port of a URL that was made safe to show.
fn origin(url: &str) -> &str {
    let Some(host) = url.find("://").map(|at| at.saturating_add(3)) else {
        return url;
    };
    let path = url.get(host..).and_then(|rest| rest.find('/'));
    path.and_then(|path| url.get(..host.saturating_add(path)))
        .unwrap_or(url)
}

fn place(url: &str) -> &str {
    let origin = origin(url);
    origin.split_once("://").map_or(origin, |(_, place)| place)
}

fn host(url: &str) -> &str {
    let place = place(url);
    // An address of IPv6 has colons of its own, between brackets.
    match place.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => host,
        _ => place,
    }
}

/// Proposes the usual paths of servers, without the one that was tried.
fn other_paths(url: &str) -> Vec<Step> {
    let origin = origin(url);
    let path = url.get(origin.len()..).unwrap_or_default();
    ["/mcp", "/sse"]
        .into_iter()
        .filter(|usual| path.trim_end_matches('/') != *usual)
        .map(|usual| try_url(&format!("{origin}{usual}")))
        .collect()
}

#[cfg(test)]
mod tests;
