//! What one caller can see and use.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use switchboard_wire::{Raw, ReadResourceResult};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::access::{Permit, unknown};
use super::handle::ToolHandle;
use super::manage::Lists;
use super::member::{Member, Source};
use super::{Inner, SHOWN_NAMES};
use crate::catalog::{
    Catalog, ItemKind, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry, Unknown,
};
use crate::error::{Error, HostError};
use crate::events::What;
use crate::policy::{Caller, Decision, Reason, Request, Target, Verb};
use crate::session::CallOptions;
use crate::spec::ServerName;

/// What one caller can see and use of a host.
#[derive(Clone)]
pub struct View {
    pub(super) host: Arc<Inner>,
    pub(super) caller: Caller,
}

impl View {
    pub(super) fn new(host: &Arc<Inner>, caller: Caller) -> Self {
        Self {
            host: Arc::clone(host),
            caller,
        }
    }

    /// Who looks.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The tools of all servers that are known by now, by server and in its order.
    pub fn tools(&self) -> Vec<ToolHandle> {
        let catalog = self.catalog();
        let handle = |entry| ToolHandle::new(&self.host, &self.caller, entry);
        let is_seen = |entry: &&Arc<ToolEntry>| self.host.sees_tool(&self.caller, entry);
        catalog.tools().filter(is_seen).map(handle).collect()
    }

    /// The tool of that name: the one for models, or `server/tool`. Nothing is started.
    ///
    /// # Errors
    /// When no tool that is known by now is called that, with the name that was perhaps meant.
    pub fn tool(&self, name: &str) -> Result<ToolHandle, Error> {
        self.tool_for(name, None)
    }

    /// The tool of that name, for somebody who wants to call it with those arguments.
    fn tool_for(&self, name: &str, arguments: Option<&Raw>) -> Result<ToolHandle, Error> {
        let catalog = self.catalog();
        match catalog.resolve(name) {
            // What an agent may not use is to it as if it were not there.
            Ok(entry) if !self.may_use(entry) => {
                self.denied(&**entry, (What::Tool, entry.name(), arguments));
                Err(self.host.no_tool(&self.caller, name))
            }
            Err(_) if !self.caller.is_owner() => Err(self.host.no_tool(&self.caller, name)),
            Ok(entry) => Ok(ToolHandle::new(&self.host, &self.caller, entry)),
            Err(unknown) => Err(self.unknown(&catalog, unknown, "tool", |catalog| {
                tool_names(
                    catalog
                        .tools()
                        .filter(|entry| self.is_shown(entry.server(), entry.name())),
                )
            })),
        }
    }

    /// The tool of that name, connecting to whatever server may have it first.
    ///
    /// # Errors
    /// When there is none, or its server cannot be used.
    pub async fn find(&self, name: &str) -> Result<ToolHandle, Error> {
        self.find_for(name, None).await
    }

    /// Finds a tool for somebody who wants to call it with those arguments.
    pub(super) async fn find_for(
        &self,
        name: &str,
        arguments: Option<&Raw>,
    ) -> Result<ToolHandle, Error> {
        let is_known = |catalog: &Catalog| catalog.resolve(name).is_ok();
        self.connect_for(name, Lists::Tools, is_known).await?;
        let found = self.tool_for(name, arguments);
        // Where the list could not be had, that is why it is not known.
        match (found, self.unlisted(name, ItemKind::Tool)) {
            (Err(_), Some(unlisted)) if self.caller.is_owner() => Err(unlisted),
            (found, _) => found,
        }
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
        let is_seen = |entry: &&Arc<ResourceEntry>| self.host.sees(&self.caller, &***entry);
        catalog.resources().filter(is_seen).cloned().collect()
    }

    /// The templates of resources of all servers that are known by now.
    pub fn templates(&self) -> Vec<Arc<TemplateEntry>> {
        let catalog = self.catalog();
        let is_seen = |entry: &&Arc<TemplateEntry>| self.host.sees_template(&self.caller, entry);
        catalog.templates().filter(is_seen).cloned().collect()
    }

    /// Reads a resource of a server, connecting first if need be.
    ///
    /// # Errors
    /// When there is no such server, or no result.
    pub async fn read(&self, server: &str, uri: &str) -> Result<ReadResourceResult, Error> {
        self.read_with(server, uri, CallOptions::default()).await
    }

    /// Reads a resource on terms of the caller's own.
    ///
    /// # Errors
    /// As [`View::read`].
    pub async fn read_with(
        &self,
        server: &str,
        uri: &str,
        options: CallOptions,
    ) -> Result<ReadResourceResult, Error> {
        let host = &self.host;
        let (member, permit) = self.may_use_resource(server, uri, Verb::Read).await?;
        let ready = host.admit(&member).await?;
        let what = (What::Resource, &Arc::from(uri), None);
        let call = host.begin(&self.caller, &member, what, &permit);
        let began = Instant::now();
        let result = ready.server.read_resource(uri, options).await;
        host.ended(&member, ready, call, began, result)
    }

    /// The server of a resource, where the caller may do that with it.
    ///
    /// # Errors
    /// When it may not, which to an agent looks as if there were no such thing.
    pub(super) async fn may_use_resource(
        &self,
        server: &str,
        uri: &str,
        verb: Verb,
    ) -> Result<(Arc<Member>, Permit), Error> {
        let host = &self.host;
        let member = match host.named_member(server) {
            Ok(member) if self.caller.is_owner() => return Ok((member, Permit::owner())),
            Err(error) if self.caller.is_owner() => return Err(error),
            Err(_) => return Err(no_resource(uri)),
            Ok(member) => member,
        };
        let server = &member.name;
        let request = Request::new(&self.caller, verb, Target::Resource { server, uri });
        match Box::pin(host.permit_to(&request, &member)).await {
            Ok(permit) => Ok((member, permit)),
            Err(decision) => {
                let what = match verb {
                    Verb::Subscribe => What::Subscription,
                    _ => What::Resource,
                };
                host.refused(&self.caller, &member, (what, uri, None), &decision);
                Err(no_resource(uri))
            }
        }
    }

    /// Whether the caller gets a handle of a tool. One that has changed since it was approved is
    /// asked about when it is called.
    fn may_use(&self, entry: &ToolEntry) -> bool {
        let host = &self.host;
        self.caller.is_owner() || (host.sees(&self.caller, entry) && !host.is_quarantined(entry))
    }

    /// Says for an audit that somebody wanted what is not for them.
    pub(super) fn denied<'t>(
        &'t self,
        target: impl Into<Target<'t>>,
        what: (What, &'t str, Option<&'t Raw>),
    ) {
        let target = target.into();
        let Some(member) = self.host.member(target.server()) else {
            return;
        };
        let request = Request::usual(&self.caller, target);
        let decision = match self.host.decide(&request) {
            decision @ Decision::Deny(_) => decision,
            // It is not what was approved.
            _ => Decision::Deny(Reason::Refused),
        };
        self.host.refused(&self.caller, &member, what, &decision);
    }

    /// Whether a name can be shown to somebody who asked for another: a server may have made it of a
    /// secret, and nobody finds that again in a name for models.
    pub(super) fn is_shown(&self, server: &ServerName, name: &str) -> bool {
        let member = self.host.member(server);
        member.is_none_or(|member| matches!(member.redacted(name), Cow::Borrowed(_)))
    }

    /// Why the list that would have a `server/NAME` could not be had, if that is so.
    fn unlisted(&self, name: &str, kind: ItemKind) -> Option<Error> {
        let (server, _) = name.split_once('/')?;
        let member = self.host.named_member(server).ok()?;
        let facts = member.facts();
        let unlisted = facts.unlisted.iter().find(|(known, _)| *known == kind);
        unlisted.map(|(_, error)| error.clone())
    }

    pub(super) fn catalog(&self) -> Catalog {
        self.host.catalog.borrow().clone()
    }

    /// Connects to what may know a name: its server where the name begins with one, else every
    /// server that nobody has wanted yet.
    pub(super) async fn connect_for(
        &self,
        name: &str,
        lists: Lists,
        is_known: impl Fn(&Catalog) -> bool,
    ) -> Result<(), Error> {
        if is_known(&self.catalog()) {
            return Ok(());
        }
        // Nothing is started for an agent that may not know of it.
        let may_know = |member: &Member| self.host.knows(&self.caller, &member.name);
        if let Some((server, _)) = name.split_once('/')
            && let Ok(member) = self.host.named_member(server)
            // One that it may not know of is looked for like one that is not there.
            && may_know(&member)
        {
            return match &member.source {
                Source::Offline(_) => Ok(()),
                // Why it cannot be used is for the owner to know.
                _ if !self.caller.is_owner() => {
                    drop(self.host.open(&member, lists).await);
                    Ok(())
                }
                _ => self.host.open(&member, lists).await,
            };
        }
        let mut opening = JoinSet::new();
        let is_untried = |member: &Arc<Member>| {
            may_know(member)
                && self.host.part(member).is_none()
                && !member.is_disabled()
                && member.facts().refused.is_none()
        };
        for member in self.host.all_members().into_iter().filter(is_untried) {
            let host = Arc::clone(&self.host);
            // One that cannot be used does not have it.
            opening.spawn(async move { drop(host.open(&member, lists).await) });
        }
        while opening.join_next().await.is_some() {
            if is_known(&self.catalog()) {
                // The others go on: what they offer will be wanted too.
                let stop = self.host.stop.clone();
                drop(self.host.tasks.spawn(async move {
                    tokio::select! {
                        _ = opening.join_all() => {}
                        () = stop.cancelled() => {}
                    }
                }));
                break;
            }
        }
        Ok(())
    }

    /// Says that nothing is called that, and what to do.
    pub(super) fn unknown(
        &self,
        catalog: &Catalog,
        unknown: Unknown,
        what: &'static str,
        names: impl Fn(&Catalog) -> Vec<String>,
    ) -> Error {
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
        match server.and_then(|server| self.host.member(&server)) {
            Some(member) => member.about(error),
            None => error.into(),
        }
    }
}

/// Says that there is no such resource, whether there is none or the caller may not know of it.
pub(super) fn no_resource(uri: &str) -> Error {
    unknown("resource", uri, Vec::new())
}

/// The names of tools, as many as are worth showing.
fn tool_names<'a>(tools: impl Iterator<Item = &'a Arc<ToolEntry>>) -> Vec<String> {
    let names = tools.map(|entry| entry.key().to_string());
    names.take(SHOWN_NAMES).collect()
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("caller", &self.caller)
            .finish_non_exhaustive()
    }
}
