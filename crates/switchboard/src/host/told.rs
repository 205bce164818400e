//! What an agent may know of what happens.

use tokio::sync::broadcast::error::RecvError;

use super::view::View;
use crate::events::{Call, Event, Events};

/// The events that a caller may know of.
#[derive(Debug)]
pub struct ViewEvents {
    events: Events,
    view: View,
}

impl ViewEvents {
    /// The next event.
    ///
    /// # Errors
    /// When the reader fell behind and missed some, or the host is gone.
    pub async fn recv(&mut self) -> Result<Event, RecvError> {
        loop {
            let event = self.events.recv().await?;
            if let Some(event) = self.view.told(event) {
                return Ok(event);
            }
        }
    }
}

impl View {
    /// What happens from now on, as far as the caller may know of it: its own calls, and the servers
    /// that it can see. What has changed at a server, what is wrong with it, and which calls were
    /// denied and why, is for the owner alone.
    pub fn events(&self) -> ViewEvents {
        ViewEvents {
            events: self.host.events.subscribe(),
            view: self.clone(),
        }
    }

    /// What the caller may know of an event. An agent does not learn of what it cannot see, nor why
    /// something is kept from it, nor what is wrong with a server.
    fn told(&self, mut event: Event) -> Option<Event> {
        let caller = &self.caller;
        if caller.is_owner() {
            return Some(event);
        }
        let is_own = |call: &Call| *call.caller == *caller.id().as_str();
        if !self.host.knows(caller, event.server()) || !event.call().is_none_or(is_own) {
            return None;
        }
        match &mut event {
            Event::Decided { decision, .. } if *decision != "allow" => return None,
            Event::Notice { .. } => return None,
            Event::CatalogChanged { changes, .. } => changes.clear(),
            Event::ConnectFailed { error: words, .. }
            | Event::ListFailed { error: words, .. }
            | Event::Disconnected { reason: words, .. } => words.clear(),
            _ => {}
        }
        Some(event)
    }
}
