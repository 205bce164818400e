//! What one caller is offered in one scope.
//!
//! An [`Offer`] is made from one snapshot of the host's catalog, and answers everything about names,
//! lists and addresses without asking a server. [`Offers`] keeps the newest contents for each caller and
//! scope, and makes others when the catalog, the policy or the approvals have changed: when
//! [`Host::revision`] has.
//!
//! - `content` reads the host: definitions as they go out, and the way back from them.
//! - `list` has them in pages, `cursor` the place in them.
//! - `projection` gives addresses of resources their form for clients, `addresses` leads back from it,
//!   `template` matches addresses that are in no list, `rewrite` replaces them in results.
//! - `profile` narrows, `capabilities` declares, `left_out` names what is missing.
//!
//! At the scope of one server everything is as the server says.

mod addresses;
mod capabilities;
mod content;
mod cursor;
mod left_out;
mod list;
mod profile;
mod projection;
mod rewrite;
mod template;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use switchboard::policy::Caller;
use switchboard::protocol::Raw;
use switchboard::{Host, ServerName, ToolHandle};
use tokio::sync::watch;

use crate::caller::ClientIdentity;
use crate::error::GatewayError;
use crate::gateway::Gateway;
use crate::limits::GatewayLimits;
use crate::options::{GatewayOptions, Profile};
use crate::scope::Scope;
use crate::seal::Seal;
use content::{Content, ListStore, Making, form_for_clients};
pub use left_out::{LeftOut, LeftOutReason};
use profile::{ReadProfile, ReadProfiles};
use projection::Projections;
use rewrite::Edits;

/// The lists that are read in pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

/// One page of a list.
#[derive(Debug)]
pub(crate) struct Page {
    /// The items as a JSON array.
    pub(crate) items: Raw,
    /// The cursor of the next page.
    pub(crate) next: Option<String>,
}

/// A cursor that is not one of ours, or of another list, scope or client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is not valid for this list")]
pub(crate) struct BadCursor;

/// A prompt that is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfferedPrompt {
    pub(crate) server: ServerName,
    /// The server's own name for it.
    pub(crate) name: String,
    /// The name by which a view finds it: `server/name`.
    pub(crate) call_name: String,
}

/// A resource, or a family of them, that is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfferedResource {
    pub(crate) server: ServerName,
    /// The server's own address for it.
    pub(crate) uri: String,
}

/// The offers of a host.
pub(crate) struct Offers {
    host: Host,
    limits: GatewayLimits,
    profiles: RwLock<ReadProfiles>,
    projections: Arc<Projections>,
    lists: ListStore,
    seal: Arc<Seal>,
    slots: Mutex<HashMap<(Caller, Scope), Arc<Slot>>>,
    /// Counts the uses of slots, so that the one that was not used for longest is known.
    uses: AtomicU64,
}

/// The newest contents for one caller in one scope.
#[derive(Default)]
struct Slot {
    used: AtomicU64,
    /// Held while contents are made: requests that come at once wait for one making.
    content: Mutex<Option<Arc<Content>>>,
}

/// What one caller is offered in one scope.
pub(crate) struct Offer {
    host: Host,
    content: Arc<Content>,
    scope: Scope,
    principal: Arc<str>,
    seal: Arc<Seal>,
    projections: Arc<Projections>,
}

impl Gateway {
    /// The servers of a scope that a client is not offered now, of those that its agent may know of, and
    /// the command that helps. Empty if the scope does not exist for the client.
    pub fn left_out(&self, identity: &ClientIdentity, scope: &Scope) -> Vec<LeftOut> {
        let offer = self.0.offers.current(identity, scope);
        offer.map(|offer| offer.left_out()).unwrap_or_default()
    }

    /// Returns true if the scope exists for a client.
    pub fn has_scope(&self, identity: &ClientIdentity, scope: &Scope) -> bool {
        self.0.offers.current(identity, scope).is_some()
    }
}

impl Offers {
    pub(crate) fn new(host: &Host, options: &GatewayOptions) -> Result<Self, GatewayError> {
        let limits = options.limits.clone();
        Ok(Self {
            host: host.clone(),
            profiles: RwLock::new(profile::read_all(&options.profiles)?),
            projections: Arc::new(Projections::new(limits.addresses)),
            lists: ListStore::default(),
            seal: Arc::new(Seal::new(limits.sealed_bytes)?),
            slots: Mutex::default(),
            uses: AtomicU64::new(0),
            limits,
        })
    }

    /// The current offer. `None` if the scope does not exist for this caller.
    pub(crate) fn current(&self, identity: &ClientIdentity, scope: &Scope) -> Option<Arc<Offer>> {
        let content = self.content(identity.caller(), scope)?;
        Some(Arc::new(Offer {
            host: self.host.clone(),
            content,
            scope: scope.clone(),
            principal: Arc::clone(identity.shared_principal()),
            seal: Arc::clone(&self.seal),
            projections: Arc::clone(&self.projections),
        }))
    }

    /// Sets the profiles.
    pub(crate) fn set_profiles(
        &self,
        profiles: &BTreeMap<String, Profile>,
    ) -> Result<(), GatewayError> {
        let read = profile::read_all(profiles)?;
        *self
            .profiles
            .write()
            .unwrap_or_else(PoisonError::into_inner) = read;
        // After that: contents of the profiles of before are not made any more.
        self.slots().clear();
        Ok(())
    }

    pub(crate) fn profile_names(&self) -> Vec<String> {
        let profiles = self.profiles.read().unwrap_or_else(PoisonError::into_inner);
        profiles.keys().map(ToString::to_string).collect()
    }

    fn profile(&self, name: &str) -> Option<Arc<ReadProfile>> {
        let profiles = self.profiles.read().unwrap_or_else(PoisonError::into_inner);
        profiles.get(name).cloned()
    }

    /// Changes whenever some offer may have changed.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.host.watch_revision()
    }

    fn content(&self, caller: &Caller, scope: &Scope) -> Option<Arc<Content>> {
        let key = (caller.clone(), scope.clone());
        // The table is not held: making contents takes time, and other callers need it.
        let known = self.slots().get(&key).cloned();
        let slot = known.clone().unwrap_or_default();
        let used = self.uses.fetch_add(1, Ordering::Relaxed);
        slot.used.store(used, Ordering::Relaxed);
        let mut content = slot.content.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(content) = &*content
            && content.revision == self.host.revision()
        {
            return Some(Arc::clone(content));
        }
        let made = Arc::new(self.make(caller, scope)?);
        *content = Some(Arc::clone(&made));
        // Unlocked before the table is taken: the two locks are never held together.
        drop(content);
        // Only what exists is kept: names that clients make up cost nothing.
        if known.is_none() {
            self.keep(key, slot);
        }
        Some(made)
    }

    fn make(&self, caller: &Caller, scope: &Scope) -> Option<Content> {
        let profile = match scope {
            Scope::Profile(name) => Some(self.profile(name)?),
            _ => None,
        };
        let making = Making {
            host: &self.host,
            caller,
            scope,
            profile: profile.as_deref(),
            limits: &self.limits,
            projections: &self.projections,
            lists: &self.lists,
        };
        making.make()
    }

    /// Keeps a slot, in place of the one that was not used for longest if there are too many.
    fn keep(&self, key: (Caller, Scope), slot: Arc<Slot>) {
        let mut slots = self.slots();
        slots.insert(key, slot);
        if slots.len() > self.limits.offers {
            let oldest = (slots.iter()).min_by_key(|(_, slot)| slot.used.load(Ordering::Relaxed));
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                slots.remove(&oldest);
            }
        }
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, HashMap<(Caller, Scope), Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Offer {
    /// One page of a list: the first, or the one that a cursor leads to.
    ///
    /// # Errors
    /// Fails if the cursor is not one of ours for this list, scope and principal.
    pub(crate) fn page(&self, list: List, cursor: Option<&str>) -> Result<Page, BadCursor> {
        let (seal, principal, scope) = (&self.seal, &self.principal, &self.scope);
        let open = |cursor| cursor::open(seal, principal, list, scope, cursor).ok_or(BadCursor);
        // The cursor before `give`: a wrong one must not fix the forms of addresses.
        let after = cursor.map(open).transpose()?;
        self.projections.give(&self.content.catalog);
        let (items, next) = self.content.list(list).page(after.as_deref());
        let next = next.map(|key| cursor::seal(seal, principal, list, scope, key));
        Ok(Page { items, next })
    }

    /// A number that stands for a list: equal stamps mean equal lists.
    pub(crate) fn stamp(&self, list: List) -> u64 {
        self.content.list(list).stamp()
    }

    /// The tool that clients know by that name.
    pub(crate) fn tool(&self, name: &str) -> Option<Arc<ToolHandle>> {
        self.content.tools.get(name).cloned()
    }

    /// The prompt that clients know by that name.
    pub(crate) fn prompt(&self, name: &str) -> Option<OfferedPrompt> {
        self.content.prompts.get(name).cloned()
    }

    /// The resource at that address, listed or not; also one that a template makes.
    pub(crate) fn resource(&self, uri: &str) -> Option<OfferedResource> {
        self.content.addresses.resource(uri)
    }

    /// The template that a client names, for completion.
    pub(crate) fn template(&self, uri_template: &str) -> Option<OfferedResource> {
        self.content.addresses.template(uri_template)
    }

    /// The address of a server as clients know it.
    pub(crate) fn outward_uri<'a>(&'a self, server: &ServerName, uri: &'a str) -> Cow<'a, str> {
        self.projections.give(&self.content.catalog);
        self.content.addresses.outward(server, uri)
    }

    /// The result of a server with the addresses that clients know: links, embedded resources, contents,
    /// pages. The same text if nothing changes.
    pub(crate) fn rewrite_result(&self, server: &ServerName, result: Raw) -> Raw {
        let addresses = &self.content.addresses;
        // The usual case: all addresses of the server are its own, and nothing is looked at.
        if !addresses.has_forms(server) {
            return result;
        }
        self.projections.give(&self.content.catalog);
        let mut edits = Edits::of(&result);
        edits.change_result(&|uri| form_for_clients(addresses, server, uri));
        if edits.is_empty() {
            return result;
        }
        let text = edits.text();
        Raw::parse(&text).unwrap_or(result)
    }

    /// The instructions of all servers together.
    pub(crate) fn instructions(&self) -> Option<&str> {
        self.content.instructions.as_deref()
    }

    /// The capabilities of the servers together, as an object.
    pub(crate) fn capabilities(&self) -> &Raw {
        &self.content.capabilities
    }

    /// The servers of the scope.
    pub(crate) fn servers(&self) -> impl Iterator<Item = &ServerName> {
        self.content.servers.iter()
    }

    /// The servers of the scope that are not offered now, of those that the caller may know of.
    pub(crate) fn left_out(&self) -> Vec<LeftOut> {
        let servers = self.content.servers.iter();
        let statuses = servers.filter_map(|server| self.host.server(server.as_str()).ok());
        statuses
            .filter_map(|status| LeftOut::of(&self.host, &status))
            .collect()
    }
}
