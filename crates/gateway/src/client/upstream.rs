//! The way to the servers: what a client's requests take with them, and what comes back besides answers.

use std::sync::{Arc, LazyLock, Weak};
use std::time::Duration;

use switchboard::host::{ClientConnections, ClientOptions, ClientSink};
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
    /// What the client may see and use, over its connections.
    pub(super) view: View,
    /// Those that it does not share with other clients.
    connections: ClientConnections,
}

impl Upstream {
    pub(super) fn new(
        gateway: &Gateway,
        identity: &ClientIdentity,
        client: &Weak<Client>,
        outlet: &Arc<dyn Outlet>,
    ) -> Self {
        let host = &gateway.0.host;
        let mut options = ClientOptions::default();
        options.respond = Arc::new(AskClient::new(client, outlet));
        options.limits.idle = gateway.0.options.limits.connection_idle;
        options.log_sink = Some(Arc::new(OwnLogs(Weak::clone(client))));
        let connections = host.client_connections(options);
        let view = host.view(identity.caller().clone());
        Self {
            view: view.with_connections(&connections),
            connections,
        }
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
        // The handle is shared by all clients, and has no connections of its own.
        let call = tool.call_raw(arguments).options(options);
        call.connections(&self.connections).into_future()
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
    pub(super) fn roots_changed(&self) {
        self.connections.roots_changed();
    }

    /// The client wants log messages from this level on.
    pub(super) fn set_log_level(&self, level: LogLevel) {
        self.connections.set_log_level(level);
    }

    /// Ends the client's own connections.
    pub(super) async fn close(&self) {
        self.connections.close().await;
    }
}

impl Client {
    /// The questions and answers of a modern client's request.
    fn relay(&self, asked: &Asked<'_>, round: &Round<'_>) -> Result<InputRelay, RpcError> {
        let declared = asked.params.meta.capabilities.as_ref();
        let declared = declared.map_or_else(Raw::empty_object, without_tasks);
        let relay = InputRelay::new(declared).map_err(|misfit| invalid(&misfit.to_string()))?;
        // Answers are opened before the call is made: a forged state never reaches a server.
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
            rest.named(&name, settings.as_str());
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
        if let Some(level) = self.level {
            send_log(&self.outlet, level, self.prefix.as_ref(), params);
        }
    }
}

/// Passes on what the servers of a client's own connections log, besides what belongs to a request.
struct OwnLogs(Weak<Client>);

impl ClientSink for OwnLogs {
    fn log(&self, server: &ServerName, params: &Raw) {
        let Some(client) = self.0.upgrade() else {
            return;
        };
        // Copied out of the lock, which is not held while the message is sent.
        let (is_ready, level) = {
            let session = client.session();
            (session.is_ready, session.level)
        };
        if is_ready {
            let prefix = client.prefix(server);
            send_log(&client.outlet, level, prefix.as_ref(), params);
        }
    }
}

/// Sends a log message as the server wrote it, if it is one from that level on.
fn send_log(outlet: &Arc<dyn Outlet>, from: LogLevel, prefix: Option<&ServerName>, params: &Raw) {
    let Ok(read) = LoggingMessageParams::from_raw(params) else {
        return;
    };
    if read.level() < from {
        return;
    }
    let named = prefix.map(|server| {
        let logger = match read.logger() {
            Some(own) => format!("{server}/{own}"),
            None => server.to_string(),
        };
        let logger = serde_json::to_string(&logger).unwrap_or_default();
        replaced_or_added(params, "logger", &logger)
    });
    let params = named.as_ref().unwrap_or(params);
    let message = notification(LoggingMessage::NAME, Some(params.as_str()));
    outlet.send(message, Priority::CanDrop);
}
