//! The way to the servers: what a client's requests take with them, and what comes back besides answers.

use std::sync::{Arc, LazyLock, Weak};
use std::time::Duration;

use switchboard::session::{CallOptions, CallSink, Callbacks, CancelReason, InputRelay};
use switchboard::{Error, ServerName, ToolCall, ToolHandle, ToolRef, View};
use switchboard_wire::{
    Era, FromRaw as _, LogLevel, LoggingMessage, LoggingMessageParams, Notice as _, Progress, Raw,
    RpcError, TASKS_EXTENSION,
};

use super::params::invalid;
use super::questions::AskClient;
use super::result::{replaced, replaced_or_added};
use super::rounds::Round;
use super::{Asked, Client};
use crate::caller::ClientIdentity;
use crate::gateway::Gateway;
use crate::message::notification;
use crate::outlet::{Outlet, Priority};
use crate::scope::Scope;

/// What modern servers are told of clients of the legacy era: that they cannot be asked.
static NO_CAPABILITIES: LazyLock<Option<Arc<InputRelay>>> =
    LazyLock::new(|| InputRelay::new(Raw::empty_object()).ok().map(Arc::new));

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
    ///
    /// # Errors
    /// Fails if the request has members in `_meta`, or answers, that cannot be.
    pub(super) fn options(
        &self,
        client: &Client,
        asked: &Asked<'_>,
        server: &ServerName,
        round: &Round<'_>,
        reason: CancelReason,
    ) -> Result<CallOptions, RpcError> {
        let meta = &asked.params.meta;
        let mut options = CallOptions::default();
        options.meta = meta.for_server().cloned();
        options.reason = reason;
        let mut callbacks = Callbacks::default();
        let level = match asked.version.era() {
            Era::Modern => {
                let level = meta.log_level()?;
                options.log_level = level;
                options.relay = Some(Arc::new(client.relay(asked, round)?));
                level
            }
            Era::Legacy => {
                options.relay = NO_CAPABILITIES.clone();
                let session = client.session();
                if session.can_be_asked {
                    let asking = AskClient::new(&client.this, asked.outlet);
                    callbacks = callbacks.respond(Arc::new(asking));
                }
                Some(session.level)
            }
        };
        if meta.progress_token.is_some() || level.is_some() {
            callbacks = callbacks.sink(Arc::new(ToClient {
                outlet: Arc::clone(asked.outlet),
                token: meta.progress_token.clone(),
                level,
                prefix: client.prefix(server),
            }));
        }
        if callbacks.sink.is_some() || callbacks.respond.is_some() {
            options.callbacks = Some(Arc::new(callbacks));
        }
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
    pub(super) async fn connect_within(&self, patience: Duration) {
        drop(self.view.connect_within(patience).await);
    }

    /// The client has other roots.
    pub(super) fn roots_changed(&self) {}

    /// The client wants log messages from this level on.
    pub(super) fn set_log_level(&self, _level: LogLevel) {}

    pub(super) async fn close(&self) {}
}

impl Client {
    /// The questions and answers of a modern client's request.
    fn relay(&self, asked: &Asked<'_>, round: &Round<'_>) -> Result<InputRelay, RpcError> {
        let declared = asked.params.meta.capabilities.as_ref();
        let declared = declared.map_or_else(Raw::empty_object, without_tasks);
        let relay = InputRelay::new(declared).map_err(|misfit| invalid(&misfit.to_string()))?;
        let (responses, state) = self.answers(&asked.params, round)?;
        Ok(relay.answers(responses, state))
    }

    /// The name of a server in front of its loggers; `None` where it is the only one.
    fn prefix(&self, server: &ServerName) -> Option<ServerName> {
        match self.scope {
            Scope::Server(_) => None,
            _ => Some(server.clone()),
        }
    }
}

/// Capabilities without the extension for tasks: the gateway keeps none.
fn without_tasks(capabilities: &Raw) -> Raw {
    // Nearly all clients declare no extension of that name, and are not read again.
    if !capabilities.as_str().contains(TASKS_EXTENSION) {
        return capabilities.clone();
    }
    let Some(extensions) = capabilities.member("extensions") else {
        return capabilities.clone();
    };
    let mut rest = super::result::Members::new();
    for (name, settings) in extensions.members() {
        if name != TASKS_EXTENSION {
            let name = serde_json::to_string(&name).unwrap_or_default();
            rest.raw(name.trim_matches('"'), settings.as_str());
        }
    }
    replaced(capabilities, "extensions", &rest.end())
}

/// The questions of a modern server, if that is what an error brings.
pub(super) fn questions(error: &Error) -> Option<&Raw> {
    error.input_required()
}

/// Passes on what a server sends about one request, to the client that made it.
struct ToClient {
    outlet: Arc<dyn Outlet>,
    /// The client's own token, as it wrote it.
    token: Option<Raw>,
    level: Option<LogLevel>,
    /// The server, where loggers of several could be confused.
    prefix: Option<ServerName>,
}

impl CallSink for ToClient {
    fn progress(&self, params: &Raw) {
        let Some(token) = &self.token else {
            return;
        };
        let params = replaced(params, "progressToken", token.as_str());
        let message = notification(Progress::NAME, Some(params.as_str()));
        self.outlet.send(message, Priority::CanDrop);
    }

    fn log(&self, params: &Raw) {
        let read = LoggingMessageParams::from_raw(params);
        let (Ok(read), Some(level)) = (read, self.level) else {
            return;
        };
        if read.level() < level {
            return;
        }
        let named = self.prefix.as_ref().map(|server| {
            let logger = match read.logger() {
                Some(own) => format!("{server}/{own}"),
                None => server.to_string(),
            };
            let logger = serde_json::to_string(&logger).unwrap_or_default();
            replaced_or_added(params, "logger", &logger)
        });
        let params = named.as_ref().unwrap_or(params);
        let message = notification(LoggingMessage::NAME, Some(params.as_str()));
        self.outlet.send(message, Priority::CanDrop);
    }
}
