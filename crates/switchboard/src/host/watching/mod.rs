//! Watching resources: updates when they change.
//!
//! `topics` holds the watched resources and their watchers, over all connections of a server;
//! `follow` keeps the subscriptions on one connection in line with them; a `mailbox` holds the
//! unread updates of one watcher.

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

use super::clients::{Lease, OwnLease};
use super::member::{Member, Ready};
use super::requests::no_resource;
use super::view::View;
use crate::error::Error;
use crate::limits::doubled;
use crate::policy::{Request, Target, Verb};
use crate::server::Server;
use crate::session::{CallError, CallOptions, CloseCause, CloseReason, Delivery};

/// An update for a watcher.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Update {
    /// A resource changed: the one that is watched, or one below it.
    Changed(String),
    /// The subscription was interrupted and is open again: read the resource again, because changes
    /// may have been missed.
    Again,
    /// Number of further changes, of addresses that were not kept because the reader was slow.
    Missed(u64),
}

/// A watched resource. Dropping it ends the watch.
///
/// A server receives one subscription for a resource, however many watch it, and is unsubscribed
/// when the last watcher goes. When the connection is lost, [`Watching::next`] connects again as
/// the server's settings allow.
pub struct Watching {
    view: View,
    member: Arc<Member>,
    ready: Arc<Ready>,
    /// The connection that the updates come from, and its watched resources.
    server: Server,
    topics: Arc<Topics>,
    /// The use of a client's own connection, which is not idle while it is watched.
    lease: Option<OwnLease>,
    uri: String,
    mailbox: Arc<Mailbox>,
    /// Number of times in a row that the connection was lost, and the time of the last loss.
    losses: u32,
    lost_at: Option<Instant>,
}

impl Watching {
    /// Begins to watch a resource, and returns once the server has agreed to announce its changes.
    pub(super) async fn begin(
        view: &View,
        member: &Arc<Member>,
        ready: &Arc<Ready>,
        uri: &str,
    ) -> Result<Self, Error> {
        let limits = &view.host.registry.options().host_limits;
        let lease = view
            .lease(member, ready, &mut CallOptions::default())
            .await?;
        let (server, topics, lease) = match lease {
            Lease::Shared(server) => (server.clone(), Arc::clone(&member.topics), None),
            Lease::Own(own) => (own.server().clone(), Arc::clone(own.topics()), Some(own)),
        };
        // The mailbox joins before anything is awaited: an update may come as soon as the server
        // agrees.
        let mailbox = Mailbox::new(limits.updates, limits.update_bytes);
        let joined = topics.join(uri, mailbox, limits.watches);
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
            server,
            topics,
            lease,
            uri: uri.to_owned(),
            mailbox,
            losses: 0,
            lost_at: None,
        };
        // Kept until the server has agreed: the last one may have been closed.
        let session = watching.server.session().await?;
        loop {
            // A refusal before the rest: it is final, and the topic is gone already.
            if let Some(refusal) = watching.mailbox.refusal() {
                return Err(refusal.into());
            }
            if watching.mailbox.has_begun() {
                return Ok(watching);
            }
            if let Some(reason) = session.close_reason() {
                return Err(closed(reason));
            }
            watching.wait_for_update().await?;
        }
    }

    /// The resource that is watched.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Returns the next update. Cancel safe: an update that was not returned comes with the next
    /// call.
    ///
    /// # Errors
    /// Fails if there will be no more updates: the server is gone and is not connected to again, it
    /// no longer announces changes of this resource, or the caller may no longer see it.
    pub async fn next(&mut self) -> Result<Update, Error> {
        loop {
            // Updates that were noted before a refusal or a loss are still delivered.
            if let Some(update) = self.mailbox.take() {
                return self.restrict_update(update);
            }
            if let Some(refusal) = self.mailbox.refusal() {
                return Err(self.with_context(refusal));
            }
            match self.topics.why_lost() {
                // Closed on purpose: wait until a user of the host connects again.
                Some(reason) if reason.cause == CloseCause::ByUs => self.wait_for_update().await?,
                Some(_) if self.server.live().is_none() => self.connect_again().await?,
                _ => self.wait_for_update().await?,
            }
        }
    }

    /// Connects again, after a delay if the connection was lost a short time ago.
    async fn connect_again(&mut self) -> Result<(), Error> {
        let limits = &self.view.host.registry.options().host_limits;
        let (first, most) = (limits.relisten, limits.relisten_most);
        // The connection lasted longer than the longest wait, so the delays start over.
        if self.lost_at.is_some_and(|at| at.elapsed() > most) {
            self.losses = 0;
        }
        // The first loss costs no delay.
        if let Some(times) = self.losses.checked_sub(1) {
            self.rest(doubled(first, most, times)).await?;
        }
        // Count before awaiting: dropping this future and calling again must not shorten the delay.
        self.losses = self.losses.saturating_add(1);
        self.lost_at = Some(Instant::now());
        let mut failed = None;
        loop {
            let error = match self.server.session().await {
                Ok(_) => return Ok(()),
                Err(error) => error,
            };
            let wait = match &**error.cause() {
                ServerErrorCause::Resting { wait, .. } => *wait,
                ServerErrorCause::Lost(_) | ServerErrorCause::Stopped => None,
                // Try again after a rest; the next attempt reports its length.
                _ if failed.is_none() => {
                    failed = Some(error);
                    continue;
                }
                _ => None,
            };
            match wait {
                Some(wait) => self.rest(wait).await?,
                None => return Err(self.with_context(error)),
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

    /// Waits until there may be an update.
    async fn wait_for_update(&self) -> Result<(), Error> {
        tokio::select! {
            () = self.mailbox.wait() => Ok(()),
            stopped = self.stopped() => Err(stopped),
        }
    }

    /// Waits until the server is removed from the host.
    async fn stopped(&self) -> Error {
        tokio::select! {
            () = self.member.gone.cancelled() => {}
            () = self.view.host.registry.closing().cancelled() => {}
            () = async {
                match &self.lease {
                    Some(own) => own.closing().await,
                    None => std::future::pending().await,
                }
            } => {}
        }
        self.with_context(ServerErrorCause::Stopped)
    }

    /// An update as the caller may know of it.
    fn restrict_update(&self, update: Update) -> Result<Update, Error> {
        let (access, caller) = (&self.view.host.access, &self.view.caller);
        if caller.is_owner() {
            return Ok(update);
        }
        let resource = |uri| Target::Resource {
            server: &self.member.name,
            uri,
        };
        // Decided for each update: the policy may have changed since the watch began.
        let request = Request::new(caller, Verb::Subscribe, resource(&self.uri));
        let decision = access.decide(&request);
        if decision.is_denied() {
            let absent = || no_resource(&self.uri);
            return Err(access.denied(&request, &decision, absent));
        }
        Ok(match update {
            // That it is there at all may be none of an agent's business.
            Update::Changed(uri) if !access.sees(caller, resource(&uri)) => {
                Update::Changed(self.uri.clone())
            }
            update => update,
        })
    }

    fn with_context(&self, error: impl Into<Error>) -> Error {
        self.member.with_context(error).without(&self.ready.secrets)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.topics.leave(&self.uri, &self.mailbox);
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
