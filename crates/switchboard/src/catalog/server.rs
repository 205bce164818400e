//! One server's part of the catalog.

use std::fmt;
use std::sync::Arc;

use super::bounds::Bounds;
use super::build::Builder;
use super::entry::{PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};
use super::notice::Notice;
use super::table::Table;
use crate::spec::{NameStyle, ServerName};

/// How far what is known of a server can be relied on.
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

/// What one server offers.
///
/// Made by [`ServerCatalog::builder`]; never changes.
#[derive(Debug, Clone)]
pub struct ServerCatalog {
    pub(super) name: ServerName,
    pub(super) style: NameStyle,
    pub(super) bounds: Bounds,
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

    /// How its tools and prompts are named for models.
    pub fn style(&self) -> NameStyle {
        self.style
    }

    /// How far this can be relied on.
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

    /// How the server says that it is to be used; cut where it is too long.
    pub fn instructions(&self) -> Option<&str> {
        let cut = self.cut_instructions.as_deref();
        cut.or_else(|| self.whole_instructions())
    }

    /// How the server says that it is to be used, to the letter and at whatever length.
    pub fn whole_instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// How many tools the filter hides.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// What was left out or cut.
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
