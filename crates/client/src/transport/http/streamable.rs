//! Streamable HTTP in both eras: each message is a POST, answered with JSON or a stream.
//!
//! A legacy server adds a session (`legacy`), a listening stream (`listen`) and streams that can be
//! resumed (`resume`); a modern one adds headers that repeat parts of the request (`mirror`).

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::HeaderMap;
use switchboard_core::limits::Budget;
use switchboard_core::secret::Secret;
use switchboard_wire::{CallTool, EnvelopeKind as Message, Era, GetPrompt, Initialized};
use switchboard_wire::{Method as _, Notice, Raw, ReadResource, Tool, Version};
use tokio_util::task::TaskTracker;

use super::answer::{self, Refused};
use super::events;
use super::fetch::{Request, Response};
use super::inner::{Inner, STREAM, set, set_own, set_version};
use super::legacy::Legacy;
use super::mirror::{self, Tools};
use super::resume::Gone;
use super::retry::{self, Failure};
use super::tapped;
use crate::transport::{
    Exchange, Exchanging, FailedRequest, Fault, Inlet, Kind, Outgoing, Spot, Working,
};

/// Maximum time to wait for the rest of a stream after its answer.
const REST: Duration = Duration::from_millis(250);

/// One connection to a server that speaks streamable HTTP.
pub(crate) struct Streamable {
    pub(crate) inner: Arc<Inner>,
    pub(crate) legacy: Legacy,
    pub(crate) gone: Gone,
    tools: Tools,
    /// Streams that are read to their end after their answer.
    rests: TaskTracker,
}

/// The result of an attempt.
pub(crate) enum AttemptOutcome {
    /// The message was delivered.
    Done,
    /// The server does not know the session that it was sent in.
    NoSession(Fault),
}

impl Streamable {
    pub(crate) fn new(inner: Arc<Inner>) -> Self {
        Self {
            inner,
            legacy: Legacy::default(),
            gone: Gone::default(),
            tools: Tools::default(),
            rests: TaskTracker::new(),
        }
    }

    async fn exchange(&self, message: &Outgoing<'_>, inlet: &dyn Inlet) -> Result<(), Fault> {
        // The step before sending: it tells a later renewal which session the refusal was about.
        let seen = self.legacy.step();
        match self.attempt(message, inlet).await? {
            AttemptOutcome::Done => {
                self.legacy.note(message);
                Ok(())
            }
            AttemptOutcome::NoSession(fault) if !may_send_again(message) => Err(fault),
            AttemptOutcome::NoSession(fault) => {
                self.renew(&seen, message.budget, &fault).await?;
                match self.attempt(message, inlet).await? {
                    AttemptOutcome::Done => {
                        self.legacy.note(message);
                        Ok(())
                    }
                    // The new session works as far as we know: the server refuses this message,
                    // which must not cost the other calls their session.
                    AttemptOutcome::NoSession(fault) => Err(fault),
                }
            }
        }
    }

    /// Sends a message once.
    pub(crate) async fn attempt(
        &self,
        message: &Outgoing<'_>,
        inlet: &dyn Inlet,
    ) -> Result<AttemptOutcome, Fault> {
        // The listening stream first: a server that asks back has no other way to do so.
        if may_ask(message) {
            self.legacy.listening(self.inner.limits.listen).await;
        }
        let is_initialize = self.legacy.is_handshake(message);
        let session = self.legacy.session_for(message);
        let with_session = session.is_some() && !is_initialize && !is_modern(message.version);
        let session = session
            .filter(|_| with_session)
            .and_then(|id| id.to_header());
        let request = |url| {
            let mut headers = self.inner.headers_of_message();
            self.add_headers(message, &mut headers);
            if let Some(session) = &session {
                headers.insert("mcp-session-id", session.clone());
            }
            Request {
                method: Method::POST,
                url,
                headers,
                body: Bytes::copy_from_slice(message.body),
            }
        };
        let mut response = self.inner.fetch(self.inner.url(), request).await?;
        if !matches!(response.status, 200..=299) {
            let era = message.version.map_or(Era::Legacy, Version::era);
            let refused = answer::classify_refusal(&self.inner, &mut response, era, with_session);
            return match refused.await {
                Refused::Session(fault) => Ok(AttemptOutcome::NoSession(fault)),
                Refused::Rpc { text, .. } if message.kind == Kind::Request => {
                    inlet.message(&text);
                    Ok(AttemptOutcome::Done)
                }
                refused => Err(refused.into_fault()),
            };
        }
        // `initialized` was accepted: from here on the session is open for other messages.
        if message.kind != Kind::Request {
            if message.method == Initialized::NAME {
                self.legacy.opened(message.version);
            }
            return Ok(AttemptOutcome::Done);
        }
        if is_initialize {
            self.initialize(message, inlet, response).await?;
        } else {
            self.read_answer(message, inlet, response).await?;
        }
        Ok(AttemptOutcome::Done)
    }

    fn add_headers(&self, message: &Outgoing<'_>, headers: &mut HeaderMap) {
        match message.version {
            Some(version) if version.era() == Era::Modern => {
                set_own(headers, "mcp-protocol-version", version.as_str());
                if message.kind != Kind::Request {
                    return;
                }
                set_own(headers, "mcp-method", message.method);
                // Nearly every request is a call whose tool is known, so the body is not parsed again.
                let params = || params_of(message.body);
                let name = match message.subject {
                    Some(name) => Some(Cow::Borrowed(name)),
                    None if mirror::has_name(message.method) => params()
                        .and_then(|params| mirror::name_of(message.method, &params))
                        .map(Cow::Owned),
                    None => None,
                };
                let Some(name) = name else {
                    return;
                };
                set_own(headers, "mcp-name", &mirror::encode_value(&name));
                if message.method == CallTool::NAME {
                    for (header, value) in self.tools.headers(&name, params) {
                        set(headers, &header, &value);
                    }
                }
            }
            version => set_version(headers, version),
        }
    }

    /// Reads the answer to `initialize`, whose headers contain the session id.
    async fn initialize(
        &self,
        message: &Outgoing<'_>,
        inlet: &dyn Inlet,
        response: Response,
    ) -> Result<(), Fault> {
        // Take the id before the body is read: reading consumes the response.
        let given = response.headers.get("mcp-session-id");
        let given = given.map(|value| value.as_bytes().to_vec());
        let id = self.legacy.usable(&self.inner, given);
        let watching = super::legacy::Watching::new(inlet, id.is_ok());
        self.read_answer(message, &watching, response).await?;
        // Only a handshake with a result begins a session.
        if watching.succeeded() {
            self.legacy.begun(message.body, id?);
        }
        Ok(())
    }

    pub(crate) async fn read_answer(
        &self,
        message: &Outgoing<'_>,
        inlet: &dyn Inlet,
        mut response: Response,
    ) -> Result<(), Fault> {
        match answer::kind(&self.inner, &mut response).await? {
            answer::Form::Json => {
                let bounds = self.inner.bounds(message.budget);
                answer::json(&self.inner, &mut response, inlet, &bounds).await
            }
            answer::Form::Stream => self.read_stream(message, inlet, response).await,
        }
    }

    async fn read_stream(
        &self,
        message: &Outgoing<'_>,
        inlet: &dyn Inlet,
        mut response: Response,
    ) -> Result<(), Fault> {
        let bounds = self.inner.bounds(message.budget);
        let mut place = events::Place::default();
        let mut resumptions = 0;
        loop {
            let mut take = |piece| events::hand_on(piece, inlet);
            let end = events::read(&mut *response.body, &bounds, &mut place, &mut take).await;
            let failed = match end {
                events::End::NoRoom(failed) => return Err(self.inner.fault(failed)),
                events::End::Answered => {
                    self.inner.give_back_attempts(resumptions);
                    self.finish_in_background(response).await;
                    return Ok(());
                }
                events::End::Early => events::early(),
                events::End::Lost(failed) => failed,
            };
            // 2025-11-25: a server may end a stream early, and the client resumes it with a GET.
            let resumable = message
                .version
                .is_some_and(|version| version.era() == Era::Legacy);
            let resumed = if resumable {
                self.resume(message, &place).await
            } else {
                None
            };
            response = resumed.ok_or_else(|| self.inner.fault(failed))?;
            resumptions += 1;
        }
    }

    /// Opens the listening stream, or resumes any other.
    pub(crate) async fn get(
        &self,
        version: Option<Version>,
        last_id: Option<&str>,
    ) -> Result<Response, Fault> {
        let session = self.legacy.session().and_then(|id| id.to_header());
        let request = |url| {
            let mut headers = self.inner.headers(STREAM);
            set_version(&mut headers, version);
            if let Some(session) = &session {
                headers.insert("mcp-session-id", session.clone());
            }
            if let Some(last_id) = last_id {
                set_own(&mut headers, "last-event-id", last_id);
            }
            Request {
                method: Method::GET,
                url,
                headers,
                body: Bytes::new(),
            }
        };
        self.inner.fetch(self.inner.url(), request).await
    }

    /// Reads a stream to its end after its answer: a connection that is cut off cannot be reused.
    async fn finish_in_background(&self, mut response: Response) {
        if events::has_ended(&mut response).await {
            return;
        }
        drop(self.rests.spawn(async move {
            let rest = async { while let Ok(Some(_)) = response.body.chunk().await {} };
            tokio::time::timeout(REST, rest).await.ok();
        }));
    }
}

impl Exchange for Streamable {
    fn session_id(&self) -> Option<Secret<String>> {
        let id = self.legacy.session()?;
        Some(Secret::new(id.expose().to_owned()))
    }

    fn send<'a>(&'a self, message: Outgoing<'a>, inlet: &'a dyn Inlet) -> Exchanging<'a> {
        Box::pin(async move { self.exchange(&message, inlet).await })
    }

    fn listen<'a>(&'a self, inlet: &'a dyn Inlet, budget: &'a Budget) -> Exchanging<'a> {
        Box::pin(super::listen::listen(self, inlet, budget))
    }

    fn tap(&mut self, spot: Spot) {
        tapped::tap(&mut self.inner, spot);
    }

    fn close(&self) -> Working<'_> {
        Box::pin(async move {
            // DELETE each session that the server may still remember, then wait for the rests of
            // streams.
            self.rests.close();
            for session in self
                .legacy
                .sessions()
                .iter()
                .filter_map(|id| id.to_header())
            {
                let request = |url| {
                    let mut headers = self.inner.headers(super::inner::BOTH);
                    headers.insert("mcp-session-id", session.clone());
                    set_version(&mut headers, self.legacy.version());
                    Request {
                        method: Method::DELETE,
                        url,
                        headers,
                        body: Bytes::new(),
                    }
                };
                // A server may refuse, and it may be gone: either way the session is over.
                let goodbye = self.inner.fetch(self.inner.url(), request);
                drop(goodbye.await);
            }
            self.rests.wait().await;
            self.inner.settle().await;
        })
    }

    fn learn_tool(&self, tool: &Tool) -> Result<(), String> {
        self.tools.learn(tool)
    }

    fn wants_tools(&self) -> bool {
        self.tools.is_incomplete()
    }

    fn mark_tools_complete(&self) {
        self.tools.mark_complete();
    }

    fn wait_before_repeating(&self, repeat: &FailedRequest<'_>) -> Option<Duration> {
        self.inner.wait_before(repeat)
    }

    fn era(&self) -> Option<Era> {
        None
    }

    fn may_repair(&self, method: &str, code: i64) -> bool {
        retry::is_repairable(method, Failure::Rpc(code))
    }
}

/// Returns true if a message that was refused for its session may be sent again in a new one.
fn may_send_again(message: &Outgoing<'_>) -> bool {
    match message.kind {
        Kind::Request => retry::is_repairable(message.method, Failure::UnknownSession),
        // These are harmless when they arrive twice, except for `initialized`, which opens the
        // session.
        Kind::Notification | Kind::Answer => message.method != Initialized::NAME,
    }
}

/// Returns true if a legacy server may ask something before it answers this message.
fn may_ask(message: &Outgoing<'_>) -> bool {
    message.kind == Kind::Request
        && matches!(
            message.method,
            CallTool::NAME | GetPrompt::NAME | ReadResource::NAME
        )
}

fn is_modern(version: Option<Version>) -> bool {
    version.is_some_and(|version| version.era() == Era::Modern)
}

/// The parameters of a request of ours.
fn params_of(body: &[u8]) -> Option<Raw> {
    match answer::message(body)? {
        Message::Request { params, .. } => params.map(Raw::from),
        _ => None,
    }
}
