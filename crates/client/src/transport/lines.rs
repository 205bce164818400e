//! Cuts a byte stream into lines, within limits.

/// Length of the start and of the end that are kept of an oversized message, to recover its id.
const KEPT_ENDS: usize = 4 * 1024;
/// Capacity for one read.
const CHUNK: usize = 64 * 1024;
/// A line longer than this gets all the capacity that the limit allows at once.
const LONG: usize = 2 * 1024 * 1024;
/// A buffer that grew beyond this for one message is shrunk again.
pub(crate) const KEEP: usize = 4 * 1024 * 1024;

/// A frame of the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A line without its end.
    Line(&'a [u8]),
    /// A line went over the limit; its start. The rest is dropped as it arrives.
    OverLimit {
        /// The first bytes of the line.
        head: &'a [u8],
    },
    /// The line that went over the limit has ended.
    OverLimitEnd {
        /// The last bytes of the line.
        tail: &'a [u8],
        /// The length of the line.
        bytes: u64,
    },
}

/// Collects bytes and gives out lines, never holding more than the limit and one read.
///
/// Only new bytes are searched for a line break, and bytes after it are kept for the next line. The
/// boundaries of reads make no difference to the lines.
#[derive(Debug)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    /// The start of the next line.
    start: usize,
    /// The end of the part that contains no line break.
    searched: usize,
    limit: usize,
    /// The line being collected is to be dropped although it is within the limit.
    refused: bool,
    dropping: Option<Dropping>,
}

#[derive(Debug)]
struct Dropping {
    tail: Vec<u8>,
    bytes: u64,
    ended: bool,
}

impl LineBuffer {
    /// Creates a buffer for lines of up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            start: 0,
            searched: 0,
            limit,
            refused: false,
            dropping: None,
        }
    }

    /// Returns the buffer to read more bytes into; callers may only append.
    pub fn room(&mut self) -> &mut Vec<u8> {
        // Everything was taken out: reset instead of moving bytes.
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
            self.searched = 0;
            if self.bytes.capacity() > KEEP {
                self.bytes.shrink_to(CHUNK);
            }
        } else if self.bytes.capacity() - self.bytes.len() < CHUNK / 4 && self.start > 0 {
            self.bytes.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        if self.bytes.capacity() - self.bytes.len() < CHUNK / 4 {
            self.grow();
        }
        &mut self.bytes
    }

    /// Doubles the buffer while it is small, and gives a long line its whole capacity at once: an
    /// allocator that caches freed blocks would hold every size on the way there.
    fn grow(&mut self) {
        let most = self.limit.saturating_add(CHUNK);
        if self.bytes.len() >= LONG && self.bytes.capacity() < most {
            self.bytes.reserve_exact(most - self.bytes.len());
        } else {
            self.bytes.reserve(CHUNK);
        }
    }

    /// Returns the next frame, if the bytes so far contain one.
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        if self
            .dropping
            .as_ref()
            .is_some_and(|dropping| dropping.ended)
        {
            self.dropping = None;
        }
        if self.dropping.is_some() {
            return self.drop_on();
        }
        let new = self.bytes.get(self.searched..)?;
        match memchr::memchr(b'\n', new) {
            // Only new bytes were searched; the line itself begins at `start`.
            Some(at) if self.fits(self.searched + at) => {
                let line = self.start..self.searched + at;
                self.start = line.end + 1;
                self.searched = self.start;
                self.bytes.get(line).map(Frame::Line)
            }
            found => {
                if found.is_none() && self.fits(self.bytes.len()) && !self.refused {
                    self.searched = self.bytes.len();
                    return None;
                }
                self.refused = false;
                self.dropping = Some(Dropping {
                    tail: Vec::with_capacity(2 * KEPT_ENDS),
                    bytes: 0,
                    ended: false,
                });
                let head = self.start..self.bytes.len().min(self.start + KEPT_ENDS.min(self.limit));
                self.bytes.get(head).map(|head| Frame::OverLimit { head })
            }
        }
    }

    /// Treats the line being collected as oversized, because there is no budget for it.
    ///
    /// All complete lines must have been taken out before.
    pub(crate) fn refuse_line(&mut self) {
        self.refused = self.dropping.is_none() && self.start < self.bytes.len();
    }

    /// Returns true if a line up to `end` is within the limit; a carriage return is part of the
    /// line break.
    fn fits(&self, end: usize) -> bool {
        let line = self.bytes.get(self.start..end).unwrap_or_default();
        line.strip_suffix(b"\r").unwrap_or(line).len() <= self.limit
    }

    /// Drops the rest of an oversized line, as far as it has arrived.
    fn drop_on(&mut self) -> Option<Frame<'_>> {
        let rest = self.bytes.get(self.start..).unwrap_or_default();
        let (dropped, ended) = match memchr::memchr(b'\n', rest) {
            Some(at) => (rest.get(..at).unwrap_or_default(), true),
            None => (rest, false),
        };
        let dropping = self.dropping.as_mut()?;
        dropping.bytes += dropped.len() as u64;
        dropping.ended = ended;
        // Keep the end only: many servers write the id last.
        let last = dropped.len().saturating_sub(KEPT_ENDS);
        dropping
            .tail
            .extend_from_slice(dropped.get(last..).unwrap_or_default());
        let surplus = dropping.tail.len().saturating_sub(KEPT_ENDS);
        dropping.tail.drain(..surplus);
        self.start += dropped.len() + usize::from(ended);
        self.searched = self.start;
        ended.then_some(Frame::OverLimitEnd {
            tail: &dropping.tail,
            bytes: dropping.bytes,
        })
    }

    /// The rest when the stream ends: a last line without a line break.
    pub fn remainder(&self) -> &[u8] {
        match &self.dropping {
            Some(_) => &[],
            None => self.bytes.get(self.start..).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, PartialEq, Eq, Clone)]
    enum Piece {
        Line(Vec<u8>),
        Over(Vec<u8>),
        OverEnd(Vec<u8>, u64),
    }

    fn cut(stream: &[u8], reads: &[usize], limit: usize) -> (Vec<Piece>, Vec<u8>) {
        let mut lines = LineBuffer::new(limit);
        let mut pieces = Vec::new();
        let mut rest = stream;
        let mut reads = reads.iter().cycle();
        while !rest.is_empty() {
            let read = reads.next().map_or(1, |n| (*n).clamp(1, rest.len()));
            lines.room().extend_from_slice(&rest[..read]);
            rest = &rest[read..];
            while let Some(frame) = lines.next_frame() {
                pieces.push(match frame {
                    Frame::Line(line) => Piece::Line(line.to_vec()),
                    Frame::OverLimit { head } => Piece::Over(head.to_vec()),
                    Frame::OverLimitEnd { tail, bytes } => Piece::OverEnd(tail.to_vec(), bytes),
                });
            }
        }
        (pieces, lines.remainder().to_vec())
    }

    #[test]
    fn a_line_that_is_refused_is_dropped_to_its_end_and_the_next_is_read() {
        let mut lines = LineBuffer::new(100);
        lines.refuse_line();
        lines.room().extend_from_slice(b"first\nsecond, ");
        assert_eq!(lines.next_frame(), Some(Frame::Line(b"first")));
        assert_eq!(lines.next_frame(), None);
        lines.refuse_line();
        let head = b"second, ";
        assert_eq!(lines.next_frame(), Some(Frame::OverLimit { head }));
        assert_eq!(lines.next_frame(), None);
        lines.room().extend_from_slice(b"its end\nthird\n");
        let (tail, bytes) = (b"second, its end".as_slice(), 15);
        assert_eq!(
            lines.next_frame(),
            Some(Frame::OverLimitEnd { tail, bytes })
        );
        assert_eq!(lines.next_frame(), Some(Frame::Line(b"third")));
    }

    fn length(line: &[u8]) -> usize {
        line.strip_suffix(b"\r").unwrap_or(line).len()
    }

    /// The obvious way to do it, with the whole stream at hand.
    fn naive(stream: &[u8], limit: usize) -> (Vec<Piece>, Vec<u8>) {
        let mut pieces = Vec::new();
        let mut parts: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
        let remainder = parts.pop().unwrap_or_default();
        for part in parts {
            if length(part) <= limit {
                pieces.push(Piece::Line(part.to_vec()));
            } else {
                pieces.push(Piece::Over(part[..KEPT_ENDS.min(limit)].to_vec()));
                let tail = part[part.len().saturating_sub(KEPT_ENDS)..].to_vec();
                pieces.push(Piece::OverEnd(tail, part.len() as u64));
            }
        }
        if length(remainder) > limit {
            pieces.push(Piece::Over(remainder[..KEPT_ENDS.min(limit)].to_vec()));
            return (pieces, Vec::new());
        }
        (pieces, remainder.to_vec())
    }

    proptest! {
        #[test]
        fn where_the_reads_end_makes_no_difference(
            stream in proptest::collection::vec(
                prop_oneof![3 => Just(b'a'), 1 => Just(b'\n'), 1 => Just(b'\r'), 1 => any::<u8>()], 0..400),
            reads in proptest::collection::vec(1_usize..40, 1..8),
            limit in 1_usize..40,
        ) {
            prop_assert_eq!(cut(&stream, &reads, limit), naive(&stream, limit));
        }
    }

    #[test]
    fn a_line_at_the_limit_passes_and_one_over_it_does_not() {
        let at = cut(b"12345\nx\n", &[64], 5).0;
        assert_eq!(
            at,
            vec![Piece::Line(b"12345".to_vec()), Piece::Line(b"x".to_vec())]
        );
        let over = cut(b"123456\nx\n", &[64], 5).0;
        assert_eq!(
            over,
            vec![
                Piece::Over(b"12345".to_vec()),
                Piece::OverEnd(b"123456".to_vec(), 6),
                Piece::Line(b"x".to_vec()),
            ]
        );
    }

    #[test]
    fn a_line_without_end_is_never_held() {
        let mut lines = LineBuffer::new(1024);
        for _ in 0..10_000 {
            lines.room().extend_from_slice(&[b'x'; 1000]);
            while lines.next_frame().is_some() {}
        }
        assert!(
            lines.bytes.capacity() < 4 * CHUNK,
            "{}",
            lines.bytes.capacity()
        );
    }
}
