//! One server's part of the catalog.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::build::Builder;
use super::entry::{Entry, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};
use super::limits::CatalogLimits;
use super::notice::Notice;
use crate::spec::{NameStyle, ServerName};

/// The age and reliability of a server's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Freshness {
    /// The server is connected, and this is what it said last.
    #[default]
    Live,
    /// This may have changed: the connection was lost, or the server said so and was not asked yet.
    Stale,
    /// There is no server to ask or to call: this was registered by hand, or kept from before.
    Offline,
}

/// The tools, prompts, resources and templates of one server.
///
/// Made by [`ServerCatalog::builder`]; never changes.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct ServerCatalog {
    pub(super) name: ServerName,
    pub(super) style: NameStyle,
    pub(super) limits: CatalogLimits,
    pub(super) freshness: Freshness,
    pub(super) tools: Arc<Table<ToolEntry>>,
    pub(super) prompts: Arc<Table<PromptEntry>>,
    pub(super) resources: Arc<Table<ResourceEntry>>,
    pub(super) templates: Arc<Table<TemplateEntry>>,
    pub(super) instructions: Option<Arc<str>>,
    pub(super) cut_instructions: Option<Arc<str>>,
    pub(super) hidden: usize,
    pub(super) notices: Arc<[Notice]>,
}

impl ServerCatalog {
    /// Begins the part of a server.
    pub fn builder(name: ServerName) -> Builder {
        Builder::new(name)
    }

    /// The server.
    pub fn name(&self) -> &ServerName {
        &self.name
    }

    /// Returns the style of its tools' and prompts' names for models.
    pub fn style(&self) -> NameStyle {
        self.style
    }

    /// Returns how up to date these lists are.
    pub fn freshness(&self) -> Freshness {
        self.freshness
    }

    /// The same, to be relied on less or more; everything in it is shared.
    #[must_use]
    pub fn with_freshness(&self, freshness: Freshness) -> Self {
        Self {
            freshness,
            ..self.clone()
        }
    }

    /// Its tools, in its order, without those that are hidden.
    pub fn tools(&self) -> &[Arc<ToolEntry>] {
        self.tools.list()
    }

    /// The tool that the server calls so.
    pub fn tool(&self, name: &str) -> Option<&Arc<ToolEntry>> {
        self.tools.get(name)
    }

    /// Its prompts, in its order.
    pub fn prompts(&self) -> &[Arc<PromptEntry>] {
        self.prompts.list()
    }

    /// The prompt that the server calls so.
    pub fn prompt(&self, name: &str) -> Option<&Arc<PromptEntry>> {
        self.prompts.get(name)
    }

    /// Its resources, in its order.
    pub fn resources(&self) -> &[Arc<ResourceEntry>] {
        self.resources.list()
    }

    /// The resource at that address.
    pub fn resource(&self, uri: &str) -> Option<&Arc<ResourceEntry>> {
        self.resources.get(uri)
    }

    /// Its templates of addresses, in its order.
    pub fn templates(&self) -> &[Arc<TemplateEntry>] {
        self.templates.list()
    }

    /// The family of resources with that template.
    pub fn template(&self, uri_template: &str) -> Option<&Arc<TemplateEntry>> {
        self.templates.get(uri_template)
    }

    /// Returns the server's instructions, cut where they are too long.
    pub fn instructions(&self) -> Option<&str> {
        let cut = self.cut_instructions.as_deref();
        cut.or_else(|| self.whole_instructions())
    }

    /// Returns the server's instructions exactly as sent, at any length.
    pub fn whole_instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// Returns the number of tools that the filter hides.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// Returns a notice for each item that was left out or cut.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }
}

impl fmt::Display for Freshness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Live => "live",
            Self::Stale => "stale",
            Self::Offline => "offline",
        })
    }
}

/// The entries of one server and one kind, in the server's order.
///
/// The hash is keyed with a random value: servers choose the names and could otherwise aim at collisions.
#[derive(Debug)]
pub(super) struct Table<E> {
    list: Vec<Arc<E>>,
    places: HashMap<Arc<str>, usize>,
}

impl<E> Default for Table<E> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            places: HashMap::new(),
        }
    }
}

impl<E: Entry> Table<E> {
    pub(super) fn with_capacity(items: usize) -> Self {
        Self {
            list: Vec::with_capacity(items),
            places: HashMap::with_capacity(items),
        }
    }

    pub(super) fn list(&self) -> &[Arc<E>] {
        &self.list
    }

    pub(super) fn get(&self, name: &str) -> Option<&Arc<E>> {
        self.list.get(*self.places.get(name)?)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// Adds an entry whose name is not there yet.
    pub(super) fn push(&mut self, entry: Arc<E>) {
        let name = Arc::clone(entry.id().shared_name());
        self.places.insert(name, self.list.len());
        self.list.push(entry);
    }
}
