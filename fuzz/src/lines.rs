//! Lines: where a stream is cut into reads makes no difference, and what is kept is bounded.

use switchboard::transport::{Frame, LineBuffer};

use crate::bytes::Bytes;

/// How much of the start and of the end of a line over the limit is given out.
const WINDOW: usize = 4 * 1024;
/// How much room is made for one read at least.
const ROOM: usize = 16 * 1024;
/// How much the buffer grows at a time.
const CHUNK: usize = 64 * 1024;

const LIMITS: [usize; 16] = [
    0, 1, 2, 3, 5, 8, 21, 64, 300, 4095, 4096, 4097, 5000, 16_384, 20_000, 70_000,
];

/// What came out, owned.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Line(Vec<u8>),
    Over(Vec<u8>),
    OverEnd(Vec<u8>, u64),
}

/// When the buffer is asked for what it has.
#[derive(Debug, Clone, Copy)]
enum Drain {
    /// After every read, as a session does.
    Always,
    /// After every second, fourth or eighth.
    Every(usize),
}

/// Cuts a stream with `LineBuffer`, with reads of any size, and with the obvious splitter.
///
/// # Panics
/// Where the two differ, or where the buffer holds more than its limit allows.
pub fn lines(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let limit = bytes.one_of(&LIMITS);
    let drain = match bytes.below(4) {
        0 => Drain::Always,
        power => Drain::Every(1 << power),
    };
    let reads: Vec<usize> = (0..=bytes.below(8))
        .map(|_| read_size(&mut bytes))
        .collect();
    // Long enough for a line over the limit and another one; time goes into long streams.
    let stream = stream(&mut bytes, 2 * limit + 3 * WINDOW);
    let expected = naive(&stream, limit);
    assert_eq!(cut(&stream, &reads, limit, drain), expected);
    assert_eq!(cut(&stream, &[ROOM], limit, Drain::Always), expected);
}

/// Small reads as they are, and larger ones up to the room that there is.
fn read_size(bytes: &mut Bytes<'_>) -> usize {
    match bytes.byte() {
        small @ 0..=127 => usize::from(small).max(1),
        large => (usize::from(large) - 127) * 128,
    }
}

/// The rest of the input, where `0xff, n` stands for a run of bytes that can be told apart.
fn stream(bytes: &mut Bytes<'_>, longest: usize) -> Vec<u8> {
    let mut stream = Vec::new();
    while !bytes.is_empty() && stream.len() < longest {
        match bytes.byte() {
            0xff => {
                let length = usize::from(bytes.byte()) * 81;
                stream.extend((b'a'..=b'z').cycle().take(length));
            }
            byte => stream.push(byte),
        }
    }
    stream
}

fn cut(stream: &[u8], reads: &[usize], limit: usize, drain: Drain) -> (Vec<Piece>, Vec<u8>) {
    let mut lines = LineBuffer::new(limit);
    let mut pieces = Vec::new();
    let mut rest = stream;
    for (count, read) in reads.iter().cycle().enumerate() {
        if rest.is_empty() {
            break;
        }
        let (now, later) = rest.split_at((*read).min(rest.len()));
        rest = later;
        lines.room().extend_from_slice(now);
        match drain {
            Drain::Every(some) if count % some != 0 && !rest.is_empty() => continue,
            Drain::Every(_) => take(&mut lines, &mut pieces),
            Drain::Always => {
                take(&mut lines, &mut pieces);
                let held = lines.room().capacity();
                // The line that is not complete, twice at most because a vector grows so.
                let most = 2 * (limit + 1) + CHUNK;
                assert!(held <= most, "{held} bytes are held for lines of {limit}");
            }
        }
    }
    (pieces, lines.remainder().to_vec())
}

fn take(lines: &mut LineBuffer, pieces: &mut Vec<Piece>) {
    while let Some(frame) = lines.next_frame() {
        pieces.push(match frame {
            Frame::Line(line) => Piece::Line(line.to_vec()),
            Frame::OverLimit { head } => Piece::Over(head.to_vec()),
            Frame::OverLimitEnd { tail, bytes } => Piece::OverEnd(tail.to_vec(), bytes),
        });
    }
}

/// The obvious way to do it, with the whole stream at hand.
fn naive(stream: &[u8], limit: usize) -> (Vec<Piece>, Vec<u8>) {
    let fits = |line: &[u8]| line.strip_suffix(b"\r").unwrap_or(line).len() <= limit;
    let head = |line: &[u8]| Piece::Over(line[..WINDOW.min(limit)].to_vec());
    let mut parts: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
    let last = parts.pop().unwrap_or_default();
    let mut pieces = Vec::new();
    for part in parts {
        if fits(part) {
            pieces.push(Piece::Line(part.to_vec()));
            continue;
        }
        let tail = part[part.len().saturating_sub(WINDOW)..].to_vec();
        pieces.push(head(part));
        pieces.push(Piece::OverEnd(tail, part.len() as u64));
    }
    if fits(last) {
        return (pieces, last.to_vec());
    }
    pieces.push(head(last));
    (pieces, Vec::new())
}
