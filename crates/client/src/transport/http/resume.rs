//! Resumes streams that ended early.

use switchboard_wire::Era;
use tokio::sync::watch;

use super::answer;
use super::events::Place;
use super::fetch::Response;
use super::retry;
use super::streamable::Streamable;
use crate::transport::{Outgoing, Sent};

/// Counts the discoveries that a server's streams are gone.
#[derive(Default)]
pub(crate) struct Gone(watch::Sender<u64>);

impl Gone {
    fn tell(&self) {
        self.0.send_modify(|times| *times += 1);
    }
}

impl Streamable {
    /// Resumes the stream of a call; `None` if that is not possible.
    pub(crate) async fn resume(&self, message: &Outgoing<'_>, place: &Place) -> Option<Response> {
        let last_id = place.last_id.as_deref()?;
        // Subscribe before waiting: a discovery during the wait counts as well.
        let mut gone = self.gone.0.subscribe();
        self.wait_as_asked(place).await;
        // A server that died has many streams to resume, and only a few attempts per minute: the
        // finding of one holds for all.
        tokio::select! {
            biased;
            () = self.inner.attempt() => {}
            _ = gone.changed() => return None,
        }
        match self.get(message.version, Some(last_id)).await {
            Ok(response) if answer::is_stream(&response) => return Some(response),
            Ok(mut response) => {
                let with_session = self.legacy.session().is_some();
                let refused =
                    answer::classify_refusal(&self.inner, &mut response, Era::Legacy, with_session);
                if let answer::Refused::Session(_) = refused.await {
                    self.gone.tell();
                }
            }
            // The server is not there.
            Err(fault) if fault.sent == Sent::Never => self.gone.tell(),
            Err(_) => {}
        }
        None
    }

    /// Waits as long as the server asks, and longer if the rate limit is reached.
    pub(crate) async fn wait_to_resume(&self, place: &Place) {
        self.wait_as_asked(place).await;
        self.inner.attempt().await;
    }

    async fn wait_as_asked(&self, place: &Place) {
        let limits = &self.inner.limits;
        let (usual, least, most) = (limits.resume, limits.resume_least, limits.resume_most);
        let wait = retry::reconnect_wait(place.retry, usual, least, most);
        tokio::time::sleep(wait).await;
    }
}
