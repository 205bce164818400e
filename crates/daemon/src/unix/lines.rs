//! Lines of a byte stream, whole or, if they are very long, in parts.

use std::io;

use bytes::{Bytes, BytesMut};
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Longest line that is looked at. It is that of the usual limit for messages; longer ones pass unread.
const LONGEST: usize = 16 << 20;

/// Bytes that are read at once.
const BUFFER: usize = 64 << 10;

/// A part of the stream, in its order.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A whole line, with its end.
    Line(Bytes),
    /// A part of a line that is too long, with the end of the line if it is the last one.
    Part(Bytes),
}

impl Piece {
    pub(super) fn bytes(&self) -> &Bytes {
        match self {
            Self::Line(bytes) | Self::Part(bytes) => bytes,
        }
    }
}

/// Cuts bytes into lines.
#[derive(Debug, Default)]
pub(super) struct LineCutter {
    buffer: BytesMut,
    /// The bytes that are known to have no end of a line.
    searched: usize,
    /// The buffer continues a line that is too long.
    is_inside: bool,
}

impl LineCutter {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Takes what is whole or too long to wait for.
    pub(super) fn take(&mut self) -> Option<Piece> {
        let rest = self.buffer.get(self.searched..).unwrap_or_default();
        if let Some(at) = memchr(b'\n', rest) {
            let end = self.searched.saturating_add(at).saturating_add(1);
            self.searched = 0;
            let bytes = self.buffer.split_to(end).freeze();
            return Some(if std::mem::take(&mut self.is_inside) {
                Piece::Part(bytes)
            } else {
                Piece::Line(bytes)
            });
        }
        self.searched = self.buffer.len();
        let is_due = self.is_inside || self.buffer.len() > LONGEST;
        (is_due && !self.buffer.is_empty()).then(|| self.take_rest())
    }

    /// Takes what there is of a line that has not ended.
    pub(super) fn take_rest(&mut self) -> Piece {
        self.is_inside = true;
        self.searched = 0;
        Piece::Part(self.buffer.split().freeze())
    }

    /// Returns true between two lines.
    pub(super) fn is_between(&self) -> bool {
        self.buffer.is_empty() && !self.is_inside
    }
}

/// Reads the lines of a stream.
pub(super) struct Lines<R> {
    reader: R,
    cutter: LineCutter,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        let cutter = LineCutter::default();
        Self { reader, cutter }
    }

    /// Reads the next piece; `None` at the end of the stream. Cancel safe.
    pub(super) async fn next(&mut self) -> io::Result<Option<Piece>> {
        loop {
            if let Some(piece) = self.cutter.take() {
                return Ok(Some(piece));
            }
            self.cutter.buffer.reserve(BUFFER);
            if self.reader.read_buf(&mut self.cutter.buffer).await? == 0 {
                let is_over = self.cutter.buffer.is_empty();
                return Ok((!is_over).then(|| self.cutter.take_rest()));
            }
        }
    }

    /// Returns true between two lines.
    pub(super) fn is_between(&self) -> bool {
        self.cutter.is_between()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    async fn pieces(bytes: &[u8]) -> Vec<(bool, usize)> {
        // Little at a time, as a pipe gives it.
        let (mut writer, reader) = tokio::io::duplex(4096);
        let content = bytes.to_vec();
        tokio::spawn(async move { writer.write_all(&content).await });
        let mut lines = Lines::new(reader);
        let mut all = Vec::new();
        let mut whole = Vec::new();
        while let Some(piece) = lines.next().await.unwrap() {
            whole.extend_from_slice(piece.bytes());
            all.push((matches!(piece, Piece::Line(_)), piece.bytes().len()));
        }
        assert!(whole == bytes, "something was lost or changed");
        all
    }

    #[tokio::test]
    async fn lines_are_cut_at_their_ends() {
        let expected = [(true, 2), (true, 1), (true, 3), (false, 2)];
        assert_eq!(pieces(b"a\n\nbc\nde").await, expected);
        assert_eq!(pieces(b"").await, []);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_passes_in_parts() {
        let long = vec![b'x'; LONGEST + BUFFER];
        let all = [long.as_slice(), b"\nshort\n"].concat();
        let pieces = pieces(&all).await;
        let parts = pieces.iter().filter(|(is_line, _)| !is_line);
        assert_eq!(parts.map(|(_, bytes)| bytes).sum::<usize>(), long.len() + 1);
        assert_eq!(pieces.last(), Some(&(true, 6)));
    }

    #[test]
    fn between_two_lines_is_not_inside_of_one() {
        let mut cutter = LineCutter::default();
        assert!(cutter.is_between());
        cutter.add(b"a");
        assert!(cutter.take().is_none() && !cutter.is_between());
        cutter.add(b"\n");
        assert!(cutter.take().is_some() && cutter.is_between());
    }
}
