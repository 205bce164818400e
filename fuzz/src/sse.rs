//! Streams of events: where a stream is cut into reads makes no difference, nor does how its lines
//! end, and what is given out is what a naive reader finds.

use switchboard::transport::sse::{Event, Piece, Sse};

use crate::bytes::Bytes;

const LIMITS: [usize; 8] = [0, 1, 2, 7, 64, 4095, 4097, 9000];

/// Reads a stream of events with reads of any size, with each kind of line end, and naively.
///
/// # Panics
/// Where two of these differ, or where more is held than the limit allows.
pub fn sse(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let limit = bytes.one_of(&LIMITS);
    let reads: Vec<usize> = (0..=bytes.below(8))
        .map(|_| usize::from(bytes.byte()).max(1))
        .collect();
    let mut stream = Vec::new();
    while !bytes.is_empty() && stream.len() < 3 * limit + 12_000 {
        match bytes.byte() {
            0xff => {
                let length = usize::from(bytes.byte()) * 81;
                stream.extend((b'a'..=b'z').cycle().take(length));
            }
            byte => stream.push(byte),
        }
    }
    let whole = read(&stream, &[usize::MAX], limit);
    assert_eq!(read(&stream, &[1], limit), whole);
    assert_eq!(read(&stream, &reads, limit), whole);
    let lines = lines(&stream);
    for end in ["\n", "\r", "\r\n"] {
        assert_eq!(read(&lines.join(end.as_bytes()), &reads, limit), whole);
    }
    let events: Vec<&Event> = whole.iter().filter_map(event).collect();
    for event in &events {
        assert!(event.data.len() <= limit, "an event over the limit");
    }
    if limit >= stream.len() {
        let found: Vec<Vec<u8>> = events.iter().map(|event| event.data.clone()).collect();
        assert_eq!(found, naive(&lines));
    }
}

fn event(piece: &Piece) -> Option<&Event> {
    match piece {
        Piece::Event(event) => Some(event),
        _ => None,
    }
}

fn read(stream: &[u8], reads: &[usize], limit: usize) -> Vec<Piece> {
    let mut sse = Sse::new(limit);
    let mut pieces = Vec::new();
    let mut rest = stream;
    let mut sizes = reads.iter().cycle();
    while !rest.is_empty() {
        let size = sizes.next().map_or(1, |size| (*size).min(rest.len()));
        let (now, later) = rest.split_at(size);
        sse.push(now);
        rest = later;
        while let Some(piece) = sse.next_piece() {
            pieces.push(piece);
        }
        assert!(sse.held_bytes() <= limit, "more is held than the limit");
    }
    pieces
}

/// The lines of a stream; the last one is what no line end follows.
fn lines(stream: &[u8]) -> Vec<Vec<u8>> {
    let mut lines = vec![Vec::new()];
    let mut rest = stream;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'\r' => {
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
                lines.push(Vec::new());
            }
            b'\n' => lines.push(Vec::new()),
            byte => lines.last_mut().unwrap().push(byte),
        }
    }
    lines
}

/// The data of all events, as the standard has it, found with everything at hand.
fn naive(lines: &[Vec<u8>]) -> Vec<Vec<u8>> {
    // What no line end follows is no line yet.
    let (_, ended) = lines.split_last().unwrap();
    let mut found = Vec::new();
    let (mut data, mut has_id) = (None::<Vec<u8>>, false);
    for (index, line) in ended.iter().enumerate() {
        let line = match index {
            0 => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
            _ => line,
        };
        if line.is_empty() {
            // An event with an id and no data only says where to resume.
            if let Some(data) = data.take().filter(|data| !(data.is_empty() && has_id)) {
                found.push(data);
            }
            has_id = false;
            continue;
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => match &mut data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => data = Some(value.to_vec()),
            },
            b"id" if !value.contains(&0) && value.len() <= 8 * 1024 => has_id = true,
            _ => {}
        }
    }
    found
}
