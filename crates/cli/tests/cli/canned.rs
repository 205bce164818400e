//! A server over HTTP that says the same to everybody.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A server that says the same to everybody, and keeps what it was asked first.
pub(crate) struct Canned {
    url: String,
    first: Arc<Mutex<Option<String>>>,
}

impl Canned {
    /// `headers` end in a line end each.
    pub(crate) fn answering(status: &str, headers: &str, body: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let answer = format!(
            "HTTP/1.1 {status}\r\n{headers}Content-Type: text/plain\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let first: Arc<Mutex<Option<String>>> = Arc::default();
        let keep = Arc::clone(&first);
        // It ends with the tests: nobody else knows its port.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                // A client may have gone.
                let Some(head) = read(&stream) else { continue };
                keep.lock().unwrap().get_or_insert(head);
                stream.write_all(answer.as_bytes()).ok();
            }
        });
        Self { url, first }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Request line and headers of the first request.
    pub(crate) fn first_request(&self) -> String {
        self.first.lock().unwrap().clone().unwrap()
    }
}

/// Reads a whole request; gives its head.
fn read(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        if line == "\r\n" {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(head)
}
