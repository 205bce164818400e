//! A server that is added to a running host and connected to, as one operation.
//!
//! [`NewServer`] promises that nothing is left where it fails: neither the server among those of the
//! host, nor its tools in the catalog, nor its process. A [`Removal`] is what takes it out again, also
//! where the program drops the future half-way.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use super::catalog_keeper::Lists;
use super::member::Member;
use super::registry::Want;
use super::view::View;
use super::{Host, HostInner};
use crate::error::{Error, HostError};
use crate::policy::{Audience, Caller};
use crate::spec::ServerSpec;

/// A server that is added to a host and connected to once this is awaited.
///
/// ```no_run
/// # async fn example(host: switchboard::Host) -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use switchboard::spec::ServerSpec;
///
/// let spec = ServerSpec::stdio("time", "uvx")?.args(["mcp-server-time"]);
/// let planner = host
///     .connect_new(spec)
///     .private_to("planner")
///     .timeout(Duration::from_secs(20))
///     .await?;
/// println!("{} tools", planner.tools().len());
/// # Ok(())
/// # }
/// ```
///
/// Awaiting it returns a view: that of the agent that the server is private to, or else that of the
/// owner of the host.
///
/// # Errors
/// Awaiting it fails if there is a server of that name, the description has a setting that has no
/// meaning for its kind of server, the policy does not mention the agent
/// ([`Error::missing_policy`]), or the server cannot be used or not within the time
/// ([`Error::is_timeout`]). The host is as it was before then, and the process of the server has
/// ended.
///
/// # Cancel safety
/// Dropping the future gives up the attempt and removes the server again; its process ends in the
/// background.
#[must_use = "nothing is added until it is awaited"]
pub struct NewServer<'h> {
    host: &'h Host,
    spec: ServerSpec,
    agent: Option<String>,
    limit: Option<Duration>,
}

impl Host {
    /// Adds a server and connects to it, in one operation that leaves nothing behind where it fails.
    /// It is shared by all agents, as far as the policy grants it, unless [`NewServer::private_to`]
    /// names one. Await it.
    pub fn connect_new(&self, spec: ServerSpec) -> NewServer<'_> {
        NewServer {
            host: self,
            spec,
            agent: None,
            limit: None,
        }
    }
}

impl<'h> NewServer<'h> {
    /// Offers the server to this agent alone: to all others it does not exist, whatever the policy
    /// grants them, until it is removed. The owner of the host can always use it.
    pub fn private_to(mut self, agent: impl Into<String>) -> Self {
        self.agent = Some(agent.into());
        self
    }

    /// Offers the server to every agent, as far as the policy grants it. This is so unless
    /// [`NewServer::private_to`] says otherwise.
    pub fn shared(mut self) -> Self {
        self.agent = None;
        self
    }

    /// Sets how long it may take until the server is connected and its lists are read. Without it,
    /// the limits of the description hold alone.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    async fn connect(self) -> Result<View, Error> {
        let host = &self.host.0;
        // 1. Everything that can be refused before anything is started.
        let view = match &self.agent {
            Some(agent) => self.host.agent(agent)?,
            None => self.host.view(Caller::owner()),
        };
        let member = self.host.member_of(self.spec)?;
        // 2. Its audience first: no other agent sees it even for a moment.
        let prepare = |member: &Member| {
            if self.agent.is_some() {
                let only = vec![view.caller().id().clone()];
                let audience = Audience::Only(only);
                host.access.set_audience(&member.name, audience);
            }
        };
        let member = host.registry.add(member, prepare)?;
        let removal = Removal(host, Some(member));
        // 3. The connection, its lists and its baseline.
        match removal.open(self.limit).await {
            Ok(()) => {
                removal.keep();
                Ok(view)
            }
            Err(error) => {
                removal.remove().await;
                Err(error)
            }
        }
    }
}

impl<'h> IntoFuture for NewServer<'h> {
    type Output = Result<View, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'h>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.connect())
    }
}

/// A server that is taken out of its host again when this is dropped.
struct Removal<'h>(&'h Arc<HostInner>, Option<Arc<Member>>);

impl Removal<'_> {
    async fn open(&self, limit: Option<Duration>) -> Result<(), Error> {
        let Some(member) = &self.1 else {
            return Ok(());
        };
        let opening = self.0.open(member, Want::Outright, Lists::All);
        let Some(limit) = limit else {
            return opening.await;
        };
        match tokio::time::timeout(limit, opening).await {
            Ok(opened) => opened,
            Err(_) => Err(member.with_context(HostError::NewServerTimedOut { limit })),
        }
    }

    /// Leaves the server in the host.
    fn keep(mut self) {
        self.1 = None;
    }

    /// Takes the server out, and waits until it has ended.
    async fn remove(self) {
        if let Some(member) = &self.1 {
            // Should the program drop this future meanwhile, the rest happens in the background.
            self.0.remove(member).await;
        }
    }
}

impl Drop for Removal<'_> {
    fn drop(&mut self) {
        if let Some(member) = self.1.take() {
            self.0.take_out(&member);
            // Outside of a runtime nothing can be awaited: dropping the member closes its connection.
            if Handle::try_current().is_ok() {
                self.0.registry.retire_in_background(&member);
            }
        }
    }
}

impl fmt::Debug for NewServer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewServer")
            .field("spec", &self.spec)
            .field("agent", &self.agent)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
