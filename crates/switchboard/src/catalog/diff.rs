//! The differences between two snapshots.

use std::sync::Arc;

use super::definition::{ItemDefinition, same};
use super::entry::Entry;
use super::notice::ItemKind;
use super::server::{Freshness, ServerCatalog};
use super::snapshot::Catalog;
use crate::spec::ServerName;

/// One difference between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// There is a new server; what it offers is told item by item.
    ServerAdded(ServerName),
    /// A server is gone, and what it offered with it, which is told item by item.
    ServerRemoved(ServerName),
    /// The list of a server is now more or less up to date than before.
    Freshness {
        /// The server.
        server: ServerName,
        /// The freshness before.
        from: Freshness,
        /// The freshness now.
        to: Freshness,
    },
    /// A server changed its instructions.
    Instructions(ServerName),
    /// A tool, prompt, resource or template came, went, or is another.
    Item {
        /// The kind of the item.
        kind: ItemKind,
        /// The server.
        server: ServerName,
        /// The name or address that the server gave it.
        name: Arc<str>,
        /// The name for models, of tools and prompts; the new one where it changed.
        exposed: Option<Arc<str>>,
        /// The change: added, removed or changed.
        delta: Delta,
    },
}

/// The change of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[doc(hidden)]
pub enum Delta {
    /// It was not there before.
    Added,
    /// It is not there any more.
    Removed,
    /// Its definition or its name for models is another.
    Changed,
}

impl Catalog {
    /// Tells what `newer` has that this has not, and the other way round: server by server in the order
    /// of their names, each with its tools, prompts, resources and templates.
    pub fn diff(&self, newer: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        // The same snapshot: nothing to compare.
        if self.is(newer) {
            return changes;
        }
        let mut names: Vec<&ServerName> = self.servers().map(|part| part.name()).collect();
        names.extend(newer.servers().map(|part| part.name()));
        names.sort_unstable();
        names.dedup();
        for name in names {
            let (old, new) = (self.server(name.as_str()), newer.server(name.as_str()));
            let mut sides = Sides {
                server: name,
                old: old.map(|part| (self, &**part)),
                new: new.map(|part| (newer, &**part)),
                changes: &mut changes,
            };
            sides.compare();
        }
        changes
    }
}

/// One server before and after.
struct Sides<'a> {
    server: &'a ServerName,
    old: Option<(&'a Catalog, &'a ServerCatalog)>,
    new: Option<(&'a Catalog, &'a ServerCatalog)>,
    changes: &'a mut Vec<Change>,
}

impl<'a> Sides<'a> {
    fn compare(&mut self) {
        let server = || self.server.clone();
        match (self.old, self.new) {
            (None, _) => self.changes.push(Change::ServerAdded(server())),
            (_, None) => self.changes.push(Change::ServerRemoved(server())),
            (Some((_, old)), Some((_, new))) => {
                let (from, to) = (old.freshness(), new.freshness());
                if from != to {
                    let server = server();
                    self.changes.push(Change::Freshness { server, from, to });
                }
                if old.whole_instructions() != new.whole_instructions() {
                    self.changes.push(Change::Instructions(server()));
                }
            }
        }
        self.items(
            |part| part.tools(),
            |catalog, server, name| catalog.by_key(server, name),
        );
        self.items(
            |part| part.prompts(),
            |catalog, server, name| catalog.prompt_by_key(server, name),
        );
        self.items(
            |part| part.resources(),
            |catalog, server, uri| catalog.resource(server, uri),
        );
        self.items(
            |part| part.templates(),
            |catalog, server, template| catalog.server(server)?.template(template),
        );
    }

    /// Compares one list. `find` sees what the catalog shows, which may be less than the list has.
    fn items<E: Entry + 'a>(
        &mut self,
        list: impl Fn(&'a ServerCatalog) -> &'a [Arc<E>],
        find: impl Fn(&'a Catalog, &str, &str) -> Option<&'a Arc<E>>,
    ) {
        let lists = [self.old, self.new].map(|side| side.map_or(&[][..], |(_, part)| list(part)));
        let [before, after] = lists;
        // Most lists are what they were. Where names collide, others decide what is shown of them.
        let is_same_list =
            before.len() == after.len() && before.iter().zip(after).all(|(a, b)| Arc::ptr_eq(a, b));
        let sides = [self.old, self.new];
        let collide = sides.iter().flatten().any(|(all, _)| all.has_collisions());
        if is_same_list && !collide {
            return;
        }
        let look = |side: Option<(&'a Catalog, &'a ServerCatalog)>, entry: &E| {
            find(side?.0, self.server.as_str(), entry.id().name())
        };
        // Looked up in the whole catalog: a tool may be hidden by another server's of the same
        // name.
        let gone = before.iter().filter_map(|entry| {
            look(self.old, entry)?;
            (look(self.new, entry).is_none()).then(|| change(&**entry, Delta::Removed))
        });
        let come = after.iter().filter_map(|entry| {
            look(self.new, entry)?;
            match look(self.old, entry) {
                None => Some(change(&**entry, Delta::Added)),
                Some(was) if is_same(was, entry) => None,
                Some(_) => Some(change(&**entry, Delta::Changed)),
            }
        });
        let changes: Vec<Change> = gone.chain(come).collect();
        self.changes.extend(changes);
    }
}

fn is_same<E: Entry>(was: &Arc<E>, is: &Arc<E>) -> bool {
    Arc::ptr_eq(was, is)
        || (was.exposed() == is.exposed() && same(was.definition(), is.definition()))
}

fn change<E: Entry>(entry: &E, delta: Delta) -> Change {
    Change::Item {
        kind: E::Definition::KIND,
        server: entry.id().server().clone(),
        name: Arc::clone(entry.id().shared_name()),
        exposed: E::IS_NAMED.then(|| Arc::clone(entry.exposed())),
        delta,
    }
}
