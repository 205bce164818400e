//! A strict issuer of OAuth 2.1 tokens, in front of the server over HTTP.
//!
//! It is an authorization server and the token check of a resource server in one: the metadata of
//! both, registration, authorization with PKCE, tokens that rotate in families, devices, client
//! credentials, revocation, and tokens that are bound to a key. It demands everything that the
//! standards demand of a client, and every refusal says what was wrong. [`FaultKind`] lists the
//! faults that it can have in turn.
//!
//! ```
//! use switchboard_testkit::http::Http;
//! use switchboard_testkit::issuer::{Issuer, IssuerOptions};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let mut options = IssuerOptions::default();
//! options.faults.push("iss-wrong".parse().unwrap());
//! let issuer = Issuer::new(options)?;
//! let server = Http::default().oauth(issuer.clone()).serve().await?;
//! // ... log in to `server.url()` ...
//! assert_eq!(issuer.counts().stale_refreshes, 0);
//! server.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! The parts: `metadata`, `register`, `authorize`, `token`, `device` and `resource` are endpoints;
//! `state` is their memory, `jwt` checks signatures, `reply` is a response before it is HTTP.
//! Nothing here touches a socket: `http` passes requests in and sends the responses.

#![allow(
    clippy::indexing_slicing,
    reason = "only JSON is indexed: a member that is missing reads as null"
)]

mod authorize;
mod device;
mod encoding;
mod fault;
mod journal;
mod jwt;
mod metadata;
mod options;
mod register;
mod reply;
mod resource;
mod secrets;
mod state;
mod token;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::HeaderMap;
use serde_json::json;

use self::encoding::Params;
use self::fault::Faults;
use self::reply::Refusal;
use self::state::State;

pub use fault::{Endpoint, FaultKind, IssuerFault, ParseFaultError, table};
pub use journal::{IssuerCounts, IssuerEvent};
pub use options::{
    ClientAuth, Consent, Dpop, IssuerOptions, KnownClient, MetadataPlace, ResourcePlace,
    ResourceRule, SETTINGS, SettingError,
};
pub(crate) use reply::{IssuerReply, ReplyBody};

/// An issuer. Its clones share everything that it remembers, which survives a restart of the server.
#[derive(Clone)]
pub struct Issuer(Arc<Inner>);

/// An issuer and its memory.
struct Inner {
    options: IssuerOptions,
    faults: Faults,
    state: Mutex<State>,
    journal: Option<File>,
    secrets: Option<File>,
}

/// The addresses at which the server and its issuer are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    /// The server's origin.
    pub(crate) origin: String,
    /// The path of the server.
    pub(crate) path: &'static str,
    /// The issuer's origin.
    pub(crate) issuer_origin: String,
}

impl Site {
    fn resource(&self) -> String {
        format!("{}{}", self.origin, self.path)
    }
}

/// A request.
pub(crate) struct IssuerRequest<'a> {
    pub(crate) site: &'a Site,
    /// It came to the issuer's own port, if there is one.
    pub(crate) elsewhere: bool,
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a [u8],
}

/// The line of the journal that a request becomes.
type JournalEntry = IssuerEvent;

impl IssuerRequest<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    fn content_type(&self) -> &str {
        let value = self.header("content-type").unwrap_or_default();
        value.split(';').next().unwrap_or_default().trim()
    }

    /// Reads the form in the body.
    fn form(&self) -> Result<Params, Refusal> {
        if self.content_type() != "application/x-www-form-urlencoded" {
            let about = "the body must be application/x-www-form-urlencoded";
            return Err(Refusal::invalid_request(about));
        }
        if !self.query.is_empty() {
            return Err(Refusal::invalid_request("parameters in the address"));
        }
        let text = std::str::from_utf8(self.body)
            .map_err(|_| Refusal::invalid_request("the body is not UTF-8"))?;
        Params::parse(text).map_err(Refusal::from)
    }
}

/// The endpoint that a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    ResourceMetadata,
    Metadata,
    Register,
    Authorize,
    Decide,
    Token,
    Revoke,
    Device,
    DevicePage,
    DeviceDecide,
    Journal,
    Control,
}

impl Route {
    fn name(self) -> &'static str {
        match self {
            Self::ResourceMetadata => "resource-metadata",
            Self::Metadata => "metadata",
            Self::Register => "register",
            Self::Authorize | Self::Decide => "authorize",
            Self::Token => "token",
            Self::Revoke => "revoke",
            Self::Device => "device",
            Self::DevicePage | Self::DeviceDecide => "page",
            Self::Journal | Self::Control => "test",
        }
    }

    fn method(self) -> &'static str {
        match self {
            Self::ResourceMetadata
            | Self::Metadata
            | Self::Authorize
            | Self::DevicePage
            | Self::Journal => "GET",
            _ => "POST",
        }
    }

    /// Tells whether a browser makes the request, which may carry cookies.
    fn is_for_browsers(self) -> bool {
        matches!(
            self,
            Self::Authorize | Self::Decide | Self::DevicePage | Self::DeviceDecide
        )
    }
}

impl Issuer {
    /// Makes an issuer.
    ///
    /// # Errors
    /// Fails when its journal, or the file for secrets, cannot be opened.
    pub fn new(options: IssuerOptions) -> io::Result<Self> {
        let open = |path: Option<&PathBuf>| {
            path.map(|path| OpenOptions::new().append(true).create(true).open(path))
                .transpose()
        };
        let journal = open(options.journal.as_ref())?;
        let secrets = open(options.secrets.as_ref())?;
        Ok(Self(Arc::new(Inner {
            faults: Faults::new(&options.faults),
            state: Mutex::new(State::new(&options)),
            journal,
            secrets,
            options,
        })))
    }

    /// Returns its settings.
    pub fn options(&self) -> &IssuerOptions {
        &self.0.options
    }

    /// Returns the counts.
    pub fn counts(&self) -> IssuerCounts {
        self.0.lock().counts
    }

    /// Returns the requests so far, oldest first.
    pub fn events(&self) -> Vec<IssuerEvent> {
        self.0.lock().events.clone()
    }

    /// Moves the issuer's clock forward: tokens and codes expire that much earlier.
    pub fn advance(&self, time: Duration) {
        self.0.lock().advance(time);
    }

    /// Ends all access tokens; refresh tokens stay good.
    pub fn expire_access_tokens(&self) {
        self.0.lock().access.clear();
    }

    /// Revokes all tokens of all logins.
    pub fn revoke_all(&self) {
        let mut state = self.0.lock();
        let families = state.refresh.values().map(|token| token.grant.family);
        let families: Vec<_> = families
            .chain(state.access.values().map(|token| token.grant.family))
            .collect();
        for family in families {
            state.revoke_family(family);
        }
    }

    /// Forgets the clients that have registered themselves.
    pub fn forget_clients(&self) {
        let mut state = self.0.lock();
        state.clients.clear();
        state.add_known(&self.0.options);
    }

    /// Answers a request to one of the issuer's endpoints; `None` for any other path.
    pub(crate) fn answer(&self, asked: &IssuerRequest<'_>) -> Option<IssuerReply> {
        let route = self.0.route(asked)?;
        Some(self.0.answer(route, asked))
    }

    /// Returns the refusal of a request to the server; `None` lets it in.
    pub(crate) fn admit(&self, asked: &IssuerRequest<'_>) -> Option<IssuerReply> {
        let mut state = self.0.lock();
        let root = asked.path.split('/').nth(1).unwrap_or_default();
        // HTTP+SSE has one place for its stream and one for messages.
        let is_server = asked.site.path.get(1..) == Some(root) || root == "messages";
        let mut entry = entry(if is_server { "resource" } else { "unknown" }, asked);
        let refused = if is_server {
            self.0.admit(&mut state, asked, &mut entry)
        } else {
            "not found".clone_into(&mut entry.outcome);
            None
        };
        self.0.record(&mut state, entry);
        self.0.record_secrets(asked, refused.as_ref());
        refused
    }
}

impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issuer")
            .field("options", &self.0.options)
            .finish_non_exhaustive()
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Every request leaves the state whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the issuer's identifier.
    fn issuer(&self, site: &Site) -> String {
        format!("{}{}", site.issuer_origin, self.options.path)
    }

    fn route(&self, asked: &IssuerRequest<'_>) -> Option<Route> {
        // An issuer with a port of its own has its endpoints there only.
        let is_at_server = !self.options.elsewhere || !asked.elsewhere;
        let is_at_issuer = !self.options.elsewhere || asked.elsewhere;
        let resource = self.resource_path(asked.site);
        if is_at_server && resource.as_deref() == Some(asked.path) {
            return Some(Route::ResourceMetadata);
        }
        if !is_at_issuer {
            return None;
        }
        if self.is_metadata_path(asked.path) {
            return Some(Route::Metadata);
        }
        let options = &self.options;
        match asked.path.strip_prefix(options.path.as_str())? {
            "/authorize" => Some(Route::Authorize),
            "/authorize/decide" => Some(Route::Decide),
            "/token" => Some(Route::Token),
            "/revoke" => Some(Route::Revoke),
            "/register" if options.registration => Some(Route::Register),
            "/device" if options.device => Some(Route::Device),
            "/device/page" if options.device => Some(Route::DevicePage),
            "/device/decide" if options.device => Some(Route::DeviceDecide),
            "/test/journal" => Some(Route::Journal),
            path if path.starts_with("/test/") => Some(Route::Control),
            _ => None,
        }
    }

    fn answer(&self, route: Route, asked: &IssuerRequest<'_>) -> IssuerReply {
        let mut state = self.lock();
        let mut entry = entry(route.name(), asked);
        // Under one lock: a request sees all effects of earlier ones, and the journal has their
        // order.
        let answered = check_request(route, asked)
            .and_then(|()| self.handle(route, &mut state, asked, &mut entry));
        let reply = answered.unwrap_or_else(|refusal| {
            refusal.error.clone_into(&mut entry.outcome);
            entry.about.clone_from(&refusal.about);
            // A browser shows a page, a client reads JSON.
            if route.is_for_browsers() {
                let about = encoding::html(&refusal.about);
                return IssuerReply::page(
                    refusal.status,
                    &format!("<p>{}: {about}</p>", refusal.error),
                );
            }
            refusal.reply()
        });
        // A test that looks at the journal must not change it.
        if !matches!(route, Route::Journal | Route::Control) {
            self.record(&mut state, entry);
            self.record_secrets(asked, Some(&reply));
        }
        reply
    }

    fn handle(
        &self,
        route: Route,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        entry: &mut JournalEntry,
    ) -> Result<IssuerReply, Refusal> {
        match route {
            Route::ResourceMetadata => {
                state.counts.discoveries += 1;
                Ok(self.resource_metadata(asked))
            }
            Route::Metadata => {
                state.counts.discoveries += 1;
                Ok(self.metadata(asked))
            }
            Route::Register => self.register(state, asked, entry),
            Route::Authorize => self.authorize(state, asked, entry),
            Route::Decide => self.decide(state, asked, entry),
            Route::Token => self.token(state, asked, entry),
            Route::Revoke => self.revoke(state, asked, entry),
            Route::Device => self.device(state, asked, entry),
            Route::DevicePage => self.device_page(asked),
            Route::DeviceDecide => self.decide_device(state, asked),
            Route::Journal => Ok(IssuerReply::json(
                200,
                json!({"counts": state.counts, "events": state.events}),
            )),
            Route::Control => self.control(state, asked),
        }
    }

    /// Performs a command of tests in other processes.
    fn control(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
    ) -> Result<IssuerReply, Refusal> {
        match asked.path.rsplit('/').next().unwrap_or_default() {
            "expire" => state.access.clear(),
            "forget" => {
                state.clients.clear();
                state.add_known(&self.options);
            }
            "revoke" => {
                let families = state.refresh.values().map(|token| token.grant.family);
                for family in families.collect::<Vec<_>>() {
                    state.revoke_family(family);
                }
            }
            _ => return Err(Refusal::invalid_request("expire, forget or revoke")),
        }
        Ok(IssuerReply::json(200, json!({})))
    }

    /// Writes down the secrets of a request and of its answer, if there is a file for them.
    fn record_secrets(&self, asked: &IssuerRequest<'_>, reply: Option<&IssuerReply>) {
        let Some(mut file) = self.secrets.as_ref() else {
            return;
        };
        let issued = reply.map(secrets::of_reply).unwrap_or_default();
        for secret in secrets::of_request(asked).into_iter().chain(issued) {
            let mut line = serde_json::to_string(&secret).unwrap_or_default();
            line.push('\n');
            // One write, so that the line is whole. A full disk shows in the test that reads it.
            let _ = file.write_all(line.as_bytes());
        }
    }

    fn record(&self, state: &mut State, mut entry: JournalEntry) {
        state.counts.requests += 1;
        entry.number = state.counts.requests;
        if let Some(mut file) = self.journal.as_ref() {
            let mut line = serde_json::to_string(&entry).unwrap_or_default();
            line.push('\n');
            // One write, so that the line is whole. A full disk shows in the test that reads it.
            let _ = file.write_all(line.as_bytes());
        }
        state.events.push(entry);
    }
}

fn entry(endpoint: &str, asked: &IssuerRequest<'_>) -> JournalEntry {
    JournalEntry {
        endpoint: endpoint.to_owned(),
        path: asked.path.to_owned(),
        outcome: "ok".to_owned(),
        ..JournalEntry::default()
    }
}

/// Refuses requests that carry what does not belong there.
fn check_request(route: Route, asked: &IssuerRequest<'_>) -> Result<(), Refusal> {
    if asked.method != route.method() {
        return Err(Refusal {
            status: 405,
            ..Refusal::invalid_request(format!("{} only", route.method()))
        });
    }
    // Cookies and stray credentials show that a client mixes up its requests.
    if !route.is_for_browsers() && asked.headers.contains_key("cookie") {
        return Err(Refusal::invalid_request("a client has no cookies"));
    }
    let takes_secret = matches!(route, Route::Token | Route::Revoke | Route::Device);
    if !takes_secret && asked.headers.contains_key("authorization") {
        return Err(Refusal::invalid_request("credentials where none belong"));
    }
    Ok(())
}
