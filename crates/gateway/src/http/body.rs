//! Bodies: reading those of requests within bounds, and the body of a response.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
use hyper::body::{Body, Frame, SizeHint};

use super::events::EventStream;
use crate::validity::{InUse, Validity};

/// The body of a response.
pub struct HttpBody(pub(super) BodyKind);

pub(super) enum BodyKind {
    /// All of it, once.
    Whole(Option<Bytes>),
    Events(Pin<Box<EventStream>>),
    /// Events until the client's credential does not count any more.
    Ending(Box<EndingStream>),
}

/// A stream of events, and the end of the credential that it depends on.
pub(super) struct EndingStream {
    events: Pin<Box<EventStream>>,
    ended: Pin<Box<dyn Future<Output = ()> + Send>>,
    _in_use: InUse,
}

/// The reason that a body cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyError {
    TooLong,
    TooSlow,
    /// The connection broke, or the body's encoding is wrong.
    Broken,
}

impl HttpBody {
    pub(super) fn empty() -> Self {
        Self(BodyKind::Whole(None))
    }

    pub(super) fn whole(text: Bytes) -> Self {
        Self(BodyKind::Whole(Some(text).filter(|text| !text.is_empty())))
    }

    pub(super) fn events(events: EventStream) -> Self {
        Self(BodyKind::Events(Box::pin(events)))
    }

    /// Ends a stream of events with the validity of its client's credential.
    pub(super) fn valid(self, validity: &Validity) -> Self {
        match (self.0, validity.end_of()) {
            (BodyKind::Events(events), Some(end)) => {
                Self(BodyKind::Ending(Box::new(EndingStream {
                    events,
                    ended: Box::pin(end.wait()),
                    _in_use: InUse::new(validity),
                })))
            }
            (kind, _) => Self(kind),
        }
    }
}

impl std::fmt::Debug for HttpBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            BodyKind::Whole(_) => "HttpBody(whole)",
            BodyKind::Events(_) | BodyKind::Ending(..) => "HttpBody(events)",
        })
    }
}

impl Body for HttpBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            BodyKind::Whole(text) => Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
            BodyKind::Events(events) => {
                let next = events.as_mut().poll_next(cx);
                next.map(|event| event.map(|event| Ok(Frame::data(event))))
            }
            BodyKind::Ending(stream) => {
                // The end first: nothing more goes to a client that may not have it.
                if stream.ended.as_mut().poll(cx).is_ready() {
                    self.0 = BodyKind::Whole(None);
                    return Poll::Ready(None);
                }
                let next = stream.events.as_mut().poll_next(cx);
                next.map(|event| event.map(|event| Ok(Frame::data(event))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, BodyKind::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            BodyKind::Whole(text) => {
                let length = text.as_ref().map_or(0, Bytes::len);
                SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
            }
            BodyKind::Events(_) | BodyKind::Ending(..) => SizeHint::default(),
        }
    }
}

/// Reads a body of at most `most` bytes within `patience`.
pub(super) async fn read_body<B: Body>(
    body: B,
    most: usize,
    patience: Duration,
) -> Result<Bytes, BodyError> {
    // The length is often said: a body that is too long is not even read.
    let most_bytes = u64::try_from(most).unwrap_or(u64::MAX);
    if body.size_hint().lower() > most_bytes {
        return Err(BodyError::TooLong);
    }
    let mut body = std::pin::pin!(body);
    // Most bodies came with their head: no clock is needed for them.
    let mut first = None;
    let at_once = std::future::poll_fn(|cx| {
        Poll::Ready(match body.as_mut().poll_frame(cx) {
            Poll::Ready(frame) => {
                first = Some(frame);
                true
            }
            Poll::Pending => false,
        })
    });
    if at_once.await
        && let Some(frame) = first.take()
    {
        let Some(frame) = frame else {
            return Ok(Bytes::new());
        };
        let data = data(frame.map_err(|_| BodyError::Broken)?);
        if body.is_end_stream() {
            return within(data, most);
        }
        return tokio::time::timeout(patience, read_rest(body, data, most))
            .await
            .unwrap_or(Err(BodyError::TooSlow));
    }
    tokio::time::timeout(patience, read_rest(body, Bytes::new(), most))
        .await
        .unwrap_or(Err(BodyError::TooSlow))
}

async fn read_rest<B: Body>(
    mut body: Pin<&mut B>,
    start: Bytes,
    most: usize,
) -> Result<Bytes, BodyError> {
    // One frame is kept as it came; several are joined.
    let mut only = within(start, most)?;
    let mut joined: Vec<u8> = Vec::new();
    loop {
        let frame = std::future::poll_fn(|cx| body.as_mut().poll_frame(cx)).await;
        let Some(frame) = frame else {
            break;
        };
        let data = data(frame.map_err(|_| BodyError::Broken)?);
        if only.is_empty() && joined.is_empty() {
            only = within(data, most)?;
            continue;
        }
        if joined.is_empty() {
            joined.extend_from_slice(&only);
            only = Bytes::new();
        }
        if joined.len().saturating_add(data.len()) > most {
            return Err(BodyError::TooLong);
        }
        joined.extend_from_slice(&data);
    }
    if joined.is_empty() {
        Ok(only)
    } else {
        Ok(Bytes::from(joined))
    }
}

fn within(data: Bytes, most: usize) -> Result<Bytes, BodyError> {
    if data.len() > most {
        return Err(BodyError::TooLong);
    }
    Ok(data)
}

/// The bytes of a frame; trailers have none.
fn data<D: Buf>(frame: Frame<D>) -> Bytes {
    match frame.into_data() {
        Ok(mut data) => {
            let length = data.remaining();
            data.copy_to_bytes(length)
        }
        Err(_) => Bytes::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// A body in pieces; `None` is a wait for ever.
    struct Pieces(VecDeque<Option<Result<Vec<u8>, ()>>>);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = ();

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, ()>>> {
            match self.0.front() {
                Some(None) => Poll::Pending,
                _ => {
                    let piece = self.0.pop_front().flatten();
                    Poll::Ready(piece.map(|piece| piece.map(|data| Frame::data(Bytes::from(data)))))
                }
            }
        }
    }

    async fn read(
        pieces: &[&str],
        end: Option<Option<Result<Vec<u8>, ()>>>,
    ) -> Result<Bytes, BodyError> {
        let pieces = pieces.iter();
        let pieces = pieces.map(|piece| Some(Ok(piece.as_bytes().to_vec())));
        let body = Pieces(pieces.chain(end).collect());
        read_body(body, 6, Duration::from_secs(30)).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_is_joined_and_bounded() {
        assert_eq!(read(&[], None).await, Ok(Bytes::new()));
        assert_eq!(read(&["abc"], None).await, Ok(Bytes::from("abc")));
        assert_eq!(
            read(&["abc", "", "def"], None).await,
            Ok(Bytes::from("abcdef"))
        );
        assert_eq!(read(&["abc", "defg"], None).await, Err(BodyError::TooLong));
        assert_eq!(read(&["abcdefg"], None).await, Err(BodyError::TooLong));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_breaks_or_stalls_is_an_error() {
        let broken = Some(Some(Err(())));
        assert_eq!(read(&["abc"], broken.clone()).await, Err(BodyError::Broken));
        assert_eq!(read(&[], broken).await, Err(BodyError::Broken));
        assert_eq!(read(&["abc"], Some(None)).await, Err(BodyError::TooSlow));
        assert_eq!(read(&[], Some(None)).await, Err(BodyError::TooSlow));
    }
}
