//! A parser for Server-Sent Events, within limits.
//!
//! [`Sse`] takes bytes as they arrive and gives out complete events. Data is copied once, into its
//! event; comments, unknown fields and everything over a limit are never held. The boundaries of
//! reads make no difference.

use std::collections::VecDeque;
use std::time::Duration;

use super::tail::{KEPT_ENDS, Tail};

/// Maximum length of an event id, which is sent back as a header. A longer one is ignored and
/// counted.
pub const ID_BYTES: usize = 8 * 1024;
/// Maximum length of an event name; the rest is dropped. Known names are far shorter.
pub const NAME_BYTES: usize = 256;
/// Maximum number of digits of `retry`, including leading zeros.
const RETRY_DIGITS: usize = 32;
/// The byte order mark that a stream may begin with.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The name; `None` for the default `message`.
    pub event: Option<String>,
    /// The data as sent, lines joined by `\n`. It need not be UTF-8.
    pub data: Vec<u8>,
    /// The id that the event carries; empty to reset the last one.
    pub id: Option<String>,
}

/// An item of the parsed stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// An event.
    Event(Event),
    /// An event without data that carries an id: it only marks a position to resume from.
    Primed {
        /// The id; empty to reset the last one.
        id: String,
    },
    /// The data of an event went over the limit; its start. The rest is dropped as it arrives.
    OverLimit {
        /// The first bytes of the data.
        head: Vec<u8>,
    },
    /// The event that went over the limit has ended.
    OverLimitEnd {
        /// The last bytes of the data.
        tail: Vec<u8>,
        /// The length of the data.
        bytes: u64,
        /// The id that the event carried.
        id: Option<String>,
    },
}

/// Collects bytes and gives out events, never holding more than the limit and one read.
///
/// A block without an empty line at its end is not an event: it is lost when the stream ends, and
/// [`Sse::is_midway`] reports that.
#[derive(Debug)]
pub struct Sse {
    limit: usize,
    /// The part of the byte order mark seen so far; `None` once the stream has begun.
    bom: Option<usize>,
    /// The last byte was a carriage return: a line feed after it belongs to it.
    after_cr: bool,
    line: Line,
    /// The value of the current line, if it is not data.
    value: Vec<u8>,
    block: Block,
    ready: VecDeque<Piece>,
    last_id: Option<String>,
    retry: Option<Duration>,
    comments: u64,
    ignored_ids: u64,
    data_bytes: u64,
}

/// The position within a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Before its first byte.
    Start,
    /// In the field name, which is collected in `value`.
    Name,
    /// Right after the colon, where one space is skipped.
    Colon(Field),
    /// In the value.
    Value(Field),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Data,
    Event,
    Id,
    Retry,
    /// A comment, or an unknown field.
    Ignored,
}

/// The event being parsed.
#[derive(Debug, Default)]
struct Block {
    name: Option<String>,
    id: Option<String>,
    data: Vec<u8>,
    has_data: bool,
    over: Option<Tail>,
}

impl Field {
    fn from_name(name: &[u8]) -> Self {
        match name {
            b"data" => Self::Data,
            b"event" => Self::Event,
            b"id" => Self::Id,
            b"retry" => Self::Retry,
            _ => Self::Ignored,
        }
    }

    /// Maximum length collected of a value: one more than permitted, so that longer ones are
    /// noticed.
    fn cap(self) -> usize {
        match self {
            Self::Event => NAME_BYTES,
            Self::Id => ID_BYTES + 1,
            Self::Retry => RETRY_DIGITS + 1,
            Self::Data | Self::Ignored => 0,
        }
    }
}

impl Sse {
    /// Creates a parser for events with up to `max_event_bytes` of data.
    pub fn new(max_event_bytes: usize) -> Self {
        Self {
            limit: max_event_bytes,
            bom: Some(0),
            after_cr: false,
            line: Line::Start,
            value: Vec::new(),
            block: Block::default(),
            ready: VecDeque::new(),
            last_id: None,
            retry: None,
            comments: 0,
            ignored_ids: 0,
            data_bytes: 0,
        }
    }

    /// Parses the next bytes of the stream. Call [`Sse::next_piece`] until it is empty before
    /// pushing more.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut rest = self.past_bom(bytes);
        while let Some((&first, after)) = rest.split_first() {
            // CR LF is one line end, even if a read ended between the two.
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                rest = after;
                continue;
            }
            // Whole stretches at a time: data lines are long.
            let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            let (part, ended) = rest.split_at(end);
            self.take_part(part);
            let Some((&byte, behind)) = ended.split_first() else {
                return;
            };
            self.after_cr = byte == b'\r';
            self.end_line();
            rest = behind;
        }
    }

    /// Returns the next piece, if the bytes so far contain one.
    pub fn next_piece(&mut self) -> Option<Piece> {
        let piece = self.ready.pop_front()?;
        let id = match &piece {
            Piece::Event(event) => event.id.as_ref(),
            Piece::Primed { id } => Some(id),
            Piece::OverLimitEnd { id, .. } => id.as_ref(),
            Piece::OverLimit { .. } => None,
        };
        // Only now, when the event is taken: a lost connection resumes after what was really read.
        if let Some(id) = id {
            self.last_id = Some(id.clone()).filter(|id| !id.is_empty());
        }
        Some(piece)
    }

    /// The id to resume after: the last one among the pieces that were taken out.
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// The reconnect wait that the server asked for, not clamped.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// The number of comments. They keep a connection open but are not progress.
    pub fn comments(&self) -> u64 {
        self.comments
    }

    /// The number of ids ignored because they are too long or contain a NUL.
    pub fn ignored_ids(&self) -> u64 {
        self.ignored_ids
    }

    /// The number of data bytes, including those over the limit: this is progress.
    pub fn data_bytes(&self) -> u64 {
        self.data_bytes
    }

    /// The number of bytes held of an unfinished event.
    pub fn held_bytes(&self) -> usize {
        self.block.data.len()
    }

    /// Returns true if an event has begun and not ended.
    pub fn is_midway(&self) -> bool {
        let block = &self.block;
        self.line != Line::Start
            || block.has_data
            || block.id.is_some()
            || block.name.is_some()
            || block.over.is_some()
    }

    /// Skips a byte order mark at the very start.
    fn past_bom<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(seen) = self.bom else {
            return bytes;
        };
        // The mark may be cut in two by reads of any size.
        let wanted = BOM.get(seen..).unwrap_or_default();
        if wanted.len() > bytes.len() && wanted.starts_with(bytes) {
            self.bom = Some(seen + bytes.len());
            return &[];
        }
        self.bom = None;
        if let Some(behind) = bytes.strip_prefix(wanted) {
            return behind;
        }
        if seen > 0 {
            // A partial mark begins an unknown field.
            self.line = Line::Value(Field::Ignored);
        }
        bytes
    }

    /// Parses a part of a line that contains no line break.
    fn take_part(&mut self, part: &[u8]) {
        let mut rest = part;
        while let Some((&first, after)) = rest.split_first() {
            match self.line {
                Line::Start if first == b':' => {
                    self.comments += 1;
                    self.line = Line::Value(Field::Ignored);
                    return;
                }
                Line::Start => {
                    self.value.clear();
                    self.line = Line::Name;
                }
                Line::Name => rest = self.take_name(rest),
                Line::Colon(field) => {
                    self.begin_value(field);
                    // One space after the colon belongs to the syntax; others to the value.
                    if first == b' ' {
                        rest = after;
                    }
                }
                Line::Value(Field::Data) => return self.take_data(rest),
                Line::Value(field) => {
                    let room = field.cap().saturating_sub(self.value.len());
                    let kept = rest.get(..room.min(rest.len())).unwrap_or_default();
                    self.value.extend_from_slice(kept);
                    return;
                }
            }
        }
    }

    /// Parses a field name up to its colon, and returns the rest.
    fn take_name<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        /// One more than the longest known name.
        // No known field has a longer name, so more need not be kept.
        const LONGEST: usize = 6;
        let room = LONGEST.saturating_sub(self.value.len());
        let near = rest.get(..room.min(rest.len())).unwrap_or_default();
        if let Some(at) = memchr::memchr(b':', near) {
            self.value.extend(near.iter().take(at));
            self.line = Line::Colon(Field::from_name(&self.value));
            return rest.get(at + 1..).unwrap_or_default();
        }
        self.value.extend_from_slice(near);
        if self.value.len() < LONGEST {
            return &[];
        }
        self.line = Line::Value(Field::Ignored);
        rest
    }

    fn begin_value(&mut self, field: Field) {
        self.value.clear();
        self.line = Line::Value(field);
        // Several data lines are one text, joined by line ends.
        if field == Field::Data && std::mem::replace(&mut self.block.has_data, true) {
            self.take_data(b"\n");
        }
    }

    fn take_data(&mut self, bytes: &[u8]) {
        self.data_bytes += bytes.len() as u64;
        let block = &mut self.block;
        // Too large already: only its end is kept, where the id of an answer may be.
        if let Some(over) = &mut block.over {
            return over.take(bytes);
        }
        if block.data.len().saturating_add(bytes.len()) <= self.limit {
            return block.data.extend_from_slice(bytes);
        }
        let mut data = std::mem::take(&mut block.data);
        let mut over = Tail::default();
        over.take(&data);
        over.take(bytes);
        block.over = Some(over);
        let kept = KEPT_ENDS.min(self.limit);
        data.truncate(kept);
        let missing = kept - data.len();
        data.extend_from_slice(bytes.get(..missing.min(bytes.len())).unwrap_or_default());
        // It was as large as the limit and is queued for a while: free the rest.
        data.shrink_to_fit();
        self.ready.push_back(Piece::OverLimit { head: data });
    }

    fn end_line(&mut self) {
        match self.line {
            Line::Start => return self.end_block(),
            // A name without a colon has an empty value.
            Line::Name => {
                let field = Field::from_name(&self.value);
                self.begin_value(field);
            }
            Line::Colon(field) => self.begin_value(field),
            Line::Value(_) => {}
        }
        let Line::Value(field) = std::mem::replace(&mut self.line, Line::Start) else {
            return;
        };
        match field {
            Field::Data | Field::Ignored => {}
            Field::Event => {
                let name = String::from_utf8_lossy(&self.value).into_owned();
                self.block.name = Some(name).filter(|name| !matches!(&**name, "" | "message"));
            }
            Field::Id if self.value.contains(&0) || self.value.len() > ID_BYTES => {
                self.ignored_ids += 1;
            }
            Field::Id => {
                self.block.id = Some(String::from_utf8_lossy(&self.value).into_owned());
            }
            Field::Retry => {
                if let Some(millis) = digits(&self.value) {
                    self.retry = Some(Duration::from_millis(millis));
                }
            }
        }
    }

    /// Emits the event that an empty line ends, if it has content.
    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        let piece = match (block.over, block.id) {
            (Some(over), id) => Piece::OverLimitEnd {
                bytes: over.bytes(),
                tail: over.into_bytes(),
                id,
            },
            // An id without data primes the connection: it can be resumed from there.
            (None, Some(id)) if block.data.is_empty() => Piece::Primed { id },
            (None, id) if block.has_data => Piece::Event(Event {
                event: block.name,
                data: block.data,
                id,
            }),
            _ => return,
        };
        self.ready.push_back(piece);
    }
}

/// Parses a number of digits only, saturating.
fn digits(text: &[u8]) -> Option<u64> {
    let fits = (1..=RETRY_DIGITS).contains(&text.len());
    if !fits || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(std::str::from_utf8(text).ok()?.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
