//! The server as a part of somebody's tests.

use serde_json::json;
use tokio::io::BufReader;
use tokio::net::TcpStream;

use crate::http::client::{BOTH, JSON, Legacy, Modern, send_on};
use crate::http::plain;

#[tokio::test]
async fn requests_are_remembered_with_all_that_they_had() {
    let server = plain().await;
    Modern::call("echo", json!({"message": "hello"}))
        .send(&server)
        .await;
    let requests = server.requests();
    let [request] = requests.as_slice() else {
        panic!("{requests:?}");
    };
    assert_eq!((request.number, request.connection), (1, 1));
    assert_eq!(
        (request.method.as_str(), request.path.as_str()),
        ("POST", "/mcp")
    );
    assert_eq!(request.header("MCP-NAME"), Some("echo"));
    assert_eq!(request.rpc_method(), "tools/call");
    assert_eq!(request.json()["params"]["arguments"]["message"], "hello");
    assert!(!request.elsewhere);
    server.forget_requests();
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn connections_are_counted_however_many_requests_they_carry() {
    let server = plain().await;
    let mut stream = BufReader::new(TcpStream::connect(server.addr()).await.unwrap());
    for _ in 0..3 {
        let list = Modern::new("tools/list", json!({}));
        let mut headers = vec![JSON, BOTH];
        headers.extend(
            list.headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str())),
        );
        let answer = send_on(stream, "POST", "/mcp", &headers, &list.body.to_string()).await;
        let (body, connection) = answer.finish().await;
        assert!(body.unwrap().starts_with(b"{"));
        stream = connection;
    }
    assert_eq!((server.connections(), server.requests().len()), (1, 3));
    drop(stream);
    server.until(|counts| counts.open == 0).await;
}

#[tokio::test]
async fn a_server_that_is_started_anew_has_its_port_but_not_its_sessions() {
    let mut server = plain().await;
    let (url, old) = (
        server.url(),
        Legacy::open(&server, "2025-11-25").await.session,
    );
    server.stop().await;
    assert!(TcpStream::connect(server.addr()).await.is_err());
    server.restart().await.unwrap();
    assert_eq!(server.url(), url);
    let mut client = Legacy::open(&server, "2025-11-25").await;
    client.session = old;
    assert_eq!(client.call("get_time", json!({})).await.status, 404);
    assert_eq!(server.requests().len(), 5);
    server.shutdown().await;
}

#[tokio::test]
async fn a_server_that_ends_breaks_its_streams() {
    let server = plain().await;
    let client = Legacy::open(&server, "2025-11-25").await;
    let mut stream = client.get(None).await;
    stream.event().await.unwrap();
    server.stop().await;
    assert_eq!(stream.event().await, None);
    assert_eq!(server.counts().running, 0);
}
