//! One server that survives its connections.
//!
//! A [`Server`] connects on first use, connects once however many ask at the same time, notices
//! when its connection is gone and connects anew on the next use. It adds to every error which
//! server it is about.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use switchboard_protocol::{
    CallToolResult, Era, GetPromptParams, GetPromptResult, Prompt, Raw, ReadResourceResult,
    Resource, ResourceTemplate, Tool,
};
use tokio::sync::{Mutex, watch};

use crate::error::{Context, Error};
use crate::session::{
    CallError, CallOptions, CloseCause, CloseReason, Delivery, Listing, Session, SessionOptions,
    Verdict,
};
use crate::spec::ServerName;
use crate::transport::Connect;

/// What a server is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerState {
    /// There is no connection, and nobody has wanted one yet.
    Idle,
    /// A connection is being made.
    Connecting,
    /// There is a connection.
    Connected,
    /// The last connection could not be made, for this reason.
    Failed(String),
    /// There was a connection, and it is gone for this reason.
    Closed(Arc<CloseReason>),
}

/// One server, whatever becomes of its connections. Clones share them.
#[derive(Clone)]
pub struct Server(Arc<Inner>);

struct Inner {
    name: ServerName,
    connect: Box<dyn Connect>,
    options: SessionOptions,
    live: Mutex<Live>,
    state: watch::Sender<ServerState>,
}

#[derive(Default)]
struct Live {
    session: Option<Session>,
    /// What the last connection found out, to save the probe on the next.
    verdict: Option<Verdict>,
}

impl Server {
    /// A server behind a transport. Nothing is started before it is used.
    pub fn new(name: ServerName, connect: impl Connect + 'static, options: SessionOptions) -> Self {
        let live = Live {
            session: None,
            verdict: options.verdict,
        };
        Self(Arc::new(Inner {
            name,
            connect: Box::new(connect),
            options,
            live: Mutex::new(live),
            state: watch::Sender::new(ServerState::Idle),
        }))
    }

    /// The name that a person gave the server.
    pub fn name(&self) -> &ServerName {
        &self.0.name
    }

    /// What the server is: `stdio:CMD:ARGS`, secrets redacted.
    pub fn identity(&self) -> String {
        self.0.connect.identity()
    }

    /// What the server is doing, now and from now on.
    pub fn state(&self) -> watch::Receiver<ServerState> {
        self.0.state.subscribe()
    }

    /// The live session; connects if there is none.
    ///
    /// However many ask at once, one connection is made. Dropping the future leaves nothing
    /// behind.
    ///
    /// # Errors
    /// When no connection could be made; nothing of the attempt is left.
    pub async fn session(&self) -> Result<Session, Error> {
        let mut live = self.0.live.lock().await;
        if let Some(session) = &live.session {
            match session.close_reason() {
                None => return Ok(session.clone()),
                Some(reason) => {
                    self.0.state.send_replace(ServerState::Closed(reason));
                    live.session = None;
                }
            }
        }
        let connecting = Connecting(&self.0.state);
        connecting.0.send_replace(ServerState::Connecting);
        let options = self.0.options.clone().verdict(live.verdict);
        match Session::connect(&*self.0.connect, options).await {
            Ok(session) => {
                live.verdict = Some(session.negotiated().verdict());
                live.session = Some(session.clone());
                self.0.state.send_replace(ServerState::Connected);
                Ok(session)
            }
            Err(error) => {
                // A verdict that led to nothing is not worth keeping.
                live.verdict = None;
                let error = self.about(error);
                self.0
                    .state
                    .send_replace(ServerState::Failed(error.to_string()));
                Err(error)
            }
        }
    }

    /// The era that the server was last seen to speak.
    pub async fn era(&self) -> Option<Era> {
        self.0.live.lock().await.verdict.map(|verdict| verdict.era)
    }

    /// Calls a tool, connecting first if need be.
    ///
    /// # Errors
    /// When there is no result; a tool that reports a failure has one.
    pub async fn call_tool(
        &self,
        tool: &str,
        arguments: Option<Raw>,
        options: CallOptions,
    ) -> Result<CallToolResult, Error> {
        self.using(|session| {
            let (arguments, options) = (arguments.clone(), options.clone());
            async move { session.call_tool(tool, arguments, options).await }
        })
        .await
    }

    /// Lists the server's tools, connecting first if need be.
    ///
    /// # Errors
    /// When the list could not be had.
    pub async fn list_tools(&self) -> Result<Listing<Tool>, Error> {
        self.using(|session| async move { session.list_tools().await })
            .await
    }

    /// Lists the server's resources, connecting first if need be.
    ///
    /// # Errors
    /// When the list could not be had.
    pub async fn list_resources(&self) -> Result<Listing<Resource>, Error> {
        self.using(async |session| session.list_resources().await)
            .await
    }

    /// Lists the server's resource templates, connecting first if need be.
    ///
    /// # Errors
    /// When the list could not be had.
    pub async fn list_resource_templates(&self) -> Result<Listing<ResourceTemplate>, Error> {
        self.using(async |session| session.list_resource_templates().await)
            .await
    }

    /// Lists the server's prompts, connecting first if need be.
    ///
    /// # Errors
    /// When the list could not be had.
    pub async fn list_prompts(&self) -> Result<Listing<Prompt>, Error> {
        self.using(async |session| session.list_prompts().await)
            .await
    }

    /// Reads a resource, connecting first if need be.
    ///
    /// # Errors
    /// When there is no result; also when the server offers no resources.
    pub async fn read_resource(
        &self,
        uri: &str,
        options: CallOptions,
    ) -> Result<ReadResourceResult, Error> {
        self.using(|session| {
            let options = options.clone();
            async move { session.read_resource(uri, options).await }
        })
        .await
    }

    /// Gets a prompt, connecting first if need be.
    ///
    /// # Errors
    /// When there is no result; also when the server offers no prompts.
    pub async fn get_prompt(
        &self,
        params: &GetPromptParams,
        options: CallOptions,
    ) -> Result<GetPromptResult, Error> {
        self.using(|session| {
            let options = options.clone();
            async move { session.get_prompt(params, options).await }
        })
        .await
    }

    /// Asks whether the server is there, and says how long it took to answer.
    ///
    /// # Errors
    /// When it did not answer.
    pub async fn ping(&self) -> Result<Duration, Error> {
        self.using(|session| async move { session.ping().await })
            .await
    }

    /// Closes the connection, if there is one, and waits until the server has ended.
    pub async fn close(&self) {
        let session = self.0.live.lock().await.session.take();
        if let Some(session) = session {
            let reason = session.close().await;
            self.0.state.send_replace(ServerState::Closed(reason));
        }
    }

    /// Closes the connection and makes a new one.
    ///
    /// # Errors
    /// When no new connection could be made.
    pub async fn reconnect(&self) -> Result<Session, Error> {
        self.close().await;
        self.session().await
    }

    /// Makes a request, connecting first if need be.
    ///
    /// Where the connection was lost before any of the request had left, it is made again on the
    /// next: nothing can have run.
    async fn using<T, Made>(&self, request: impl Fn(Session) -> Made) -> Result<T, Error>
    where
        Made: Future<Output = Result<T, CallError>>,
    {
        let first = request(self.session().await?).await;
        let made = match first {
            Err(CallError::Closed {
                delivery: Delivery::NeverSent,
                reason,
            }) if reason.cause != CloseCause::ByUs => request(self.session().await?).await,
            made => made,
        };
        made.map_err(|error| self.about(error))
    }

    fn about(&self, error: impl Into<Error>) -> Error {
        error.into().in_context(Context {
            server: Some(self.0.name.clone()),
            identity: Some(self.identity()),
            ..Context::default()
        })
    }
}

/// A connection being made; one that is given up leaves the server idle.
struct Connecting<'a>(&'a watch::Sender<ServerState>);

impl Drop for Connecting<'_> {
    fn drop(&mut self) {
        self.0.send_if_modified(|state| {
            let given_up = *state == ServerState::Connecting;
            if given_up {
                *state = ServerState::Idle;
            }
            given_up
        });
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.0.name)
            .field("identity", &self.identity())
            .field("state", &*self.0.state.borrow())
            .finish_non_exhaustive()
    }
}
