//! Methods of a host for its owner, who sees and uses everything, without a policy.
//!
//! The person whose host it is may use all of it. Each method is the one of the same name of [`View`],
//! for the owner; an agent acts through [`Host::agent`], which is restricted by the policy.

use std::sync::Arc;

use serde::Serialize;
use switchboard_wire::{GetPromptResult, ReadResourceResult};

use super::handle::ToolHandle;
use super::server_request::ServerRequest;
use super::tool_call::ToolCall;
use super::tool_list::ToolList;
use super::view::View;
use super::{Host, HostError};
use crate::catalog::{PromptEntry, ResourceEntry, ToolRef};
use crate::error::{Error, MissingPolicy};
use crate::formats;
use crate::policy::Caller;

impl Host {
    /// The tools of all servers that are known by now, by server and in its order.
    pub fn tools(&self) -> Vec<ToolHandle> {
        self.owner().tools()
    }

    /// The tools of one server, as last read or read anew: see [`ToolList`]. Await it.
    pub fn tools_of<'a>(&self, server: &'a str) -> ToolList<'a> {
        self.owner().tools_of(server)
    }

    /// The tool of that name: `server/tool`, or its name for models. Nothing is started; see
    /// [`Host::find`].
    ///
    /// # Errors
    /// Fails if no tool that is known by now has that name; the error names the closest one.
    pub fn tool<'n>(&self, name: impl Into<ToolRef<'n>>) -> Result<ToolHandle, Error> {
        self.owner().tool(name)
    }

    /// The tool of that name, connecting first to the servers that may have it.
    ///
    /// # Errors
    /// Fails if there is no such tool, or its server cannot be used.
    pub async fn find<'n>(&self, name: impl Into<ToolRef<'n>>) -> Result<ToolHandle, Error> {
        self.owner().find(name).await
    }

    /// Calls a tool by its name, `server/tool` or the one for models, connecting first if need be.
    ///
    /// Await it to send it; see [`ToolCall`] for its options. The arguments are an object: a struct, a
    /// map, `json!({...})`. A program that calls a tool often keeps a [`ToolHandle`].
    ///
    /// ```no_run
    /// # async fn example(host: switchboard::Host) -> Result<(), switchboard::Error> {
    /// use serde_json::json;
    /// use std::time::Duration;
    ///
    /// let found = host.call("github/search", json!({ "query": "mcp" })).await?;
    /// let built = host
    ///     .call("ci/build", json!({ "branch": "main" }))
    ///     .timeout(Duration::from_secs(300))
    ///     .on_progress(|step| println!("{} of {:?}", step.progress, step.total))
    ///     .await?;
    /// # drop((found, built));
    /// # Ok(())
    /// # }
    /// ```
    pub fn call<'a>(
        &self,
        name: impl Into<ToolRef<'a>>,
        arguments: impl Serialize,
    ) -> ToolCall<'a> {
        ToolCall::by_name(self.owner(), name.into(), arguments)
    }

    /// Makes the call that a model asked for: see [`formats::openai::chat_call`] and the like.
    pub fn call_for_model<'a>(&self, call: &'a formats::Call) -> ToolCall<'a> {
        self.owner().call_for_model(call)
    }

    /// The resources of all servers that are known by now.
    pub fn resources(&self) -> Vec<Arc<ResourceEntry>> {
        self.owner().resources()
    }

    /// Reads a resource of a server, connecting first if need be. Await it to send it.
    pub fn read<'a>(&self, server: &'a str, uri: &'a str) -> ServerRequest<'a, ReadResourceResult> {
        self.owner().read(server, uri)
    }

    /// The prompts of all servers that are known by now.
    pub fn prompts(&self) -> Vec<Arc<PromptEntry>> {
        self.owner().prompts()
    }

    /// Gets a prompt, `server/prompt` or its name for models, filled in with arguments: an object whose
    /// strings are sent as they are and other values as JSON text. Connects first if need be. Await it
    /// to send it.
    pub fn prompt<'a>(
        &self,
        name: &'a str,
        arguments: impl Serialize,
    ) -> ServerRequest<'a, GetPromptResult> {
        self.owner().prompt(name, arguments)
    }

    /// Returns the view of an agent: what the policy grants it, and nothing else.
    ///
    /// [`Host::view`] takes a [`Caller`] with attributes instead, and returns an empty view if
    /// there is no policy.
    ///
    /// # Errors
    /// Fails if the policy mentions neither the agent nor agents in general: it could see nothing.
    /// [`Error::missing_policy`] says what to write, and where. Fails also if the id is not valid.
    pub fn agent(&self, id: &str) -> Result<View, Error> {
        let caller = Caller::agent(id).map_err(|error| Error::configuration(error.to_string()))?;
        let policy = self.policy();
        if policy.of(caller.id()).is_none() {
            let known = policy.agents().into_iter().map(|(id, _)| id.clone());
            let missing = MissingPolicy {
                agent: caller.id().clone(),
                known: known.collect(),
                file: self.0.registry.options().policy_file.clone(),
            };
            return Err(HostError::NoPolicy(Box::new(missing)).into());
        }
        Ok(self.view(caller))
    }

    fn owner(&self) -> View {
        self.view(Caller::owner())
    }
}
