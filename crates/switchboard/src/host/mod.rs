//! Many servers at once: from config files to named, checked, callable tools.
//!
//! A [`Host`] has servers. Each is approved if it has to be, connected to on first use, and has its
//! lists read again when they change; a slow or broken server does not delay the others. Their
//! tools, prompts and resources are combined in a [`Catalog`], and used through a [`View`].
//!
//! # Layout
//! Four owners have the state, and none of them knows another:
//! - `registry`: the servers, their admission, their connections and their end;
//! - `catalog_keeper`: the lists of connected servers, and the snapshots of the catalog;
//! - `access`: the policy, approvals and pins;
//! - `calls`: arguments checked, calls sent, events and the audit.
//!
//! [`Host`] wires them together: a new connection goes from the registry to the keeper, the keeper's
//! snapshots to access, and `HostInner::open` awaits one after the other. `member` is one server, which all
//! of them are given. `open` has the short ways to a host, `new_server` adds a server and connects to it as one
//! operation, `local` registers tools that the program runs; `manage` has what its owner does with servers,
//! `owner` what the owner sees and uses of them. `view` and `requests` are the same for any caller, and
//! `handle` is one tool that is prepared to be called, `reconcile` follows config files that change, `tool_list` the tools of one server, `first_lists` what is listed before a server was used, from the definitions that `kept` has. `tool_call` and `server_request` are calls and
//! other requests with their options, before they are sent.

mod access;
#[cfg(feature = "config")]
#[doc(hidden)]
pub mod agents;
mod builder;
mod calls;
mod catalog_keeper;
#[doc(hidden)]
pub mod clients;
mod description;
mod eras;
mod first_lists;
mod handle;
mod kept;
mod limits;
mod local;
#[cfg(feature = "auth")]
mod log_in;
mod logs;
mod manage;
mod member;
mod new_server;
#[cfg(feature = "config")]
mod open;
mod owner;
#[cfg(all(feature = "config", feature = "sampling"))]
pub mod providers;
#[cfg(feature = "config")]
mod reconcile;
mod registry;
mod requests;
mod result;
#[doc(hidden)]
pub mod secrets;
#[cfg(feature = "config")]
mod sections;
mod server_request;
mod status;
#[cfg(feature = "config")]
#[doc(hidden)]
pub mod surroundings;
#[cfg(test)]
mod test_support;
mod tool_call;
mod tool_list;
mod view;
mod watching;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use switchboard_client::ServerErrorCause;
use switchboard_wire::{ClientCapabilities, Implementation, ListTools, LogLevel, Method as _};
use tokio::sync::{Mutex as Turn, watch};
use tokio::time::{Instant, timeout};

pub use builder::HostBuilder;
#[doc(hidden)]
pub use clients::{ClientConnections, ClientLimits, ClientOptions, ClientSink, Sharing};
pub use eras::{EraLimits, Eras};
pub use handle::ToolHandle;
pub use kept::{KeptDefinitions, KeptLimits};
pub use limits::HostLimits;
pub use local::{LocalTool, ToolOutput};
pub use logs::{Log, Logs, Said};
pub use new_server::NewServer;
#[cfg(feature = "config")]
pub use reconcile::Reconciled;
pub use requests::{Completions, Passage, Reading};
pub use result::ToolResult;
pub use server_request::ServerRequest;
pub use status::{Offers, State, Status};
pub use tool_call::{ToolCall, TypedCall};
pub use tool_list::ToolList;
pub use view::{View, ViewEvents};
pub use watching::{Update, Watching};

use access::Access;
use calls::Calls;
use catalog_keeper::{CatalogKeeper, Lists};
use clients::ClientLevels;
use member::Member;
#[cfg(feature = "config")]
use reconcile::FileState;
use registry::{OnConnected, Registry, Want};

#[cfg(feature = "auth")]
use crate::auth::{MemoryStore, TokenStore};
use crate::catalog::{Catalog, ExposedNames, PromptEntry, TemplateEntry, ToolEntry, ToolRef};
#[cfg(feature = "config")]
use crate::config::{LimitsSection, Problem};
use crate::error::{Error, HostError};
use crate::events::{EventSender, Events};
use crate::limits::{Budget, Deadline, Limits, Timeouts};
use crate::pins::{Mode, Pins};
pub use crate::policy::Caller;
use crate::policy::{Approvals, Policy};
use crate::secret::Redactor;
use crate::session::{CallError, Clock, Delivery, Respond};
use crate::spec::{AddressRange, NameStyle, Protocol, ServerName, ToolPredicate};
use crate::talk::{Handlers, SharedOperator};
use crate::text::closest;
#[cfg(feature = "http")]
use crate::transport::Proxy;
use crate::transport::{Environment, Launch, Tap, leftovers::Ledger};
use crate::trust::{Bind, Store};

/// Names that an error lists if the requested name does not exist.
const SHOWN_NAMES: usize = 20;

/// Many servers at once, with one catalog of their tools, resources and prompts.
///
/// Its methods are those of the owner, who may use everything; [`Host::agent`] is the view of an agent.
/// Clones share the servers. When the last is dropped, connections close and servers that were started
/// end; [`Host::shutdown`] also waits for it.
///
/// ```no_run
/// use serde_json::json;
/// use switchboard::{Host, ServerSpec};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let time = ServerSpec::stdio("time", "uvx")?.args(["mcp-server-time"]);
/// let host = Host::builder().server(time).build()?;
/// for status in host.connect_all().await {
///     println!("{}: {}", status.name, status.state.word());
/// }
/// let berlin = json!({ "timezone": "Europe/Berlin" });
/// println!("{}", host.call("time/get_current_time", berlin).await?.text());
/// host.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Host(Arc<HostInner>);

/// The four owners of a host. The registry is dropped first: then no connection is made any more, and
/// the keeper ends the tasks of those that there are.
struct HostInner {
    registry: Registry,
    keeper: Arc<CatalogKeeper>,
    access: Access,
    calls: Calls,
    events: EventSender,
    #[cfg(feature = "config")]
    files: FileState,
}

impl Host {
    /// Begins to make a host.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    fn new(
        options: Options,
        access: AccessOptions,
        #[cfg(feature = "config")] files: FileState,
        members: BTreeMap<ServerName, Arc<Member>>,
    ) -> Self {
        let options = Arc::new(options);
        let events = EventSender::new(options.host_limits.events);
        let asking = Arc::new(Turn::new(()));
        let keeper = Arc::new(CatalogKeeper::new(&options, events.clone()));
        // A connection must not keep the host: the host has the connection.
        let following = Arc::downgrade(&keeper);
        let on_connected: OnConnected = Arc::new(move |member, session| {
            if let Some(keeper) = following.upgrade() {
                keeper.follow(member, session);
            }
        });
        for member in members.values() {
            keeper.publish_offline(member);
        }
        let schema = options.host_limits.schema.clone();
        let host = Self(Arc::new(HostInner {
            access: Access::new(access, Arc::clone(&asking), keeper.subscribe()),
            calls: Calls::new(events.clone(), schema),
            registry: Registry::new(options, members, events.clone(), asking, on_connected),
            keeper,
            events,
            #[cfg(feature = "config")]
            files,
        }));
        for member in host.0.registry.members() {
            host.0.publish_kept(&member);
        }
        host
    }

    /// The problems of the config files that the servers come from, warnings included.
    /// [`Host::problems`] has those that keep a server from being used.
    #[cfg(feature = "config")]
    pub fn config_problems(&self) -> Arc<[Problem]> {
        self.0.files.problems()
    }

    /// Returns a snapshot of everything that all servers offer.
    pub fn catalog(&self) -> Catalog {
        self.0.keeper.catalog()
    }

    /// Returns a receiver that holds the current catalog and follows its changes.
    pub fn watch_catalog(&self) -> watch::Receiver<Catalog> {
        self.0.keeper.subscribe()
    }

    /// The revision of what callers can see and use: it grows whenever lists, approved definitions, the
    /// policy or servers change, in any host of the program. Read it before what it stands for.
    #[doc(hidden)]
    pub fn revision(&self) -> u64 {
        member::revision()
    }

    /// Returns a receiver that follows [`Host::revision`].
    #[doc(hidden)]
    pub fn watch_revision(&self) -> watch::Receiver<u64> {
        member::watch_revision()
    }

    /// Has those who follow [`Host::revision`] look again.
    #[doc(hidden)]
    pub fn mark_changed(&self) {
        member::next_revision();
    }

    /// Subscribes to events, from now on.
    pub fn events(&self) -> Events {
        self.0.events.subscribe()
    }

    /// Returns the view of a caller: the part of the host that it can see and use.
    pub fn view(&self, caller: Caller) -> View {
        View::new(&self.0, caller)
    }
}

impl HostInner {
    /// Connects to a server and waits until those of its lists are read.
    ///
    /// # Errors
    /// Fails if the server cannot be used.
    async fn open(&self, member: &Arc<Member>, want: Want, lists: Lists) -> Result<(), Error> {
        let (mut failed, mut ended) = (0_u32, None);
        // An earlier failure to list is not repeated: the server may have recovered.
        self.keeper.refresh_failed(member, lists);
        loop {
            // 1. Admission and a connection. Kept until the lists are read: they are read on this one.
            let session = self.registry.connect(member, want).await?;
            // 2. The lists of that connection, and of no other.
            let listed = self.keeper.listed(member, &session, lists).await;
            listed.map_err(|_| member.with_context(ServerErrorCause::Stopped))?;
            // Reading them changes nothing: a connection that was lost meanwhile is made again.
            let is_lost = self.keeper.was_cut_short(member, &session, lists);
            // A process that ended in the same way twice would do so again.
            let end = session.close_reason();
            let ends = end.as_deref().zip(ended.as_deref());
            if is_lost && ends.is_some_and(|(end, earlier)| end.is_repeated(earlier)) {
                self.keeper.note_starts(member, failed.saturating_add(1));
                break;
            }
            ended = end;
            match self.registry.pause_before_listing(member, failed) {
                Some(pause) if is_lost => tokio::time::sleep(pause).await,
                _ => break,
            }
            failed += 1;
        }
        // 3. A server that must have tools and has none cannot be used, connected or not.
        if let Some(error) = self.keeper.lacks_tools(member) {
            if let Some(ready) = member.ready() {
                ready.server.close().await;
            }
            member.facts().refused = Some(error.clone());
            return Err(error);
        }
        member.facts().refused = None;
        // 4. On the first connection, pin the definitions as approved.
        let caught_up = self.keeper.caught_up(member);
        Box::pin(self.access.settle(member, caught_up)).await;
        Ok(())
    }

    /// Waits until the tools are read that a server has announced as changed, within the time of a call
    /// and at its expense.
    ///
    /// # Errors
    /// Fails if that time is over first. A list that cannot be read is no error: the last one is used.
    async fn catch_up(
        &self,
        member: &Member,
        deadline: &mut Option<Deadline>,
    ) -> Result<(), Error> {
        if !member.listing.is_behind() {
            return Ok(());
        }
        let (began, read) = (Instant::now(), self.keeper.read_announced(member));
        let Some(deadline) = deadline else {
            // The list has a time limit of its own.
            read.await;
            return Ok(());
        };
        let after = deadline.total;
        if timeout(after, read).await.is_err() {
            return Err(member.with_context(CallError::TimedOut {
                method: ListTools::NAME.to_owned(),
                clock: Clock::Total,
                after,
                delivery: Delivery::NeverSent,
                noise: Vec::new(),
            }));
        }
        deadline.total = after.saturating_sub(began.elapsed());
        Ok(())
    }

    /// Forgets a server, closes its connection, and waits until it has ended.
    async fn remove(&self, member: &Arc<Member>) {
        self.take_out(member);
        if let Some(ready) = member.ready() {
            ready.server.retire().await;
        }
        member.sharing.end_own().await;
    }

    /// Forgets a server. Its connection is to be closed next.
    fn take_out(&self, member: &Arc<Member>) {
        // Out of the registry first: no new call finds the server while its connection closes.
        let forget = |member: &Member| self.access.forget_audience(&member.name);
        if self.registry.remove(member, forget) {
            self.keeper.forget(member);
        }
    }

    /// Returns true if a caller can see a tool as it is now.
    fn sees_tool(&self, caller: &Caller, entry: &ToolEntry) -> bool {
        let member = self.registry.member(entry.server());
        match member {
            Some(member) => self.access.sees_tool(caller, &member, entry),
            None => caller.is_owner(),
        }
    }

    /// Returns true if a caller can see a prompt as it is now.
    fn sees_prompt(&self, caller: &Caller, entry: &PromptEntry) -> bool {
        caller.is_owner() || {
            let member = self.registry.member(entry.server());
            member.is_some_and(|member| self.access.sees_prompt(caller, &member, entry))
        }
    }

    /// Returns true if a caller can see a resource template as it is now.
    fn sees_template(&self, caller: &Caller, entry: &TemplateEntry) -> bool {
        caller.is_owner() || {
            let member = self.registry.member(entry.server());
            member.is_some_and(|member| self.access.sees_template(caller, &member, entry))
        }
    }

    /// Makes the error for an unknown tool. It is the same if the tool exists and the caller may
    /// not know of it.
    fn no_tool(&self, caller: &Caller, name: &str) -> Error {
        let catalog = self.keeper.catalog();
        let meant = catalog.get(&ToolRef::parse(name));
        let is_other = |entry: &Arc<ToolEntry>| meant.is_none_or(|it| !Arc::ptr_eq(it, entry));
        let seen = catalog
            .tools()
            .filter(|entry| is_other(entry) && self.sees_tool(caller, entry));
        let seen = seen.map(|entry| entry.exposed().to_owned());
        unknown("tool", name, seen.collect())
    }

    /// Makes the error for an unknown prompt. It is the same if the prompt exists and the caller
    /// may not know of it.
    fn no_prompt(&self, caller: &Caller, name: &str) -> Error {
        let catalog = self.keeper.catalog();
        let seen = catalog
            .prompts()
            .filter(|entry| self.sees_prompt(caller, entry));
        let seen = seen.map(|entry| entry.exposed().to_owned());
        unknown("prompt", name, seen.collect())
    }
}

/// Makes the error for an unknown name, with the closest name there is.
fn unknown(what: &'static str, name: &str, names: Vec<String>) -> Error {
    let closest = closest(name, names.iter().map(String::as_str)).map(str::to_owned);
    let known = names.into_iter().take(SHOWN_NAMES).collect();
    Error::from(HostError::Unknown {
        what,
        name: name.to_owned(),
        closest,
        known,
    })
}

/// The settings for the servers of a host, their connections and their lists: those of the program, and
/// what config files say.
#[derive(Clone)]
struct Options {
    environment: Arc<Environment>,
    /// The file whose section `agents` sets the policy.
    policy_file: Option<PathBuf>,
    home: Option<PathBuf>,
    workspace: Option<PathBuf>,
    client: Option<Implementation>,
    timeouts: Option<Timeouts>,
    protocol: Option<Protocol>,
    limits: Limits,
    host_limits: HostLimits,
    budget: Budget,
    respond: Option<Arc<dyn Respond>>,
    /// The capabilities of clients, declared on connections that they share.
    client_capabilities: Option<ClientCapabilities>,
    /// The level from which on clients want legacy servers to log.
    client_levels: ClientLevels,
    /// Answers for the person; `handlers` has it too.
    operator: SharedOperator,
    handlers: Handlers,
    /// For servers that log nothing unless they are asked.
    log_level: Option<LogLevel>,
    name_style: NameStyle,
    /// The form of names in place of those for models.
    exposed_names: Option<ExposedNames>,
    keeper: Option<PathBuf>,
    ledger: Option<Ledger>,
    /// Starts processes in place of this program.
    launcher: Option<Arc<dyn Launch>>,
    eras: Eras,
    /// Definitions of earlier runs.
    kept: Option<KeptDefinitions>,
    /// Time without a use after which a connection is closed.
    close_unused: Option<Duration>,
    store: Arc<Store>,
    bind: Bind,
    tap: Option<Tap>,
    secrets: Redactor,
    /// The limits section of the person's own file.
    #[cfg(feature = "config")]
    said: LimitsSection,
    /// The problem that keeps all servers at URLs from being reached.
    #[cfg(feature = "config")]
    no_network: Option<Box<Problem>>,
    /// Addresses that the person allows in addition to the usual ones.
    addresses: Vec<AddressRange>,
    #[cfg(feature = "http")]
    proxy: Option<Proxy>,
    #[cfg(feature = "http")]
    certificates: Option<Vec<u8>>,
    /// The store of logins.
    #[cfg(feature = "auth")]
    tokens: Arc<dyn TokenStore>,
    /// The account that is used if there are several.
    #[cfg(feature = "auth")]
    login_profile: String,
}

/// The program's settings for the use of servers by agents.
struct AccessOptions {
    policy: Policy,
    operator: SharedOperator,
    approvals: Approvals,
    pins: Pins,
    pin_mode: Mode,
    /// Predicates over the tools of all servers, for everyone.
    filters: Vec<ToolPredicate>,
}

impl Default for AccessOptions {
    /// Agents may do nothing, and nothing is asked.
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            operator: SharedOperator::default(),
            approvals: Approvals::in_memory(),
            pins: Pins::in_memory(),
            pin_mode: Mode::default(),
            filters: Vec::new(),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            environment: Arc::default(),
            policy_file: None,
            home: None,
            workspace: None,
            client: None,
            timeouts: None,
            protocol: None,
            limits: Limits::default(),
            host_limits: HostLimits::default(),
            budget: Budget::of_process(),
            respond: None,
            client_capabilities: None,
            client_levels: ClientLevels::default(),
            operator: SharedOperator::default(),
            handlers: Handlers::default(),
            log_level: None,
            name_style: NameStyle::default(),
            exposed_names: None,
            keeper: None,
            ledger: None,
            launcher: None,
            eras: Eras::in_memory(),
            kept: None,
            close_unused: None,
            store: Arc::new(Store::in_memory()),
            bind: Bind::default(),
            tap: None,
            secrets: Redactor::new(),
            #[cfg(feature = "config")]
            said: LimitsSection::default(),
            #[cfg(feature = "config")]
            no_network: None,
            addresses: Vec::new(),
            #[cfg(feature = "http")]
            proxy: None,
            #[cfg(feature = "http")]
            certificates: None,
            #[cfg(feature = "auth")]
            tokens: Arc::new(MemoryStore::new()),
            #[cfg(feature = "auth")]
            login_profile: String::new(),
        }
    }
}

/// The settings that the program makes itself, so that files do not.
#[derive(Default)]
struct Own {
    environment: bool,
    policy: bool,
    pins: bool,
    bind: bool,
    limits: bool,
    host_limits: bool,
    budget: bool,
    addresses: bool,
    /// A file says what agents may do, and cannot be understood.
    unclear_access: bool,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("servers", &self.servers())
            .finish_non_exhaustive()
    }
}
