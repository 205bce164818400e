//! Server-sent events.

use std::io;

use hyper::body::Bytes;

use super::body::Pipe;
use super::channel::Reader;
use crate::chaos::Act;

/// Size of one write of repeated bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// The formatting of an event stream.
#[derive(Debug, Clone, Default)]
pub(super) struct Looks {
    /// Events have ids, so a client can resume.
    pub(super) ids: bool,
    /// The stream begins with an event that has only an id.
    pub(super) primed: bool,
    /// The reconnect wait of the client, in milliseconds.
    pub(super) retry: Option<u64>,
    pub(super) crlf: bool,
    pub(super) bom: bool,
    pub(super) bytewise: bool,
    /// The number of empty lines before each event.
    pub(super) blank_lines: u64,
    /// An event of another type comes before each.
    pub(super) noise: bool,
}

impl Looks {
    fn end(&self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }

    /// Formats an event from its fields.
    pub(super) fn fields(&self, fields: &[(&str, String)]) -> String {
        let end = self.end();
        let mut text = String::new();
        for (name, value) in fields {
            text.push_str(&format!("{name}: {value}{end}"));
        }
        text.push_str(end);
        text
    }
}

/// The form in which one message is written.
pub(super) enum Shape<'a> {
    /// A body of its own.
    Plain,
    /// Events, each with this id.
    Events {
        looks: &'a Looks,
        id: Option<String>,
    },
}

/// Writes messages to a body.
pub(super) struct Writer<'a> {
    pub(super) pipe: &'a Pipe,
    pub(super) shape: Shape<'a>,
    inside: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(pipe: &'a Pipe, shape: Shape<'a>) -> Self {
        Self {
            pipe,
            shape,
            inside: false,
        }
    }

    /// Writes one message from its acts.
    pub(super) async fn acts(&mut self, acts: &[Act]) {
        for act in acts {
            self.act(act).await;
        }
        self.finish().await;
    }

    async fn act(&mut self, act: &Act) {
        match act {
            Act::Bytes(bytes) | Act::Bytewise(bytes) => self.write(bytes).await,
            Act::Fill(pattern, count) => {
                let chunk = pattern.repeat(CHUNK_BYTES.div_ceil(pattern.len().max(1)));
                let mut left = *count;
                while left > 0 {
                    let wanted = usize::try_from(left).unwrap_or(usize::MAX);
                    let part = chunk.get(..wanted).unwrap_or(&chunk);
                    self.write(part).await;
                    left = left.saturating_sub(part.len() as u64);
                }
            }
            Act::Repeat(count, line) => {
                let mut lines = String::new();
                for number in 1..=*count {
                    lines.push_str(&line(number));
                    lines.push('\n');
                    if lines.len() >= CHUNK_BYTES || number == *count {
                        self.write(lines.as_bytes()).await;
                        lines.clear();
                    }
                }
            }
            // Handled before they get here, or without meaning for HTTP.
            Act::Every(..)
            | Act::Later(..)
            | Act::Wait(..)
            | Act::Stderr(..)
            | Act::CloseOutput
            | Act::End(..) => {}
        }
    }

    async fn write(&mut self, bytes: &[u8]) {
        let Shape::Events { looks, id } = &self.shape else {
            self.pipe.send(Bytes::copy_from_slice(bytes)).await;
            return;
        };
        let end = looks.end();
        let mut out = Vec::with_capacity(bytes.len() + 64);
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !self.inside {
                self.inside = true;
                for _ in 0..looks.blank_lines {
                    out.extend_from_slice(end.as_bytes());
                }
                if looks.noise {
                    let noise = format!("event: noise{end}data: about to say something{end}{end}");
                    out.extend_from_slice(noise.as_bytes());
                }
                let id = id
                    .as_ref()
                    .map_or_else(String::new, |id| format!("id: {id}{end}"));
                let head = format!("event: message{end}{id}data: ");
                out.extend_from_slice(head.as_bytes());
            }
            match piece.strip_suffix(b"\n") {
                Some(line) => {
                    out.extend_from_slice(line);
                    out.extend_from_slice(end.as_bytes());
                    out.extend_from_slice(end.as_bytes());
                    self.inside = false;
                }
                None => out.extend_from_slice(piece),
            }
        }
        if looks.bytewise {
            for byte in out {
                self.pipe.send(vec![byte]).await;
                // Let other tasks run, or all bytes would be sent at once.
                tokio::task::yield_now().await;
            }
        } else {
            self.pipe.send(out).await;
        }
    }

    async fn finish(&mut self) {
        if self.inside {
            if let Shape::Events { looks, .. } = &self.shape {
                self.pipe.send(looks.end().repeat(2)).await;
            }
            self.inside = false;
        }
    }
}

/// The event id of the reader's position, from which a client can resume.
pub(super) fn event_id(reader: &Reader) -> String {
    format!("{}-{}", reader.channel.number, reader.position())
}

/// Parses an event id into channel and position.
pub(super) fn read_id(id: &str) -> Option<(u64, u64)> {
    let (channel, position) = id.split_once('-')?;
    Some((channel.parse().ok()?, position.parse().ok()?))
}

/// Writes the start of a stream.
pub(super) async fn begin(pipe: &Pipe, looks: &Looks, reader: &Reader) {
    if looks.bom {
        pipe.send("\u{feff}").await;
    }
    let mut fields = Vec::new();
    if looks.primed && looks.ids {
        fields.push(("id", event_id(reader)));
    }
    if let Some(time) = looks.retry {
        fields.push(("retry", time.to_string()));
    }
    if looks.primed && looks.ids {
        fields.push(("data", String::new()));
    }
    if !fields.is_empty() {
        pipe.send(looks.fields(&fields)).await;
    }
}

/// Writes all entries as events, until the channel ends.
pub(super) async fn pour(pipe: &Pipe, looks: &Looks, reader: &mut Reader) -> io::Result<()> {
    begin(pipe, looks, reader).await;
    while let Some(entry) = reader.next().await {
        let id = looks.ids.then(|| event_id(reader));
        let shape = Shape::Events { looks, id };
        Writer::new(pipe, shape).acts(&entry.acts).await;
    }
    Ok(())
}
