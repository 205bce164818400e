//! Watching resources: being told when they change.
//!
//! `topics` is who wants to be told of what, over all connections of a server; `follow` keeps the
//! subscriptions on one connection as they are wanted; a `mailbox` is what one watcher has not read yet.

mod follow;
mod mailbox;
mod topics;

use std::fmt;
use std::sync::Arc;

use switchboard_client::ServerErrorCause;
use tokio::time::{Instant, sleep};

pub(super) use follow::following;
pub(super) use topics::Topics;

use mailbox::Mailbox;

use super::member::{Member, Ready};
use super::requests::no_resource;
use super::view::View;
use crate::error::Error;
use crate::limits::doubled;
use crate::policy::{Request, Target, Verb};
use crate::session::{CallError, CloseCause, CloseReason, Delivery};

/// Something that a watcher is told.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Update {
    /// A resource changed: the one that is watched, or one below it.
    Changed(String),
    /// The server told of nothing for a while and does again: whatever is watched is to be read again.
    Again,
    /// So many further changes came while nobody read, of addresses that were not kept.
    Missed(u64),
}

/// A resource that is watched, until this is dropped.
///
/// A server is told of a resource once, however many watch it, and told to stop when the last of them
/// goes. When its connection is lost, [`Watching::next`] connects again as the server's settings have it.
pub struct Watching {
    view: View,
    member: Arc<Member>,
    ready: Arc<Ready>,
    uri: String,
    mailbox: Arc<Mailbox>,
    /// How often in a row the connection was lost, and when last.
    losses: u32,
    lost_at: Option<Instant>,
}

impl Watching {
    /// Begins to watch a resource, and returns once the server has agreed to tell of it.
    pub(super) async fn begin(
        view: &View,
        member: &Arc<Member>,
        ready: &Arc<Ready>,
        uri: &str,
    ) -> Result<Self, Error> {
        let limits = &view.host.registry.options.host_limits;
        let mailbox = Mailbox::new(limits.updates, limits.update_bytes);
        let joined = member.topics.join(uri, mailbox, limits.watches);
        let mailbox = joined.ok_or_else(|| {
            let most = limits.watches;
            Error::configuration(format!(
                "{most} resources of the server are watched already"
            ))
        })?;
        let watching = Self {
            view: view.clone(),
            member: Arc::clone(member),
            ready: Arc::clone(ready),
            uri: uri.to_owned(),
            mailbox,
            losses: 0,
            lost_at: None,
        };
        // Kept until the server has agreed: the last one may have been closed.
        let session = ready.server.session().await?;
        loop {
            if let Some(refusal) = watching.mailbox.refusal() {
                return Err(refusal.into());
            }
            if watching.mailbox.has_begun() {
                return Ok(watching);
            }
            if let Some(reason) = session.close_reason() {
                return Err(closed(reason));
            }
            watching.stirred().await?;
        }
    }

    /// The resource that is watched.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// What is to be told next. Cancel safe: what was not returned is told the next time.
    ///
    /// # Errors
    /// When nothing more will be told: the server is gone and is not connected to again, it tells of
    /// this resource no more, or the caller may not be told any more.
    pub async fn next(&mut self) -> Result<Update, Error> {
        loop {
            if let Some(update) = self.mailbox.take() {
                return self.shown(update);
            }
            if let Some(refusal) = self.mailbox.refusal() {
                return Err(self.about(refusal));
            }
            match self.member.topics.why_lost() {
                // Somebody wanted that, and somebody may want another connection.
                Some(reason) if reason.cause == CloseCause::ByUs => self.stirred().await?,
                Some(_) if self.ready.server.live().is_none() => self.connect_again().await?,
                _ => self.stirred().await?,
            }
        }
    }

    /// Connects again, with a rest before where that was in vain a moment ago.
    async fn connect_again(&mut self) -> Result<(), Error> {
        let limits = &self.view.host.registry.options.host_limits;
        let (first, most) = (limits.relisten, limits.relisten_most);
        if self.lost_at.is_some_and(|at| at.elapsed() > most) {
            self.losses = 0;
        }
        if let Some(times) = self.losses.checked_sub(1) {
            self.rest(doubled(first, most, times)).await?;
        }
        // Counted before anything is waited for: whoever drops this and begins anew is not done sooner.
        self.losses = self.losses.saturating_add(1);
        self.lost_at = Some(Instant::now());
        let mut failed = None;
        loop {
            let error = match self.ready.server.session().await {
                Ok(_) => return Ok(()),
                Err(error) => error,
            };
            let wait = match &**error.cause() {
                ServerErrorCause::Resting { wait, .. } => *wait,
                ServerErrorCause::Lost(_) | ServerErrorCause::Stopped => None,
                // It is tried again after a rest, which the next attempt says.
                _ if failed.is_none() => {
                    failed = Some(error);
                    continue;
                }
                _ => None,
            };
            match wait {
                Some(wait) => self.rest(wait).await?,
                None => return Err(self.about(error)),
            }
            failed = None;
        }
    }

    async fn rest(&self, time: std::time::Duration) -> Result<(), Error> {
        tokio::select! {
            () = sleep(time) => Ok(()),
            stopped = self.stopped() => Err(stopped),
        }
    }

    /// Waits until there may be something to tell.
    async fn stirred(&self) -> Result<(), Error> {
        tokio::select! {
            () = self.mailbox.stirred() => Ok(()),
            stopped = self.stopped() => Err(stopped),
        }
    }

    /// Waits until the host has the server no more.
    async fn stopped(&self) -> Error {
        tokio::select! {
            () = self.member.gone.cancelled() => {}
            () = self.view.host.registry.closing().cancelled() => {}
        }
        self.about(ServerErrorCause::Stopped)
    }

    /// An update as the caller may know of it.
    fn shown(&self, update: Update) -> Result<Update, Error> {
        let (access, caller) = (&self.view.host.access, &self.view.caller);
        if caller.is_owner() {
            return Ok(update);
        }
        let resource = |uri| Target::Resource {
            server: &self.member.name,
            uri,
        };
        let request = Request::new(caller, Verb::Subscribe, resource(&self.uri));
        if access.decide(&request).is_denied() {
            return Err(no_resource(&self.uri));
        }
        Ok(match update {
            // That it is there at all may be none of an agent's business.
            Update::Changed(uri) if !access.sees(caller, resource(&uri)) => {
                Update::Changed(self.uri.clone())
            }
            update => update,
        })
    }

    fn about(&self, error: impl Into<Error>) -> Error {
        self.member.about(error).without(&self.ready.secrets)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.member.topics.leave(&self.uri, &self.mailbox);
    }
}

impl fmt::Debug for Watching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watching")
            .field("server", &self.member.name)
            .field("uri", &self.uri)
            .finish_non_exhaustive()
    }
}

fn closed(reason: Arc<CloseReason>) -> Error {
    CallError::Closed {
        reason,
        delivery: Delivery::MaybeProcessed,
    }
    .into()
}
