//! The parts of all servers, put together.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use super::definition::ItemDefinition;
use super::entry::{Entry, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};
use super::notice::{Notice, Problem};
use super::server::ServerCatalog;
use super::tool_ref::ToolRef;
use super::unknown::Unknown;
use crate::spec::ServerName;

/// A snapshot of the tools, prompts and resources of all servers.
///
/// A snapshot never changes, and cloning one costs nothing: its holder sees the same tools until
/// it takes a newer one.
#[derive(Clone, Default)]
pub struct Catalog(Arc<CatalogInner>);

#[derive(Default)]
struct CatalogInner {
    servers: BTreeMap<ServerName, Arc<ServerCatalog>>,
    tools: Names<ToolEntry>,
    prompts: Names<PromptEntry>,
}

impl Catalog {
    /// The same with this part in place of what was there of its server.
    #[must_use]
    pub fn with(&self, part: Arc<ServerCatalog>) -> Self {
        // Copies the map of parts, not the parts: readers keep the snapshot that they have.
        let mut servers = self.0.servers.clone();
        servers.insert(part.name().clone(), part);
        Self::of(servers)
    }

    /// The same without a server.
    #[must_use]
    pub fn without(&self, server: &ServerName) -> Self {
        let mut servers = self.0.servers.clone();
        if servers.remove(server).is_none() {
            return self.clone();
        }
        Self::of(servers)
    }

    fn of(servers: BTreeMap<ServerName, Arc<ServerCatalog>>) -> Self {
        let tools = Names::of(servers.values().map(|part| part.tools()));
        let prompts = Names::of(servers.values().map(|part| part.prompts()));
        Self(Arc::new(CatalogInner {
            servers,
            tools,
            prompts,
        }))
    }

    /// Returns true if both are the same snapshot.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The parts of the servers, by name.
    pub fn servers(&self) -> impl ExactSizeIterator<Item = &Arc<ServerCatalog>> + Clone {
        self.0.servers.values()
    }

    /// The part of a server.
    pub fn server(&self, name: &str) -> Option<&Arc<ServerCatalog>> {
        self.0.servers.get(name)
    }

    /// All tools: by the name of the server, then in the server's order.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<ToolEntry>> + Clone {
        let all = self.servers().flat_map(|part| part.tools());
        all.filter(|entry| self.0.tools.shows(entry))
    }

    /// Returns the number of tools.
    pub fn tool_count(&self) -> usize {
        self.0.tools.by_exposed.len()
    }

    /// The tool that models know by this name.
    pub fn tool(&self, exposed: &str) -> Option<&Arc<ToolEntry>> {
        self.0.tools.by_exposed.get(exposed)
    }

    /// The tool of a server, by the name that the server gave it.
    pub fn by_key(&self, server: &str, name: &str) -> Option<&Arc<ToolEntry>> {
        let entry = self.server(server)?.tool(name)?;
        self.0.tools.shows(entry).then_some(entry)
    }

    /// The tool that is meant by its name for models, or by `server/tool`, to the letter.
    ///
    /// # Errors
    /// Fails if there is no such tool; the error suggests the closest name, which is never used in its place.
    pub fn resolve(&self, text: &str) -> Result<&Arc<ToolEntry>, Unknown> {
        let found = self.get(&ToolRef::parse(text));
        found.ok_or_else(|| Unknown::tool(self, text))
    }

    /// The tool of that name, to the letter.
    pub fn get(&self, tool: &ToolRef<'_>) -> Option<&Arc<ToolEntry>> {
        match tool.server() {
            None => self.tool(tool.name()),
            Some(server) => self.by_key(server, tool.name()),
        }
    }

    /// All prompts: by the name of the server, then in the server's order.
    pub fn prompts(&self) -> impl Iterator<Item = &Arc<PromptEntry>> + Clone {
        let all = self.servers().flat_map(|part| part.prompts());
        all.filter(|entry| self.0.prompts.shows(entry))
    }

    /// The prompt that models know by this name.
    pub fn prompt(&self, exposed: &str) -> Option<&Arc<PromptEntry>> {
        self.0.prompts.by_exposed.get(exposed)
    }

    /// The prompt of a server, by the name that the server gave it.
    pub fn prompt_by_key(&self, server: &str, name: &str) -> Option<&Arc<PromptEntry>> {
        let entry = self.server(server)?.prompt(name)?;
        self.0.prompts.shows(entry).then_some(entry)
    }

    /// The prompt that is meant by its name for models, or by `server/prompt`, to the letter.
    ///
    /// # Errors
    /// Fails if there is no such prompt; the error suggests the closest name.
    pub fn resolve_prompt(&self, text: &str) -> Result<&Arc<PromptEntry>, Unknown> {
        let found = match text.split_once('/') {
            None => self.prompt(text),
            Some((server, name)) => self.prompt_by_key(server, name),
        };
        found.ok_or_else(|| Unknown::prompt(self, text))
    }

    /// All resources: by the name of the server, then in the server's order.
    pub fn resources(&self) -> impl Iterator<Item = &Arc<ResourceEntry>> + Clone {
        self.servers().flat_map(|part| part.resources())
    }

    /// The resource that a server has at an address.
    pub fn resource(&self, server: &str, uri: &str) -> Option<&Arc<ResourceEntry>> {
        self.server(server)?.resource(uri)
    }

    /// All templates of resources' addresses: by the name of the server, then in the server's order.
    pub fn templates(&self) -> impl Iterator<Item = &Arc<TemplateEntry>> + Clone {
        self.servers().flat_map(|part| part.templates())
    }

    /// Returns true if an item is hidden because another has its name for models.
    pub(super) fn has_collisions(&self) -> bool {
        !self.0.tools.collisions.is_empty() || !self.0.prompts.collisions.is_empty()
    }

    /// Everything that was left out or cut, with its server.
    pub fn notices(&self) -> impl Iterator<Item = (&ServerName, &Notice)> {
        let own = self.servers().flat_map(|part| {
            let notices = part.notices().iter();
            notices.map(move |notice| (part.name(), notice))
        });
        let collisions = (self.0.tools.collisions.iter()).chain(&self.0.prompts.collisions);
        own.chain(collisions.map(|(server, notice)| (server, notice)))
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog")
            .field("servers", &self.0.servers.keys())
            .field("tools", &self.tool_count())
            .finish_non_exhaustive()
    }
}

/// The names for models of all servers.
struct Names<E> {
    by_exposed: HashMap<Arc<str>, Arc<E>>,
    /// The items left out because their name for models has the same hash as another's. Two such names do not
    /// occur by chance.
    collisions: Vec<(ServerName, Notice)>,
}

impl<E> Default for Names<E> {
    fn default() -> Self {
        Self {
            by_exposed: HashMap::new(),
            collisions: Vec::new(),
        }
    }
}

impl<E: Entry> Names<E> {
    fn of<'a>(lists: impl Iterator<Item = &'a [Arc<E>]> + Clone) -> Self
    where
        E: 'a,
    {
        // Reserved at once: with many servers the table would be rehashed again and again.
        let size = lists.clone().map(<[_]>::len).sum();
        let mut by_exposed: HashMap<Arc<str>, Arc<E>> = HashMap::with_capacity(size);
        let mut losers = Vec::new();
        for entry in lists.flatten() {
            let name = Arc::clone(entry.exposed());
            let Some(other) = by_exposed.insert(name, Arc::clone(entry)) else {
                continue;
            };
            // The one that sorts first stays, so that the order of connecting decides nothing.
            if other.id() < entry.id() {
                by_exposed.insert(Arc::clone(other.exposed()), other);
                losers.push(Arc::clone(entry));
            } else {
                losers.push(other);
            }
        }
        let collisions = losers.into_iter().filter_map(|loser| {
            let exposed = loser.exposed().to_string();
            let with = by_exposed.get(loser.exposed())?.id().clone();
            let problem = Problem::Collision { exposed, with };
            let (server, name) = (loser.id().server(), loser.id().name());
            let notice = Notice::new(E::Definition::KIND, Some(name), problem);
            Some((server.clone(), notice))
        });
        let collisions = collisions.collect();
        Self {
            by_exposed,
            collisions,
        }
    }

    /// Returns true if the entry is the one that its name leads to.
    fn shows(&self, entry: &Arc<E>) -> bool {
        // The usual case costs no lookup.
        self.collisions.is_empty()
            || (self.by_exposed.get(entry.exposed())).is_some_and(|shown| Arc::ptr_eq(shown, entry))
    }
}
