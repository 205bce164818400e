//! The listener that a browser comes back to.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;
use crate::auth::CallbackListener;

/// Sends a request as a browser would, with more headers; gives the first line of the answer.
async fn get(port: u16, target: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port))
        .await
        .expect("a connection");
    let host = if headers.contains("host:") {
        String::new()
    } else {
        format!("host: 127.0.0.1:{port}\r\n")
    };
    let request = format!("GET {target} HTTP/1.1\r\n{host}{headers}\r\n");
    stream
        .write_all(request.as_bytes())
        .await
        .expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    answer.lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn only_the_browser_with_the_right_state_is_heard() {
    let listener = CallbackListener::bind(None).await.expect("a port");
    let port = listener.port();
    assert_eq!(
        listener.redirect_uri(),
        format!("http://127.0.0.1:{port}/callback")
    );
    let waiting = tokio::spawn(async move { listener.wait(&secret("right")).await });
    let good = "/callback?code=c&state=right";
    for (target, headers, expected) in [
        ("/favicon.ico", "", "404"),
        ("/", "", "404"),
        ("/callback/x?state=right", "", "404"),
        ("/callback?code=c&state=wrong", "", "400"),
        ("/callback?code=c", "", "400"),
        (good, "origin: https://evil.example\r\n", "403"),
        (good, "sec-fetch-mode: no-cors\r\n", "403"),
        (good, "host: evil.example\r\n", "403"),
        ("http://evil.example/callback?state=right", "", "404"),
    ] {
        let line = get(port, target, headers).await;
        assert!(line.contains(expected), "{target} {headers}: {line}");
        assert!(!waiting.is_finished(), "{target} {headers}");
    }
    // One that never says anything holds up nothing.
    let silent = TcpStream::connect(("127.0.0.1", port))
        .await
        .expect("a connection");
    let line = get(port, good, "sec-fetch-mode: navigate\r\n").await;
    assert!(line.contains("200"), "{line}");
    let callback = waiting.await.expect("a task").expect("a callback");
    assert_eq!(callback.expose(), &format!("http://127.0.0.1:{port}{good}"));
    drop(silent);
}

#[tokio::test]
async fn a_port_that_is_taken_is_an_error() {
    let first = CallbackListener::bind(None).await.expect("a port");
    let taken = CallbackListener::bind(Some(first.port())).await;
    assert!(taken.is_err());
}

#[tokio::test]
async fn a_login_is_finished_with_what_the_listener_heard() {
    let net = Net::with(&[]);
    let authorizer = authorizer(&net);
    let listener = CallbackListener::bind(None).await.expect("a port");
    let login = Login::new(&authorizer);
    let options = LoginOptions::default().redirect_uri(listener.redirect_uri());
    let request = login.begin(options).await.expect("a request");
    let target = format!("/callback?code=c&state={}", request.state.expose());
    let (callback, line) = tokio::join!(
        listener.wait(&request.state),
        get(listener.port(), &target, "")
    );
    assert!(line.contains("200"), "{line}");
    login
        .finish(callback.expect("a callback").expose())
        .await
        .expect("a login");
    assert_eq!(login.registered_port().await, Ok(Some(listener.port())));
}
