//! What the person's own file says about bounds and the network.

use std::net::TcpListener;

use crate::canned::Canned;
use crate::home::Home;
use crate::run::Run;
use crate::serving::Serving;

/// A home whose own file has one server at a URL and these sections.
fn home(url: &str, sections: &str) -> Home {
    let home = Home::new();
    let own = format!(r#"{{"mcpServers": {{"demo": {{"url": "{url}"}}}}, {sections}}}"#);
    home.write("config/switchboard/mcp.json", &own);
    home
}

fn echo(home: &Home, message: &str) -> Run {
    home.run(&["call", "demo/echo", &format!("message={message}")])
}

#[test]
fn a_message_over_the_files_bound_fails_its_call() {
    let server = Serving::start(&[]);
    let plain = home(server.url(), r#""limits": {}"#);
    let long = "x".repeat(100_000);
    assert_eq!(echo(&plain, &long).code, Some(0));
    let bounded = home(server.url(), r#""limits": {"message_bytes": "64 KiB"}"#);
    assert_eq!(
        echo(&bounded, &long).code,
        Some(11),
        "{:?}",
        echo(&bounded, "x")
    );
    assert_eq!(echo(&bounded, "short").code, Some(0));
}

#[test]
fn times_of_the_file_count_unless_the_command_line_says_otherwise() {
    let server = Serving::start(&[]);
    let home = home(server.url(), r#""limits": {"timeouts": {"call": "50ms"}}"#);
    let slow = ["call", "demo/slow_operation", "duration=1", "steps=1"];
    let run = home.run(&slow);
    assert_eq!(run.code, Some(9), "{run:?}");
    let run = home.run(&[slow.as_slice(), &["--timeout", "30"]].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn servers_at_urls_are_reached_by_the_files_proxy_but_not_those_of_this_machine() {
    let proxy = Canned::answering("502 Bad Gateway", "", "the proxy says no");
    let proxy_url = proxy.url().trim_end_matches("/mcp").to_owned();
    let server = Serving::start(&[]);
    let sections = format!(r#""network": {{"proxy": "{proxy_url}"}}"#);
    assert_eq!(echo(&home(server.url(), &sections), "hi").code, Some(0));
    let run = echo(&home("http://server.invalid/mcp", &sections), "hi");
    assert_eq!(run.code, Some(4), "{run:?}");
    let first = proxy.first_request();
    assert!(first.contains("http://server.invalid/mcp"), "{first}");
}

#[test]
fn a_network_that_is_not_right_reaches_no_server_and_says_where() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let home = home(&url, r#""network": {"proxy": "on"}"#);
    let run = echo(&home, "hi");
    assert_eq!(run.code, Some(6), "{run:?}");
    assert!(
        run.stderr.contains("no server at a URL is reached"),
        "{run:?}"
    );
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "somebody connected");
    let run = home.run(&["config", "check"]);
    assert_eq!(run.code, Some(6), "{run:?}");
    let told = format!("{}{}", run.stdout, run.stderr);
    assert!(told.contains("mcp.json:1:"), "{told}");
    assert!(told.contains("`proxy` is neither a word"), "{told}");
}

#[test]
fn a_file_of_certificates_that_is_not_there_is_told() {
    let home = home(
        "https://server.invalid/mcp",
        r#""network": {"ca_file": "none.pem"}"#,
    );
    let run = home.run(&["config", "check"]);
    let told = format!("{}{}", run.stdout, run.stderr);
    assert!(
        told.contains("`ca_file` cannot be used: it does not exist"),
        "{told}"
    );
}

#[test]
fn a_link_local_address_is_refused_unless_the_file_allows_it() {
    // Refused before anything is dialled; the allowed one is not dialled here.
    let run = echo(&home("http://169.254.7.9/mcp", r#""network": {}"#), "hi");
    assert_eq!(run.code, Some(6), "{run:?}");
}

#[test]
fn a_folder_that_may_mislead_a_server_of_the_persons_own_is_told() {
    let home = Home::new();
    let own = r#"{"mcpServers": {"mine": {"command": "npx", "args": ["-y", "pkg@1.0.0"]}}}"#;
    home.write("config/switchboard/mcp.json", own);
    home.write("p/node_modules/.bin/pkg", "");
    let run = home.run(&["tools", "mine"]);
    // There is no npx here.
    assert_eq!(run.code, Some(4), "{run:?}");
    assert!(run.stderr.contains("~/p/node_modules/.bin/pkg"), "{run:?}");
}
