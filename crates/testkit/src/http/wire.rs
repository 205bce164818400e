//! One TCP connection, as hyper needs it.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Size of one read.
const READ_BYTES: usize = 8 * 1024;

/// Lets a response control its connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Handle(Arc<AtomicBool>);

impl Handle {
    /// Makes the connection end with a reset instead of a close.
    pub(super) fn reset(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A connection for hyper.
pub(super) struct Wire {
    stream: TcpStream,
    handle: Handle,
}

impl Wire {
    pub(super) fn new(stream: TcpStream, handle: Handle) -> Self {
        // Small answers must not wait for one another. A failure only makes it slower.
        stream.set_nodelay(true).ok();
        Self { stream, handle }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.handle.0.load(Ordering::Relaxed) {
            // Closing now discards unsent data and resets the connection.
            self.stream.set_zero_linger().ok();
        }
    }
}

impl Read for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut bytes = [0; READ_BYTES];
        let room = cursor.remaining().min(READ_BYTES);
        let mut buffer = ReadBuf::new(bytes.get_mut(..room).unwrap_or_default());
        ready!(pin!(&mut self.stream).poll_read(cx, &mut buffer))?;
        cursor.put_slice(buffer.filled());
        Poll::Ready(Ok(()))
    }
}

impl Write for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        pin!(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        pin!(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.handle.0.load(Ordering::Relaxed) {
            return Poll::Ready(Ok(()));
        }
        pin!(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        pin!(&mut self.stream).poll_write_vectored(cx, slices)
    }
}
