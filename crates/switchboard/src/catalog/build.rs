//! From lists as a server gave them to its part of the catalog.

use std::sync::Arc;

use switchboard_wire::{Prompt, Resource, ResourceTemplate, Tool};

use super::definition::{ItemDefinition, detached, same};
use super::entry::{Entry, Parts, ToolKey, Words};
use super::limits::CatalogLimits;
use super::names::{ExposedNames, NameForm, exposed_as};
use super::notice::{ItemKind, Notice, Problem};
use super::server::Table;
use super::server::{Freshness, ServerCatalog};
use crate::spec::{NameStyle, ServerName, ToolFilter};
use crate::text::excerpt;

/// Gathers what one server offers.
#[derive(Debug)]
#[doc(hidden)]
pub struct Builder {
    name: ServerName,
    style: NameStyle,
    names: Option<ExposedNames>,
    filter: ToolFilter,
    limits: CatalogLimits,
    freshness: Freshness,
    tools: Vec<Tool>,
    prompts: Vec<Prompt>,
    resources: Vec<Resource>,
    templates: Vec<ResourceTemplate>,
    instructions: Option<String>,
    notices: Vec<Notice>,
    /// A field, because no test can find two names whose hashes are the same.
    naming: fn(&str, &str, NameForm) -> String,
}

impl Builder {
    pub(super) fn new(name: ServerName) -> Self {
        Self {
            name,
            style: NameStyle::default(),
            names: None,
            filter: ToolFilter::default(),
            limits: CatalogLimits::default(),
            freshness: Freshness::default(),
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            instructions: None,
            notices: Vec::new(),
            naming: exposed_as,
        }
    }

    /// Sets how tools and prompts are named for models.
    #[must_use]
    pub fn style(mut self, style: NameStyle) -> Self {
        self.style = style;
        self
    }

    /// Sets the form of names that the host gives to tools and prompts in place of those for models.
    #[must_use]
    pub fn names(mut self, names: Option<ExposedNames>) -> Self {
        self.names = names;
        self
    }

    /// Sets which tools can be seen.
    #[must_use]
    pub fn filter(mut self, filter: &ToolFilter) -> Self {
        self.filter = filter.clone();
        self
    }

    /// Sets how much is taken.
    #[must_use]
    pub fn limits(mut self, limits: CatalogLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how far all this can be relied on.
    #[must_use]
    pub fn freshness(mut self, freshness: Freshness) -> Self {
        self.freshness = freshness;
        self
    }

    /// Sets the tools, in the server's order.
    #[must_use]
    pub fn tools(mut self, tools: Vec<Tool>) -> Self {
        self.tools = tools;
        self
    }

    /// Sets the prompts, in the server's order.
    #[must_use]
    pub fn prompts(mut self, prompts: Vec<Prompt>) -> Self {
        self.prompts = prompts;
        self
    }

    /// Sets the resources, in the server's order.
    #[must_use]
    pub fn resources(mut self, resources: Vec<Resource>) -> Self {
        self.resources = resources;
        self
    }

    /// Sets the templates of resources' addresses, in the server's order.
    #[must_use]
    pub fn templates(mut self, templates: Vec<ResourceTemplate>) -> Self {
        self.templates = templates;
        self
    }

    /// Sets how the server says that it is to be used.
    #[must_use]
    pub fn instructions(mut self, instructions: Option<String>) -> Self {
        self.instructions = instructions;
        self
    }

    /// Adds what was noticed while the lists were read.
    #[must_use]
    pub fn notices(mut self, notices: impl IntoIterator<Item = Notice>) -> Self {
        self.notices.extend(notices);
        self
    }

    #[cfg(test)]
    pub(super) fn naming(mut self, naming: fn(&str, &str, NameForm) -> String) -> Self {
        self.naming = naming;
        self
    }

    /// Makes the part. What is as it was in `previous` is taken from there.
    #[must_use]
    pub fn build(self, previous: Option<&ServerCatalog>) -> ServerCatalog {
        // A server's entries name it, and texts are cut by the limits.
        let previous = previous.filter(|part| part.name == self.name && part.limits == self.limits);
        // Filtered before anything else, so that hidden tools neither count nor collide.
        let (filter, listed) = (self.filter, self.tools.len());
        let tools: Vec<Tool> = self
            .tools
            .into_iter()
            .filter(|tool| filter.admits(tool.name()))
            .collect();
        let hidden = listed - tools.len();
        let mut making = Making {
            server: self.name,
            form: NameForm::of(self.style, self.names),
            limits: self.limits,
            notices: self.notices,
            naming: self.naming,
        };
        let tools = making.table(tools, previous.map(|part| &*part.tools));
        let prompts = making.table(self.prompts, previous.map(|part| &*part.prompts));
        let resources = making.table(self.resources, previous.map(|part| &*part.resources));
        let templates = making.table(self.templates, previous.map(|part| &*part.templates));
        // The whole text is kept beside the cut one: pins are about what the server really says.
        let whole = self.instructions.as_deref();
        let cut = cut(whole, self.limits.instruction_bytes);
        if cut.is_some() {
            let problem = Problem::LongInstructions(self.limits.instruction_bytes);
            making.notices.push(Notice::instructions(problem));
        }
        ServerCatalog {
            name: making.server,
            style: self.style,
            limits: self.limits,
            freshness: self.freshness,
            tools: Arc::new(tools),
            prompts: Arc::new(prompts),
            resources: Arc::new(resources),
            templates: Arc::new(templates),
            instructions: self.instructions.map(Arc::from),
            cut_instructions: cut.map(Arc::from),
            hidden,
            notices: making.notices.into(),
        }
    }
}

/// The settings that the four tables of a server are built with.
struct Making {
    server: ServerName,
    form: NameForm,
    limits: CatalogLimits,
    notices: Vec<Notice>,
    naming: fn(&str, &str, NameForm) -> String,
}

impl Making {
    fn table<E: Entry>(&mut self, items: Vec<E::Definition>, old: Option<&Table<E>>) -> Table<E> {
        let kind = E::Definition::KIND;
        let mut table = Table::with_capacity(items.len().min(self.limits.items));
        let mut dropped = 0;
        for item in items {
            // The first of two wins, whatever the second is: a server could otherwise replace a
            // tool within one list.
            if table.has(item.id()) {
                let notice = Notice::new(kind, Some(item.id()), Problem::Duplicate);
                self.notices.push(notice);
            } else if let Some(problem) = self.refuses(&item) {
                self.notices
                    .push(Notice::new(kind, Some(item.id()), problem));
            } else if table.list().len() >= self.limits.items {
                dropped += 1;
            } else {
                let was = old.and_then(|old| old.get(item.id()));
                table.push(self.entry(item, was));
            }
        }
        if dropped > 0 {
            let limit = self.limits.items;
            let problem = Problem::TooMany { limit, dropped };
            self.notices.push(Notice::new(kind, None, problem));
        }
        table
    }

    /// Returns the reason why an item cannot be in the catalog.
    fn refuses<D: ItemDefinition>(&self, item: &D) -> Option<Problem> {
        let CatalogLimits {
            name_chars,
            address_bytes,
            schema_bytes,
            ..
        } = self.limits;
        let is_address = matches!(D::KIND, ItemKind::Resource | ItemKind::Template);
        if is_address && item.id().len() > address_bytes {
            return Some(Problem::LongAddress(address_bytes));
        }
        if !is_address && item.id().chars().nth(name_chars).is_some() {
            return Some(Problem::LongName(name_chars));
        }
        let is_long = item
            .schemas()
            .any(|schema| schema.len_bytes() > schema_bytes);
        is_long.then_some(Problem::LongSchema(schema_bytes))
    }

    /// The entry of an item: the one that was there, if it says the same.
    fn entry<E: Entry>(&mut self, item: E::Definition, was: Option<&Arc<E>>) -> Arc<E> {
        let words = self.words(&item);
        let exposed: Arc<str> = if E::IS_NAMED {
            (self.naming)(self.server.as_str(), item.id(), self.form).into()
        } else {
            Arc::default()
        };
        // An entry that did not change is shared, and with it its compiled schema and its hash.
        let is_same = |was: &&Arc<E>| *was.exposed() == exposed && same(was.definition(), &item);
        if let Some(was) = was.filter(is_same) {
            return Arc::clone(was);
        }
        // Without this, one entry would keep the text of the whole list in memory.
        let definition = detached(item);
        Arc::new(E::of(Parts {
            key: ToolKey::new(self.server.clone(), definition.id()),
            exposed,
            definition,
            words,
        }))
    }

    /// Cuts texts that are too long, and adds a notice for each of them and for a missing schema.
    fn words<D: ItemDefinition>(&mut self, item: &D) -> Words {
        let words = Words {
            title: cut(item.title(), self.limits.title_bytes),
            description: cut(item.description(), self.limits.description_bytes),
        };
        let title = words.title.as_ref();
        let title = title.map(|_| Problem::LongTitle(self.limits.title_bytes));
        let description = words.description.as_ref();
        let description =
            description.map(|_| Problem::LongDescription(self.limits.description_bytes));
        let schema = item.has_no_schema().then_some(Problem::NoSchema);
        let problems = title.into_iter().chain(description).chain(schema);
        self.notices
            .extend(problems.map(|problem| Notice::new(D::KIND, Some(item.id()), problem)));
        words
    }
}

/// The beginning of a text that is too long, with a mark; nothing for one that fits.
fn cut(text: Option<&str>, most: usize) -> Option<String> {
    text.filter(|text| text.len() > most)
        .map(|text| excerpt(text, most))
}
