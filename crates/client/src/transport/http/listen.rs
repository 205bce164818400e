//! The listening stream (GET) of a legacy server, for messages outside of any exchange.

use switchboard_core::limits::Budget;

use super::answer;
use super::events::{self, End, Place};
use super::streamable::Streamable;
use crate::transport::{Fault, Inlet};

/// Listens in every session, for as long as the server allows it.
pub(crate) async fn listen(
    server: &Streamable,
    inlet: &dyn Inlet,
    budget: &Budget,
) -> Result<(), Fault> {
    let mut openings = server.legacy.openings();
    let mut heard_of = 0;
    loop {
        // A modern server opens no session, so this waits until the connection closes.
        match openings.wait_for(|times| *times > heard_of).await {
            Ok(times) => heard_of = *times,
            Err(_) => return Ok(()),
        }
        if server.inner.streams == super::Streams::Refused {
            server.legacy.listened(heard_of);
            continue;
        }
        tokio::select! {
            () = follow(server, heard_of, inlet, budget) => {}
            // A new session has a stream of its own.
            _ = openings.wait_for(|times| *times > heard_of) => {}
        }
    }
}

/// Follows the stream of one session until the server ends it for good.
async fn follow(server: &Streamable, session: u64, inlet: &dyn Inlet, budget: &Budget) {
    let bounds = server.inner.bounds(budget);
    let mut place = Place::default();
    // Count the first attempt too: a server that flaps must not get a free one per session.
    server.inner.note_attempt();
    loop {
        let version = server.legacy.version();
        let opened = server.get(version, place.last_id.as_deref()).await;
        server.legacy.listened(session);
        match opened {
            Ok(mut response) if answer::is_stream(&response) => {
                let mut take = |piece| events::hand_on(piece, inlet);
                let end = events::read(&mut *response.body, &bounds, &mut place, &mut take).await;
                // Nothing on this stream is an awaited answer, so only the server can end it.
                debug_assert!(!matches!(end, End::Answered));
            }
            // Not offered, which is allowed, or no longer.
            Ok(response) if matches!(response.status, 400..=499) => return,
            Ok(_) | Err(_) => {}
        }
        server.wait_to_resume(&place).await;
    }
}

#[cfg(test)]
#[path = "listen_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "flap_tests.rs"]
mod flap_tests;
