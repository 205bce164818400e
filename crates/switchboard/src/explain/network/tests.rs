use super::*;
use crate::explain::CredentialScheme;
use crate::transport::Sent;

fn explained(url: &str, kind: FaultKind) -> Diagnosis {
    exchange(&fault(url, kind), Place(&crate::error::Context::default()))
}

fn fault(url: &str, kind: FaultKind) -> Fault {
    Fault {
        kind,
        sent: Sent::Answered,
        url: url.to_owned(),
    }
}

fn status(status: u16, excerpt: &str, challenge: Option<&str>) -> FaultKind {
    FaultKind::Status {
        status,
        excerpt: excerpt.to_owned(),
        retry_after: None,
        challenge: challenge.map(str::to_owned),
    }
}

const URL: &str = "https://example.com/mcp";

/// One of each kind, and of each status that means something of its own.
fn all() -> Vec<FaultKind> {
    let what = || "what happened".to_owned();
    let mut all = vec![
        FaultKind::Resolve { what: what() },
        FaultKind::Forbidden { what: what() },
        FaultKind::Connect { what: what() },
        FaultKind::Tls { what: what() },
        FaultKind::Interrupted { what: what() },
        FaultKind::Redirect {
            status: 302,
            location: "/login".to_owned(),
            what: what(),
        },
        FaultKind::ContentType {
            found: "text/plain".to_owned(),
            excerpt: "hello".to_owned(),
        },
        FaultKind::NoAnswer { what: "nothing" },
        FaultKind::StreamRefused,
        FaultKind::TooLarge { limit_bytes: 7 },
        FaultKind::SessionLost { what: what() },
        FaultKind::SessionId { what: what() },
        FaultKind::TooManyAttempts {
            wait: Duration::from_secs(3),
        },
    ];
    let codes = [400, 401, 403, 404, 405, 407, 429, 500, 502, 503];
    all.extend(codes.map(|code| status(code, "oh no", None)));
    all
}

#[test]
fn every_fault_has_a_title_the_url_and_something_to_go_on() {
    let mut titles = Vec::new();
    for kind in all() {
        let diagnosis = explained(URL, kind.clone());
        assert_eq!(diagnosis.facts[0], ("url", URL.to_owned()), "{kind:?}");
        assert!(
            !(diagnosis.causes.is_empty() && diagnosis.steps.is_empty()),
            "{kind:?}"
        );
        titles.push(diagnosis.title);
    }
    let count = titles.len();
    titles.sort();
    titles.dedup();
    assert_eq!(titles.len(), count, "two faults have one title: {titles:?}");
}

#[test]
fn a_refused_connection_asks_whether_the_server_runs() {
    let what = "Connection refused (os error 111)".to_owned();
    let diagnosis = explained("http://127.0.0.1:8808/mcp", FaultKind::Connect { what });
    assert_eq!(diagnosis.title, "nothing listens on 127.0.0.1:8808");
    assert_eq!(diagnosis.causes[0], "the server is not running");
}

#[test]
fn an_unknown_issuer_leads_to_the_file_of_certificates() {
    let what = "invalid peer certificate: UnknownIssuer".to_owned();
    let diagnosis = explained(URL, FaultKind::Tls { what });
    assert_eq!(
        diagnosis.steps,
        [Step::TrustAuthority {
            url: URL.to_owned()
        }]
    );
}

#[test]
fn plain_http_behind_https_leads_to_the_other_scheme_and_back() {
    let what = "received corrupt message of type InvalidContentType".to_owned();
    let diagnosis = explained(URL, FaultKind::Tls { what });
    assert_eq!(diagnosis.steps, [try_url("http://example.com/mcp")]);
    let page = "The plain HTTP request was sent to HTTPS port";
    let diagnosis = explained("http://example.com/mcp", status(400, page, None));
    assert_eq!(diagnosis.steps, [try_url("https://example.com/mcp")]);
}

#[test]
fn a_challenge_decides_what_to_send() {
    let diagnosis = explained(URL, status(401, "who?", Some("Bearer realm=\"x\"")));
    assert_eq!(
        diagnosis.facts,
        [
            ("url", URL.to_owned()),
            ("status", "401 Unauthorized".to_owned()),
            ("challenge", "Bearer realm=\"x\"".to_owned()),
        ]
    );
    assert_eq!(
        diagnosis.evidence,
        [("the answer begins", vec!["who?".to_owned()])]
    );
    assert_eq!(
        diagnosis.steps,
        [Step::SendCredentials {
            url: URL.to_owned(),
            scheme: CredentialScheme::Bearer
        }]
    );
    let diagnosis = explained(URL, status(401, "", Some("Basic realm=\"x\"")));
    assert_eq!(
        diagnosis.steps,
        [Step::SendCredentials {
            url: URL.to_owned(),
            scheme: CredentialScheme::Basic
        }]
    );
    assert_eq!(diagnosis.evidence, []);
}

#[test]
fn a_server_with_resource_metadata_leads_to_a_login_with_its_scopes() {
    let challenge = "Bearer resource_metadata=\"https://x/.well-known\", scope=\"Read write\"";
    let diagnosis = explained(URL, status(401, "", Some(challenge)));
    assert_eq!(
        diagnosis.steps[1],
        Step::LogIn {
            server: None,
            scopes: vec!["Read".to_owned(), "write".to_owned()]
        }
    );
}

#[test]
fn a_path_that_is_not_there_leads_to_the_usual_ones() {
    let steps = |url| explained(url, status(404, "", None)).steps;
    assert_eq!(
        steps("http://127.0.0.1:8808/"),
        [
            try_url("http://127.0.0.1:8808/mcp"),
            try_url("http://127.0.0.1:8808/sse")
        ]
    );
    assert_eq!(steps(URL), [try_url("https://example.com/sse")]);
}

#[test]
fn a_redirect_leads_to_its_end_without_what_may_be_a_token() {
    let redirect = |location: &str| FaultKind::Redirect {
        status: 302,
        location: location.to_owned(),
        what: "why".to_owned(),
    };
    assert_eq!(
        explained(URL, redirect("/v2/mcp/")).steps,
        [Step::FollowRedirect {
            url: "https://example.com/v2/mcp/".to_owned()
        }]
    );
    let elsewhere = explained(URL, redirect("https://other.example/?token=canary"));
    assert!(
        !format!("{elsewhere:?}").contains("canary"),
        "{elsewhere:?}"
    );
}

#[test]
fn a_web_page_is_called_one() {
    let kind = FaultKind::ContentType {
        found: "text/html".to_owned(),
        excerpt: "<!doctype html>".to_owned(),
    };
    assert_eq!(
        explained(URL, kind).title,
        "the server answered with a web page, not with an MCP message"
    );
}

#[test]
fn a_wait_that_the_server_asks_for_is_the_first_thing_to_do() {
    let kind = FaultKind::Status {
        status: 429,
        excerpt: String::new(),
        retry_after: Some(Duration::from_secs(7)),
        challenge: None,
    };
    assert_eq!(
        explained(URL, kind).steps,
        [Step::from("wait 7 s, as the server asks, and try again")]
    );
}

#[test]
fn hosts_are_found_whatever_their_form() {
    for (url, expected) in [
        ("https://example.com/mcp", "example.com"),
        ("https://example.com:8443/", "example.com"),
        ("http://[::1]:8808/mcp", "[::1]"),
        ("http://[::1]/mcp", "[::1]"),
        ("nonsense", "nonsense"),
    ] {
        assert_eq!(host(url), expected);
    }
}
