//! Tapped byte streams.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::line::TappedLine;
use super::{Spot, Way};
use crate::transport::{BoxRead, BoxWrite};

/// Held from writing until the write is reported, so that a request is always reported before its
/// answer, however fast the server is.
pub(super) type Order = Arc<Mutex<()>>;

fn wait(order: &Order) -> MutexGuard<'_, ()> {
    order.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The tapped output of a server.
pub(super) struct TappedRead {
    reader: BoxRead,
    line: TappedLine,
    spot: Spot,
    order: Order,
}

impl TappedRead {
    pub(super) fn new(reader: BoxRead, spot: Spot, order: &Order) -> Self {
        Self {
            reader,
            line: TappedLine::default(),
            spot,
            order: Arc::clone(order),
        }
    }

    fn end(&mut self) {
        let spot = &self.spot;
        self.line
            .end(|kept, whole| spot.note(Way::Received, kept, whole, None));
    }
}

impl AsyncRead for TappedRead {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        std::task::ready!(Pin::new(&mut this.reader).poll_read(cx, buffer))?;
        // The buffer may have had bytes before: report only the new ones.
        let read = buffer.filled().get(before..).unwrap_or_default();
        if read.is_empty() {
            this.end();
            return Poll::Ready(Ok(()));
        }
        let _turn = wait(&this.order);
        let spot = &this.spot;
        this.line.take(read, spot.most(), |kept, whole| {
            spot.note(Way::Received, kept, whole, None);
        });
        Poll::Ready(Ok(()))
    }
}

impl Drop for TappedRead {
    fn drop(&mut self) {
        self.end();
    }
}

/// The tapped input of a server.
pub(super) struct TappedWrite {
    writer: BoxWrite,
    line: TappedLine,
    spot: Spot,
    order: Order,
}

impl TappedWrite {
    pub(super) fn new(writer: BoxWrite, spot: Spot, order: &Order) -> Self {
        Self {
            writer,
            line: TappedLine::default(),
            spot,
            order: Arc::clone(order),
        }
    }
}

impl AsyncWrite for TappedWrite {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let _turn = wait(&this.order);
        let written = std::task::ready!(Pin::new(&mut this.writer).poll_write(cx, bytes))?;
        let spot = &this.spot;
        // Only what the pipe took has left; the rest is offered again.
        let left = bytes.get(..written).unwrap_or_default();
        this.line.take(left, spot.most(), |kept, whole| {
            spot.note(Way::Sent, kept, whole, None);
        });
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().writer).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().writer).poll_shutdown(cx)
    }
}

impl Drop for TappedWrite {
    fn drop(&mut self) {
        let spot = &self.spot;
        // Report the part of an unfinished message that has left.
        self.line
            .end(|kept, whole| spot.note(Way::Sent, kept, whole, None));
    }
}
