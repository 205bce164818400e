//! Hostile clients beside a load: connections that never finish a request, and requests that have to be refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{interval, timeout};

use super::TOKEN;
use crate::Fault;

/// Number of connections that send a head byte by byte.
const SLOW: usize = 64;
/// The time between two bytes of a slow connection.
const BYTE_EVERY: Duration = Duration::from_millis(100);
/// The time between two requests that have to be refused.
const REQUEST_EVERY: Duration = Duration::from_millis(5);
/// The time that a refusal may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Hostile clients on a thread of their own, so that the load's clients do not wait for them.
pub(super) struct Hostile {
    ended: Arc<AtomicBool>,
    thread: JoinHandle<Result<u32, Fault>>,
}

impl Hostile {
    /// Starts them.
    pub(super) fn start(address: Arc<str>, path: String, tool: String) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ended);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(attack(&address, &requests(&address, &path, &tool), &end))
        });
        Self { ended, thread }
    }

    /// Ends them.
    ///
    /// # Errors
    /// Fails if a request was not refused, or none was sent.
    pub(super) fn end(self) -> Result<(), Fault> {
        self.ended.store(true, Ordering::Relaxed);
        match self.thread.join() {
            Ok(Ok(0)) => Err("no hostile request was sent".into()),
            Ok(refused) => refused.map(drop),
            Err(_) => Err("the hostile clients panicked".into()),
        }
    }
}

/// Sends the requests in turn until it is told to end; returns the number of refusals.
async fn attack(
    address: &Arc<str>,
    requests: &[(&str, String)],
    end: &AtomicBool,
) -> Result<u32, Fault> {
    let mut slow = JoinSet::new();
    for _ in 0..SLOW {
        slow.spawn(send_slowly(Arc::clone(address)));
    }
    let (mut refused, mut ticks) = (0, interval(REQUEST_EVERY));
    for (what, request) in requests.iter().cycle() {
        ticks.tick().await;
        if end.load(Ordering::Relaxed) {
            break;
        }
        let answered = timeout(PATIENCE, send(address, request)).await;
        match answered {
            Ok(Ok(status)) if !status.starts_with('2') => refused += 1,
            // A connection that is closed while it still sends is refused as well.
            Ok(Err(_)) => refused += 1,
            Ok(Ok(status)) => return Err(format!("{what} was answered with {status}").into()),
            Err(_) => return Err(format!("{what} was not answered").into()),
        }
    }
    Ok(refused)
}

/// Sends a head byte by byte, again and again.
async fn send_slowly(address: Arc<str>) {
    let mut ticks = interval(BYTE_EVERY);
    loop {
        let Ok(mut stream) = TcpStream::connect(&*address).await else {
            return;
        };
        for byte in b"POST /mcp HTTP/1.1\r\nx-a: "
            .iter()
            .chain([b'a'; 4096].iter())
        {
            ticks.tick().await;
            // The gateway closes it in the end, and the next one begins.
            if stream.write_all(&[*byte]).await.is_err() {
                break;
            }
        }
    }
}

/// Sends one request on a connection of its own; returns the status of the answer.
async fn send(address: &str, request: &str) -> Result<String, Fault> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await?;
    let status = answer.get(9..).unwrap_or_default();
    Ok(String::from_utf8_lossy(status).into_owned())
}

/// Requests that each break one rule.
fn requests(address: &str, path: &str, tool: &str) -> Vec<(&'static str, String)> {
    let call = super::call(crate::server::Era::Legacy, 1, tool, "never");
    let post = |head: &str, body: &str| {
        format!(
            "POST {path} HTTP/1.1\r\naccept: application/json, text/event-stream\r\n\
             content-length: {}\r\n{head}\r\n{body}",
            body.len(),
        )
    };
    let json = "content-type: application/json\r\n";
    let bearer = format!("authorization: Bearer {TOKEN}\r\n");
    let host = format!("host: {address}\r\n");
    let good = format!("{host}{json}{bearer}");
    let wrong_token = format!("{host}{json}authorization: Bearer {}\r\n", "0".repeat(32));
    let foreign_origin = format!("{good}origin: https://evil.example\r\n");
    let foreign_session = format!("{good}mcp-session-id: {}\r\n", "f".repeat(64));
    let mismatch = format!(
        "{good}mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/list\r\nmcp-name: other\r\n"
    );
    let modern = super::call(crate::server::Era::Modern, 1, tool, "never");
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let twice = call.replacen('{', r#"{"method":"ping","#, 1);
    let in_query = format!("POST {path}?access_token={TOKEN} HTTP/1.1\r\n");
    let in_query = post(&format!("{host}{json}"), &call).replacen(
        &format!("POST {path} HTTP/1.1\r\n"),
        &in_query,
        1,
    );
    vec![
        ("no token", post(&format!("{host}{json}"), &call)),
        ("a wrong token", post(&wrong_token, &call)),
        ("a token in the query", in_query),
        (
            "a foreign Host",
            post(&format!("host: evil.example\r\n{json}{bearer}"), &call),
        ),
        ("a foreign Origin", post(&foreign_origin, &call)),
        (
            "another content type",
            post(
                &format!("{host}{bearer}content-type: text/plain\r\n"),
                &call,
            ),
        ),
        ("an unknown session", post(&foreign_session, &call)),
        ("headers that say something else", post(&mismatch, &modern)),
        ("a deep body", post(&good, &deep)),
        ("a member twice", post(&good, &twice)),
        (
            "a cut body",
            post(&good, call.get(..call.len() / 2).unwrap_or_default()),
        ),
        (
            "a body of a gigabyte",
            post(&good, "").replace("content-length: 0", "content-length: 1073741824"),
        ),
    ]
}
