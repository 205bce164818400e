//! Reads a stream of events, and hands on the messages in them.

use std::task::Poll;
use std::time::Duration;

use super::body::{Bounds, Room};
use super::fetch::{Body, Failed, Response};
use super::sse::{Piece, Sse};
use crate::transport::{FaultKind, Heard, Inlet, Sent};

/// Where a stream has come to, for whoever wants to resume it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    /// The last event that was seen.
    pub(crate) last_id: Option<String>,
    /// How long the server wants us to wait.
    pub(crate) retry: Option<Duration>,
}

/// How reading a stream ended.
pub(crate) enum End {
    /// What was waited for has come.
    Answered,
    /// The stream ended before that.
    Early,
    /// The connection was lost before that.
    Lost(Failed),
    /// What came before that is more than may be held.
    NoRoom(Failed),
}

/// Reads a stream until what is waited for has come; what it holds meanwhile takes room.
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
        place.retry = sse.retry().or(place.retry);
        if let Some(id) = sse.last_event_id() {
            place.last_id = Some(id.to_owned());
        }
        if heard == Heard::Answer {
            return End::Answered;
        }
        if let Err(failed) = room.make(sse.held_bytes()) {
            return End::NoRoom(failed);
        }
    }
}

/// Gives the message in a piece of a stream to whoever waits for it.
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

/// Whether a body that has brought what was waited for has also ended, so that its connection can
/// be used again.
pub(crate) async fn has_ended(response: &mut Response) -> bool {
    let mut chunk = response.body.chunk();
    std::future::poll_fn(|cx| Poll::Ready(matches!(chunk.as_mut().poll(cx), Poll::Ready(Ok(None)))))
        .await
}

/// A stream that ended too early.
pub(crate) fn early() -> Failed {
    Failed {
        kind: FaultKind::NoAnswer {
            what: "the stream ended before the answer",
        },
        sent: Sent::Maybe,
    }
}
