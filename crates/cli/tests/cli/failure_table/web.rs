//! Servers at URLs that are not there, not willing, or no MCP servers.

use std::net::TcpListener;

use super::stage::{Made, Stage};
use super::{BRIEF, Case};
use crate::canned::Canned;
use crate::serving::Serving;

const USUAL: Case = Case::usual((4, "connect"));

/// What is right goes there.
const URL_STEP: &str = "then correct `url` in its entry: ~/config/switchboard/mcp.json:3";

/// The tools of a server that says the same to everybody.
fn canned(stage: &Stage, status: &str, headers: &str, body: &str) -> Made {
    let server = Canned::answering(status, headers, body);
    stage.url(server.url()).keeping(server)
}

/// A call of the bundled server that has something wrong with it.
fn spoilt(stage: &Stage, chaos: &str) -> Made {
    let server = Serving::start(&["--chaos", chaos]);
    stage.describe(&format!(r#""url": "{}""#, server.url()));
    Made::of(&["call", "thing/echo", "message=hi"]).keeping(server)
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = unreachable_ones();
    cases.extend(unwilling());
    cases.extend(strange());
    cases
}

fn unreachable_ones() -> Vec<Case> {
    vec![
        Case {
            name: "refused",
            title: "nothing listens on 127.0.0.1:PORT",
            shows: &[
                "the system says: Connection refused",
                "the server is not running",
            ],
            step: "start the server",
            make: |stage| {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let url = format!("http://{}/mcp", listener.local_addr().unwrap());
                drop(listener);
                stage.url(&url)
            },
            ..USUAL
        },
        Case {
            name: "host-not-found",
            // A label that long is refused before anybody is asked.
            title: "the host \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.invalid\" was not found",
            shows: &[
                "the name is misspelled",
                "failed to lookup address information",
            ],
            step: "`getent hosts ",
            make: |stage| stage.url(&format!("http://{}.invalid/mcp", "x".repeat(64))),
            ..USUAL
        },
        Case {
            name: "address-never-connected-to",
            exit: (6, "configuration"),
            title: "169.254.169.254 leads to 169.254.169.254, a metadata service of a cloud",
            step: "look at its entry: `switchboard config show thing`",
            make: |stage| stage.url("http://169.254.169.254/mcp"),
            ..USUAL
        },
        Case {
            name: "silent-at-a-url",
            title: "the server did not answer the handshake within 2 s",
            shows: &["it is busy, or waits for something itself"],
            step: "`\"connect_timeout\": \"2m\"` into its entry: ~/config/switchboard/mcp.json:3",
            deadline: BRIEF,
            make: |stage| {
                // Connections are taken by the system, and nobody reads them.
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let url = format!("http://{}/mcp", listener.local_addr().unwrap());
                stage.url(&url).keeping(listener)
            },
            ..USUAL
        },
    ]
}

fn unwilling() -> Vec<Case> {
    vec![
        Case {
            name: "unauthorized",
            exit: (3, "authorization"),
            title: "the server requires authentication",
            shows: &[
                "status: 401 Unauthorized",
                "challenge: Bearer error=\"invalid_token\"",
                "who are you?",
                "the token that was sent is wrong or has expired",
            ],
            step: "or write `\"headers\": {\"Authorization\": \"Bearer ${TOKEN}\"}` into its entry: ~/config/switchboard/mcp.json:3",
            make: |stage| {
                let challenge = "WWW-Authenticate: Bearer error=\"invalid_token\"\r\n";
                let server = Canned::answering("401 Unauthorized", challenge, "who are you?");
                let headers = r#""headers": {"Authorization": "Bearer ${TOKEN:-none}"}"#;
                let entry = format!(r#""url": "{}", {headers}"#, server.url());
                stage.tools(&entry).keeping(server)
            },
            ..USUAL
        },
        Case {
            name: "login-needed",
            exit: (3, "authorization"),
            title: "the server requires a login",
            shows: &["challenge: Bearer error=\"invalid_token\""],
            step: "`switchboard login thing`",
            make: |stage| {
                let challenge = "WWW-Authenticate: Bearer error=\"invalid_token\"\r\n";
                canned(stage, "401 Unauthorized", challenge, "who are you?")
            },
            ..USUAL
        },
        Case {
            name: "forbidden",
            exit: (3, "authorization"),
            title: "the server denies access",
            shows: &[
                "status: 403 Forbidden",
                "not for you",
                "the token lacks a permission",
            ],
            step: "-H \"Authorization: Bearer TOKEN\"`",
            make: |stage| canned(stage, "403 Forbidden", "", "not for you"),
            ..USUAL
        },
        Case {
            name: "wrong-path",
            title: "there is no MCP server at this path",
            shows: &["status: 404 Not Found", "the path of the URL is wrong"],
            step: URL_STEP,
            make: |stage| canned(stage, "404 Not Found", "", "nothing here"),
            ..USUAL
        },
        Case {
            name: "takes-no-messages",
            title: "this path does not accept MCP messages",
            shows: &["status: 405 Method Not Allowed", "the older HTTP+SSE"],
            step: "--transport sse`",
            make: |stage| canned(stage, "405 Method Not Allowed", "", "GET only"),
            ..USUAL
        },
        Case {
            name: "asked-too-often",
            title: "the server received too many requests",
            shows: &["status: 429 Too Many Requests", "retry after: 30 s"],
            step: "wait 30 s, as the server asks",
            make: |stage| {
                canned(
                    stage,
                    "429 Too Many Requests",
                    "Retry-After: 30\r\n",
                    "slowly",
                )
            },
            ..USUAL
        },
        Case {
            name: "redirected",
            title: "the server redirects to another place, and Switchboard does not follow",
            shows: &[
                "status: 307 Temporary Redirect",
                "leads to: https://elsewhere.example/mcp",
                "the server has moved",
            ],
            step: "if you trust that host: `switchboard tools --url https://elsewhere.example/mcp`",
            make: |stage| {
                let location = "Location: https://elsewhere.example/mcp\r\n";
                canned(stage, "307 Temporary Redirect", location, "")
            },
            ..USUAL
        },
    ]
}

fn strange() -> Vec<Case> {
    vec![
        Case {
            name: "server-failed",
            exit: (11, "protocol"),
            title: "the server failed",
            shows: &["status: 500 Internal Server Error", "a bug in the server"],
            step: "then try it again: `switchboard tools thing`",
            make: |stage| spoilt(stage, "status=500@echo"),
            ..USUAL
        },
        Case {
            name: "behind-a-proxy",
            title: "the server behind the proxy did not answer",
            shows: &["status: 502 Bad Gateway", "a proxy took the request"],
            step: "then try it again: `switchboard tools thing`",
            make: |stage| spoilt(stage, "status=502@echo"),
            ..USUAL
        },
        Case {
            name: "not-available",
            title: "the server is not available",
            shows: &[
                "status: 503 Service Unavailable",
                "starting, overloaded or under maintenance",
            ],
            step: "then try it again: `switchboard tools thing`",
            make: |stage| spoilt(stage, "status=503@echo"),
            ..USUAL
        },
        Case {
            name: "web-page",
            title: "the server answered with a web page, not with an MCP message",
            shows: &["content type: text/html", "the URL is that of a website"],
            exit: (11, "protocol"),
            step: URL_STEP,
            make: |stage| spoilt(stage, "wrong-content-type=echo"),
            ..USUAL
        },
        Case {
            name: "no-answer",
            exit: (11, "protocol"),
            title: "the server accepted the request but did not answer it",
            shows: &["sent: yes"],
            step: "--transport sse`",
            make: |stage| spoilt(stage, "empty-200=echo"),
            ..USUAL
        },
        Case {
            name: "connection-lost",
            exit: (10, "closed"),
            title: "the connection was lost before the answer was complete",
            shows: &[
                "the server ended or was restarted",
                "sent: yes, so it may have taken effect",
            ],
            step: "then try it again: `switchboard tools thing`",
            make: |stage| spoilt(stage, "truncate=echo"),
            ..USUAL
        },
    ]
}
