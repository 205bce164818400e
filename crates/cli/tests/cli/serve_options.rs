//! The options of `switchboard serve`, each with the clients that it is for.

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{Value, json};

use crate::home::Home;
use crate::run::said;
use crate::serve_ends::until;
use crate::serve_verb::{hello, home, serve, serve_at, serve_http};

/// The first list waits until the server, which was never seen, has begun.
const PATIENT: [&str; 2] = ["--first-list", "30s"];

/// The address that a gateway has told.
fn url(told: &str) -> &str {
    let url = told.split("serving at ").nth(1).unwrap();
    url.lines().next().unwrap()
}

fn port(told: &str) -> String {
    let authority = url(told).split('/').nth(2).unwrap();
    authority.rsplit(':').next().unwrap().to_owned()
}

/// A port that is free now.
fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port().to_string()
}

/// The text of the token that a gateway of this home has made.
fn token(home: &Home) -> String {
    home.read("state/switchboard/gateway-token")
        .trim()
        .to_owned()
}

/// Exchanges one request for its answer.
fn exchange(mut stream: impl std::io::Read + std::io::Write, request: &str) -> String {
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A request with these headers besides, on a connection of its own.
fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let headers = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"));
    format!(
        "{method} {path} HTTP/1.1\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\
         Connection: close\r\n{}\r\n{body}",
        body.len(),
        headers.collect::<String>(),
    )
}

/// The status of a handshake with these headers, at a port of this machine.
fn status(port: &str, headers: &[(&str, &str)]) -> String {
    let stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    let answer = exchange(
        stream,
        &request("POST", "/mcp", headers, &hello().to_string()),
    );
    answer.split(' ').nth(1).unwrap().to_owned()
}

/// The names of the tools at a path, for a client of the modern era.
fn tools(port: &str, path: &str) -> Vec<String> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    let list =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    let headers = [
        ("Host", "localhost"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/list"),
    ];
    let stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    let answer = exchange(stream, &request("POST", path, &headers, &list.to_string()));
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
    // One message as JSON, or as the event of a stream with chunks.
    let begin = body.find("{\"jsonrpc\"").unwrap();
    let mut messages = serde_json::Deserializer::from_str(&body[begin..]).into_iter::<Value>();
    let answer = messages.next().unwrap().unwrap();
    let tools = answer["result"]["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_certificate_serves_clients_that_know_its_authority() {
    let certs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/failure_table/certs");
    let path = |name: &str| certs.join(name).display().to_string();
    let (cert, key) = (path("good.pem"), path("server.key.pem"));
    let home = home(&["one"], &json!({}));
    let files = ["--tls-cert", cert.as_str(), "--tls-key", &key];
    let (gateway, told) = serve_http(&home, &[&files[..], &PATIENT].concat());
    let url = url(&told);
    assert!(url.starts_with("https://127.0.0.1:"), "{told}");
    let header = format!("Authorization: Bearer {}", token(&home));
    let authority = path("authority.pem");
    let call = ["call", "--url", url, "one__echo", "message=hello"];
    let trusting = ["--ca-file", authority.as_str(), "-H", &header];
    assert_eq!(
        home.run(&[&call[..], &trusting].concat()),
        said(0, "hello\n", "")
    );
    // Without the authority, without the token, and without TLS.
    let run = home.run(&[&call[..], &["-H", &header]].concat());
    assert_eq!(run.code, Some(4), "{run:?}");
    let run = home.run(&[&call[..], &trusting[..2]].concat());
    assert_ne!(run.code, Some(0), "{run:?}");
    let plain = url.replacen("https:", "http:", 1);
    let call = ["call", "--url", &plain, "one__echo", "message=hello"];
    assert_eq!(
        home.run(&[&call[..], &["-H", &header]].concat()).code,
        Some(4)
    );
    drop(gateway);
}

#[test]
fn behind_a_proxy_plain_http_is_served_for_its_hosts_with_a_token() {
    let home = home(&["one"], &json!({}));
    let (gateway, told) = serve_at(
        &home,
        &[
            "--http",
            "0.0.0.0:0",
            "--behind-proxy",
            "--allow-host",
            "gateway.example",
        ],
    );
    let (port, token) = (port(&told), format!("Bearer {}", token(&home)));
    let own = ("Host", "gateway.example");
    let with_token = ("Authorization", token.as_str());
    assert_eq!(status(&port, &[own, with_token]), "200");
    assert_eq!(status(&port, &[own]), "401");
    let other = ("Host", "other.example");
    assert_eq!(status(&port, &[other, with_token]), "403");
    drop(gateway);
}

#[test]
fn a_public_url_and_allowed_hosts_and_origins_are_served_and_no_others() {
    let home = home(&["one"], &json!({}));
    let port = free_port();
    let (gateway, told) = serve_at(
        &home,
        &[
            "--http",
            &port,
            "--public-url",
            "https://gateway.example",
            "--allow-host",
            "inside.example",
            "--allow-origin",
            "https://app.example",
        ],
    );
    assert_eq!(url(&told), "https://gateway.example/mcp");
    let token = format!("Bearer {}", token(&home));
    let with = |headers: &[(&str, &str)]| {
        let token = ("Authorization", token.as_str());
        status(&port, &[&[token], headers].concat())
    };
    for (host, expected) in [
        ("gateway.example", "200"),
        ("inside.example", "200"),
        ("localhost", "200"),
        ("other.example", "403"),
    ] {
        assert_eq!(with(&[("Host", host)]), expected, "{host}");
    }
    for (origin, expected) in [
        ("https://gateway.example", "200"),
        ("https://app.example", "200"),
        ("https://inside.example", "403"),
        ("https://evil.example", "403"),
    ] {
        let headers = [("Host", "gateway.example"), ("Origin", origin)];
        assert_eq!(with(&headers), expected, "{origin}");
    }
    let stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    let headers = [
        ("Host", "gateway.example"),
        ("Origin", "https://app.example"),
        ("Access-Control-Request-Method", "POST"),
    ];
    let answer = exchange(stream, &request("OPTIONS", "/mcp", &headers, ""));
    assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    let answer = answer.to_ascii_lowercase();
    let allowed = "access-control-allow-origin: https://app.example\r\n";
    assert!(answer.contains(allowed), "{answer}");
    drop(gateway);
}

#[test]
fn the_transport_of_2024_11_05_is_served_where_it_is_asked_for() {
    let home = home(&["one"], &json!({}));
    let call = |told: &str| {
        let url = url(told).replace("/mcp", "/sse");
        let args = ["call", "--url", &url, "--transport", "sse"];
        home.run(&[&args[..], &["one__echo", "message=old"]].concat())
    };
    let args = [&["--no-auth", "--legacy-sse"][..], &PATIENT].concat();
    let (gateway, told) = serve_http(&home, &args);
    assert_eq!(call(&told), said(0, "old\n", ""));
    drop(gateway);
    let (gateway, told) = serve_http(&home, &["--no-auth"]);
    assert_eq!(call(&told).code, Some(4));
    drop(gateway);
}

#[test]
fn programs_of_the_same_user_use_the_socket_without_a_token() {
    let home = home(&["one"], &json!({}));
    std::fs::set_permissions(home.path(""), std::fs::Permissions::from_mode(0o700)).unwrap();
    let socket = home.path("socket");
    let path = socket.display().to_string();
    let mut gateway = serve(&home, &["--unix", &path]);
    let told = gateway.told_until("serving on the socket");
    assert!(told.contains(&path), "{told}");
    let ask = |host: &str| {
        let body = hello().to_string();
        let request = request("POST", "/mcp", &[("Host", host)], &body);
        exchange(UnixStream::connect(&socket).unwrap(), &request)
    };
    let answer = ask("localhost");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(
        answer.contains("\"serverInfo\":{\"name\":\"switchboard\""),
        "{answer}"
    );
    assert!(ask("evil.example").starts_with("HTTP/1.1 403"));
    assert!(!home.path("state/switchboard/gateway-token").exists());
}

#[test]
fn each_profile_and_each_server_has_its_path_over_http() {
    let profiles = json!({"profiles": {"work": {"servers": ["one"], "tools": ["*/e*"]}}});
    let home = home(&["one", "two"], &profiles);
    let args = [&["--no-auth"][..], &PATIENT].concat();
    let (gateway, told) = serve_http(&home, &args);
    let port = port(&told);
    let all = tools(&port, "/mcp");
    let has = |tools: &[String], name: &str| tools.iter().any(|tool| tool == name);
    assert!(has(&all, "one__echo") && has(&all, "two__add"), "{all:?}");
    let work = tools(&port, "/mcp/p/work");
    assert!(has(&work, "one__echo"), "{work:?}");
    assert!(
        work.iter().all(|tool| tool.starts_with("one__e")),
        "{work:?}"
    );
    let two = tools(&port, "/mcp/s/two");
    assert!(has(&two, "add"), "{two:?}");
    assert!(!two.iter().any(|tool| tool.contains("__")), "{two:?}");
    drop(gateway);
}

#[test]
fn names_are_as_short_as_the_option_says_and_still_lead_to_their_tools() {
    let home = home(&["a-server-with-a-long-name"], &json!({}));
    let start = |args: &[&str]| {
        let mut gateway = serve(&home, args);
        gateway.shake_hands();
        let listed = gateway.ask("tools/list", &json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        (gateway, tools)
    };
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    let (gateway, usual) = start(&[]);
    drop(gateway);
    assert!(usual.iter().all(|tool| name(tool).len() <= 46), "{usual:?}");
    let echo = usual.iter().find(|tool| name(tool).ends_with("__echo"));
    let echo = echo.unwrap();
    assert!(name(echo).len() > 24, "{echo}");
    let (mut gateway, short) = start(&["--name-length", "24"]);
    assert_eq!(short.len(), usual.len());
    assert!(short.iter().all(|tool| name(tool).len() <= 24), "{short:?}");
    let is_echo = |tool: &&Value| tool["description"] == echo["description"];
    let echo = short.iter().find(is_echo).unwrap();
    let call = json!({"name": echo["name"], "arguments": {"message": "hello"}});
    let answer = gateway.ask("tools/call", &call);
    assert_eq!(answer["result"]["content"][0]["text"], "hello", "{answer}");
}

/// A home with a server that writes its starts and ends to the file `lives`.
fn living(options: &[&str]) -> Home {
    let home = Home::new();
    let lives = home.path("lives").display().to_string();
    let script = format!("echo start >> {lives}; \"$0\" test-server \"$@\"; echo end >> {lives}");
    let own = env!("CARGO_BIN_EXE_switchboard");
    let args = [&["-c", &script, own], options].concat();
    let config = json!({"mcpServers": {"one": {"command": "/bin/sh", "args": args}}});
    home.write("config/switchboard/mcp.json", &config.to_string());
    home
}

#[test]
fn a_server_that_nothing_uses_is_stopped_and_started_by_the_next_call() {
    // A server that clients share, and one that each client has for itself.
    for era in ["modern", "legacy"] {
        let home = living(&["--era", era]);
        let mut gateway = serve(&home, &["--idle-stop", "200ms", "--first-list", "30s"]);
        gateway.shake_hands();
        gateway.tools();
        let lives = || std::fs::read_to_string(home.path("lives")).unwrap_or_default();
        until("the server is stopped", || lives() == "start\nend\n");
        let call = json!({"name": "one__echo", "arguments": {"message": "hello"}});
        let answer = gateway.ask("tools/call", &call);
        assert_eq!(answer["result"]["content"][0]["text"], "hello", "{answer}");
        until("what the call started is stopped", || {
            let count = |word| lives().matches(word).count();
            count("end") >= 2 && count("end") == count("start")
        });
        assert!(gateway.tools().iter().any(|tool| tool == "one__echo"));
        assert_eq!(gateway.end().0, Some(0), "{era:?}");
    }
}
