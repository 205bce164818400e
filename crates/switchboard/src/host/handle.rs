//! One tool, ready to be called.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use switchboard_wire::{Raw, Tool};

use super::Inner;
use super::result::ToolResult;
use crate::catalog::{ToolEntry, ToolKey};
use crate::error::{Error, HostError};
use crate::policy::Caller;
use crate::session::CallOptions;
use crate::spec::ServerName;

/// One tool, ready to be called by whoever it was given to.
///
/// It outlives connections: a call makes a new one where the last is gone. A tool that has changed
/// since is checked and called as it is now.
#[derive(Clone)]
pub struct ToolHandle {
    host: Arc<Inner>,
    caller: Caller,
    entry: Arc<ToolEntry>,
}

impl ToolHandle {
    pub(super) fn new(host: &Arc<Inner>, caller: &Caller, entry: &Arc<ToolEntry>) -> Self {
        Self {
            host: Arc::clone(host),
            caller: caller.clone(),
            entry: Arc::clone(entry),
        }
    }

    /// Its name for models, such as `mcp__github__search`.
    pub fn name(&self) -> &str {
        self.entry.exposed()
    }

    /// The name that its server gave it.
    pub fn raw_name(&self) -> &str {
        self.entry.name()
    }

    /// The server that offers it.
    pub fn server(&self) -> &ServerName {
        self.entry.server()
    }

    /// The server and the tool's own name.
    pub fn key(&self) -> &ToolKey {
        self.entry.key()
    }

    /// What its server says that it is for; cut where it is too long.
    pub fn description(&self) -> &str {
        self.entry.description().unwrap_or_default()
    }

    /// What the catalog has of it.
    pub fn entry(&self) -> &ToolEntry {
        &self.entry
    }

    /// The whole definition, verbatim.
    pub fn tool(&self) -> &Tool {
        self.entry.tool()
    }

    /// Calls the tool with arguments that are an object: a struct, a map, `json!({...})`, a [`Raw`].
    ///
    /// They are checked against the tool's schema before anything is sent. Dropping the future
    /// cancels the call on the wire.
    ///
    /// # Errors
    /// When there is no result. A tool that reports a failure has one: see [`ToolResult::is_error`].
    pub async fn call(&self, arguments: impl Serialize) -> Result<ToolResult, Error> {
        let arguments = Raw::of(&arguments).map_err(|error| {
            let why = Some(error.to_string());
            Error::from(HostError::NoObject { why })
        })?;
        self.call_with(arguments, CallOptions::default()).await
    }

    /// Calls the tool with arguments that are JSON already, on terms of the caller's own.
    ///
    /// # Errors
    /// As [`ToolHandle::call`].
    pub async fn call_with(
        &self,
        arguments: Raw,
        options: CallOptions,
    ) -> Result<ToolResult, Error> {
        let current = {
            let catalog = self.host.catalog.borrow();
            catalog.tool(self.entry.exposed()).cloned()
        };
        let entry = current.filter(|entry| entry.key() == self.entry.key());
        let entry = entry.as_ref().unwrap_or(&self.entry);
        let call = self.host.call(&self.caller, entry, arguments, options);
        // Some kilobytes, which whoever awaits this would move about otherwise.
        Box::pin(call).await
    }

    /// Calls the tool and reads its structured result into a type.
    ///
    /// # Errors
    /// As [`ToolHandle::call`], and where the result is not of that type.
    pub async fn call_as<T: DeserializeOwned>(
        &self,
        arguments: impl Serialize,
    ) -> Result<T, Error> {
        let result = self.call(arguments).await?;
        let member = self.host.known_member(self.server())?;
        result.structured_as().map_err(|error| member.about(error))
    }
}

impl fmt::Debug for ToolHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolHandle")
            .field("name", &self.name())
            .field("key", &self.key())
            .field("caller", &self.caller)
            .finish_non_exhaustive()
    }
}
