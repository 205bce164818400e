//! Lists (tools, resources, prompts) read page by page, within limits. A bad item is set aside with
//! its reason and never costs the good ones.

use std::hash::{Hash as _, Hasher as _};
use std::time::Duration;

use rustc_hash::{FxHashSet, FxHasher};
use switchboard_core::limits::Limits;
use switchboard_wire::{
    Era, FromRaw, ListTools, Method, Outcome, Page, PageParams, Prompt, Raw, Resource,
    ResourceTemplate, Tool, read_outcome,
};

use super::call::Call;
use super::engine::Engine;
use super::error::CallError;
use super::options::CallOptions;
use super::pending::Received;

/// The nesting levels around an item: the result and the array. The depth limit counts from the
/// result, as for calls.
const AROUND_ITEM: usize = 2;

/// A list as a server gave it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Listing<T> {
    /// The items, in the server's order.
    pub items: Vec<T>,
    /// Items that could not be used, each with the reason.
    pub set_aside: Vec<SetAside>,
    /// The number of further unusable items, beyond the limit on items.
    pub set_aside_more: usize,
    /// The reason that the list was not read to its end, if so.
    pub cut: Option<Cut>,
    /// The number of pages that were read.
    pub pages: usize,
    /// The cache lifetime that the server states: the shortest of its pages.
    pub ttl: Option<Duration>,
    /// The server says that the list may be shared between callers.
    pub is_public: bool,
}

/// An item that could not be used.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SetAside {
    /// The position in the list, from 0.
    pub index: usize,
    /// Its name or address, if it has one.
    pub name: Option<String>,
    /// The reason that it could not be used.
    pub reason: String,
    /// The item as it was sent.
    pub raw: Raw,
}

/// The reason that a list was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cut {
    /// The server gave a cursor that it had given before.
    RepeatedCursor,
    /// There were more pages than the limit.
    Pages(usize),
    /// There were more items than the limit.
    Items(usize),
    /// A cursor was longer than the limit.
    Cursor(usize),
    /// Its pages were longer than the limit, all together.
    Bytes(usize),
}

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::RepeatedCursor => f.write_str("the server gave the same cursor twice"),
            Self::Pages(limit) => write!(f, "there are more than {limit} pages"),
            Self::Items(limit) => write!(f, "there are more than {limit} items"),
            Self::Cursor(limit) => write!(f, "a cursor is longer than {limit} bytes"),
            Self::Bytes(limit) => write!(f, "its pages are longer than {limit} bytes"),
        }
    }
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            set_aside: Vec::new(),
            set_aside_more: 0,
            cut: None,
            pages: 0,
            ttl: None,
            is_public: false,
        }
    }
}

/// An item of a list, with a key that is unique in it.
pub(crate) trait Item: FromRaw {
    fn key(&self) -> &str;
}

impl Item for Tool {
    fn key(&self) -> &str {
        self.name()
    }
}

impl Item for Prompt {
    fn key(&self) -> &str {
        self.name()
    }
}

impl Item for Resource {
    fn key(&self) -> &str {
        self.uri()
    }
}

impl Item for ResourceTemplate {
    fn key(&self) -> &str {
        self.uri_template()
    }
}

/// Lists the server's tools. Over HTTP in the modern era, tools whose calls cannot be sent are set
/// aside.
pub(super) async fn list_tools(engine: &Engine) -> Result<Listing<Tool>, CallError> {
    let offered = engine.offered.get().is_some_and(|it| it.has_tools());
    let mut listing = list::<ListTools, Tool>(engine, offered).await?;
    if let Some(driver) = &engine.driver
        && engine.era() == Some(Era::Modern)
    {
        let items = std::mem::take(&mut listing.items);
        for (index, tool) in items.into_iter().enumerate() {
            match driver.exchange.learn_tool(&tool) {
                Ok(()) => listing.items.push(tool),
                Err(reason) => listing.set_aside.push(SetAside {
                    index,
                    name: Some(tool.name().to_owned()),
                    reason,
                    raw: tool.raw().clone(),
                }),
            }
        }
        driver.exchange.mark_tools_complete();
    }
    Ok(listing)
}

/// Reads a list page by page; empty when the server does not offer it.
pub(super) async fn list<M, T>(engine: &Engine, offered: bool) -> Result<Listing<T>, CallError>
where
    M: Method<Params = PageParams>,
    M::Result: Page,
    T: Item,
{
    let mut collected = Collected::new();
    if !offered {
        return Ok(collected.listing);
    }
    let limits = &engine.limits;
    let options = CallOptions::default();
    let mut params = PageParams::default();
    loop {
        let call = Call::new(engine, &options, engine.timeouts.discovery);
        let Received { raw, depth, .. } = call.make_raw::<M>(&params).await?;
        let page = match read_outcome::<M>(engine.dialect().era(), &raw) {
            Ok(Outcome::Complete(page)) => page,
            Ok(_) => {
                let method = M::NAME.to_owned();
                return Err(CallError::UnexpectedTask { method });
            }
            Err(misfit) => {
                let method = M::NAME.to_owned();
                return Err(CallError::Unfit {
                    method,
                    misfit,
                    raw: None,
                });
            }
        };
        collected.bytes = collected.bytes.saturating_add(raw.len_bytes());
        let is_deep = depth > limits.json_depth;
        let is_explained = collected.add_page(&page, is_deep, limits);
        // Too deep outside of its items: no item can be left out to fix it.
        if is_deep && !is_explained {
            return Err(CallError::TooDeep {
                limit: limits.json_depth,
            });
        }
        // The limits are checked with each cursor, so a list ends even if the server never does.
        match collected.next_cursor(&page, limits) {
            Some(cursor) => params.cursor = Some(cursor),
            None => return Ok(collected.listing),
        }
    }
}

struct Collected<T> {
    listing: Listing<T>,
    /// Hashes of the names so far: duplicates are rare, and finding them needs no copies of names.
    names: FxHashSet<u64>,
    cursors: FxHashSet<String>,
    seen: usize,
    /// The bytes of all pages: items share the text of their page.
    bytes: usize,
}

impl<T: Item> Collected<T> {
    fn new() -> Self {
        Self {
            listing: Listing::default(),
            names: FxHashSet::default(),
            cursors: FxHashSet::default(),
            seen: 0,
            bytes: 0,
        }
    }

    /// Takes the items of a page. Returns true if some of them explain, or may explain, that the
    /// page is too deep.
    fn add_page(&mut self, page: &impl Page, is_deep: bool, limits: &Limits) -> bool {
        let first = self.listing.pages == 0;
        self.listing.pages += 1;
        // Clamp in floats: beyond the limit the figure means nothing, and a server may send any
        // float.
        let most = limits.ttl.as_secs_f64() * 1000.0;
        let ttl = page.ttl_ms().filter(|ms| *ms > 0.0).unwrap_or(0.0);
        let ttl = Duration::from_secs_f64(ttl.min(most) / 1000.0);
        self.listing.ttl = match (page.ttl_ms(), self.listing.ttl) {
            (None, known) if first => known,
            (None, _) => None,
            (Some(_), None) if first => Some(ttl),
            (Some(_), known) => known.map(|known| known.min(ttl)),
        };
        self.listing.is_public =
            page.cache_scope() == Some("public") && (first || self.listing.is_public);
        let room = limits.items.saturating_sub(self.listing.items.len());
        let coming = page.items().len().min(room);
        self.listing.items.reserve(coming);
        self.names.reserve(coming);
        let mut has_deep_item = false;
        for raw in page.items() {
            if self.listing.items.len() >= limits.items {
                self.listing.cut = Some(Cut::Items(limits.items));
                return true;
            }
            let index = self.seen;
            self.seen += 1;
            let read = if is_deep && raw.depth() + AROUND_ITEM > limits.json_depth {
                has_deep_item = true;
                Err(format!("nested deeper than {} levels", limits.json_depth))
            } else {
                self.read(raw)
            };
            match read {
                Ok(item) => self.listing.items.push(item),
                // Items set aside are bounded like those that are kept.
                Err(_) if self.listing.set_aside.len() >= limits.items => {
                    self.listing.set_aside_more += 1;
                }
                Err(reason) => self.listing.set_aside.push(SetAside {
                    index,
                    name: ["name", "uri", "uriTemplate"]
                        .iter()
                        .find_map(|key| raw.member(key)?.as_text()),
                    reason,
                    raw: raw.clone(),
                }),
            }
        }
        has_deep_item
    }

    fn read(&mut self, raw: &Raw) -> Result<T, String> {
        let item = T::from_raw(raw).map_err(|misfit| misfit.to_string())?;
        if item.key().is_empty() {
            return Err("its name is empty".to_owned());
        }
        if self.has(item.key()) {
            return Err("duplicate name".to_owned());
        }
        Ok(item)
    }

    /// Returns true if an item of that name came before; remembers the name otherwise.
    fn has(&mut self, name: &str) -> bool {
        let mut hasher = FxHasher::default();
        name.hash(&mut hasher);
        let is_new = self.names.insert(hasher.finish());
        // Different names may share a hash, even on purpose; comparing is bounded by the item limit.
        !is_new && self.listing.items.iter().any(|item| item.key() == name)
    }

    /// The cursor of the next page; `None` at the end of the list, or when a limit stops the
    /// reading.
    fn next_cursor(&mut self, page: &impl Page, limits: &Limits) -> Option<String> {
        // An empty string is a cursor like any other; only a missing one ends the list.
        let cursor = page.next_cursor()?;
        let cut = if self.listing.cut.is_some() {
            self.listing.cut
        } else if cursor.len() > limits.cursor_bytes {
            Some(Cut::Cursor(limits.cursor_bytes))
        } else if !self.cursors.insert(cursor.to_owned()) {
            Some(Cut::RepeatedCursor)
        } else if self.bytes >= limits.held_bytes {
            Some(Cut::Bytes(limits.held_bytes))
        } else if self.listing.pages >= limits.pages {
            Some(Cut::Pages(limits.pages))
        } else {
            None
        };
        self.listing.cut = cut;
        cut.is_none().then(|| cursor.to_owned())
    }
}
