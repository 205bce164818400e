//! Frames: the unit of both directions of a connection.
//!
//! A frame is one byte for its kind, four bytes for the length of its content (little-endian), and the content.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Longest content of a frame. Arguments and variables of a program have at most 2 MiB together on Linux.
pub(crate) const LONGEST: usize = 4 << 20;

/// The kind of a frame with a message in JSON.
const MESSAGE: u8 = b'm';

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A message of [`crate::message`], as JSON.
    Message(Vec<u8>),
}

impl Frame {
    fn parts(&self) -> (u8, &[u8]) {
        match self {
            Self::Message(content) => (MESSAGE, content),
        }
    }
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Reads one frame; `None` at the end of the stream between two frames.
///
/// # Errors
/// Fails if the stream breaks or ends inside of a frame, or if the frame is too long or of an unknown kind.
pub(crate) async fn read(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Frame>> {
    let mut kind = [0];
    if from.read(&mut kind).await? == 0 {
        return Ok(None);
    }
    let length = usize::try_from(from.read_u32_le().await?).unwrap_or(usize::MAX);
    // Before the content is read: a length alone must not cost memory.
    if length > LONGEST {
        return Err(invalid("a frame is too long"));
    }
    if kind != [MESSAGE] {
        return Err(invalid("a frame is of an unknown kind"));
    }
    let mut content = Vec::new();
    // Grows with what arrives, and not with what was announced.
    let limit = u64::try_from(length).unwrap_or(u64::MAX);
    from.take(limit).read_to_end(&mut content).await?;
    if content.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(Frame::Message(content)))
}

/// Writes one frame.
///
/// # Errors
/// Fails if the stream breaks, or if the frame is too long.
pub(crate) async fn write(to: &mut (impl AsyncWrite + Unpin), frame: &Frame) -> io::Result<()> {
    let (kind, content) = frame.parts();
    let length = u32::try_from(content.len())
        .ok()
        .filter(|_| content.len() <= LONGEST);
    let length = length.ok_or_else(|| invalid("a frame would be too long"))?;
    let mut bytes = Vec::with_capacity(content.len().saturating_add(5));
    bytes.push(kind);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(content);
    to.write_all(&bytes).await?;
    to.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn written(frame: &Frame) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, frame).await.unwrap();
        bytes
    }

    #[tokio::test]
    async fn a_frame_is_read_as_it_was_written() {
        let frame = Frame::Message(b"{}".to_vec());
        let bytes = written(&frame).await;
        assert_eq!(bytes, b"m\x02\0\0\0{}");
        let mut from = bytes.as_slice();
        assert_eq!(read(&mut from).await.unwrap(), Some(frame));
        assert_eq!(read(&mut from).await.unwrap(), None);
    }

    #[tokio::test]
    async fn frames_that_are_cut_too_long_or_unknown_are_errors() {
        let bytes = written(&Frame::Message(b"{}".to_vec())).await;
        for end in 1..bytes.len() {
            let error = read(&mut &bytes[..end]).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{end}");
        }
        let longest = u32::try_from(LONGEST).unwrap();
        let long = [&b"m"[..], &(longest + 1).to_le_bytes()].concat();
        for bad in [long.as_slice(), b"x\0\0\0\0", b"m\xff\xff\xff\xff"] {
            let error = read(&mut &*bad).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        }
        let frame = Frame::Message(vec![b' '; LONGEST + 1]);
        assert!(write(&mut Vec::new(), &frame).await.is_err());
        let frame = Frame::Message(vec![b' '; LONGEST]);
        let bytes = written(&frame).await;
        assert_eq!(read(&mut bytes.as_slice()).await.unwrap(), Some(frame));
    }
}
