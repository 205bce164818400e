//! Response bodies.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body as Sent, Bytes, Frame, SizeHint};
use tokio::sync::mpsc;

/// A body: complete, or produced while it is sent.
pub(super) enum Body {
    Whole(Option<Bytes>),
    Poured(Poured),
}

/// A body that is produced while it is sent. Dropping it stops its producer.
pub(super) struct Poured {
    work: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>>,
    pieces: mpsc::Receiver<Bytes>,
    failed: Option<io::Error>,
    /// The claimed length; usually unknown.
    length: Option<u64>,
}

/// The sender of the pieces of a body. Each is sent before the next one is produced.
#[derive(Debug, Clone)]
pub(super) struct Pipe(mpsc::Sender<Bytes>);

impl Pipe {
    pub(super) async fn send(&self, bytes: impl Into<Bytes>) {
        let bytes = bytes.into();
        if !bytes.is_empty() {
            // The receiver is gone only while this very future is being dropped.
            let _ = self.0.send(bytes).await;
        }
    }
}

impl Body {
    pub(super) fn empty() -> Self {
        Self::Whole(None)
    }

    /// Creates a body that `work` produces. An error cuts it off, and the connection with it.
    pub(super) fn poured<F>(length: Option<u64>, work: impl FnOnce(Pipe) -> F) -> Self
    where
        F: Future<Output = io::Result<()>> + Send + 'static,
    {
        let (sender, pieces) = mpsc::channel(1);
        Self::Poured(Poured {
            work: Some(Box::pin(work(Pipe(sender)))),
            pieces,
            failed: None,
            length,
        })
    }
}

impl Body {
    /// The claimed length.
    pub(super) fn length(&self) -> Option<u64> {
        self.size_hint().exact()
    }

    /// The next piece of it.
    pub(super) async fn next(&mut self) -> Option<io::Result<Bytes>> {
        let frame = poll_fn(|cx| Pin::new(&mut *self).poll_frame(cx)).await?;
        // We produce data frames only.
        Some(frame.map(|frame| frame.into_data().unwrap_or_default()))
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self::Whole(Some(text.into()))
    }
}

impl Sent for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Poured(poured) => poured.poll(cx),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Poured(Poured {
                length: Some(length),
                ..
            }) => SizeHint::with_exact(*length),
            Self::Poured(_) => SizeHint::default(),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }
}

impl Poured {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        loop {
            if let Poll::Ready(piece) = self.pieces.poll_recv(cx) {
                let piece = piece.map(|bytes| Ok(Frame::data(bytes)));
                // Pieces produced before a failure are sent before it shows.
                return Poll::Ready(piece.or_else(|| self.failed.take().map(Err)));
            }
            let Some(work) = &mut self.work else {
                return Poll::Ready(None);
            };
            match work.as_mut().poll(cx) {
                Poll::Ready(ended) => {
                    self.work = None;
                    self.failed = ended.err();
                }
                // It may have sent a piece before it began to wait.
                Poll::Pending => {
                    let piece = self.pieces.poll_recv(cx);
                    return piece.map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))));
                }
            }
        }
    }
}
