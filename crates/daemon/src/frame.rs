//! Frames: the unit of both directions of a connection.
//!
//! A frame is one byte for its kind, four bytes for the length of its content (little-endian), and the content.

use std::io;
use std::time::Duration;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, Interest, Ready};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::sleep;

/// Longest content of a frame. Arguments and variables of a program have at most 2 MiB together on Linux.
pub(crate) const LONGEST: usize = 4 << 20;

/// Bytes before the content.
const HEAD: usize = 5;

/// Bytes that are read at once.
const BUFFER: usize = 64 << 10;

/// Time between two looks at whether the other end has closed its side.
const LOOK: Duration = Duration::from_millis(100);

const MESSAGE: u8 = b'm';
const BYTES: u8 = b'b';

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A message of [`crate::message`], as JSON.
    Message(Bytes),
    /// Bytes for stdin of the server, or from its stdout.
    Bytes(Bytes),
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Appends a frame to what is to be written.
///
/// # Errors
/// Fails if it is too long.
pub(crate) fn put_message(to: &mut BytesMut, content: &[u8]) -> io::Result<()> {
    if content.len() > LONGEST {
        return Err(invalid("a frame would be too long"));
    }
    put(to, MESSAGE, content);
    Ok(())
}

/// Appends bytes to what is to be written, in as many frames as it takes.
pub(crate) fn put_bytes(to: &mut BytesMut, bytes: &[u8]) {
    bytes
        .chunks(LONGEST)
        .for_each(|chunk| put(to, BYTES, chunk));
}

fn put(to: &mut BytesMut, kind: u8, content: &[u8]) {
    to.reserve(content.len().saturating_add(HEAD));
    to.put_u8(kind);
    // At most `LONGEST`, which both callers see to.
    to.put_u32_le(u32::try_from(content.len()).unwrap_or(u32::MAX));
    to.put_slice(content);
}

/// Reads frames from a stream.
#[derive(Debug)]
pub(crate) struct Frames<R> {
    reader: R,
    buffer: BytesMut,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(crate) fn new(reader: R) -> Self {
        let buffer = BytesMut::new();
        Self { reader, buffer }
    }

    /// Reads one frame; `None` at the end of the stream between two frames. Cancel safe.
    ///
    /// # Errors
    /// Fails if the stream breaks or ends inside of a frame, or if the frame is too long or of an unknown kind.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Frame>> {
        loop {
            if let Some(frame) = self.take()? {
                return Ok(Some(frame));
            }
            self.buffer.reserve(BUFFER);
            if self.reader.read_buf(&mut self.buffer).await? == 0 {
                return if self.buffer.is_empty() {
                    Ok(None)
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                };
            }
        }
    }
}

impl Frames<OwnedReadHalf> {
    /// Waits until the other end has closed its side, whatever is still unread. Cancel safe.
    pub(crate) async fn closed(&self) {
        loop {
            let ready = self.reader.ready(Interest::READABLE).await;
            if ready.is_ok_and(Ready::is_read_closed) {
                return;
            }
            // What is unread keeps it ready.
            sleep(LOOK).await;
        }
    }
}

/// Waits until the other end has closed both sides. Cancel safe.
pub(crate) async fn until_closed(socket: &OwnedWriteHalf) {
    loop {
        let ready = socket.ready(Interest::WRITABLE).await;
        if ready.is_ok_and(Ready::is_write_closed) {
            return;
        }
        sleep(LOOK).await;
    }
}

impl<R> Frames<R> {
    /// Takes a frame that has arrived whole.
    fn take(&mut self) -> io::Result<Option<Frame>> {
        let mut head = self.buffer.as_ref();
        if head.len() < HEAD {
            return Ok(None);
        }
        let kind = head.get_u8();
        let length = usize::try_from(head.get_u32_le()).unwrap_or(usize::MAX);
        // Before the content arrives: a length alone must not cost memory.
        if length > LONGEST {
            return Err(invalid("a frame is too long"));
        }
        if kind != MESSAGE && kind != BYTES {
            return Err(invalid("a frame is of an unknown kind"));
        }
        if head.len() < length {
            return Ok(None);
        }
        self.buffer.advance(HEAD);
        let content = self.buffer.split_to(length).freeze();
        Ok(Some(match kind {
            MESSAGE => Frame::Message(content),
            _ => Frame::Bytes(content),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(bytes: &[u8]) -> io::Result<Vec<Frame>> {
        let mut frames = Frames::new(bytes);
        let mut all = Vec::new();
        while let Some(frame) = frames.next().await? {
            all.push(frame);
        }
        Ok(all)
    }

    #[tokio::test]
    async fn frames_are_read_as_they_were_written() {
        let mut bytes = BytesMut::new();
        put_message(&mut bytes, b"{}").unwrap();
        assert_eq!(&bytes[..], b"m\x02\0\0\0{}");
        put_bytes(&mut bytes, b"");
        let long = vec![7; LONGEST + 1];
        put_bytes(&mut bytes, &long);
        let expected = [
            Frame::Message(Bytes::from_static(b"{}")),
            Frame::Bytes(vec![7; LONGEST].into()),
            Frame::Bytes(vec![7].into()),
        ];
        assert_eq!(read(&bytes).await.unwrap(), expected);
    }

    #[tokio::test]
    async fn frames_that_are_cut_too_long_or_unknown_are_errors() {
        let whole = b"m\x02\0\0\0{}";
        for end in 1..whole.len() {
            let error = read(&whole[..end]).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{end}");
        }
        let longest = u32::try_from(LONGEST).unwrap();
        let long = [&b"m"[..], &(longest + 1).to_le_bytes()].concat();
        for bad in [long.as_slice(), b"x\0\0\0\0", b"b\xff\xff\xff\xff"] {
            let error = read(bad).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        }
        assert!(put_message(&mut BytesMut::new(), &vec![b' '; LONGEST + 1]).is_err());
    }
}
