//! One tool, prepared to be called.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde_json::Value;
use switchboard_wire::{Raw, Tool};

use super::HostInner;
use super::access::Permit;
use super::calls::{Attempt, Subject};
use super::catalog_keeper::Lists;
use super::clients::{ClientCore, Lease};
use super::member::{Member, MemberUse, Ready, revision};
use super::registry::Want;
use super::result::ToolResult;
use super::tool_call::ToolCall;
use crate::catalog::{ToolEntry, ToolKey};
use crate::error::{Error, HostError};
use crate::events::What;
use crate::formats::{Adapted, anthropic, openai};
use crate::limits::Deadline;
use crate::pins::Mode;
use crate::policy::{Caller, Decision, Reason, Request};
use crate::session::CallOptions;
use crate::spec::ServerName;

/// One tool, ready to be called by the caller that it was given to.
///
/// It outlives connections: a call makes a new one if the last is gone. A tool that has changed
/// since is checked and called as it is now.
///
/// A handle is a prepared call: it has the entry and the server, and looks neither up again while
/// nothing about the server has changed. Other definitions, a server that was removed and another
/// baseline make the next call look again; the policy is asked before every call of an agent.
///
/// ```no_run
/// use serde_json::json;
/// use switchboard::Host;
///
/// # async fn example(host: Host) -> Result<(), switchboard::Error> {
/// let search = host.find("github/search").await?;
/// println!("{}: {}", search.name(), search.description());
/// for query in ["mcp", "rust"] {
///     let result = search.call(json!({ "query": query })).await?;
///     println!("{}", result.text());
/// }
/// # Ok(())
/// # }
/// ```
pub struct ToolHandle {
    host: Arc<HostInner>,
    caller: Caller,
    /// The client whose connections are used, if not those of the host.
    connections: Option<Arc<ClientCore>>,
    entry: Arc<ToolEntry>,
    /// The server, unless it was removed when the handle was made.
    member: Option<Arc<Member>>,
    /// The revision at which `entry` and `member` were the ones to use.
    found: AtomicU64,
    /// The revision at which `entry` was known to be as approved; 0 if it never was.
    cleared: AtomicU64,
    /// True if the predicates of the program have admitted `entry` for the one call that the handle is
    /// for. They are asked at each call of any other handle.
    pub(super) is_admitted: bool,
}

impl ToolHandle {
    /// Prepares calls of a tool. `found` is the revision before the entry was looked up.
    pub(super) fn new(
        host: &Arc<HostInner>,
        caller: &Caller,
        entry: &Arc<ToolEntry>,
        found: u64,
    ) -> Self {
        Self {
            host: Arc::clone(host),
            caller: caller.clone(),
            connections: None,
            entry: Arc::clone(entry),
            member: host.registry.member(entry.server()),
            // Not read again here: a change since the caller looked the entry up would go
            // unnoticed.
            found: AtomicU64::new(found),
            cleared: AtomicU64::new(0),
            is_admitted: false,
        }
    }

    /// Has it use the connections of a client.
    pub(super) fn over(mut self, connections: Option<&Arc<ClientCore>>) -> Self {
        self.connections = connections.cloned();
        self
    }

    /// Returns true if the rules let the caller have the handle. A tool that has changed since its
    /// approval is withheld if the person cannot be asked when it is called.
    pub(super) fn is_given(&self) -> bool {
        let (access, entry) = (&self.host.access, &*self.entry);
        self.caller.is_owner()
            || (access.sees(&self.caller, entry)
                && !(self.member.as_ref())
                    .is_some_and(|member| access.is_quarantined(member, entry)))
    }

    /// Returns the server and the reason if a predicate of the program does not admit the tool.
    pub(super) fn filtered(&self) -> Option<(&Member, Reason)> {
        let member = self.member.as_deref()?;
        let reason = (self.host.access).filtered(&self.caller, member, &self.entry)?;
        Some((member, reason))
    }

    /// Its name for models, such as `mcp__github__search`.
    pub fn name(&self) -> &str {
        self.entry.exposed()
    }

    /// The name that its server gave it.
    pub fn raw_name(&self) -> &str {
        self.entry.name()
    }

    /// The server that offers it.
    pub fn server(&self) -> &ServerName {
        self.entry.server()
    }

    /// The server and the tool's own name.
    pub fn key(&self) -> &ToolKey {
        self.entry.key()
    }

    /// The description that the server gives, truncated if it is too long.
    pub fn description(&self) -> &str {
        self.entry.description().unwrap_or_default()
    }

    /// The tool's entry in the catalog.
    pub fn entry(&self) -> &ToolEntry {
        &self.entry
    }

    /// The whole definition, verbatim.
    pub fn tool(&self) -> &Tool {
        self.entry.tool()
    }

    /// The definition as OpenAI's Chat Completions take it. Parts that the API does not take are
    /// left out or adapted: [`ToolHandle::openai_chat`] lists them.
    pub fn to_openai(&self) -> Value {
        self.openai_chat().value
    }

    /// The definition as Anthropic's Messages take it. Parts that the API does not take are left
    /// out or adapted: [`ToolHandle::anthropic`] lists them.
    pub fn to_anthropic(&self) -> Value {
        self.anthropic().value
    }

    /// The definition as OpenAI's Chat Completions take it, with the list of adaptations.
    pub fn openai_chat(&self) -> Adapted<Value> {
        openai::chat(self.name(), self.tool())
    }

    /// The definition as OpenAI's Responses take it, with the list of adaptations.
    pub fn openai_responses(&self) -> Adapted<Value> {
        openai::responses(self.name(), self.tool())
    }

    /// The definition as Anthropic's Messages take it, with the list of adaptations.
    pub fn anthropic(&self) -> Adapted<Value> {
        anthropic::definition(self.name(), self.tool())
    }

    /// Calls the tool with arguments that are an object: a struct, a map, `json!({...})`.
    ///
    /// Await it to send it; see [`ToolCall`] for its options and errors. The arguments are checked
    /// against the tool's schema before anything is sent.
    pub fn call(&self, arguments: impl Serialize) -> ToolCall<'_> {
        ToolCall::prepared(self, arguments)
    }

    /// Calls the tool with arguments that are JSON text already, which are sent as they are.
    pub fn call_raw(&self, arguments: Raw) -> ToolCall<'_> {
        ToolCall::prepared_raw(self, arguments)
    }

    /// Sets the server that an error is about.
    pub(super) fn with_context(&self, error: Error) -> Error {
        match &self.member {
            Some(member) => member.with_context(error),
            None => error,
        }
    }

    pub(super) async fn send(
        &self,
        arguments: Raw,
        mut options: CallOptions,
        connections: Option<Arc<ClientCore>>,
    ) -> Result<ToolResult, Error> {
        // 1. The tool and its server: as prepared, unless something about the server has changed. If it
        // has announced other tools, they are read first.
        let again;
        let (member, entry, _in_use) = match self.prepared() {
            Some((member, in_use)) => (member, &self.entry, Some(in_use)),
            None => {
                Box::pin(self.catch_up(&mut options.deadline)).await?;
                again = self.look_again()?;
                (&again.0, &again.1, None)
            }
        };
        let is_admitted = self.is_admitted && Arc::ptr_eq(entry, &self.entry);
        if !is_admitted && let Some(reason) = self.host.access.filtered(&self.caller, member, entry)
        {
            return Err(self.refuse(member, entry, &arguments, &Decision::Deny(reason)));
        }
        // 2. The permit. Nearly always there is nothing to ask and nothing to wait for.
        let allowed;
        let permit = if self.caller.is_owner() {
            Some(Permit::owner())
        } else {
            self.permit_at_once(member, entry)
        };
        let (permit, entry) = match permit {
            Some(permit) => (permit, entry),
            None => {
                let allow = self.allow(member, entry, &arguments);
                allowed = Box::pin(allow).await?;
                (allowed.0, &allowed.1)
            }
        };
        // 3. Admission, which a server that was listed in this run has behind it.
        let ready = match member.ready() {
            Some(ready) => ready,
            None => Box::pin(self.admit(member, entry, &arguments)).await?,
        };
        // 4. The connection: that of the host, unless a client has its own.
        let connections = connections.as_ref().or(self.connections.as_ref());
        let lease = match connections {
            None => Lease::Shared(&ready.server),
            Some(client) => {
                let registry = &self.host.registry;
                match client.lease_at_once(registry, member, ready, &mut options) {
                    Some(lease) => lease?,
                    None => {
                        let lease = client.lease(registry, member, ready, &mut options);
                        Box::pin(lease).await?
                    }
                }
            }
        };
        // 5. The call itself.
        let attempt = Attempt {
            caller: &self.caller,
            member,
            ready,
            server: lease.server(),
            permit: &permit,
        };
        let calls = &self.host.calls;
        calls.call_tool(attempt, entry, arguments, options).await
    }

    /// The server and a use of it, while neither it nor the tool has changed since they were looked up.
    fn prepared(&self) -> Option<(&Arc<Member>, MemberUse)> {
        let member = self.member.as_ref()?;
        let found = self.found.load(Ordering::Relaxed);
        // Before the look: a server that leaves meanwhile waits for this use.
        let in_use = member.begin_use();
        (member.is_unchanged_since(found)).then_some((member, in_use))
    }

    /// Returns true if the server has announced other tools that were not read yet.
    pub(super) fn is_behind(&self) -> bool {
        let member = self.member.as_ref();
        member.is_some_and(|member| member.listing.is_behind())
    }

    /// Waits until the tools are read that the server has announced, within the time of a call.
    pub(super) async fn catch_up(&self, deadline: &mut Option<Deadline>) -> Result<(), Error> {
        match &self.member {
            Some(member) => self.host.catch_up(member, deadline).await,
            None => Ok(()),
        }
    }

    /// Looks the server and the tool up again. Where both are still the ones that the handle has, the
    /// next call need not.
    fn look_again(&self) -> Result<(Arc<Member>, Arc<ToolEntry>, MemberUse), Error> {
        // The revision before the lookup: a change in between makes the next call look again.
        let (host, now) = (&self.host, revision());
        let current = host.keeper.current(&self.entry);
        let entry = current.unwrap_or_else(|| Arc::clone(&self.entry));
        let begun = host.registry.begin_use(entry.server());
        let begun = begun.ok_or_else(|| host.no_tool(&self.caller, entry.exposed()));
        let (member, in_use) = begun?;
        let known = self.member.as_ref();
        // The handle is shared and cannot swap its entry, so a changed tool is looked up every
        // time.
        if Arc::ptr_eq(&entry, &self.entry) && known.is_some_and(|it| Arc::ptr_eq(it, &member)) {
            self.found.store(now, Ordering::Relaxed);
        }
        Ok((member, entry, in_use))
    }

    /// Allows a call of a tool as it is now, or fails with the denial.
    async fn allow(
        &self,
        member: &Arc<Member>,
        entry: &Arc<ToolEntry>,
        arguments: &Raw,
    ) -> Result<(Permit, Arc<ToolEntry>), Error> {
        match self.permit(member, entry, arguments).await {
            Ok((permit, current)) => {
                self.warn_of_drifts(member, &current);
                Ok((permit, current))
            }
            Err(decision) => Err(self.refuse(member, entry, arguments, &decision)),
        }
    }

    /// Records that a call was refused, and makes its error.
    fn refuse(
        &self,
        member: &Member,
        entry: &ToolEntry,
        arguments: &Raw,
        decision: &Decision,
    ) -> Error {
        let name = entry.key().shared_name();
        let subject = Subject::new(What::Tool, name).arguments(Some(arguments));
        let calls = &self.host.calls;
        calls.record_refusal(&self.caller, member, subject, decision);
        let absent = || self.host.no_tool(&self.caller, entry.exposed());
        let request = Request::usual(&self.caller, entry);
        self.host.access.denied(&request, decision, absent)
    }

    async fn permit(
        &self,
        member: &Arc<Member>,
        entry: &Arc<ToolEntry>,
        arguments: &Raw,
    ) -> Result<(Permit, Arc<ToolEntry>), Decision> {
        let (host, access) = (&self.host, &self.host.access);
        // 1. The policy, and the person if the policy asks.
        let permit = access.permit_call(&self.caller, member, entry, arguments);
        let permit = permit.await?;
        // 2. The current definitions: a server that was restarted may offer others. A failure to
        // connect is reported by the call that follows.
        if host.keeper.is_stale(member) {
            drop(host.open(member, Want::Use, Lists::Tools).await);
        }
        access.settle(member, host.keeper.caught_up(member)).await;
        // 3. The approved definition, and the person if it has changed.
        let shown = access.current(entry);
        let is_reviewed = access.is_reviewed(member, &shown).await;
        // Look again: the server may have changed the tool while the person was deciding.
        let current = access.current(entry);
        // The predicates have admitted `entry`, and are asked again only about another definition.
        if !Arc::ptr_eq(&current, entry)
            && let Some(reason) = access.filtered(&self.caller, member, &current)
        {
            return Err(Decision::Deny(reason));
        }
        if is_reviewed && access.is_as_approved(member, &current) {
            Ok((permit, current))
        } else {
            Err(Decision::Deny(Reason::Refused))
        }
    }

    /// Warns the person that a tool is not as it was approved, in the mode that only warns.
    fn warn_of_drifts(&self, member: &Member, entry: &ToolEntry) {
        if self.host.access.pin_mode() != Mode::Warn {
            return;
        }
        for drift in self.host.access.drifts_of(member, entry) {
            let text = || format!("{drift} since it was approved");
            self.host.calls.notice(member, text);
        }
    }

    async fn admit<'m>(
        &self,
        member: &'m Arc<Member>,
        entry: &ToolEntry,
        arguments: &Raw,
    ) -> Result<&'m Arc<Ready>, Error> {
        // There is no server to ask, but arguments that do not fit are the more useful error.
        if member.is_offline() {
            let calls = &self.host.calls;
            calls.check_arguments(member, entry, arguments).await?;
            let tool = entry.name().to_owned();
            return Err(member.with_context(HostError::Offline { tool }));
        }
        self.host.registry.admit(member).await
    }

    /// Allows an agent's call without waiting, if a rule allows it outright, the server is live,
    /// and its definitions are as approved.
    fn permit_at_once(&self, member: &Member, entry: &Arc<ToolEntry>) -> Option<Permit> {
        let cleared = self.cleared.load(Ordering::Relaxed);
        // Only a result about the handle's own entry is remembered.
        let is_own = Arc::ptr_eq(entry, &self.entry);
        if !(is_own && cleared > 0 && member.is_unchanged_since(cleared)) {
            // The revision before the check: a change in between makes the next call check again.
            let now = revision();
            if !self.host.access.is_cleared(member, entry) {
                return None;
            }
            if is_own {
                self.cleared.store(now, Ordering::Relaxed);
            }
        }
        self.host.access.allow_outright(&self.caller, entry)
    }
}

impl Clone for ToolHandle {
    fn clone(&self) -> Self {
        Self {
            host: Arc::clone(&self.host),
            caller: self.caller.clone(),
            connections: self.connections.clone(),
            entry: Arc::clone(&self.entry),
            member: self.member.clone(),
            found: AtomicU64::new(self.found.load(Ordering::Relaxed)),
            cleared: AtomicU64::new(self.cleared.load(Ordering::Relaxed)),
            is_admitted: false,
        }
    }
}

impl fmt::Debug for ToolHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolHandle")
            .field("name", &self.name())
            .field("key", &self.key())
            .field("caller", &self.caller)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::host::Host;
    use crate::host::test_support::{Script, name, settings};

    async fn echo(host: &Host) -> ToolHandle {
        let view = host.view(Caller::owner());
        view.find("a/echo").await.unwrap()
    }

    #[tokio::test]
    async fn a_handle_is_prepared_until_something_about_its_server_changes() {
        let script = Script::answering(3);
        let host = Host::builder().transport(name("a"), script.transport(), settings());
        let host = host.build().unwrap();
        host.connect("a").await.unwrap();
        let tool = echo(&host).await;
        assert!(tool.prepared().is_some());
        host.refresh("a").await.unwrap();
        assert!(tool.prepared().is_none());
        let result = tool.call(json!({"message": "hello"})).await.unwrap();
        assert_eq!(result.text(), "hello");
        // The definition stayed the same: it is looked up once, and prepared again.
        assert!(tool.prepared().is_some() && tool.clone().prepared().is_some());
        host.remove("a").await.unwrap();
        assert!(tool.prepared().is_none());
        tool.call(json!({"message": "hello"})).await.unwrap_err();
        assert_eq!(script.count("tools/call"), 1);
    }
}
