//! Hostile clients: each is refused as the specification says, nothing reaches a server, and another client's
//! call still works.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_gateway::http::RefusalReason;

use crate::support::{
    Answer, Ask, Connection, Front, MODERN, TOKEN, front_with, modern_meta, until, within,
};

/// What a hostile client sends, and what it gets.
struct Case {
    name: &'static str,
    bytes: Vec<u8>,
    /// The status of the only response; 0 for a connection that is closed without one.
    status: u16,
    /// The code of the JSON-RPC error, if there is to be one.
    code: Option<i64>,
}

fn case(name: &'static str, ask: &Ask, status: u16) -> Case {
    Case {
        name,
        bytes: ask.bytes(),
        status,
        code: None,
    }
}

fn coded(name: &'static str, ask: &Ask, status: u16, code: i64) -> Case {
    let code = Some(code);
    Case {
        code,
        ..case(name, ask, status)
    }
}

fn raw(name: &'static str, bytes: impl Into<Vec<u8>>, status: u16) -> Case {
    Case {
        name,
        bytes: bytes.into(),
        status,
        code: None,
    }
}

/// A call that would reach the server if it got through.
fn call() -> Ask {
    Ask::modern_echo("hostile")
}

fn message(text: impl Into<Vec<u8>>) -> Ask {
    Ask::post_text(text)
}

/// A modern call with one member of the envelope changed.
fn envelope(text: &str) -> Ask {
    let params = json!({
        "name": "demo__echo", "arguments": {"message": "hostile"}, "_meta": modern_meta(),
    });
    let ask = message(text.replace("PARAMS", &params.to_string()));
    ask.header("MCP-Protocol-Version", MODERN)
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", "demo__echo")
}

async fn strict() -> Front {
    front_with(|_, gateway| {
        let limits = &mut gateway.limits;
        limits.message_bytes = 64 << 10;
        limits.json_depth = 32;
        limits.head_time = Duration::from_secs(1);
        limits.idle_time = Duration::from_secs(1);
        limits.body_time = Duration::from_secs(1);
        limits.head_bytes = 16 << 10;
        limits.headers = 50;
    })
    .await
}

fn origins() -> Vec<Case> {
    let host = |name, host| case(name, &call().replace("Host", host), 403);
    let origin = |name, origin| case(name, &call().header("Origin", origin), 403);
    vec![
        host("a rebound name", "evil.example"),
        host("a rebound name with our port", "evil.example:8808"),
        host("a name that begins like ours", "localhost.evil.example"),
        host("a name that ends like ours", "evil-localhost"),
        host("an address of another machine", "192.0.2.1"),
        host("any address", "0.0.0.0"),
        case("no host", &call().without("Host"), 400),
        case("an empty host", &call().replace("Host", ""), 400),
        case("two hosts", &call().header("Host", "localhost"), 400),
        case(
            "a host with a user",
            &call().replace("Host", "a@localhost"),
            400,
        ),
        origin("a foreign page", "https://evil.example"),
        origin("a page without an origin", "null"),
        origin("a page from a file", "file://"),
        origin(
            "an origin that begins like ours",
            "http://localhost.evil.example",
        ),
        case(
            "two origins",
            &call()
                .header("Origin", "http://localhost")
                .header("Origin", "https://evil.example"),
            403,
        ),
        case(
            "a foreign page at another route",
            &Ask::new("GET", "/healthz").header("Origin", "https://evil.example"),
            403,
        ),
        case(
            "a foreign preflight",
            &Ask::new("OPTIONS", "/mcp").header("Origin", "https://evil.example"),
            403,
        ),
        case(
            "a whole URL of another host",
            &call().at("http://evil.example/mcp"),
            403,
        ),
    ]
}

fn tokens() -> Vec<Case> {
    let token = |name, value: &str| case(name, &call().replace("Authorization", value), 401);
    let bare = call().without("Authorization");
    vec![
        case("no token", &bare, 401),
        token("an empty token", "Bearer "),
        token("a wrong token", "Bearer test-token-0123456789abcdeg"),
        token(
            "a token cut short",
            &format!("Bearer {}", &TOKEN[..TOKEN.len() - 1]),
        ),
        token("a token with more", &format!("Bearer {TOKEN}x")),
        token(
            "a token in another case",
            &format!("Bearer {}", TOKEN.to_uppercase()),
        ),
        token("another scheme", &format!("Basic {TOKEN}")),
        token("a token without a scheme", TOKEN),
        case(
            "two tokens",
            &call().header("Authorization", "Bearer x"),
            401,
        ),
        case(
            "a token in the query",
            &bare.clone().at(&format!("/mcp?access_token={TOKEN}")),
            401,
        ),
        case(
            "a token in a cookie",
            &bare.clone().header("Cookie", &format!("token={TOKEN}")),
            401,
        ),
        case(
            "a handshake without a token",
            &Ask::initialize("2025-11-25").without("Authorization"),
            401,
        ),
        case(
            "a stream without a token",
            &Ask::new("GET", "/mcp")
                .header("Accept", "text/event-stream")
                .without("Authorization"),
            401,
        ),
        case(
            "an end without a token",
            &Ask::new("DELETE", "/mcp").without("Authorization"),
            401,
        ),
        case(
            "a batch without a token",
            &message("[]").without("Authorization"),
            401,
        ),
    ]
}

fn heads() -> Vec<Case> {
    let kind = |name, kind| case(name, &call().replace("Content-Type", kind), 415);
    let accept = |name, accept| case(name, &call().replace("Accept", accept), 406);
    let path = |name, path: &str| case(name, &call().at(path), 404);
    let method = |name, method: &str| {
        let mut ask = call();
        method.clone_into(&mut ask.method);
        case(name, &ask, 405)
    };
    let mut many = call();
    for number in 0..60 {
        many = many.header(&format!("X-{number}"), "x");
    }
    let long = "x".repeat(32 << 10);
    vec![
        kind("a form", "application/x-www-form-urlencoded"),
        kind("a form in parts", "multipart/form-data; boundary=x"),
        kind("plain text, which needs no preflight", "text/plain"),
        kind(
            "JSON in another charset",
            "application/json; charset=utf-16",
        ),
        case("no content type", &call().without("Content-Type"), 415),
        case(
            "a compressed body",
            &call().header("Content-Encoding", "gzip"),
            415,
        ),
        accept("JSON alone", "application/json"),
        accept("events alone", "text/event-stream"),
        accept("neither", "text/html"),
        case("no accept", &call().without("Accept"), 406),
        path("a path with dots", "/x/../mcp"),
        path("a path with an empty part", "//mcp"),
        path("an encoded path", "/%6dcp"),
        path("an encoded slash", "/mcp%2fs%2fdemo"),
        path("a server with an encoded way up", "/mcp/s/%2e%2e"),
        path("a server with an encoded slash", "/mcp/s/demo%2Fecho"),
        path("a server with an encoded NUL", "/mcp/s/demo%00"),
        path("a profile that does not exist", "/mcp/p/everything"),
        path("a path that is not ours", "/admin"),
        path("the older transport", "/messages?sessionId=x"),
        method("PUT", "PUT"),
        method("PATCH", "PATCH"),
        method("TRACE", "TRACE"),
        method("a method of its own", "HACK"),
        raw(
            "a tunnel",
            "CONNECT localhost:22 HTTP/1.1\r\nHost: localhost\r\n\r\n",
            404,
        ),
        case(
            "HTTP/1.0",
            &call()
                .version("HTTP/1.0")
                .header("Connection", "keep-alive"),
            505,
        ),
        case("HTTP/2 without a preface", &call().version("HTTP/2.0"), 400),
        raw(
            "the preface of HTTP/2",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            0,
        ),
        raw("no HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n", 400),
        case(
            "a web socket",
            &Ask::new("GET", "/mcp")
                .header("Connection", "Upgrade")
                .header("Upgrade", "websocket"),
            406,
        ),
        case("a long header", &call().header("X-Long", &long), 431),
        case("many headers", &many, 431),
        case("a long path", &call().at(&format!("/mcp/s/{long}")), 431),
    ]
}

fn framings() -> Vec<Case> {
    let echo = call().bytes();
    let with_body = |head: Ask, body: &[u8]| head.body(body).bytes();
    let text = String::from_utf8(echo).unwrap();
    let body = text.split_once("\r\n\r\n").unwrap().1.to_owned();
    let folded = text.replacen(
        "Accept: application/json,",
        "Accept: application/json,\r\n",
        1,
    );
    let spaced = text.replacen("Host: localhost", "Host : localhost", 1);
    let length = |name, length: &str| {
        let ask = call().header("Content-Length", length);
        raw(name, with_body(ask, body.as_bytes()), 400)
    };
    vec![
        length("a negative length", "-1"),
        length("a length with a sign", "+10"),
        length("a length in hexadecimal", "0x10"),
        length("a length that overflows", "99999999999999999999999"),
        length("two lengths in one", "5, 6"),
        raw(
            "two lengths",
            with_body(
                call()
                    .header("Content-Length", "5")
                    .header("Content-Length", "6"),
                body.as_bytes(),
            ),
            400,
        ),
        raw(
            "an encoding that is not chunked",
            with_body(call().header("Transfer-Encoding", "gzip"), body.as_bytes()),
            400,
        ),
        raw(
            "chunked and then something else",
            with_body(
                call().header("Transfer-Encoding", "chunked, identity"),
                body.as_bytes(),
            ),
            400,
        ),
        raw(
            "chunks that are none",
            with_body(
                call().header("Transfer-Encoding", "chunked"),
                b"zz\r\n{}\r\n0\r\n\r\n",
            ),
            400,
        ),
        raw("a header over two lines", folded, 400),
        raw("a space before a colon", spaced, 400),
        raw(
            "a header without a name",
            text.replacen("Accept:", ":", 1),
            400,
        ),
        raw(
            "a NUL in a header",
            text.replacen("Host: localhost", "Host: local\0host", 1),
            400,
        ),
        raw(
            "a body that is shorter than it says",
            with_body(call().header("Content-Length", "500"), b"{}"),
            408,
        ),
        case(
            "a body that is too long",
            &call().body("x".repeat(65 << 10)),
            413,
        ),
        raw(
            "a body that says that it is too long",
            with_body(call().header("Content-Length", "99999999"), b""),
            413,
        ),
        raw(
            "chunks that are too long",
            with_body(
                call().header("Transfer-Encoding", "chunked"),
                format!("11000\r\n{}\r\n0\r\n\r\n", "x".repeat(0x11000)).as_bytes(),
            ),
            413,
        ),
        raw(
            "half a head",
            b"POST /mcp HTTP/1.1\r\nHost: loc".to_vec(),
            0,
        ),
        raw(
            "half a body",
            text.as_bytes()[..text.len() - 5].to_vec(),
            408,
        ),
    ]
}

fn bodies() -> Vec<Case> {
    let bad = |name, text: &str, code| coded(name, &envelope(text), 400, code);
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}{}}}"#,
        "[".repeat(5000),
        "]".repeat(5000)
    );
    let wide = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"a":{}1{}}}}}"#,
        r#"{"a":"#.repeat(40),
        "}".repeat(40)
    );
    let mut not_utf8 = call().bytes();
    let at = not_utf8
        .windows(7)
        .position(|part| part == b"hostile")
        .unwrap();
    not_utf8[at] = 0xff;
    vec![
        bad("an empty body", "", -32700),
        bad("text", "hello", -32700),
        bad(
            "two messages",
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#,
            -32700,
        ),
        bad("a number", "7", -32600),
        bad("an empty object", "{}", -32600),
        bad(
            "another version of JSON-RPC",
            r#"{"jsonrpc":"1.0","id":1,"method":"tools/call","params":PARAMS}"#,
            -32600,
        ),
        bad(
            "no version of JSON-RPC",
            r#"{"id":1,"method":"tools/call","params":PARAMS}"#,
            -32600,
        ),
        bad(
            "an id that is null",
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":PARAMS}"#,
            -32600,
        ),
        bad(
            "an id with a fraction",
            r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":PARAMS}"#,
            -32600,
        ),
        bad(
            "a method that is a number",
            r#"{"jsonrpc":"2.0","id":1,"method":7,"params":PARAMS}"#,
            -32600,
        ),
        bad(
            "two methods",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":PARAMS}"#,
            -32600,
        ),
        bad(
            "two parameters",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{},"params":PARAMS}"#,
            -32600,
        ),
        bad(
            "a member in another case",
            r#"{"jsonrpc":"2.0","id":1,"Method":"tools/list","method":"tools/call","params":PARAMS}"#,
            -32600,
        ),
        bad(
            "a batch",
            r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":PARAMS}]"#,
            -32600,
        ),
        bad(
            "a batch in a batch",
            r#"[[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":PARAMS}]]"#,
            -32600,
        ),
        bad("a deep body", &deep, -32600),
        bad("a body that is a little too deep", &wide, -32600),
        Case {
            code: Some(-32700),
            ..raw("a body that is not UTF-8", not_utf8, 400)
        },
        coded(
            "a body in UTF-16",
            &envelope("").body(b"\xff\xfe{\0}\0".to_vec()),
            400,
            -32700,
        ),
        coded("a byte order mark", &envelope("\u{feff}{}"), 400, -32700),
    ]
}

fn agreements() -> Vec<Case> {
    let mismatch = |name, ask: &Ask| coded(name, ask, 400, -32020);
    vec![
        mismatch(
            "the name of a harmless tool",
            &call().replace("Mcp-Name", "demo__add"),
        ),
        mismatch(
            "the name in another case",
            &call().replace("Mcp-Name", "DEMO__ECHO"),
        ),
        mismatch(
            "a name in base64 that is not the same",
            &call().replace("Mcp-Name", "=?base64?ZGVtb19fYWRk?="),
        ),
        mismatch(
            "the method of a harmless request",
            &call().replace("Mcp-Method", "tools/list"),
        ),
        mismatch(
            "two methods in the headers",
            &call().header("Mcp-Method", "tools/call"),
        ),
        mismatch(
            "an older version in the header",
            &call().replace("MCP-Protocol-Version", "2025-11-25"),
        ),
        mismatch(
            "no version in the header",
            &call().without("MCP-Protocol-Version"),
        ),
        coded(
            "a version of the future",
            &Ask::legacy("tools/call", &json!({})).header("MCP-Protocol-Version", "2999-01-01"),
            400,
            -32022,
        ),
        case(
            "a call without a session",
            &Ask::legacy_echo("hostile"),
            400,
        ),
        case(
            "a call with a session that was made up",
            &Ask::legacy_echo("hostile").session("AAAAAAAAAAAAAAAAAAAAAA"),
            404,
        ),
        case(
            "a batch with a session that was made up",
            &message("[]").session("AAAAAAAAAAAAAAAAAAAAAA"),
            404,
        ),
        case(
            "a stream of a session that was made up",
            &Ask::new("GET", "/mcp")
                .header("Accept", "text/event-stream")
                .session("AAAAAAAAAAAAAAAAAAAAAA"),
            404,
        ),
        case(
            "an end of a session that was made up",
            &Ask::new("DELETE", "/mcp").session("AAAAAAAAAAAAAAAAAAAAAA"),
            404,
        ),
        case(
            "a resumption without a session",
            &Ask::new("GET", "/mcp")
                .header("Accept", "text/event-stream")
                .header("Last-Event-ID", "0-0"),
            400,
        ),
    ]
}

fn cases() -> Vec<Case> {
    let mut all = origins();
    all.extend(tokens());
    all.extend(heads());
    all.extend(framings());
    all.extend(bodies());
    all.extend(agreements());
    all
}

/// Sends the bytes of a case; returns all responses until the connection closes or falls silent.
async fn answers(front: &Front, bytes: &[u8]) -> Vec<Answer> {
    let mut connection = front.connect().await;
    connection.send(bytes).await;
    let mut all = Vec::new();
    // A connection that nothing follows on is closed when the time for the next head is over.
    while let Some(answer) = connection.answer().await {
        all.push(answer);
    }
    all
}

#[tokio::test]
async fn hostile_clients_are_refused_and_reach_no_server() {
    let front = strict().await;
    let cases = cases();
    assert!(cases.len() >= 60, "{}", cases.len());
    let reached = front.record.len();
    let mut wrong = Vec::new();
    // All at once, with a neighbour in between.
    let all = cases.iter().map(|case| answers(&front, &case.bytes));
    let all = join_all(all.collect()).await;
    for (case, answers) in cases.iter().zip(all) {
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        let expected: &[u16] = if case.status == 0 {
            &[]
        } else {
            &[case.status]
        };
        let code = answers.first().filter(|_| case.code.is_some());
        let code = code.and_then(|answer| serde_json::from_str::<Value>(&answer.body).ok());
        let code = code.and_then(|error| error["error"]["code"].as_i64());
        if statuses != expected || code != case.code {
            wrong.push(format!("{}: {answers:?}", case.name));
        }
        for answer in &answers {
            let has_challenge = answer.header("www-authenticate").is_some();
            assert_eq!(
                has_challenge,
                answer.status == 401,
                "{}: {answer:?}",
                case.name
            );
            assert!(answer.session().is_none(), "{}", case.name);
            assert!(
                answer.header("access-control-allow-origin").is_none(),
                "{}",
                case.name
            );
            assert!(!answer.body.contains(TOKEN), "{}", case.name);
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
    assert_eq!(front.record.since(reached), Vec::<Value>::new());
    assert_eq!(
        front.ask(&Ask::modern_echo("neighbour")).await.text(),
        "neighbour"
    );
    let stats = front.service.stats();
    assert_eq!(stats.sessions, 0);
    assert_eq!(stats.refused[&RefusalReason::Auth], 15);
}

/// Runs futures at once.
async fn join_all<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut futures: Vec<_> = futures.into_iter().map(Box::pin).collect();
    let mut done: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        for (future, done) in futures.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(output) = future.as_mut().poll(cx)
            {
                *done = Some(output);
            }
        }
        if done.iter().all(Option::is_some) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    done.into_iter().flatten().collect()
}

#[tokio::test]
async fn a_request_that_hides_another_is_answered_once() {
    let front = strict().await;
    let hidden = String::from_utf8(call().bytes()).unwrap();
    // The lengths lead a careless proxy to the end of the hidden request, and us to its beginning.
    let list = Ask::modern("tools/list", json!({}));
    let body = String::from_utf8(list.bytes()).unwrap();
    let body = body.split_once("\r\n\r\n").unwrap().1.to_owned();
    let chunks = format!("{:x}\r\n{body}\r\n0\r\n\r\n{hidden}", body.len());
    let length = chunks.len().to_string();
    let both = |first: (&str, &str), second: (&str, &str)| {
        let ask = list
            .clone()
            .header(first.0, first.1)
            .header(second.0, second.1);
        ask.body(chunks.clone()).bytes()
    };
    let (te, cl) = (
        ("Transfer-Encoding", "chunked"),
        ("Content-Length", length.as_str()),
    );
    for bytes in [both(te, cl), both(cl, te), both(te, ("X-Other", "x"))] {
        let answers = answers(&front, &bytes).await;
        assert_eq!(answers.len(), 1, "{answers:?}");
        assert_eq!(
            answers[0].header("connection"),
            Some("close"),
            "{answers:?}"
        );
    }
    assert_eq!(
        front.record.count("tools/call"),
        0,
        "the hidden call went nowhere"
    );
}

#[tokio::test]
async fn lines_that_end_without_a_return_are_one_request_at_most() {
    let front = strict().await;
    let text = String::from_utf8(call().without("Authorization").bytes()).unwrap();
    let answers = answers(&front, text.replace("\r\n", "\n").as_bytes()).await;
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [401], "{answers:?}");
    assert_eq!(front.record.count("tools/call"), 0);
}

#[tokio::test]
async fn a_strangers_body_is_not_read() {
    let front = strict().await;
    let mut connection = front.connect().await;
    let ask = call()
        .without("Authorization")
        .header("Content-Length", "60000");
    connection
        .send(format!("{}\r\n", ask.head()).as_bytes())
        .await;
    let answer = connection.answer().await.unwrap();
    assert_eq!(
        (answer.status, answer.header("connection")),
        (401, Some("close"))
    );
    connection.until_closed().await;
}

#[tokio::test]
async fn slow_clients_are_closed_while_others_are_served() {
    let front = strict().await;
    let mut heads = Vec::new();
    let mut bodies = Vec::new();
    let bytes = call().bytes();
    for _ in 0..20 {
        let mut connection = front.connect().await;
        connection
            .send(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            .await;
        heads.push(connection);
        let mut connection = front.connect().await;
        connection.send(&bytes[..bytes.len() - 20]).await;
        bodies.push(connection);
    }
    for number in 0..10 {
        let text = number.to_string();
        assert_eq!(front.ask(&Ask::modern_echo(&text)).await.text(), text);
        // Drop by drop: that does not give them more time.
        for connection in heads.iter_mut().chain(&mut bodies) {
            connection.send(b"x").await;
        }
    }
    for connection in &mut heads {
        assert!(connection.answer().await.is_none());
    }
    for connection in &mut bodies {
        assert_eq!(connection.answer().await.unwrap().status, 408);
        connection.until_closed().await;
    }
    let calls = front.record.count("tools/call");
    assert_eq!(calls, 10, "none of theirs");
}

#[tokio::test]
async fn a_client_that_never_reads_is_closed() {
    let front = front_with(|_, gateway| {
        gateway.limits.write_time = Duration::from_millis(300);
    })
    .await;
    let message = "x".repeat(1 << 20);
    let bytes = Ask::modern_echo(&message).bytes();
    let stream = tokio::net::TcpStream::connect(front.address).await.unwrap();
    let (reader, mut writer) = stream.into_split();
    let flood = async {
        // Until the gateway has closed it: nothing is read meanwhile.
        while tokio::io::AsyncWriteExt::write_all(&mut writer, &bytes)
            .await
            .is_ok()
        {}
    };
    within("the connection to close", flood).await;
    drop(reader);
    assert_eq!(front.ask(&Ask::modern_echo("next")).await.text(), "next");
}

#[tokio::test]
async fn a_hundred_thousand_session_attempts_stay_within_the_caps() {
    let front = front_with(|_, gateway| gateway.limits.sessions = 100).await;
    // Without sockets, which would take most of the time.
    let attempt = Ask::initialize("2025-11-25");
    let mut opened = 0;
    for _ in 0..100_000 {
        let answer = front.service.clone().handle(attempt.request()).await;
        match answer.status().as_u16() {
            200 => opened += 1,
            status => assert_eq!(status, 503),
        }
    }
    assert_eq!(opened, 100);
    let stats = front.service.stats();
    assert_eq!(stats.sessions, 100);
    assert_eq!(stats.refused[&RefusalReason::Full], 99_900);
    assert_eq!(
        front.ask(&Ask::modern_echo("neighbour")).await.text(),
        "neighbour"
    );
}

#[tokio::test]
async fn clients_that_leave_early_leave_nothing_behind() {
    let front = strict().await;
    let bytes = call().bytes();
    for cut in (0..bytes.len()).step_by(7) {
        let mut connection = front.connect().await;
        connection.send(&bytes[..cut]).await;
        drop(connection);
    }
    // All of them were accepted before this one.
    assert_eq!(front.ask(&Ask::modern_echo("x")).await.text(), "x");
    assert_eq!(front.record.count("tools/call"), 1);
    let accepted = u64::try_from(bytes.len().div_ceil(7) + 1).unwrap();
    until("all connections to be counted", || {
        front.service.stats().connections == accepted
    })
    .await;
}

#[tokio::test]
async fn a_cursor_that_was_made_up_is_refused() {
    let front = strict().await;
    for cursor in [
        "",
        "1",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ] {
        let answer = front
            .ask(&Ask::modern("tools/list", json!({"cursor": cursor})))
            .await;
        assert_eq!(answer.code(), -32602, "{cursor}");
    }
    let mut connection: Connection = front.connect().await;
    assert_eq!(connection.ask(&call()).await.text(), "hostile");
}
