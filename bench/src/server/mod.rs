//! A server that does as little as it can, so that what is measured is the client.
//!
//! It reads all there is, answers each line from prepared text with the id copied in, and writes
//! the answers of one read with one write. It speaks one era: legacy (2025-11-25) or modern
//! (2026-07-28).

mod scan;
mod tools;

use std::cell::OnceCell;
use std::io::{self, Read, Write};

use crate::facts::Big;
use scan::members;
#[cfg(feature = "ours")]
pub(crate) use tools::tool as tool_text;

const READ_BYTES: usize = 256 << 10;
const INFO: &str = r#"{"name":"bench-server","version":"1"}"#;

/// The era that a server speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Era {
    /// `initialize` first; knows no `server/discover`.
    Legacy,
    /// `server/discover` is answered, results say their type.
    Modern,
}

/// The answers, prepared when first asked for.
pub struct Server {
    era: Era,
    tool_count: usize,
    lists_echo: bool,
    list: OnceCell<Vec<u8>>,
    plain: OnceCell<Vec<u8>>,
    lines: OnceCell<Vec<u8>>,
}

/// The members of a request that an answer needs. Absent members are empty.
#[derive(Default)]
struct Request<'a> {
    id: &'a [u8],
    method: &'a [u8],
    params: &'a [u8],
}

impl Server {
    /// Has the tool that echoes in the list as well.
    #[must_use]
    pub fn listing_echo(mut self) -> Self {
        self.lists_echo = true;
        self
    }

    /// A server with `tool_count` tools in its list.
    pub fn new(era: Era, tool_count: usize) -> Self {
        Self {
            era,
            tool_count,
            lists_echo: false,
            list: OnceCell::new(),
            plain: OnceCell::new(),
            lines: OnceCell::new(),
        }
    }

    /// Serves until the input ends.
    ///
    /// # Errors
    /// Returns the error of reading or writing.
    pub fn serve(&self, mut input: impl Read, mut output: impl Write) -> io::Result<()> {
        let mut held = Vec::new();
        let mut chunk = vec![0; READ_BYTES];
        let mut out = Vec::with_capacity(READ_BYTES);
        loop {
            let length = input.read(&mut chunk)?;
            let Some(read) = chunk.get(..length).filter(|read| !read.is_empty()) else {
                return Ok(());
            };
            let Some(last) = memchr::memrchr(b'\n', read) else {
                held.extend_from_slice(read);
                continue;
            };
            let (whole, rest) = read.split_at(last + 1);
            if held.is_empty() {
                self.answer_lines(whole, &mut out);
            } else {
                held.extend_from_slice(whole);
                self.answer_lines(&held, &mut out);
                held.clear();
            }
            held.extend_from_slice(rest);
            output.write_all(&out)?;
            out.clear();
        }
    }

    fn answer_lines(&self, mut lines: &[u8], out: &mut Vec<u8>) {
        while let Some(end) = memchr::memchr(b'\n', lines) {
            let (line, rest) = lines.split_at(end);
            self.answer(line, out);
            lines = rest.get(1..).unwrap_or_default();
        }
    }

    /// Appends the answer to one message and the end of its line; nothing where none is owed.
    pub(crate) fn answer(&self, line: &[u8], out: &mut Vec<u8>) {
        let mut request = Request::default();
        let walked = members(line, |key, value| match key {
            b"id" => request.id = value,
            b"method" => request.method = value,
            b"params" => request.params = value,
            _ => {}
        });
        // Notifications, answers and noise have no id and method both: nothing is owed.
        if walked.is_none() || request.id.is_empty() || request.method.is_empty() {
            return;
        }
        match request.method {
            br#""tools/call""# => self.call(&request, out),
            br#""tools/list""# => reply(out, request.id, self.list.get_or_init(|| self.listed())),
            br#""initialize""# if self.era == Era::Legacy => {
                let result = format!(
                    r#"{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{INFO}}}"#
                );
                reply(out, request.id, result.as_bytes());
            }
            br#""server/discover""# if self.era == Era::Modern => {
                let result = format!(
                    r#"{{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{}}}},"ttlMs":0,"cacheScope":"public","_meta":{{"io.modelcontextprotocol/serverInfo":{INFO}}}}}"#
                );
                reply(out, request.id, result.as_bytes());
            }
            br#""ping""# => reply(out, request.id, b"{}"),
            _ => refuse(out, request.id, "-32601", "method not found"),
        }
    }

    fn call(&self, request: &Request<'_>, out: &mut Vec<u8>) {
        let (mut name, mut arguments) = (&b""[..], &b""[..]);
        // A walk that fails leaves the name empty or unknown, which is refused below.
        let _ = members(request.params, |key, value| match key {
            b"name" => name = value,
            b"arguments" => arguments = value,
            _ => {}
        });
        match name {
            br#""echo""# => {
                let mut message = &b"\"\""[..];
                let _ = members(arguments, |key, value| {
                    if key == b"message" {
                        message = value;
                    }
                });
                open(out, request.id);
                self.text_result(out, message);
                out.extend_from_slice(b"}\n");
            }
            br#""big""# => reply(out, request.id, self.big(&self.plain, Big::Plain)),
            br#""big_lines""# => reply(out, request.id, self.big(&self.lines, Big::Lines)),
            _ => refuse(out, request.id, "-32602", "unknown tool"),
        }
    }

    fn result_type(&self) -> &'static [u8] {
        match self.era {
            Era::Legacy => b"",
            Era::Modern => br#""resultType":"complete","#,
        }
    }

    /// A result whose one text is `text`, a JSON string as spelled.
    fn text_result(&self, out: &mut Vec<u8>, text: &[u8]) {
        out.push(b'{');
        out.extend_from_slice(self.result_type());
        out.extend_from_slice(br#""content":[{"type":"text","text":"#);
        out.extend_from_slice(text);
        out.extend_from_slice(br#"}],"isError":false}"#);
    }

    fn big<'a>(&self, held: &'a OnceCell<Vec<u8>>, big: Big) -> &'a [u8] {
        held.get_or_init(|| {
            let mut out = Vec::new();
            // Nothing but line breaks needs an escape in these texts.
            let spelled = big.text().replace('\n', "\\n");
            self.text_result(&mut out, format!("\"{spelled}\"").as_bytes());
            out
        })
    }

    fn listed(&self) -> Vec<u8> {
        let mut out = b"{".to_vec();
        out.extend_from_slice(self.result_type());
        if self.era == Era::Modern {
            // No time to live: a cache must not answer in the server's place.
            out.extend_from_slice(br#""ttlMs":0,"cacheScope":"public","#);
        }
        out.extend_from_slice(br#""tools":"#);
        tools::write_array(&mut out, self.tool_count, self.lists_echo);
        out.push(b'}');
        out
    }
}

fn open(out: &mut Vec<u8>, id: &[u8]) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id);
    out.extend_from_slice(br#","result":"#);
}

fn reply(out: &mut Vec<u8>, id: &[u8], result: &[u8]) {
    open(out, id);
    out.extend_from_slice(result);
    out.extend_from_slice(b"}\n");
}

fn refuse(out: &mut Vec<u8>, id: &[u8], code: &str, why: &str) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id);
    out.extend_from_slice(
        format!(",\"error\":{{\"code\":{code},\"message\":\"{why}\"}}}}\n").as_bytes(),
    );
}

#[cfg(test)]
mod tests;
