//! Registers local tools with a host, and removes them.

use std::sync::Arc;

use super::{LocalTool, LocalTools, NotAdded};
use crate::catalog::ItemKind;
use crate::error::{Error, HostError};
use crate::host::catalog_keeper::Lists;
use crate::host::handle::ToolHandle;
use crate::host::member::{Member, Source, revision};
use crate::host::registry::Want;
use crate::host::{Host, HostInner, unknown};
use crate::policy::Caller;
use crate::spec::{Origin, ServerName};

impl Host {
    /// Registers a tool that the program itself runs, while the host runs, under a server name of the
    /// program's choice, and returns its handle once the tool is in the catalog.
    ///
    /// From then on it is a tool like any other: policies, filters, limits, deadlines and events apply
    /// to it. Several can share a server name. Definitions of local tools are the program's own words,
    /// so pins do not hold them back from agents.
    ///
    /// # Errors
    /// Fails if the server name is not valid or is that of another kind of server, it has a tool of
    /// that name, or the definition is not that of a tool. Nothing is registered then.
    ///
    /// # Cancel safety
    /// Dropping the future may leave the tool registered.
    pub async fn register_tool<N>(&self, server: N, tool: LocalTool) -> Result<ToolHandle, Error>
    where
        N: TryInto<ServerName, Error: std::fmt::Display>,
    {
        let server = server.try_into();
        let server = server.map_err(|error| Error::configuration(error.to_string()))?;
        tool.check()?;
        let name = tool.name.clone();
        let (member, tools) = self.0.enter_tool(&server, tool).await?;
        match self.0.list_tool(&member, &name).await {
            Ok(handle) => Ok(handle),
            Err(error) => {
                self.0.withdraw_tool(&member, &tools, &name).await;
                Err(error)
            }
        }
    }

    /// Removes a tool that [`Host::register_tool`] registered, and the server name with its last one.
    /// Calls that run go on, unless it was the last.
    ///
    /// # Errors
    /// Fails if there is no such server, or no such tool that the program registered.
    pub async fn remove_tool(&self, server: &str, tool: &str) -> Result<(), Error> {
        let member = self.0.registry.find(server)?;
        let Source::Local(tools) = &member.source else {
            return Err(member.with_context(unknown("local tool", tool, Vec::new())));
        };
        if self.0.withdraw_tool(&member, tools, tool).await {
            Ok(())
        } else {
            Err(member.with_context(unknown("local tool", tool, tools.names())))
        }
    }
}

impl HostInner {
    /// Puts a tool among those of its server, which is added if it is not there.
    async fn enter_tool(
        &self,
        server: &ServerName,
        tool: LocalTool,
    ) -> Result<(Arc<Member>, LocalTools), Error> {
        loop {
            let Some(member) = self.registry.member(server) else {
                let tools = LocalTools::of(tool.clone());
                let source = Source::Local(tools.clone());
                let environment = &self.registry.options().environment;
                let member = Member::new(server.clone(), Origin::program(), source, environment);
                match self.registry.add(member, |_| ()) {
                    Ok(member) => return Ok((member, tools)),
                    // Another task was faster: its server takes the tool.
                    Err(_) => continue,
                }
            };
            let Source::Local(tools) = &member.source else {
                return Err(HostError::Twice(server.clone()).into());
            };
            match tools.add(tool.clone()) {
                Ok(()) if !member.has_left() => {
                    let tools = tools.clone();
                    return Ok((member, tools));
                }
                Err(NotAdded::Taken) => {
                    let tool = tool.name.clone();
                    return Err(member.with_context(HostError::ToolTwice { tool }));
                }
                // It is being removed: the next attempt finds its name free.
                Ok(()) | Err(NotAdded::Closed) => tokio::task::yield_now().await,
            }
        }
    }

    /// Reads the list of a server of local tools, and returns one of them.
    async fn list_tool(
        self: &Arc<Self>,
        member: &Arc<Member>,
        tool: &str,
    ) -> Result<ToolHandle, Error> {
        self.read_tools(member).await?;
        let (found, catalog) = (revision(), self.keeper.catalog());
        let entry = catalog.by_key(member.name.as_str(), tool);
        let entry = entry.ok_or_else(|| {
            // It was removed meanwhile, or is over a limit of the host.
            let unlisted = member.listing.why_unlisted(ItemKind::Tool);
            unlisted.unwrap_or_else(|| self.no_tool(&Caller::owner(), tool))
        })?;
        Ok(ToolHandle::new(self, &Caller::owner(), entry, found))
    }

    async fn read_tools(&self, member: &Arc<Member>) -> Result<(), Error> {
        self.registry.admit(member).await?;
        // Before the connection is asked for: the lists that are awaited are read after this.
        self.keeper.refresh(member);
        self.open(member, Want::Outright, Lists::Tools).await
    }

    /// Takes a tool out, and its server with the last one; false if there is no such tool.
    async fn withdraw_tool(&self, member: &Arc<Member>, tools: &LocalTools, tool: &str) -> bool {
        match tools.remove(tool) {
            None => return false,
            Some(true) => self.remove(member).await,
            // A failure to list leaves the tool in the catalog until the next reading; calls of it
            // are refused.
            Some(false) => drop(self.read_tools(member).await),
        }
        true
    }
}
