//! A model API on this machine, to test clients against.
//!
//! [`openai`] and [`anthropic`] check requests as strictly as the real APIs, and answer in the same
//! form; [`Given`] is for any other answer. All requests are recorded.

mod anthropic;
mod openai;

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

pub use anthropic::anthropic;
pub use openai::openai;

/// The API key that both accept.
pub const KEY: &str = "sk-test-canary-0123456789";

/// Maximum length of a request.
const MOST_BYTES: usize = 64 << 20;

/// A recorded request.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The HTTP method.
    pub method: String,
    /// The path.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body; null if it is not JSON.
    pub body: Value,
}

impl Asked {
    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The status.
    pub status: u16,
    /// Headers beside the usual ones.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The answer never comes.
    pub never: bool,
}

impl Given {
    /// A JSON answer.
    pub fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.to_string().into_bytes(),
            never: false,
        }
    }

    /// No answer at all.
    pub fn never() -> Self {
        Self {
            never: true,
            ..Self::json(200, &Value::Null)
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

type AnswerFn = dyn Fn(&Asked) -> Given + Send + Sync;

/// A running API; dropping it ends it.
pub struct ModelApi {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    is_over: Arc<AtomicBool>,
}

impl ModelApi {
    /// Starts an API with this behaviour, on a free port.
    ///
    /// # Errors
    /// Fails when there is no free port.
    pub fn start(answer: impl Fn(&Asked) -> Given + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let api = Self {
            address: listener.local_addr()?,
            asked: Arc::default(),
            is_over: Arc::default(),
        };
        let (asked, is_over) = (Arc::clone(&api.asked), Arc::clone(&api.is_over));
        let answer: Arc<AnswerFn> = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                let (asked, answer) = (Arc::clone(&asked), Arc::clone(&answer));
                if let Ok(stream) = stream {
                    // A client that goes away in the middle needs no answer.
                    std::thread::spawn(move || serve(stream, &asked, &*answer).ok());
                }
            }
        });
        Ok(api)
    }

    /// The base URL, without a trailing slash.
    pub fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Asked> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.clone()
    }
}

impl Drop for ModelApi {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wake the accepting thread, so that it ends.
        drop(TcpStream::connect(self.address));
    }
}

fn serve(mut stream: TcpStream, asked: &Mutex<Vec<Asked>>, answer: &AnswerFn) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let request = read(&mut reader)?;
    // Recorded before the answer is sent: a test that has its answer finds the request.
    let given = answer(&request);
    asked
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(request);
    if given.never {
        // Until the client gives up.
        reader.read_to_end(&mut Vec::new())?;
        return Ok(());
    }
    let mut head = format!(
        "HTTP/1.1 {} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n",
        given.status,
        given.body.len()
    );
    for (name, value) in &given.headers {
        head += &format!("{name}: {value}\r\n");
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    stream.write_all(&given.body)
}

fn read(reader: &mut impl io::BufRead) -> io::Result<Asked> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next(), words.next());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers
        .get("content-length")
        .and_then(|length| length.parse().ok());
    let length: usize = length.unwrap_or(0).min(MOST_BYTES);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Asked {
        method: method.unwrap_or_default(),
        path: path.unwrap_or_default(),
        headers,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    })
}

/// The first key of an object that is not among the known ones.
fn unknown<'v>(value: &'v Value, known: &[&str]) -> Option<&'v str> {
    let mut keys = value.as_object()?.keys().map(String::as_str);
    keys.find(|key| !known.contains(key))
}
