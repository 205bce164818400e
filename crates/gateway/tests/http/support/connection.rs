//! A connection that sends any bytes, and reads responses as HTTP/1.1 has them.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Ask, within};

/// One response.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        match serde_json::from_str(&self.body) {
            Ok(value) => value,
            Err(error) => panic!("{error}: {self:?}"),
        }
    }

    /// The code of its JSON-RPC error.
    #[track_caller]
    pub(crate) fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap()
    }

    /// The first text of a tool's result.
    #[track_caller]
    pub(crate) fn text(&self) -> String {
        let result = &self.json()["result"];
        let text = result["content"][0]["text"].as_str();
        text.map_or_else(|| panic!("{self:?}"), str::to_owned)
    }

    pub(crate) fn session(&self) -> Option<&str> {
        self.header("mcp-session-id")
    }

    fn has_chunks(&self) -> bool {
        self.header("transfer-encoding") == Some("chunked")
    }
}

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) data: String,
}

impl Event {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap()
    }
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// One connection.
pub(crate) struct Connection {
    stream: Box<dyn Stream>,
    /// Bytes that were read and not used.
    bytes: Vec<u8>,
    /// Decoded text of a stream of events.
    events: String,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).await.unwrap())
    }

    pub(crate) fn over(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Self {
        Self {
            stream: Box::new(stream),
            bytes: Vec::new(),
            events: String::new(),
        }
    }

    /// Sends bytes. That the gateway has closed the connection shows when it is read.
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        let sent = within("the gateway to read", self.stream.write_all(bytes)).await;
        drop(sent);
        self.stream.flush().await.ok();
    }

    pub(crate) async fn ask(&mut self, ask: &Ask) -> Answer {
        self.send(&ask.bytes()).await;
        let answer = self.answer().await;
        answer.unwrap_or_else(|| panic!("no answer to {ask:?}"))
    }

    /// Reads more; returns false at the end of the connection.
    async fn more(&mut self) -> bool {
        self.bytes.reserve(16 * 1024);
        let read = self.stream.read_buf(&mut self.bytes).await;
        read.is_ok_and(|length| length > 0)
    }

    async fn line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.bytes.windows(2).position(|pair| pair == b"\r\n") {
                let line: Vec<u8> = self.bytes.drain(..end + 2).collect();
                return Some(String::from_utf8(line[..end].to_vec()).unwrap());
            }
            if !self.more().await {
                return None;
            }
        }
    }

    async fn exactly(&mut self, length: usize) -> Option<String> {
        while self.bytes.len() < length {
            if !self.more().await {
                return None;
            }
        }
        let bytes: Vec<u8> = self.bytes.drain(..length).collect();
        Some(String::from_utf8(bytes).unwrap())
    }

    /// The head of the next response; `None` if the connection ends before it.
    pub(crate) async fn head(&mut self) -> Option<Answer> {
        within("a response", async {
            loop {
                let first = self.line().await?;
                let status: u16 = first.get(9..12).unwrap().parse().unwrap();
                let mut headers = Vec::new();
                loop {
                    let line = self.line().await?;
                    let Some((name, value)) = line.split_once(": ") else {
                        break;
                    };
                    headers.push((name.to_owned(), value.to_owned()));
                }
                if status != 100 {
                    let body = String::new();
                    return Some(Answer {
                        status,
                        headers,
                        body,
                    });
                }
            }
        })
        .await
    }

    /// The next response with all of its body; `None` if the connection ends before it.
    pub(crate) async fn answer(&mut self) -> Option<Answer> {
        let mut answer = self.head().await?;
        within("the body of a response", async {
            if answer.has_chunks() {
                while let Some(chunk) = self.chunk().await {
                    answer.body.push_str(&chunk);
                }
            } else if let Some(length) = answer.header("content-length") {
                let length = length.parse().unwrap();
                answer.body = self.exactly(length).await.unwrap_or_default();
            }
        })
        .await;
        Some(answer)
    }

    /// The next chunk; `None` at the end of the body or of the connection.
    async fn chunk(&mut self) -> Option<String> {
        let length = self.line().await?;
        let length = usize::from_str_radix(&length, 16).unwrap();
        let chunk = self.exactly(length).await?;
        self.exactly(2).await?;
        (length > 0).then_some(chunk)
    }

    /// The next event of the stream whose head was read. Comments are left out; `None` at the end.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        loop {
            let text = self.block().await?;
            if text.starts_with(':') {
                continue;
            }
            let field = |name: &str| {
                let mut lines = text.lines();
                lines
                    .find_map(|line| line.strip_prefix(name))
                    .map(str::to_owned)
            };
            let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
            return Some(Event {
                id: field("id: "),
                name: field("event: "),
                data: data.collect::<Vec<_>>().join("\n"),
            });
        }
    }

    /// The next event or comment as it is.
    pub(crate) async fn block(&mut self) -> Option<String> {
        within("an event", async {
            loop {
                if let Some(end) = self.events.find("\n\n") {
                    let rest = self.events.split_off(end + 2);
                    let block = std::mem::replace(&mut self.events, rest);
                    return Some(block);
                }
                let chunk = self.chunk().await?;
                self.events.push_str(&chunk);
            }
        })
        .await
    }

    /// Waits until the gateway closes the connection, and returns what it still sent.
    pub(crate) async fn until_closed(&mut self) -> Vec<u8> {
        within("the connection to close", async {
            while self.more().await {}
        })
        .await;
        std::mem::take(&mut self.bytes)
    }
}
