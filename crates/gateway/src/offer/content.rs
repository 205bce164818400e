//! The contents of an offer, made from the host's catalog and the view of one caller.
//!
//! This is the one place that reads the host: what a caller sees is what its [`View`] has.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use switchboard::catalog::Catalog;
use switchboard::host::Status;
use switchboard::policy::Caller;
use switchboard::protocol::Raw;
use switchboard::{Host, ServerName, ToolHandle, View};

use super::addresses::Addresses;
use super::capabilities;
use super::list::PreparedList;
use super::profile::ReadProfile;
use super::projection::Projections;
use super::rewrite::Edits;
use super::{List, OfferedPrompt};
use crate::limits::GatewayLimits;
use crate::scope::Scope;

/// The contents of an offer.
pub(super) struct Content {
    /// The revision of the host before the contents were read.
    pub(super) revision: u64,
    /// The snapshot that the addresses are of.
    pub(super) catalog: Catalog,
    /// The servers of the scope that the caller may know of.
    pub(super) servers: BTreeSet<ServerName>,
    lists: [Arc<PreparedList>; 4],
    pub(super) tools: HashMap<Arc<str>, Arc<ToolHandle>>,
    pub(super) prompts: HashMap<Arc<str>, OfferedPrompt>,
    pub(super) addresses: Addresses,
    pub(super) instructions: Option<String>,
    pub(super) capabilities: Raw,
}

/// What contents are made of.
pub(super) struct Making<'a> {
    pub(super) host: &'a Host,
    pub(super) caller: &'a Caller,
    pub(super) scope: &'a Scope,
    pub(super) profile: Option<&'a ReadProfile>,
    pub(super) limits: &'a GatewayLimits,
    pub(super) projections: &'a Arc<Projections>,
    pub(super) lists: &'a ListStore,
}

/// Items of one list: keys and definitions.
type Items = Vec<(Arc<str>, String)>;

impl Making<'_> {
    /// Makes the contents; `None` if the caller may not know of the scope.
    pub(super) fn make(&self) -> Option<Content> {
        // First of all: a change after this makes the contents again.
        let revision = self.host.revision();
        let catalog = self.host.catalog();
        let view = self.host.view(self.caller.clone());
        let servers = self.servers(&view)?;
        let statuses: Vec<Status> = (servers.iter())
            .filter_map(|server| self.host.server(server.as_str()).ok())
            .collect();
        let mut addresses = Addresses::new(
            self.only().cloned(),
            servers.clone(),
            self.readable(&view, &statuses),
            Arc::clone(self.projections),
        );
        // The addresses before the tools, whose definitions may have some of them.
        let (resources, templates) = self.resources(&view, &catalog, &mut addresses);
        let (tool_items, tools) = self.tools(&view, &addresses);
        let (prompt_items, prompts) = self.prompts(&view);
        let items = [tool_items, prompt_items, resources, templates];
        let size = self.limits.page_items;
        let lists = items.map(|items| self.lists.keep(PreparedList::new(items, size)));
        let capabilities = match (self.only(), statuses.as_slice()) {
            (Some(_), [status]) => capabilities::of_one(status),
            _ => capabilities::join(&statuses),
        };
        Some(Content {
            revision,
            catalog,
            lists,
            tools,
            prompts,
            addresses,
            instructions: self.instructions(&view),
            capabilities,
            servers,
        })
    }

    /// The server of an offer of one server.
    fn only(&self) -> Option<&ServerName> {
        match self.scope {
            Scope::Server(server) => Some(server),
            _ => None,
        }
    }

    fn servers(&self, view: &View) -> Option<BTreeSet<ServerName>> {
        let known = view.servers().into_iter();
        match self.scope {
            Scope::All => Some(known.collect()),
            Scope::Profile(_) => Some(known.filter(|server| self.has(server)).collect()),
            Scope::Server(only) => {
                let found: BTreeSet<ServerName> = known.filter(|server| server == only).collect();
                (!found.is_empty()).then_some(found)
            }
        }
    }

    /// Returns true if the scope has a server.
    fn has(&self, server: &ServerName) -> bool {
        self.only().is_none_or(|only| only == server)
            && self
                .profile
                .is_none_or(|profile| profile.has_server(server))
    }

    fn has_tool(&self, server: &ServerName, tool: &str) -> bool {
        self.has(server)
            && self
                .profile
                .is_none_or(|profile| profile.has_tool(server, tool))
    }

    /// The servers that may have resources: they declare them, or nothing is known of them yet.
    fn readable(&self, view: &View, statuses: &[Status]) -> Vec<ServerName> {
        let listed: BTreeSet<ServerName> = (view.resources().iter())
            .map(|entry| entry.server().clone())
            .chain(view.templates().iter().map(|entry| entry.server().clone()))
            .collect();
        let may_have = |status: &&Status| {
            listed.contains(&status.name)
                || capabilities::capabilities(status).is_none_or(|it| it.has_resources())
        };
        let readable = statuses.iter().filter(may_have);
        readable.map(|status| status.name.clone()).collect()
    }

    fn tools(
        &self,
        view: &View,
        addresses: &Addresses,
    ) -> (Items, HashMap<Arc<str>, Arc<ToolHandle>>) {
        let (mut items, mut tools) = (Vec::new(), HashMap::new());
        for tool in view.tools() {
            let (server, own) = (tool.server(), tool.raw_name());
            if !self.has_tool(server, own) {
                continue;
            }
            let raw = tool.tool().raw();
            let (name, text) = if self.only().is_some() {
                (own, raw.as_str().to_owned())
            } else {
                let name = tool.name();
                let mut edits = Edits::of(raw);
                edits.set_member(raw, "name", name);
                // Only a page can have another address than the server says.
                if addresses.has_forms(server) {
                    edits.change_page(raw, &|uri| form_for_clients(addresses, server, uri));
                }
                (name, edits.text())
            };
            let name = Arc::from(name);
            items.push((Arc::clone(&name), text));
            tools.insert(name, Arc::new(tool));
        }
        (items, tools)
    }

    fn prompts(&self, view: &View) -> (Items, HashMap<Arc<str>, OfferedPrompt>) {
        let (mut items, mut prompts) = (Vec::new(), HashMap::new());
        for entry in view.prompts() {
            let (server, own) = (entry.server(), entry.name());
            if !self.has(server) {
                continue;
            }
            let raw = entry.prompt().raw();
            let (name, text) = if self.only().is_some() {
                (own, raw.as_str().to_owned())
            } else {
                let mut edits = Edits::of(raw);
                edits.set_member(raw, "name", entry.exposed());
                (entry.exposed(), edits.text())
            };
            let name: Arc<str> = Arc::from(name);
            let prompt = OfferedPrompt {
                server: server.clone(),
                name: own.to_owned(),
                call_name: format!("{server}/{own}"),
            };
            items.push((Arc::clone(&name), text));
            prompts.insert(name, prompt);
        }
        (items, prompts)
    }

    /// The resources and the templates, with their addresses.
    fn resources(
        &self,
        view: &View,
        catalog: &Catalog,
        addresses: &mut Addresses,
    ) -> (Items, Items) {
        let table = self.projections.learn(catalog);
        let form = |server: &ServerName, own: &str| match self.only() {
            Some(_) => Arc::from(own),
            None => table.outward(server, own),
        };
        let (mut resources, mut templates) = (Vec::new(), Vec::new());
        for entry in view.resources() {
            let (server, own) = (entry.server(), entry.uri());
            if self.has(server) {
                let form = form(server, own);
                addresses.add_resource(server, own, &form);
                let text = with_address(entry.resource().raw(), "uri", own, &form);
                resources.push((form, text));
            }
        }
        for entry in view.templates() {
            let (server, own) = (entry.server(), entry.uri_template());
            if self.has(server) {
                let form = form(server, own);
                addresses.add_template(server, own, &form);
                let text = with_address(entry.template().raw(), "uriTemplate", own, &form);
                templates.push((form, text));
            }
        }
        (resources, templates)
    }

    /// The instructions of the servers, as approved.
    fn instructions(&self, view: &View) -> Option<String> {
        let said = view.instructions().into_iter();
        let mut said = said.filter(|(server, text)| self.has(server) && !text.trim().is_empty());
        if self.only().is_some() {
            return said.next().map(|(_, text)| text);
        }
        join(said, self.limits.instruction_bytes)
    }
}

/// Joins the instructions of servers under a heading each, as long as there is room.
fn join(said: impl Iterator<Item = (ServerName, String)>, most: usize) -> Option<String> {
    let mut joined = String::new();
    for (server, text) in said {
        let gap = if joined.is_empty() { "" } else { "\n\n" };
        let section = format!("{gap}# {server}\n\n{}", text.trim());
        let room = most.saturating_sub(joined.len());
        if section.len() > room {
            // As much as fits, and a mark in place of the rest.
            const MARK: &str = "\n[cut]";
            let most = room.saturating_sub(MARK.len());
            let cut = (0..=most).rev().find_map(|cut| section.get(..cut));
            joined.push_str(cut.unwrap_or_default());
            joined.push_str(MARK);
            break;
        }
        joined.push_str(&section);
    }
    (!joined.is_empty()).then_some(joined)
}

/// The address that clients know instead of a server's own, where it is another.
pub(super) fn form_for_clients(
    addresses: &Addresses,
    server: &ServerName,
    uri: &str,
) -> Option<String> {
    let outward = addresses.outward(server, uri);
    (outward != uri).then(|| outward.into_owned())
}

/// A definition with its address in that form.
fn with_address(raw: &Raw, member: &str, own: &str, form: &str) -> String {
    if own == form {
        return raw.as_str().to_owned();
    }
    let mut edits = Edits::of(raw);
    edits.set_member(raw, member, form);
    edits.text()
}

impl Content {
    pub(super) fn list(&self, list: List) -> &PreparedList {
        let [tools, prompts, resources, templates] = &self.lists;
        match list {
            List::Tools => tools,
            List::Prompts => prompts,
            List::Resources => resources,
            List::Templates => templates,
        }
    }
}

/// The lists that are in use, so that callers who see the same share one text.
#[derive(Default)]
pub(super) struct ListStore(Mutex<HashMap<u64, Weak<PreparedList>>>);

impl ListStore {
    /// Returns the list that is in use already, if there is an equal one.
    fn keep(&self, list: PreparedList) -> Arc<PreparedList> {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lists.get(&list.stamp()).and_then(Weak::upgrade);
        if let Some(known) = known.filter(|known| known.is(&list)) {
            return known;
        }
        lists.retain(|_, list| list.strong_count() > 0);
        let list = Arc::new(list);
        lists.insert(list.stamp(), Arc::downgrade(&list));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_joined_by_server_and_cut_at_the_limit() {
        let (a, b) = (
            ServerName::parse("a").unwrap(),
            ServerName::parse("b").unwrap(),
        );
        let said = || {
            [
                (a.clone(), " first\n".to_owned()),
                (b.clone(), "é".repeat(20)),
            ]
            .into_iter()
        };
        let whole = format!("# a\n\nfirst\n\n# b\n\n{}", "é".repeat(20));
        assert_eq!(join(said(), whole.len()).as_deref(), Some(&*whole));
        let cut = join(said(), whole.len() - 1).unwrap();
        assert_eq!(
            cut,
            format!("# a\n\nfirst\n\n# b\n\n{}\n[cut]", "é".repeat(16))
        );
        assert_eq!(join(said().take(0), 100), None);
    }

    #[test]
    fn equal_lists_are_shared_while_they_are_in_use() {
        let list = |text: &str| PreparedList::new(vec![("a".into(), text.to_owned())], 10);
        let store = ListStore::default();
        let one = store.keep(list("1"));
        assert!(Arc::ptr_eq(&one, &store.keep(list("1"))));
        let other = store.keep(list("2"));
        assert!(!Arc::ptr_eq(&one, &other));
        drop((one, other));
        drop(store.keep(list("3")));
        assert_eq!(store.0.lock().unwrap().len(), 1);
    }
}
