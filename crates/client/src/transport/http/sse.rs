//! Reads a stream of Server-Sent Events, within bounds.
//!
//! [`Sse`] takes bytes as they come off the network and gives out whole events. Data is copied once,
//! into the event that it belongs to; comments, unknown fields and what goes over a limit are never
//! held. Where the stream was cut into reads makes no difference.

use std::collections::VecDeque;
use std::time::Duration;

use super::tail::{KEPT_ENDS, Tail};

/// Longest event id that is kept: it is sent back as a header. A longer one is ignored and counted.
pub const ID_BYTES: usize = 8 * 1024;
/// Longest event name that is kept. Nothing that we know is nearly as long; the rest is dropped.
pub const NAME_BYTES: usize = 256;
/// Longest `retry` that is read, leading zeros and all.
const RETRY_DIGITS: usize = 32;
/// The byte order mark, which a stream may begin with.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its name; `None` is the usual `message`.
    pub event: Option<String>,
    /// Its data as it was sent, lines joined by `\n`. It need not be UTF-8.
    pub data: Vec<u8>,
    /// The id that it carries itself; empty to forget the last one.
    pub id: Option<String>,
}

/// What a stream gives out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// An event.
    Event(Event),
    /// An event without data that carries an id: it only says where to resume.
    Primed {
        /// The id; empty to forget the last one.
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
        /// How long the data was.
        bytes: u64,
        /// The id that it carried.
        id: Option<String>,
    },
}

/// Collects bytes and gives out events, never holding more than the limit and one read.
///
/// A block that no empty line ends is no event: when the stream ends, it is gone, and
/// [`Sse::is_midway`] tells so.
#[derive(Debug)]
pub struct Sse {
    limit: usize,
    /// How much of the byte order mark was seen; `None` once the stream has begun.
    bom: Option<usize>,
    /// The last byte was a carriage return: a line feed that follows belongs to it.
    after_cr: bool,
    line: Line,
    /// The value of the line being read, where it is not data.
    value: Vec<u8>,
    block: Block,
    ready: VecDeque<Piece>,
    last_id: Option<String>,
    retry: Option<Duration>,
    comments: u64,
    ignored_ids: u64,
    data_bytes: u64,
}

/// Where in a line the reading is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Before its first byte.
    Start,
    /// In the name of its field, so far in `value`.
    Name,
    /// Right behind the colon, where one space does not count.
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
    /// A comment, or a field that nobody knows.
    Ignored,
}

/// What is known of the event being read.
#[derive(Debug, Default)]
struct Block {
    name: Option<String>,
    id: Option<String>,
    data: Vec<u8>,
    has_data: bool,
    over: Option<Tail>,
}

impl Field {
    fn named(name: &[u8]) -> Self {
        match name {
            b"data" => Self::Data,
            b"event" => Self::Event,
            b"id" => Self::Id,
            b"retry" => Self::Retry,
            _ => Self::Ignored,
        }
    }

    /// How much of a value is collected, one more than may be so that longer ones are noticed.
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
    /// A reader for events with up to `max_event_bytes` of data.
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

    /// Takes the next bytes of the stream. Take out with [`Sse::next_piece`] what they complete
    /// before giving more.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut rest = self.past_bom(bytes);
        while let Some((&first, after)) = rest.split_first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                rest = after;
                continue;
            }
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

    /// Gives the next piece, if the bytes so far hold one.
    pub fn next_piece(&mut self) -> Option<Piece> {
        let piece = self.ready.pop_front()?;
        let id = match &piece {
            Piece::Event(event) => event.id.as_ref(),
            Piece::Primed { id } => Some(id),
            Piece::OverLimitEnd { id, .. } => id.as_ref(),
            Piece::OverLimit { .. } => None,
        };
        if let Some(id) = id {
            self.last_id = Some(id.clone()).filter(|id| !id.is_empty());
        }
        Some(piece)
    }

    /// The id to resume after: the last one among the pieces that were taken out.
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// How long the server asks to wait before reconnecting, as it said it: not clamped.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// How many comments there were. They keep a connection open and are no progress.
    pub fn comments(&self) -> u64 {
        self.comments
    }

    /// How many ids were ignored because they are too long or hold a NUL.
    pub fn ignored_ids(&self) -> u64 {
        self.ignored_ids
    }

    /// How many bytes of data there were, those over the limit too: this is progress.
    pub fn data_bytes(&self) -> u64 {
        self.data_bytes
    }

    /// How many bytes of an unfinished event are held.
    pub fn held_bytes(&self) -> usize {
        self.block.data.len()
    }

    /// Whether an event has begun and not ended.
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
            // Half a mark begins a field that nobody knows.
            self.line = Line::Value(Field::Ignored);
        }
        bytes
    }

    /// Takes a part of a line that holds no line end.
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

    /// Takes the name of a field up to its colon, and gives what is behind that.
    fn take_name<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        /// One more than the longest name that is known.
        const LONGEST: usize = 6;
        let room = LONGEST.saturating_sub(self.value.len());
        let near = rest.get(..room.min(rest.len())).unwrap_or_default();
        if let Some(at) = memchr::memchr(b':', near) {
            self.value.extend(near.iter().take(at));
            self.line = Line::Colon(Field::named(&self.value));
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
        if field == Field::Data && std::mem::replace(&mut self.block.has_data, true) {
            self.take_data(b"\n");
        }
    }

    fn take_data(&mut self, bytes: &[u8]) {
        self.data_bytes += bytes.len() as u64;
        let block = &mut self.block;
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
        // It was as large as the limit, and is to be kept for a while.
        data.shrink_to_fit();
        self.ready.push_back(Piece::OverLimit { head: data });
    }

    fn end_line(&mut self) {
        match self.line {
            Line::Start => return self.end_block(),
            // A name without a colon has an empty value.
            Line::Name => {
                let field = Field::named(&self.value);
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

    /// Gives out the event that an empty line ends, if it says anything.
    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        let piece = match (block.over, block.id) {
            (Some(over), id) => Piece::OverLimitEnd {
                bytes: over.bytes(),
                tail: over.into_bytes(),
                id,
            },
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

/// Reads a number that is digits alone, the largest there is where it is larger.
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
