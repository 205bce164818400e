//! The server that misbehaves, over HTTP: each fault does what its sentence says, and no more.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use switchboard_testkit::Options;
use switchboard_testkit::http::{Answers, Http, Server, Transport};
use tokio::net::TcpStream;

use crate::http::client::{BOTH, JSON, Legacy, Modern, send};

pub(crate) async fn faulty(faults: &[&str]) -> Server {
    faulty_with(faults, |http| http).await
}

pub(crate) async fn faulty_with(faults: &[&str], change: impl FnOnce(Http) -> Http) -> Server {
    let options = Options {
        chaos: faults.iter().map(|fault| fault.parse().unwrap()).collect(),
        ..Options::default()
    };
    change(Http::new(options)).serve().await.unwrap()
}

pub(crate) fn echo() -> Modern {
    Modern::call("echo", json!({"message": "hello"}))
}

/// Shows that the fault does not strike everything.
pub(crate) async fn still_works(server: &Server) {
    let answer = Modern::new("tools/list", json!({})).send(server).await;
    assert_eq!(answer.status, 200);
    assert!(answer.json().await["result"]["tools"].is_array());
}

#[tokio::test]
async fn statuses_come_as_they_were_ordered() {
    let server = faulty(&["status=418@echo"]).await;
    let answer = echo().send(&server).await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (418, Some("text/plain"))
    );
    assert_eq!(
        Modern::call("get_time", json!({}))
            .send(&server)
            .await
            .status,
        200
    );
    let server = faulty(&["status=500@server/discover"]).await;
    assert_eq!(
        Modern::new("server/discover", json!({}))
            .send(&server)
            .await
            .status,
        500
    );
    still_works(&server).await;
    let server = faulty(&["status=401@*"]).await;
    assert_eq!(send(&server, "GET", "/mcp", &[BOTH], "").await.status, 401);
    let server = faulty(&["status"]).await;
    assert_eq!(echo().send(&server).await.status, 503);
    still_works(&server).await;
}

#[tokio::test]
async fn what_is_too_much_is_fine_the_next_time() {
    let server = faulty(&["429-retry-after=7"]).await;
    let answer = echo().send(&server).await;
    assert_eq!(
        (answer.status, answer.header("retry-after")),
        (429, Some("7"))
    );
    assert_eq!(echo().send(&server).await.status, 200);
    assert_eq!(echo().send(&server).await.status, 429);
    let server = faulty(&["503-flap=2"]).await;
    for status in [503, 503, 200, 503, 503, 200] {
        assert_eq!(echo().send(&server).await.status, status);
    }
}

#[tokio::test]
async fn sessions_are_forgotten_and_can_be_begun_anew() {
    for (fault, status) in [("404-session", 404), ("session-400", 400)] {
        let server = faulty(&[fault]).await;
        for _ in 0..2 {
            let client = Legacy::open(&server, "2025-11-25").await;
            assert_eq!(client.call("get_time", json!({})).await.status, 200);
            let answer = client.call("get_time", json!({})).await;
            assert_eq!(answer.status, status);
            assert!(answer.text().await.to_lowercase().contains("session"));
            assert_eq!(client.get(None).await.status, status);
        }
    }
}

#[tokio::test]
async fn there_may_be_no_stream_to_get() {
    let server = faulty(&["405-get"]).await;
    let client = Legacy::open(&server, "2025-11-25").await;
    assert_eq!(client.get(None).await.status, 405);
    assert_eq!(client.call("get_time", json!({})).await.status, 200);
}

#[tokio::test]
async fn redirects_lead_where_they_say() {
    let elsewhere = |server: &Server| server.requests().iter().any(|request| request.elsewhere);
    for (fault, status, location) in [
        ("redirect", 307, "/mcp/moved"),
        ("redirect=303", 303, "/mcp/moved"),
        ("redirect-loop=308", 308, "/mcp"),
        ("redirect-chain", 307, "/mcp/hop/1"),
        ("redirect-downgrade", 307, "http://127.0.0.1/mcp/moved"),
        (
            "redirect-to-metadata=302",
            302,
            "http://169.254.169.254/latest/meta-data/",
        ),
    ] {
        let server = faulty(&[fault]).await;
        let answer = echo().send(&server).await;
        assert_eq!(
            (answer.status, answer.header("location")),
            (status, Some(location)),
            "{fault}"
        );
        still_works(&server).await;
    }
    let request = echo();
    let mut headers = vec![JSON, BOTH];
    headers.extend(
        request
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str())),
    );
    let body = request.body.to_string();
    let server = faulty(&["redirect"]).await;
    assert_eq!(
        send(&server, "POST", "/mcp/moved", &headers, &body)
            .await
            .status,
        200
    );
    let server = faulty(&["redirect-chain=2"]).await;
    assert_eq!(
        send(&server, "POST", "/mcp/hop/1", &headers, &body)
            .await
            .status,
        307
    );
    assert_eq!(
        send(&server, "POST", "/mcp/hop/2", &headers, &body)
            .await
            .status,
        200
    );
    let server = faulty(&["redirect-other-origin"]).await;
    let answer = echo().send(&server).await;
    let location = answer.header("location").unwrap().to_owned();
    let address = location
        .strip_prefix("http://")
        .unwrap()
        .strip_suffix("/mcp")
        .unwrap();
    assert_ne!(address, server.addr().to_string());
    assert!(!elsewhere(&server));
    let stream = tokio::io::BufReader::new(TcpStream::connect(address).await.unwrap());
    let answer = crate::http::client::send_on(stream, "POST", "/mcp", &headers, &body).await;
    assert_eq!(answer.status, 200);
    assert!(elsewhere(&server));
}

#[tokio::test]
async fn slow_answers_are_slow() {
    for (fault, at_least) in [
        ("slow-headers=1", 1000),
        ("slow-body=1", 1000),
        ("slow-loris=2", 400),
    ] {
        let server = faulty(&[fault]).await;
        let start = Instant::now();
        let answer = echo().send(&server).await;
        let headers = start.elapsed();
        assert_eq!(
            headers >= Duration::from_secs(1),
            fault == "slow-headers=1",
            "{fault}"
        );
        assert_eq!(answer.json().await["result"]["content"][0]["text"], "hello");
        assert!(
            start.elapsed() >= Duration::from_millis(at_least),
            "{fault}"
        );
    }
}

#[tokio::test]
async fn answers_break_off_in_the_middle() {
    for answers in [Answers::Json, Answers::Sse] {
        let server = faulty_with(&["truncate"], |http| http.answers(answers)).await;
        let answer = echo().send(&server).await;
        let broken = answer.finish().await.0.unwrap_err();
        assert_eq!(broken.kind(), std::io::ErrorKind::UnexpectedEof);
        let server = faulty_with(&["reset-midway"], |http| http.answers(answers)).await;
        let answer = echo().send(&server).await;
        let broken = answer.finish().await.0.unwrap_err();
        assert_eq!(broken.kind(), std::io::ErrorKind::ConnectionReset);
    }
}

#[tokio::test]
async fn a_stream_can_end_without_the_answer() {
    let server = faulty(&["sse-no-final"]).await;
    let answer = echo().send(&server).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert!(answer.finish().await.0.unwrap().starts_with(b": nothing"));
    let client = Legacy::open(&server, "2025-11-25").await;
    let events = client.call("get_time", json!({})).await.events().await;
    assert!(
        events
            .iter()
            .all(|event| event.id.is_none() && event.data.is_empty())
    );
}

#[tokio::test]
async fn an_answer_waits_for_whoever_comes_back() {
    for (fault, broken, retry) in [("sse-drop", true, 500), ("sse-retry=300", false, 300)] {
        let server = faulty(&[fault]).await;
        let client = Legacy::open(&server, "2025-11-25").await;
        let mut stream = client.call("echo", json!({"message": "hello"})).await;
        let event = stream.event().await.unwrap();
        assert_eq!((event.retry, event.data.as_str()), (Some(retry), ""));
        assert_eq!(stream.finish().await.0.is_err(), broken, "{fault}");
        let mut resumed = client.get(event.id.as_deref()).await;
        let answer = resumed.message().await.unwrap();
        assert_eq!(answer["result"]["content"][0]["text"], "hello");
        assert_eq!(resumed.event().await, None);
        let modern = echo().send(&server).await;
        assert_eq!(modern.finish().await.0.is_err(), broken, "{fault}");
    }
}

#[tokio::test]
async fn streams_end_again_and_again() {
    let server = faulty(&["sse-flap=3"]).await;
    let client = Legacy::open(&server, "2025-11-25").await;
    let mut stream = client.call("echo", json!({"message": "hello"})).await;
    for _ in 0..3 {
        let event = stream.event().await.unwrap();
        assert!(stream.message().await.is_none());
        stream = client.get(event.id.as_deref()).await;
    }
    let answer = stream.message().await.unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "hello");
}

#[tokio::test]
async fn too_much_is_as_much_as_was_ordered() {
    const MIB: usize = 1024 * 1024;
    let server = faulty(&["sse-huge-event=2"]).await;
    let answer = echo().send(&server).await.message_bytes().await;
    assert!(answer > 2 * MIB);
    let server = faulty(&["huge-body=3"]).await;
    let answer = echo().send(&server).await.json().await;
    assert_eq!(
        answer["result"]["content"][0]["text"]
            .as_str()
            .map(str::len),
        Some(3 * MIB)
    );
    let server = faulty(&["huge-error-body=1"]).await;
    let answer = echo().send(&server).await;
    assert_eq!(answer.status, 500);
    assert_eq!(answer.finish().await.0.unwrap().len(), MIB);
    let server = faulty(&["huge-headers=64"]).await;
    let answer = echo().send(&server).await;
    let size: usize = answer.headers.iter().map(|(_, value)| value.len()).sum();
    assert!(size >= 64_000);
    let server = faulty(&["sse-comment-flood=1000"]).await;
    let text = echo().send(&server).await.text().await;
    assert_eq!(
        text.lines().filter(|line| line.starts_with(':')).count(),
        1000
    );
    assert!(text.contains("hello"));
}

#[tokio::test]
async fn a_bomb_is_small_until_it_is_unpacked() {
    let server = faulty(&["gzip-bomb=16"]).await;
    let answer = echo().send(&server).await;
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    let packed = answer.finish().await.0.unwrap();
    assert!(packed.len() < 160 * 1024, "{}", packed.len());
    let mut unpack = Command::new("python3")
        .args([
            "-c",
            "import gzip,json,sys; d=gzip.decompress(sys.stdin.buffer.read()); \
            print(len(json.loads(d)['result']['content'][0]['text']))",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    unpack.stdin.take().unwrap().write_all(&packed).unwrap();
    let unpacked = unpack.wait_with_output().unwrap();
    let length: usize = String::from_utf8(unpacked.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert!(
        (16 * 1024 * 1024..16 * 1024 * 1024 + 4096).contains(&length),
        "{length}"
    );
}

#[tokio::test]
async fn answers_that_are_none_look_like_answers() {
    let server = faulty(&["wrong-content-type"]).await;
    let answer = echo().send(&server).await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, Some("text/html"))
    );
    let server = faulty(&["empty-200"]).await;
    let answer = echo().send(&server).await;
    assert_eq!(
        (answer.status, answer.header("content-length")),
        (200, Some("0"))
    );
    let server = faulty(&["202-to-request"]).await;
    assert_eq!(echo().send(&server).await.status, 202);
    still_works(&server).await;
    let server = faulty(&["foreign-error-id"]).await;
    let answer = echo().send(&server).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json().await["id"], "server-error");
}

#[tokio::test]
async fn messages_may_be_wanted_elsewhere() {
    let server = faulty_with(&["endpoint-other-origin"], |http| {
        http.transport(Transport::Sse)
    })
    .await;
    let accept = [("accept", "text/event-stream")];
    let mut stream = send(&server, "GET", "/sse", &accept, "").await;
    let endpoint = stream.event().await.unwrap().data;
    assert!(endpoint.starts_with("http://127.0.0.1:"), "{endpoint}");
    assert!(!endpoint.contains(&server.addr().to_string()));
}
