//! Servers that are reached by URL: how to get there, and what is said when that fails.

use crate::canned::Canned;
use crate::run::{Run, said, switchboard, switchboard_with};
use crate::serving::Serving;

const SECRET: &str = "H1dden-in-a-header";

fn tools(url: &str, more: &[&str]) -> Run {
    switchboard(&[&["tools", "--url", url], more].concat())
}

/// A port that nobody listens on.
fn unused() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/mcp", listener.local_addr().unwrap())
}

#[test]
fn a_tool_of_a_server_at_a_url_is_called() {
    let server = Serving::start(&[]);
    let run = switchboard(&["call", "--url", server.url(), "echo", "message=hello"]);
    assert_eq!(run, said(0, "hello\n", ""));
    let named = switchboard(&["call", "mine/echo", "message=hi", "--url", server.url()]);
    assert_eq!(named, said(0, "hi\n", ""));
    let listed = tools(server.url(), &["--json"]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    let document: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(document["server"], "http");
}

#[test]
fn the_older_transport_is_found_or_ordered() {
    let server = Serving::start(&["--transport", "sse"]);
    let call = |more: &[&str]| {
        let args = ["call", "--url", server.url(), "echo", "message=hello"];
        switchboard(&[&args[..], more].concat())
    };
    assert_eq!(call(&[]), said(0, "hello\n", ""));
    assert_eq!(call(&["--transport", "sse"]), said(0, "hello\n", ""));
    assert_eq!(call(&["-t", "streamable-http"]), said(0, "hello\n", ""));
    let refused = call(&["--transport", "sse", "--no-stream"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
}

#[test]
fn headers_reach_the_server_and_no_screen() {
    let server = Canned::answering("400 Bad Request", "", &format!("you said {SECRET}"));
    let header = format!("X-Key: {SECRET}");
    let run = tools(server.url(), &["-H", &header, "-H", "X-Region: north"]);
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    assert!(
        run.stderr
            .contains("  the answer begins:\n    | you said ***\n"),
        "{}",
        run.stderr
    );
    let seen = server.first_request().to_ascii_lowercase();
    for line in [
        format!("x-key: {SECRET}\r\n"),
        "x-region: north\r\n".to_owned(),
    ] {
        assert!(seen.contains(&line.to_ascii_lowercase()), "{seen}");
    }
}

#[test]
fn what_is_wrong_with_a_header_is_said_without_its_value() {
    for bad in [
        &["-H", "Authorization Bearer H1dden-in-a-header"][..],
        &["-H", "Host: H1dden-in-a-header"],
        &["-H", "Mcp-Method: H1dden-in-a-header"],
        &["-H", "X-Key: H1dden-in-a-header\nX-Other: y"],
        &["some-name", "-H", "Authorization:", "H1dden-in-a-header"],
    ] {
        for json in [&[][..], &["--json"]] {
            let run = tools("http://127.0.0.1:9/mcp", &[bad, json].concat());
            assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{bad:?}");
            assert!(!run.stderr.contains("H1dden"), "{}", run.stderr);
        }
    }
}

#[test]
fn a_url_that_cannot_be_used_is_refused_before_anything_is_sent() {
    for bad in [
        "example.com/mcp",
        "ftp://example.com/",
        "http://",
        "https://me:H1dden@example.com/mcp",
    ] {
        let run = tools(bad, &["--json"]);
        assert_eq!(run.error()["exit"], 2, "{bad}");
        assert!(!run.stderr.contains("H1dden"), "{}", run.stderr);
    }
    let run = tools("http://169.254.169.254/mcp", &["--json"]);
    assert_eq!(run.error()["exit"], 4);
    assert_eq!(run.error()["fault"], "forbidden");
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let url = "http://127.0.0.1:9/mcp";
    for bad in [
        &["--url", url, "--stdio", "cat"][..],
        &["--url", url, "--env", "A=b"],
        &["--url", url, "--cwd", "/"],
        &["--url", url, "--ca-file", "/nowhere/at/all"],
        &["--url", url, "--ca-file", "/dev/null"],
        &["--header", "A: b"],
        &["--no-stream"],
        &["--proxy-from-env"],
    ] {
        let run = switchboard(&[&["tools"], bad].concat());
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{bad:?}");
    }
}

#[test]
fn a_port_that_nobody_has_asks_whether_the_server_runs() {
    let url = unused();
    let run = tools(&url, &["--json"]);
    let error = run.error();
    assert_eq!((run.code, &error["exit"]), (Some(4), &4.into()));
    assert_eq!(
        (&error["kind"], &error["fault"]),
        (&"connect".into(), &"connect".into())
    );
    assert_eq!(error["status"], serde_json::Value::Null);
    assert_eq!(error["causes"][0], "the server is not running");
}

#[test]
fn tls_with_a_server_that_has_none_leads_to_http() {
    let server = Serving::start(&[]);
    let secure = server.url().replacen("http:", "https:", 1);
    let run = tools(&secure, &["--json"]);
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    assert_eq!(run.error()["fault"], "tls");
    let step = format!("`switchboard tools --url {}`", server.url());
    assert_eq!(run.error()["hints"], serde_json::json!([step]));
}

#[test]
fn whoever_is_not_let_in_sees_the_challenge_and_a_header_to_send() {
    let challenge = "WWW-Authenticate: Bearer error=\"invalid_token\"\r\n";
    let server = Canned::answering("401 Unauthorized", challenge, "who are you?");
    // A person who sends a token of their own is not offered a login.
    let own = ["-H", "Authorization: Bearer of-mine"];
    assert_eq!(
        tools(server.url(), &own),
        said(
            3,
            "",
            &format!(
                "error: the server requires authentication\n  server: http\n  \
                 failed at: server/discover\n  url: {0}\n  status: 401 Unauthorized\n  \
                 challenge: Bearer error=\"invalid_token\"\n  the answer begins:\n    \
                 | who are you?\n  possible causes:\n    \
                 - the token that was sent is wrong or has expired\n  what to do:\n    \
                 - `switchboard tools --url {0} -H \"Authorization: Bearer TOKEN\"`\n",
                server.url()
            )
        )
    );
    let error = tools(server.url(), &[&own[..], &["--json"]].concat()).error();
    assert_eq!(
        (&error["kind"], &error["fault"], &error["status"]),
        (&"authorization".into(), &"status".into(), &401.into())
    );
    let error = tools(server.url(), &["--json"]).error();
    assert_eq!(
        (&error["kind"], &error["fault"]),
        (&"authorization".into(), &"authorization".into())
    );
}

#[test]
fn a_wrong_path_leads_to_the_usual_ones() {
    let server = Serving::start(&[]);
    let wrong = server.url().replace("/mcp", "/wrong");
    let error = tools(&wrong, &["--json"]).error();
    assert_eq!((&error["exit"], &error["status"]), (&4.into(), &404.into()));
    let step = format!("`switchboard tools --url {}`", server.url());
    assert_eq!(error["hints"][0], step);
}

#[test]
fn each_failure_of_a_call_has_its_own_exit_code_and_words() {
    for (chaos, code, fault, title) in [
        ("status=500@echo", 11, "status", "the server failed"),
        (
            "status=503@echo",
            4,
            "status",
            "the server is not available",
        ),
        ("status=403@echo", 3, "status", "the server denies access"),
        (
            "redirect-other-origin=307@echo",
            4,
            "redirect",
            "the server redirects to another place, and Switchboard does not follow",
        ),
        (
            "wrong-content-type=echo",
            11,
            "content-type",
            "the server answered with a web page, not with an MCP message",
        ),
        (
            "empty-200=echo",
            11,
            "no-answer",
            "the server accepted the request but did not answer it",
        ),
        (
            "huge-body=11@echo",
            11,
            "too-large",
            "the answer is too large",
        ),
        (
            "truncate=echo",
            10,
            "interrupted",
            "the connection was lost before the answer was complete",
        ),
    ] {
        let server = Serving::start(&["--chaos", chaos]);
        let url = server.url();
        let run = switchboard(&["call", "--url", url, "echo", "message=hi", "--json"]);
        let error = run.error();
        assert_eq!(run.code, Some(code), "{chaos}: {}", run.stderr);
        assert_eq!(error["fault"], fault, "{chaos}");
        assert_eq!(error["message"], title, "{chaos}");
        assert_eq!(error["facts"][0]["value"], url, "{chaos}");
    }
}

#[test]
fn a_stream_that_is_not_wanted_is_an_error() {
    let server = Serving::start(&["--answers", "sse"]);
    let run = tools(server.url(), &["--no-stream", "--json"]);
    assert_eq!(run.error()["fault"], "stream");
    assert_eq!(tools(server.url(), &[]).code, Some(0));
}

#[test]
fn a_proxy_is_used_when_the_person_says_so() {
    let proxy = Canned::answering("407 Proxy Authentication Required", "", "");
    let url = unused();
    let address = proxy.url().trim_end_matches("/mcp");
    let run = |more: &[&str]| {
        let args = [&["tools", "--url", &url, "--json"], more].concat();
        switchboard_with(&[("http_proxy", address)], &args).error()
    };
    assert_eq!(run(&[])["fault"], "connect");
    let error = run(&["--proxy-from-env"]);
    assert_eq!(error["message"], "the proxy requires authentication");
    assert!(
        proxy.first_request().starts_with(&format!("POST {url} ")),
        "{}",
        proxy.first_request()
    );
}
