//! The way to the servers: what a client's requests take with them, and what comes back besides answers.

use std::sync::{Arc, Weak};
use std::time::Duration;

use switchboard::session::{CallOptions, CancelReason};
use switchboard::{Error, ServerName, ToolCall, ToolHandle, ToolRef, View};
use switchboard_wire::{LogLevel, Raw, RpcError};

use super::rounds::Round;
use super::{Asked, Client};
use crate::caller::ClientIdentity;
use crate::gateway::Gateway;
use crate::outlet::Outlet;
use crate::scope::Scope;

/// The servers, as one client uses them.
pub(super) struct Upstream {
    /// What the client may see and use.
    pub(super) view: View,
}

impl Upstream {
    pub(super) fn new(
        gateway: &Gateway,
        identity: &ClientIdentity,
        _client: &Weak<Client>,
        _outlet: &Arc<dyn Outlet>,
    ) -> Self {
        let view = gateway.0.host.view(identity.caller().clone());
        Self { view }
    }

    /// The options of one request.
    pub(super) fn options(
        &self,
        _client: &Client,
        asked: &Asked<'_>,
        _server: &ServerName,
        _round: &Round<'_>,
        reason: CancelReason,
    ) -> Result<CallOptions, RpcError> {
        let mut options = CallOptions::default();
        options.meta = asked.params.meta.for_server().cloned();
        options.log_level = asked.params.meta.log_level()?;
        options.reason = reason;
        Ok(options)
    }

    /// Calls a tool.
    pub(super) fn call<'a>(
        &self,
        tool: &'a ToolHandle,
        arguments: Raw,
        options: CallOptions,
    ) -> <ToolCall<'a> as IntoFuture>::IntoFuture {
        tool.call_raw(arguments).options(options).into_future()
    }

    /// Asks the host about a tool that is not offered, by the name that the client knows. Nothing is started.
    pub(super) fn known_tool(&self, scope: &Scope, name: &str) -> Result<ToolHandle, Error> {
        match scope {
            Scope::Server(server) => self.view.tool(ToolRef::new(server, name)),
            _ => self.view.tool(name),
        }
    }

    /// Connects to servers that were never seen, and waits at most that long.
    pub(super) async fn connect_within(&self, _patience: Duration) {}

    /// The client has other roots.
    pub(super) fn roots_changed(&self) {}

    /// The client wants log messages from this level on.
    pub(super) fn set_log_level(&self, _level: LogLevel) {}

    pub(super) async fn close(&self) {}
}

/// The questions of a modern server, if that is what an error brings.
pub(super) fn questions(_error: &Error) -> Option<&Raw> {
    None
}
