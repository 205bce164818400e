//! Requests of the modern era, each of which says all about itself.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::USER_AGENT;
use rustc_hash::FxHashMap;
use switchboard::policy::Caller;
use switchboard_wire::{Raw, RpcError, Version, code, meta};
use tokio::sync::watch;
use tokio::time::sleep;

use super::agreement::{
    self, METHOD, Mark, Mismatch, PROTOCOL_VERSION, SESSION_ID, Said, check_arguments,
    check_request,
};
use super::channel::{Channel, ChannelBounds};
use super::events::{Answer, Ending, EventStream, Work};
use super::respond::{self, HttpResponse};
use super::service::Exchange;
use super::stats::RefusalReason;
use crate::client::{Client, Params};
use crate::gateway::Gateway;
use crate::limits::GatewayLimits;
use crate::message::{BadMessage, ClientMessage, ClientRequest, Reply};
use crate::outlet::{Outlet, Priority};
use crate::scope::Scope;
use crate::validity::Validity;

/// The clients of modern requests: one for each principal in each scope.
pub(super) struct ModernClients {
    gateway: Gateway,
    by_principal: Mutex<ByPrincipal>,
}

/// All modern requests of one principal in one scope.
pub(super) struct ModernClient {
    caller: Caller,
    scope: Scope,
    client: Arc<Client>,
    /// How long the credential counts that lasts longest of those that it came with.
    validity: Mutex<Validity>,
    marks: Mutex<Marks>,
}

/// The marked arguments of tools, by name; made anew when tools may have changed.
struct Marks {
    changes: watch::Receiver<u64>,
    by_tool: FxHashMap<String, Arc<[Mark]>>,
}

/// Takes what belongs to no request: nothing does in this era.
struct Nowhere;

impl Outlet for Nowhere {
    fn send(&self, _: Bytes, _: Priority) -> bool {
        false
    }

    fn is_closed(&self) -> bool {
        false
    }
}

impl ModernClients {
    pub(super) fn new(gateway: &Gateway) -> Self {
        Self {
            gateway: gateway.clone(),
            by_principal: Mutex::default(),
        }
    }

    /// The client of a request.
    ///
    /// # Errors
    /// Fails if the scope does not exist for it, or if there is no room for another client.
    fn find(&self, exchange: &Exchange<'_>) -> Result<Arc<ModernClient>, HttpResponse> {
        let (caller, principal) = (exchange.identity.caller(), exchange.identity.principal());
        let known = |all: &ByPrincipal| {
            let mut theirs = all.get(principal)?.iter();
            let is_it = |known: &&Arc<ModernClient>| {
                known.scope == exchange.scope
                    && known.caller == *caller
                    // One whose credential has ended is about to be closed.
                    && known.extend(exchange.identity.validity())
            };
            theirs.find(is_it).cloned()
        };
        let lock = || {
            self.by_principal
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(known) = known(&lock()) {
            return Ok(known);
        }
        // Names in paths are the client's: nothing is remembered of parts that do not exist.
        if !exchange.scope_exists() {
            return Err(exchange.no_scope());
        }
        let identity = exchange.identity.clone();
        let scope = exchange.scope.clone();
        let client = Client::new(&self.gateway, identity, scope.clone(), Arc::new(Nowhere));
        let made = Arc::new(ModernClient {
            caller: caller.clone(),
            scope,
            client,
            validity: Mutex::new(exchange.identity.validity().clone()),
            marks: Mutex::new(Marks {
                changes: self.gateway.0.offers.watch(),
                by_tool: FxHashMap::default(),
            }),
        });
        let mut all = lock();
        // Looked up again: another request may have made it meanwhile.
        if let Some(known) = known(&all) {
            return Ok(known);
        }
        let most = exchange.limits().clients;
        if count(&all) >= most {
            forget_idle(&mut all, exchange);
        }
        if count(&all) >= most {
            let response = respond::full("too many clients are being served");
            return Err(exchange.refuse(RefusalReason::Full, response));
        }
        let principal = Arc::clone(exchange.identity.shared_principal());
        all.entry(principal).or_default().push(Arc::clone(&made));
        drop(all);
        // A credential that ended just now has ended the clients before this one.
        if !made.validity().is_valid() {
            self.end_invalid();
        }
        Ok(made)
    }

    /// Closes the clients whose credentials do not count any more.
    pub(super) fn end_invalid(&self) {
        let mut all = self
            .by_principal
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for theirs in all.values_mut() {
            let is_over = |known: &mut Arc<ModernClient>| !known.validity().is_valid();
            for over in theirs.extract_if(.., is_over) {
                tokio::spawn(async move { over.client.close().await });
            }
        }
        all.retain(|_, theirs| !theirs.is_empty());
    }

    /// Forgets all clients, which the caller then closes.
    pub(super) fn remove_all(&self) -> Vec<Arc<Client>> {
        let mut all = self
            .by_principal
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let clients = all.drain().flat_map(|(_, theirs)| theirs);
        clients.map(|known| Arc::clone(&known.client)).collect()
    }
}

/// The clients of each principal.
type ByPrincipal = FxHashMap<Arc<str>, Vec<Arc<ModernClient>>>;

fn count(all: &ByPrincipal) -> usize {
    all.values().map(Vec::len).sum()
}

/// Forgets the clients that have no request in flight, and ends their connections in the background.
fn forget_idle(all: &mut ByPrincipal, exchange: &Exchange<'_>) {
    for theirs in all.values_mut() {
        // A request holds both until its response, and a stream of events the client.
        let is_idle =
            |it: &mut Arc<ModernClient>| Arc::strong_count(it) + Arc::strong_count(&it.client) == 2;
        for idle in theirs.extract_if(.., is_idle) {
            let client = Arc::clone(&idle.client);
            exchange
                .shared
                .tasks
                .spawn(async move { client.close().await });
        }
    }
    all.retain(|_, theirs| !theirs.is_empty());
}

impl ModernClient {
    fn validity(&self) -> MutexGuard<'_, Validity> {
        self.validity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a credential that the client came with now; false if those that it had before have ended.
    fn extend(&self, newer: &Validity) -> bool {
        let mut own = self.validity();
        let is_valid = own.is_valid();
        if is_valid {
            own.extend(newer);
        }
        is_valid
    }

    /// The marked arguments of a tool. A tool that does not exist has none.
    fn marks(&self, exchange: &Exchange<'_>, tool: &str) -> Option<Arc<[Mark]>> {
        {
            let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
            // Marks of earlier definitions could demand headers that the tool no longer has.
            if marks.changes.has_changed().unwrap_or(true) {
                marks.changes.borrow_and_update();
                marks.by_tool.clear();
            }
            if let Some(known) = marks.by_tool.get(tool) {
                return Some(Arc::clone(known));
            }
        }
        // Schemas are searched without the lock: they can be large.
        let offers = &exchange.shared.gateway.0.offers;
        let handle = offers
            .current(exchange.identity, &exchange.scope)?
            .tool(tool)?;
        let found = agreement::find_marks(handle.tool().input_schema().raw());
        let found: Arc<[Mark]> = found.into();
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        marks.by_tool.insert(tool.to_owned(), Arc::clone(&found));
        Some(found)
    }
}

/// Returns true if a message is meant to be modern, rightly or wrongly.
pub(super) fn is_modern(exchange: &Exchange<'_>, message: &ClientMessage) -> bool {
    let version = exchange.header(&PROTOCOL_VERSION);
    // Fast path: the header says it, and whether the body agrees is checked later.
    if version.is_some_and(is_version) && !is_initialize(message) {
        return true;
    }
    let says_so = |params: Option<&Raw>| {
        // Fast path: no such member, and no escape that could hide one.
        let could = |params: &&Raw| {
            let text = params.as_str();
            text.contains(meta::PROTOCOL_VERSION) || text.contains('\\')
        };
        let meta = params
            .filter(could)
            .and_then(|params| params.member("_meta"));
        meta.is_some_and(|meta| meta.member(meta::PROTOCOL_VERSION).is_some())
    };
    let is_in_body = match message {
        _ if is_initialize(message) => return false,
        ClientMessage::Request(request) => says_so(request.params.as_ref()),
        ClientMessage::Notification { params, .. } => says_so(params.as_ref()),
        ClientMessage::Answer { .. } => false,
    };
    if is_in_body {
        return true;
    }
    match version {
        // The names of versions sort by time, and this is the newest with a handshake. An unknown version
        // within a session is a mistake in that session.
        Some(version) if version > Version::NEWEST_LEGACY.as_str().as_bytes() => {
            exchange.header(&SESSION_ID).is_none()
        }
        Some(_) => false,
        None => exchange.header(&METHOD).is_some() && exchange.header(&SESSION_ID).is_none(),
    }
}

fn is_initialize(message: &ClientMessage) -> bool {
    matches!(message, ClientMessage::Request(request) if request.method == "initialize")
}

fn is_version(text: &[u8]) -> bool {
    let known = str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse::<Version>().ok());
    known.is_some_and(|version| version.era() == switchboard_wire::Era::Modern)
}

/// Answers a modern POST.
pub(super) async fn post(exchange: &Exchange<'_>, message: ClientMessage) -> HttpResponse {
    let request = match message {
        ClientMessage::Request(request) => request,
        // No notification of a client means anything over HTTP in this era: closing a POST cancels it.
        ClientMessage::Notification { .. } => return respond::empty(StatusCode::ACCEPTED),
        ClientMessage::Answer { .. } => {
            let why = "clients answer nothing in this version";
            let error = RpcError::new(code::INVALID_REQUEST, why);
            return exchange.bad(&BadMessage { id: None, error });
        }
    };
    // Read once, for the checks here and for the client.
    let params = Params::read(request.params.clone());
    let said = match &params {
        Ok(params) => Said::of(&request.method, params),
        Err(_) => Said::search(&request),
    };
    // The envelope before the client: a request that is refused takes no place.
    if let Err(error) = check_envelope(exchange, &request, &said) {
        return refuse(exchange, request, error);
    }
    let client = match exchange.shared.modern.find(exchange) {
        Ok(client) => client,
        Err(refused) => return refused,
    };
    if request.method == "tools/call"
        && let Some(name) = &said.name
        && let Some(marks) = client.marks(exchange, name)
        && let Err(mismatch) =
            check_arguments(&exchange.head.headers, &marks, said.arguments.as_ref())
    {
        let error = mismatch_error(exchange, &request, &mismatch);
        return refuse(exchange, request, error);
    }
    answer(exchange, &client.client, request, params).await
}

/// Checks what every modern request says about itself, and the headers that repeat it.
fn check_envelope(
    exchange: &Exchange<'_>,
    request: &ClientRequest,
    said: &Said<'_>,
) -> Result<(), RpcError> {
    let headers = &exchange.head.headers;
    let Some(version) = &said.version else {
        // A version that is only in the header tells what the client meant.
        if let Some(version) = exchange.header(&PROTOCOL_VERSION)
            && !is_version(version)
        {
            return Err(unsupported(exchange, &String::from_utf8_lossy(version)));
        }
        return Err(missing(meta::PROTOCOL_VERSION));
    };
    if !said.has_capabilities {
        return Err(missing(meta::CLIENT_CAPABILITIES));
    }
    // Headers first: a version that they do not repeat is not to be relied on.
    let name = said.name.as_deref();
    if let Err(mismatch) = check_request(headers, &request.method, name, version) {
        return Err(mismatch_error(exchange, request, &mismatch));
    }
    if !is_version(version.as_bytes()) {
        return Err(unsupported(exchange, version));
    }
    Ok(())
}

fn missing(key: &str) -> RpcError {
    let why = format!("_meta lacks {key}");
    RpcError::new(code::INVALID_PARAMS, &why)
}

fn unsupported(exchange: &Exchange<'_>, requested: &str) -> RpcError {
    exchange
        .shared
        .counters
        .count_refusal(RefusalReason::Version);
    let data = serde_json::json!({
        "supported": [Version::NEWEST_MODERN.as_str()],
        "requested": requested,
    });
    let data = Raw::of(&data).unwrap_or_else(|_| Raw::null());
    RpcError::with_data(
        code::UNSUPPORTED_VERSION,
        "unsupported protocol version",
        data,
    )
}

/// Counts a mismatch under the name of the client: strictness must not hide that a client in use is wrong.
fn mismatch_error(
    exchange: &Exchange<'_>,
    request: &ClientRequest,
    mismatch: &Mismatch,
) -> RpcError {
    let info = request
        .meta()
        .and_then(|meta| meta.member(meta::CLIENT_INFO));
    let name = info.and_then(|info| info.member("name")?.as_text());
    let agent = exchange.header(&USER_AGENT).map(String::from_utf8_lossy);
    let name = name.as_deref().or(agent.as_deref()).unwrap_or("unnamed");
    exchange.shared.counters.mismatch(name);
    let why = format!("header {} {}", mismatch.header, mismatch.why);
    RpcError::new(code::HEADER_MISMATCH, &why)
}

fn refuse(exchange: &Exchange<'_>, request: ClientRequest, error: RpcError) -> HttpResponse {
    let status = match error.code() {
        code::HEADER_MISMATCH | code::UNSUPPORTED_VERSION => StatusCode::BAD_REQUEST,
        _ => {
            exchange.shared.counters.count_refusal(RefusalReason::Body);
            StatusCode::BAD_REQUEST
        }
    };
    respond::json(status, Reply::new(request.id, Err(error)).to_bytes())
}

/// Answers a request: JSON if the answer is all there is, a stream of its events otherwise.
async fn answer(
    exchange: &Exchange<'_>,
    client: &Arc<Client>,
    request: ClientRequest,
    params: Result<Box<Params>, RpcError>,
) -> HttpResponse {
    let limits = exchange.limits();
    let shared = exchange.shared;
    let channel = Channel::new(0, bounds(limits), &shared.counters);
    let is_listen = request.method == "subscriptions/listen";
    // Made before the work takes the request: the last message needs its id.
    let ending = is_listen.then(|| Ending {
        draining: Box::pin(shared.draining.clone().cancelled_owned()),
        message: Some(end_of_listen(&request)),
    });
    let work: Work = {
        let (client, outlet) = (Arc::clone(client), Arc::clone(&channel));
        Box::pin(async move {
            let outlet: Arc<dyn Outlet> = outlet;
            let ClientRequest { id, method, .. } = request;
            let reply = client.answer(id, &method, params, &outlet).await?;
            let status = reply
                .outcome
                .as_ref()
                .map_or_else(status_of, |_| StatusCode::OK);
            let text = reply.to_bytes();
            Some(Answer { status, text })
        })
    };
    match first(work, &channel, limits.stream_after).await {
        First::Answer(answer) if !channel.has_waiting() => match answer {
            Some(answer) => respond::json(answer.status, answer.text),
            None => respond::refusal(StatusCode::BAD_REQUEST, "the request was cancelled"),
        },
        First::Answer(answer) => {
            channel.finish(answer.map(|answer| answer.text));
            stream(&channel, limits, None, ending)
        }
        First::Other(work) => stream(&channel, limits, Some(work), ending),
    }
}

/// What came first of a request.
pub(super) enum First {
    /// The answer, or the end without one.
    Answer(Option<Answer>),
    /// Something else, or nothing for long enough.
    Other(Work),
}

/// Runs work until it is done, something is sent before its answer, or `patience` is over.
pub(super) async fn first(mut work: Work, channel: &Channel, patience: Duration) -> First {
    let mut clock = None;
    let done = poll_fn(|cx| {
        if let Poll::Ready(answer) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(answer));
        }
        // What is answered at once needs no clock.
        let clock = clock.get_or_insert_with(|| Box::pin(sleep(patience)));
        if channel.poll_waiting(cx).is_ready() || clock.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        Poll::Pending
    });
    match done.await {
        Some(answer) => First::Answer(answer),
        None => First::Other(work),
    }
}

fn stream(
    channel: &Arc<Channel>,
    limits: &GatewayLimits,
    work: Option<Work>,
    ending: Option<Ending>,
) -> HttpResponse {
    // Nothing has read it, so the start is still there.
    let Ok(reader) = channel.attach(None) else {
        return respond::refusal(StatusCode::INTERNAL_SERVER_ERROR, "the stream has ended");
    };
    let mut events = EventStream::new(Arc::clone(channel), reader, limits.keep_alive);
    if let Some(work) = work {
        events = events.running(work);
    }
    if let Some(ending) = ending {
        events = events.ending(ending);
    }
    respond::events(events)
}

/// The answer to `subscriptions/listen` when the gateway ends it.
fn end_of_listen(request: &ClientRequest) -> Bytes {
    let id = Raw::of(&request.id).unwrap_or_else(|_| Raw::null());
    let result = format!(
        r#"{{"resultType":"complete","_meta":{{"{}":{}}}}}"#,
        meta::SUBSCRIPTION_ID,
        id.as_str(),
    );
    let result = Raw::parse(&result).unwrap_or_else(|_| Raw::empty_object());
    Reply::new(request.id.clone(), Ok(result)).to_bytes()
}

/// Nothing of a modern stream can be asked for again.
fn bounds(limits: &GatewayLimits) -> ChannelBounds {
    ChannelBounds {
        waiting: limits.outbox,
        waiting_bytes: limits.message_bytes,
        unread: None,
        kept: 0,
        kept_bytes: 0,
        all_bytes: limits.replay_bytes_all,
    }
}

/// The status of an answer that is an error. 2026-07-28, HTTP: errors of the protocol have one of their own.
fn status_of(error: &RpcError) -> StatusCode {
    match error.code() {
        code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        code::HEADER_MISMATCH
        | code::MISSING_CLIENT_CAPABILITY
        | code::UNSUPPORTED_VERSION
        | code::INVALID_REQUEST
        | code::PARSE_ERROR => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}
