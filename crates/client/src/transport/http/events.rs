//! Reads an event stream and passes its messages on.

use std::task::Poll;
use std::time::Duration;

use super::body::{Bounds, Room};
use super::fetch::{Body, Failed, Response};
use super::sse::{Piece, Sse};
use crate::transport::{FaultKind, Heard, Inlet, Sent};

/// The position in a stream, for resuming it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    /// The id of the last event.
    pub(crate) last_id: Option<String>,
    /// The wait that the server asks for before resuming.
    pub(crate) retry: Option<Duration>,
}

/// The end of reading a stream.
pub(crate) enum End {
    /// The awaited answer has arrived.
    Answered,
    /// The stream ended before it.
    Early,
    /// The connection was lost before it.
    Lost(Failed),
    /// The memory budget was exceeded before it.
    NoRoom(Failed),
}

/// Reads a stream until the awaited answer has arrived, within the memory budget.
pub(crate) async fn read(
    body: &mut dyn Body,
    bounds: &Bounds<'_>,
    place: &mut Place,
    take: &mut (dyn FnMut(Piece) -> Heard + Send),
) -> End {
    let mut sse = Sse::new(bounds.limit_bytes);
    let mut room = Room::of(bounds.budget);
    loop {
        let chunk = match body.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return End::Early,
            Err(failed) => return End::Lost(failed),
        };
        sse.push(&chunk);
        let mut heard = Heard::Aside;
        while let Some(piece) = sse.next_piece() {
            if take(piece) == Heard::Answer {
                heard = Heard::Answer;
            }
        }
        // The position after this chunk, for resuming if the stream ends early.
        place.retry = sse.retry().or(place.retry);
        if let Some(id) = sse.last_event_id() {
            place.last_id = Some(id.to_owned());
        }
        if heard == Heard::Answer {
            return End::Answered;
        }
        // Only an unfinished event is held; complete ones were handed on above.
        if let Err(failed) = room.make(sse.held_bytes()) {
            return End::NoRoom(failed);
        }
    }
}

/// Passes the message in a piece of a stream to its inlet.
pub(crate) fn hand_on(piece: Piece, inlet: &dyn Inlet) -> Heard {
    match piece {
        Piece::Event(event) => match event.event.as_deref() {
            None | Some("message") if !event.data.is_empty() => inlet.message(&event.data),
            _ => Heard::Aside,
        },
        Piece::Primed { .. } => Heard::Aside,
        Piece::OverLimit { head } => inlet.over_limit(&head),
        Piece::OverLimitEnd { tail, .. } => inlet.over_limit_end(&tail),
    }
}

/// Returns true if a body has already ended after its answer, so that its connection can be reused.
pub(crate) async fn has_ended(response: &mut Response) -> bool {
    let mut chunk = response.body.chunk();
    std::future::poll_fn(|cx| Poll::Ready(matches!(chunk.as_mut().poll(cx), Poll::Ready(Ok(None)))))
        .await
}

/// The fault of a stream that ended too early.
pub(crate) fn early() -> Failed {
    Failed {
        kind: FaultKind::NoAnswer {
            what: "the stream ended before the answer",
        },
        sent: Sent::Maybe,
    }
}
