//! The view of one caller: the tools, prompts, resources and events that it can see and use.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use switchboard_wire::Raw;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;

use super::calls::Subject;
use super::catalog_keeper::Lists;
use super::clients::ClientCore;
use super::handle::ToolHandle;
use super::member::{Member, revision};
use super::registry::Want;
use super::{HostInner, SHOWN_NAMES};
use crate::catalog::{
    Catalog, ItemKind, NameForm, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry, ToolRef,
    Unknown, split_as, split_exposed,
};
use crate::error::{Error, HostError};
use crate::events::{Call, Event, Events, What};
use crate::limits::Deadline;
use crate::policy::{Caller, Decision, Reason, Request, Target};
use crate::spec::{NameStyle, ServerName};

/// The part of a host that one caller can see and use.
///
/// [`Host::agent`](super::Host::agent) returns that of an agent. What the policy does not grant it is not
/// in the lists, and a use of it fails with the kind [`Denied`](crate::ErrorKind::Denied).
///
/// ```
/// use serde_json::{Value, json};
/// use switchboard::host::LocalTool;
/// use switchboard::{AgentPolicy, ErrorKind, Grants, Host, Level};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let reader = AgentPolicy::new(Level::Yolo).grants(Grants::parse(["mcp:files:read"])?);
/// let host = Host::builder().agent("reader", reader).build()?;
/// for name in ["read", "delete"] {
///     let schema = json!({ "type": "object" });
///     let tool = LocalTool::new(name, "", schema, async |_: Value| Ok::<_, String>("done"));
///     host.register_tool("files", tool).await?;
/// }
/// let reader = host.agent("reader")?;
/// assert_eq!((host.tools().len(), reader.tools().len()), (2, 1));
/// assert_eq!(reader.call("files/read", json!({})).await?.text(), "done");
/// let denied = reader.call("files/delete", json!({})).await.unwrap_err();
/// assert_eq!(denied.kind(), ErrorKind::Denied);
/// # Ok(())
/// # }
/// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
/// ```
#[derive(Clone)]
pub struct View {
    pub(super) host: Arc<HostInner>,
    pub(super) caller: Caller,
    /// The client whose connections are used, if not those of the host.
    pub(super) connections: Option<Arc<ClientCore>>,
}

impl View {
    pub(super) fn new(host: &Arc<HostInner>, caller: Caller) -> Self {
        Self {
            host: Arc::clone(host),
            caller,
            connections: None,
        }
    }

    /// Returns the caller whose view this is.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The names of the servers that the caller may know of: for an agent, those that it may use at
    /// least in part. Nothing is started. The owner learns more from
    /// [`Host::servers`](super::Host::servers).
    pub fn servers(&self) -> Vec<ServerName> {
        let names = self.host.registry.members().into_iter();
        let names = names.map(|member| member.name.clone());
        names
            .filter(|name| self.caller.is_owner() || self.host.access.knows(&self.caller, name))
            .collect()
    }

    /// The tools of all servers that are known by now, by server and in its order.
    pub fn tools(&self) -> Vec<ToolHandle> {
        // The revision first: handles made from an older catalog then look again when they are
        // called.
        let (found, catalog) = (revision(), self.catalog());
        let handle = |entry| {
            let handle = ToolHandle::new(&self.host, &self.caller, entry, found);
            handle.over(self.connections.as_ref())
        };
        let is_seen = |entry: &&Arc<ToolEntry>| self.host.sees_tool(&self.caller, entry);
        catalog.tools().filter(is_seen).map(handle).collect()
    }

    /// The tool of that name: the one for models, or `server/tool`. Nothing is started, and nothing is
    /// waited for: [`View::find`] also finds a tool that a server has announced a moment ago.
    ///
    /// # Errors
    /// Fails if no tool that is known by now has that name; the error names the closest one.
    pub fn tool<'n>(&self, name: impl Into<ToolRef<'n>>) -> Result<ToolHandle, Error> {
        self.known_tool(&name.into(), None)
    }

    /// Finds the tool of that name, connecting first to the servers that may have it. If its server has
    /// announced that its tools have changed, it waits for the new list.
    ///
    /// # Errors
    /// Fails if there is no such tool, or its server cannot be used.
    pub async fn find<'n>(&self, name: impl Into<ToolRef<'n>>) -> Result<ToolHandle, Error> {
        self.find_tool(&name.into(), None, &mut None).await
    }

    /// The tool of that name among those that are known by now, for a call with those arguments.
    fn known_tool(&self, tool: &ToolRef<'_>, arguments: Option<&Raw>) -> Result<ToolHandle, Error> {
        // In this order: a change after the first is noticed by the handle.
        let (found, catalog) = (revision(), self.catalog());
        match catalog.get(tool) {
            Some(entry) => {
                let handle = ToolHandle::new(&self.host, &self.caller, entry, found);
                let mut handle = handle.over(self.connections.as_ref());
                let name = entry.key().shared_name();
                let subject = Subject::new(What::Tool, name).arguments(arguments);
                let absent = || self.host.no_tool(&self.caller, tool.as_str());
                if !handle.is_given() {
                    return Err(self.denial(Target::from(&**entry), subject, absent));
                }
                // A tool that a filter hides is not there for the agent, whatever its grants say.
                if let Some((member, reason)) = handle.filtered() {
                    let (calls, denied) = (&self.host.calls, Decision::Deny(reason));
                    calls.record_refusal(&self.caller, member, subject, &denied);
                    return Err(absent());
                }
                // The handle of one call: the predicates are not asked a second time.
                handle.is_admitted = arguments.is_some();
                Ok(handle)
            }
            None if !self.caller.is_owner() => Err(self.missing_tool(tool, arguments)),
            None => {
                let unknown = Unknown::tool(&catalog, tool.as_str());
                Err(self.unknown(&catalog, unknown, "tool", |catalog| {
                    tool_names(
                        catalog
                            .tools()
                            .filter(|entry| self.is_shown(entry.server(), entry.name())),
                    )
                }))
            }
        }
    }

    /// Finds a tool, for a call with those arguments and within its time.
    pub(super) async fn find_tool(
        &self,
        tool: &ToolRef<'_>,
        arguments: Option<&Raw>,
        deadline: &mut Option<Deadline>,
    ) -> Result<ToolHandle, Error> {
        let is_known = |catalog: &Catalog| catalog.get(tool).is_some();
        if !is_known(&self.catalog()) {
            // A server that has announced other tools may have it by now.
            if let Some((member, _)) = self.named_item(tool.as_str())
                && self.host.access.knows(&self.caller, &member.name)
            {
                self.host.catch_up(&member, deadline).await?;
            }
            self.connect_for(tool.server(), Lists::Tools, is_known)
                .await?;
        }
        let mut found = self.known_tool(tool, arguments);
        if let Ok(handle) = &found
            && handle.is_behind()
        {
            handle.catch_up(deadline).await?;
            found = self.known_tool(tool, arguments);
        }
        if found.is_err() && self.caller.is_owner() {
            // If its list could not be read, report that instead of an unknown name.
            let member = tool
                .server()
                .and_then(|it| self.host.registry.find(it).ok());
            // A list that failed is the likelier reason than a name that does not exist.
            let unlisted = member.and_then(|it| it.listing.why_unlisted(ItemKind::Tool));
            return found.map_err(|error| unlisted.unwrap_or(error));
        }
        found
    }

    /// The prompts of all servers that are known by now.
    pub fn prompts(&self) -> Vec<Arc<PromptEntry>> {
        let catalog = self.catalog();
        let is_seen = |entry: &&Arc<PromptEntry>| self.host.sees_prompt(&self.caller, entry);
        catalog.prompts().filter(is_seen).cloned().collect()
    }

    /// The resources of all servers that are known by now.
    pub fn resources(&self) -> Vec<Arc<ResourceEntry>> {
        let catalog = self.catalog();
        let is_seen = |entry: &&Arc<ResourceEntry>| self.host.access.sees(&self.caller, &***entry);
        catalog.resources().filter(is_seen).cloned().collect()
    }

    /// The templates of resources of all servers that are known by now.
    pub fn templates(&self) -> Vec<Arc<TemplateEntry>> {
        let catalog = self.catalog();
        let is_seen = |entry: &&Arc<TemplateEntry>| self.host.sees_template(&self.caller, entry);
        catalog.templates().filter(is_seen).cloned().collect()
    }

    /// Records for an audit that an agent wanted something that is not for it, and makes the error of it:
    /// the one for an item that is `absent` if the agent must not learn of the denial.
    pub(super) fn denial(
        &self,
        target: Target<'_>,
        subject: Subject<'_>,
        absent: impl FnOnce() -> Error,
    ) -> Error {
        let Some(member) = self.host.registry.member(target.server()) else {
            return absent();
        };
        let request = Request::usual(&self.caller, target);
        let decision = match self.host.access.decide(&request) {
            decision @ Decision::Deny(_) => decision,
            // It is not as it was approved.
            _ => Decision::Deny(Reason::Refused),
        };
        let (calls, access) = (&self.host.calls, &self.host.access);
        calls.record_refusal(&self.caller, &member, subject, &decision);
        access.denied(&request, &decision, absent)
    }

    /// Makes the error for a tool that is not in the catalog. The rules know names alone, so an agent that
    /// may not use a tool is denied it whether its server has the tool or not, and was started or not.
    fn missing_tool(&self, tool: &ToolRef<'_>, arguments: Option<&Raw>) -> Error {
        let absent = || self.host.no_tool(&self.caller, tool.as_str());
        let Some((member, name)) = self.named_item(tool.as_str()) else {
            return absent();
        };
        let target = Target::Tool {
            server: &member.name,
            name: &name,
        };
        if !self.is_denied(target) {
            return absent();
        }
        let subject = Subject::new(What::Tool, &name).arguments(arguments);
        self.denial(target, subject, absent)
    }

    /// The same for a prompt.
    fn missing_prompt(&self, name: &str, arguments: Option<&Raw>) -> Error {
        let absent = || self.host.no_prompt(&self.caller, name);
        let Some((member, own_name)) = self.named_item(name) else {
            return absent();
        };
        let target = Target::Prompt {
            server: &member.name,
            name: &own_name,
        };
        if !self.is_denied(target) {
            return absent();
        }
        let subject = Subject::new(What::Prompt, &own_name).arguments(arguments);
        self.denial(target, subject, absent)
    }

    /// Returns `true` if the rules deny the caller the use of an item.
    pub(super) fn is_denied(&self, target: Target<'_>) -> bool {
        let request = Request::usual(&self.caller, target);
        self.host.access.decide(&request).is_denied()
    }

    /// Reads `server/name`, or a name for models, without a catalog: the server and the item's own name.
    fn named_item(&self, name: &str) -> Option<(Arc<Member>, Arc<str>)> {
        let (server, own_name) = match name.split_once('/') {
            Some(pair) => pair,
            None => match self.host.registry.options().exposed_names {
                Some(names) => split_as(name, NameForm::of(NameStyle::Double, Some(names))).ok()?,
                None => split_exposed(name).ok()?,
            },
        };
        let member = self.host.registry.find(server).ok()?;
        Some((member, Arc::from(own_name)))
    }

    /// Returns true if a name can be suggested in an error. A server may have built the name from a
    /// secret, and redaction cannot find that secret in a name for models.
    pub(super) fn is_shown(&self, server: &ServerName, name: &str) -> bool {
        let member = self.host.registry.member(server);
        member.is_none_or(|member| matches!(member.redacted(name), Cow::Borrowed(_)))
    }

    /// Finds the prompt of that name, connecting first to the servers that may have it.
    ///
    /// # Errors
    /// Fails if there is no such prompt, or its server cannot be used.
    pub async fn find_prompt(&self, name: &str) -> Result<Arc<PromptEntry>, Error> {
        self.find_prompt_with(name, None).await
    }

    /// Finds a prompt that is to be got with those arguments.
    pub(super) async fn find_prompt_with(
        &self,
        name: &str,
        arguments: Option<&Raw>,
    ) -> Result<Arc<PromptEntry>, Error> {
        let is_known = |catalog: &Catalog| catalog.resolve_prompt(name).is_ok();
        let server = name.split_once('/').map(|(server, _)| server);
        self.connect_for(server, Lists::All, is_known).await?;
        let catalog = self.catalog();
        match catalog.resolve_prompt(name) {
            Ok(entry) if !self.host.sees_prompt(&self.caller, entry) => {
                // The audit has the server's own name for it, whatever name the agent used.
                let name_there = Arc::from(entry.name());
                let subject = Subject::new(What::Prompt, &name_there).arguments(arguments);
                let absent = || self.host.no_prompt(&self.caller, name);
                Err(self.denial(Target::from(&**entry), subject, absent))
            }
            Err(_) if !self.caller.is_owner() => Err(self.missing_prompt(name, arguments)),
            Ok(entry) => Ok(Arc::clone(entry)),
            Err(unknown) => Err(self.unknown(&catalog, unknown, "prompt", |catalog| {
                let shown = catalog
                    .prompts()
                    .filter(|entry| self.is_shown(entry.server(), entry.name()));
                let names = shown.map(|entry| entry.exposed().to_owned());
                names.take(SHOWN_NAMES).collect()
            })),
        }
    }

    /// Subscribes to the events that the caller may know of, from now on: its own calls, and the
    /// servers that it can see. Only the owner learns what has changed at a server, what is wrong
    /// with it, and which calls were denied and why.
    pub fn events(&self) -> ViewEvents {
        ViewEvents {
            events: self.host.events.subscribe(),
            view: self.clone(),
        }
    }

    /// Returns the part of an event that the caller may know of. An agent does not learn of things
    /// that it cannot see, why they are withheld, or what is wrong with a server.
    fn visible(&self, mut event: Event) -> Option<Event> {
        let caller = &self.caller;
        if caller.is_owner() {
            return Some(event);
        }
        let is_own = |call: &Call| *call.caller == *caller.id().as_str();
        // An agent sees its own calls, and only servers that it may know of.
        if !self.host.access.knows(caller, event.server()) || !event.call().is_none_or(is_own) {
            return None;
        }
        match &mut event {
            // A denial would tell the agent that there is something to be denied.
            Event::Decided { decision, .. } if *decision != "allow" => return None,
            Event::Notice { .. }
            | Event::LoginNeeded { .. }
            | Event::TokenRenewed { .. }
            | Event::LoginFailed { .. } => return None,
            // That something changed is harmless; names and texts of errors may not be for this
            // caller.
            Event::CatalogChanged { changes, .. } => changes.clear(),
            Event::ConnectFailed { error: words, .. }
            | Event::ListFailed { error: words, .. }
            | Event::Disconnected { reason: words, .. } => words.clear(),
            _ => {}
        }
        Some(event)
    }

    pub(super) fn catalog(&self) -> Catalog {
        self.host.keeper.catalog()
    }

    /// Connects to the servers that may have an item: the one that is named, or else every server
    /// that was not tried yet.
    pub(super) async fn connect_for(
        &self,
        server: Option<&str>,
        lists: Lists,
        is_known: impl Fn(&Catalog) -> bool,
    ) -> Result<(), Error> {
        if is_known(&self.catalog()) {
            return Ok(());
        }
        let host = &self.host;
        // Nothing is started for an agent that may not know of it.
        let may_know = |member: &Member| host.access.knows(&self.caller, &member.name);
        if let Some(server) = server
            && let Ok(member) = host.registry.find(server)
            // One that it may not know of is looked for like one that is not there.
            && may_know(&member)
        {
            if member.is_offline() {
                return Ok(());
            }
            let opened = host.open(&member, Want::Use, lists).await;
            // Why it cannot be used is for the owner to know.
            return if self.caller.is_owner() {
                opened
            } else {
                Ok(())
            };
        }
        let mut opening = JoinSet::new();
        // A server that failed or was refused before is not tried again for every unknown name.
        let is_untried = |member: &Arc<Member>| may_know(member) && host.is_untried(member);
        for member in host.registry.members().into_iter().filter(is_untried) {
            let host = Arc::clone(host);
            // One that cannot be used does not have it.
            opening.spawn(async move { drop(host.open(&member, Want::Use, lists).await) });
        }
        // The first server that has it is enough: one that hangs is not waited for.
        while opening.join_next().await.is_some() {
            if is_known(&self.catalog()) {
                // The others go on in the background: their items will be wanted too.
                host.registry.finish_in_background(opening);
                break;
            }
        }
        Ok(())
    }

    /// The error that nothing is called that.
    pub(super) fn unknown(
        &self,
        catalog: &Catalog,
        unknown: Unknown,
        what: &'static str,
        names: impl Fn(&Catalog) -> Vec<String>,
    ) -> Error {
        // If the server is known, only its own tools are worth suggesting.
        let known = match &unknown.server {
            Some(server) if what == "tool" => match catalog.server(server.as_str()) {
                Some(part) => {
                    let tools = part.tools().iter();
                    tool_names(tools.filter(|entry| self.is_shown(entry.server(), entry.name())))
                }
                None => Vec::new(),
            },
            _ => names(catalog),
        };
        let server = unknown.server.clone();
        let error = HostError::Unknown {
            what,
            name: unknown.name,
            closest: unknown.closest,
            known,
        };
        match server.and_then(|server| self.host.registry.member(&server)) {
            Some(member) => member.with_context(error),
            None => error.into(),
        }
    }
}

/// The names of tools, as many as are worth showing.
fn tool_names<'a>(tools: impl Iterator<Item = &'a Arc<ToolEntry>>) -> Vec<String> {
    let names = tools.map(|entry| entry.key().to_string());
    names.take(SHOWN_NAMES).collect()
}

/// The events that a caller may know of.
#[derive(Debug)]
pub struct ViewEvents {
    events: Events,
    view: View,
}

impl ViewEvents {
    /// The next event.
    ///
    /// # Errors
    /// Fails if the reader fell behind and missed events, or the host is gone.
    pub async fn recv(&mut self) -> Result<Event, RecvError> {
        loop {
            let event = self.events.recv().await?;
            if let Some(event) = self.view.visible(event) {
                return Ok(event);
            }
        }
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("caller", &self.caller)
            .finish_non_exhaustive()
    }
}
