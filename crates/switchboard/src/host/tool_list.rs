//! The tools of one server, read anew or as last read.

use std::fmt;
use std::pin::Pin;

use super::catalog_keeper::Lists;
use super::handle::ToolHandle;
use super::registry::Want;
use super::unknown;
use super::view::View;
use crate::catalog::ItemKind;
use crate::error::Error;

/// The tools of one server that are not listed yet: await it.
///
/// They are taken as they were last read, also when the connection is gone, unless
/// [`ToolList::fresh`] asks the server. A server that was never listed is asked in any case.
///
/// # Errors
/// Awaiting it fails if there is no such server for the caller, or the server is asked and the list
/// cannot be had.
#[must_use = "nothing is listed until it is awaited"]
pub struct ToolList<'a> {
    view: View,
    server: &'a str,
    is_fresh: bool,
}

impl View {
    /// The tools of one server that the caller can see, as last read or read anew: see [`ToolList`].
    ///
    /// ```no_run
    /// # async fn example(host: switchboard::Host) -> Result<(), switchboard::Error> {
    /// let view = host.agent("planner")?;
    /// let now = view.tools_of("github").fresh().await?;
    /// let again = view.tools_of("github").await?;
    /// # drop((now, again));
    /// # Ok(())
    /// # }
    /// ```
    pub fn tools_of<'a>(&self, server: &'a str) -> ToolList<'a> {
        ToolList {
            view: self.clone(),
            server,
            is_fresh: false,
        }
    }
}

impl ToolList<'_> {
    /// Asks the server, connecting first if need be.
    pub fn fresh(mut self) -> Self {
        self.is_fresh = true;
        self
    }

    /// Takes the tools as they were last read. This is so unless [`ToolList::fresh`] says otherwise.
    pub fn cached(mut self) -> Self {
        self.is_fresh = false;
        self
    }

    async fn list(self) -> Result<Vec<ToolHandle>, Error> {
        let (view, host) = (&self.view, &self.view.host);
        let member = match host.registry.find(self.server) {
            Ok(member) if host.access.knows(&view.caller, &member.name) => member,
            Err(error) if view.caller.is_owner() => return Err(error),
            // One that the caller may not know of is like one that is not there.
            _ => return Err(unknown("server", self.server, Vec::new())),
        };
        let is_listed = host.keeper.part(&member).is_some();
        if !member.is_offline() && (self.is_fresh || !is_listed) {
            if self.is_fresh {
                host.registry.admit(&member).await?;
                // Before the connection is asked for: the lists that are awaited are read after this.
                host.keeper.refresh(&member);
            }
            host.open(&member, Want::Use, Lists::Tools).await?;
            if let Some(error) = member.listing.why_unlisted(ItemKind::Tool) {
                return Err(error);
            }
        }
        let mut tools = view.tools();
        tools.retain(|tool| *tool.server() == member.name);
        Ok(tools)
    }
}

impl<'a> IntoFuture for ToolList<'a> {
    type Output = Result<Vec<ToolHandle>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.list())
    }
}

impl fmt::Debug for ToolList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolList")
            .field("server", &self.server)
            .field("is_fresh", &self.is_fresh)
            .finish_non_exhaustive()
    }
}
