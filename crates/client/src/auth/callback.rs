//! The loopback listener that receives the browser at the end of a login.

use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use switchboard_core::secret::Secret;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use url::Url;

/// The path of the redirect URI.
const PATH: &str = "/callback";
/// Maximum length of a request head.
const HEAD_BYTES: usize = 32 * 1024;
/// Maximum time for a connection to send its request.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum number of concurrent connections; further ones wait.
const CONNECTIONS: usize = 16;

/// Waits on 127.0.0.1 for the browser to come back from a login.
///
/// Requests of web pages, for icons, or with another state get an answer and have no effect.
pub struct CallbackListener {
    listener: TcpListener,
    port: u16,
}

impl CallbackListener {
    /// Listens on the given port, or on any free one.
    ///
    /// # Errors
    /// Fails when the port is taken.
    pub async fn bind(port: Option<u16>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The redirect URI of this listener.
    pub fn redirect_uri(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the browser to arrive with this state, and returns the URL that it requested.
    ///
    /// # Errors
    /// Fails when the system accepts no connections any more.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing; it can be called again.
    pub async fn wait(&self, state: &Secret<String>) -> io::Result<Secret<String>> {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if connections.len() < CONNECTIONS => {
                    // A connection that broke before it was accepted is not a fault of ours.
                    let Ok((stream, _)) = accepted else {
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        continue;
                    };
                    let (state, port) = (state.clone(), self.port);
                    connections.spawn(async move {
                        let served = tokio::time::timeout(PATIENCE, serve(stream, port, &state));
                        served.await.ok().flatten()
                    });
                }
                Some(served) = connections.join_next() => {
                    if let Ok(Some(callback)) = served {
                        return Ok(callback);
                    }
                }
            }
        }
    }
}

impl fmt::Debug for CallbackListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallbackListener")
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

/// Answers one request; returns its URL if it is the awaited one.
async fn serve(mut stream: TcpStream, port: u16, state: &Secret<String>) -> Option<Secret<String>> {
    // Every request gets an answer; only the one with the right state ends the wait.
    let head = read_head(&mut stream).await?;
    let judged = judge(head.expose(), port, state);
    let (status, text) = match &judged {
        Judged::Callback(_) => ("200 OK", "You are back. This page can be closed."),
        Judged::Foreign => ("403 Forbidden", "This address is not for web pages."),
        Judged::OtherState => (
            "400 Bad Request",
            "This answer belongs to another login. Begin the login again.",
        ),
        Judged::NotFound => ("404 Not Found", "Nothing is here."),
    };
    let page =
        format!("<!doctype html><meta charset=\"utf-8\"><title>Switchboard</title><p>{text}</p>\n");
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\n\
         content-security-policy: default-src 'none'\r\nx-content-type-options: nosniff\r\n\
         connection: close\r\n\r\n{page}",
        page.len()
    );
    // The browser need not wait for the page: its request has all that is needed.
    if stream.write_all(answer.as_bytes()).await.is_ok() {
        stream.shutdown().await.ok();
    }
    match judged {
        Judged::Callback(url) => Some(url),
        _ => None,
    }
}

async fn read_head(stream: &mut TcpStream) -> Option<Secret<Vec<u8>>> {
    let mut head = Vec::with_capacity(1024);
    let mut chunk = [0; 1024];
    loop {
        let read = stream.read(&mut chunk).await.ok()?;
        head.extend_from_slice(chunk.get(..read)?);
        if head.windows(4).any(|window| window == b"\r\n\r\n") {
            return Some(Secret::new(head));
        }
        if read == 0 || head.len() > HEAD_BYTES {
            return None;
        }
    }
}

enum Judged {
    Callback(Secret<String>),
    Foreign,
    OtherState,
    NotFound,
}

/// Decides about a request.
fn judge(head: &[u8], port: u16, state: &Secret<String>) -> Judged {
    let Ok(text) = std::str::from_utf8(head) else {
        return Judged::NotFound;
    };
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (words.next(), words.next().unwrap_or_default());
    let header = |name: &str| {
        text.split("\r\n").skip(1).find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    };
    // DNS rebinding: a page under another host name could reach this port, so the host must be
    // ours.
    // A navigation only: a script of a web page must not be able to end a login.
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let is_host = header("host").is_some_and(|host| hosts.iter().any(|known| known == host));
    let is_navigation = header("sec-fetch-mode").is_none_or(|mode| mode == "navigate");
    if !is_host || !is_navigation || header("origin").is_some() {
        return Judged::Foreign;
    }
    if method != Some("GET") || !target.starts_with('/') {
        return Judged::NotFound;
    }
    let Ok(url) = Url::parse(&format!("http://127.0.0.1:{port}{target}")) else {
        return Judged::NotFound;
    };
    if url.path() != PATH {
        return Judged::NotFound;
    }
    let found = url.query_pairs().find(|(name, _)| name == "state");
    match found {
        Some((_, found)) if found == state.expose().as_str() => {
            Judged::Callback(Secret::new(url.to_string()))
        }
        _ => Judged::OtherState,
    }
}
