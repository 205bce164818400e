//! The approved definitions of one server.

use std::collections::BTreeMap;

use switchboard_wire::Raw;

use super::Hash;
use super::canon::{canonical, of_prompt, of_template, of_tool, quote};
use super::compare;
use super::drift::{Drift, Kind};
use crate::catalog::{PromptEntry, ServerCatalog, TemplateEntry, ToolEntry};

/// The approved definitions of one server.
#[derive(Debug, Clone, PartialEq, Default)]
#[doc(hidden)]
pub struct Pinned {
    pub(super) tools: BTreeMap<String, Pin>,
    pub(super) prompts: BTreeMap<String, Pin>,
    pub(super) templates: BTreeMap<String, Pin>,
    pub(super) instructions: Option<Pin>,
}

/// One definition that was approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pin {
    pub(super) hash: Hash,
    /// Its canonical text, to show later what has changed.
    pub(super) text: String,
    /// Set if `text` holds only the beginning of the definition.
    pub(super) is_cut: bool,
}

/// The state of a definition compared with the approved one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[doc(hidden)]
pub enum Standing {
    /// It is the approved definition.
    Pinned,
    /// It differs from the approved definition.
    Changed,
    /// No definition of its name was approved.
    Added,
}

impl Standing {
    /// Returns `true` if the definition is the approved one.
    pub fn is_pinned(self) -> bool {
        self == Self::Pinned
    }
}

impl Pinned {
    /// Pins everything that a server offers.
    pub fn of(part: &ServerCatalog) -> Self {
        Self::within(part, &PinLimits::default())
    }

    /// Pins everything that a server offers, and keeps as much text as the limits allow.
    pub fn within(part: &ServerCatalog, bounds: &PinLimits) -> Self {
        // One budget for all texts of a server; the hashes are kept whatever their number.
        let mut room = bounds.server_bytes;
        let instructions = part.whole_instructions();
        Self {
            instructions: instructions.map(|text| pin(quote(text), &mut room, bounds)),
            tools: pins(part.tools(), &mut room, bounds),
            prompts: pins(part.prompts(), &mut room, bounds),
            templates: pins(part.templates(), &mut room, bounds),
        }
    }

    /// Compares a tool with its pin. The entry caches its hash from the first use, so this is cheap
    /// enough for every call.
    pub fn tool(&self, entry: &ToolEntry) -> Standing {
        standing(&self.tools, entry)
    }

    /// Compares a prompt with its pin.
    pub fn prompt(&self, entry: &PromptEntry) -> Standing {
        standing(&self.prompts, entry)
    }

    /// Compares a resource template with its pin.
    pub fn template(&self, entry: &TemplateEntry) -> Standing {
        standing(&self.templates, entry)
    }

    /// Compares the instructions with their pin. Removed instructions count as changed.
    pub fn instructions(&self, part: &ServerCatalog) -> Standing {
        match (&self.instructions, part.whole_instructions()) {
            (None, None) => Standing::Pinned,
            (None, Some(_)) => Standing::Added,
            (Some(_), None) => Standing::Changed,
            (Some(pin), Some(text)) => {
                if pin.hash == Hash::of(&quote(text)) {
                    Standing::Pinned
                } else {
                    Standing::Changed
                }
            }
        }
    }

    /// Returns all differences from the approved definitions: the instructions first, then tools, prompts
    /// and templates, each by name.
    pub fn compare(&self, part: &ServerCatalog) -> Vec<Drift> {
        self.compare_within(part, &PinLimits::default())
    }

    /// Compares like [`Pinned::compare`], and shows as much as the limits allow.
    pub fn compare_within(&self, part: &ServerCatalog, bounds: &PinLimits) -> Vec<Drift> {
        compare::all(self, part, bounds)
    }

    /// Returns the difference of a tool from its pin; `None` if there is no difference.
    pub fn drift(&self, entry: &ToolEntry) -> Option<Drift> {
        if self.tool(entry).is_pinned() {
            return None;
        }
        let bounds = PinLimits::default();
        let before = self.tools.get(entry.name());
        // One definition has its own bound, so the budget of the server does not matter here.
        let after = pin(canonical(entry.raw()), &mut usize::MAX.clone(), &bounds);
        Some(compare::one(
            Kind::Tool,
            entry.name(),
            before,
            Some(after),
            &bounds,
        ))
    }

    /// Returns a copy in which the current definition of each drift replaces the approved one.
    #[must_use]
    pub fn accept<'a>(&self, drifts: impl IntoIterator<Item = &'a Drift>) -> Self {
        let mut pinned = self.clone();
        for drift in drifts {
            let all = match drift.kind {
                Kind::Instructions => {
                    pinned.instructions.clone_from(&drift.now);
                    continue;
                }
                Kind::Tool => &mut pinned.tools,
                Kind::Prompt => &mut pinned.prompts,
                Kind::Template => &mut pinned.templates,
            };
            match &drift.now {
                Some(now) => all.insert(drift.name.clone(), now.clone()),
                None => all.remove(&drift.name),
            };
        }
        pinned
    }

    /// Returns the hash of an approved definition; instructions have the empty name.
    pub fn hash(&self, kind: Kind, name: &str) -> Option<Hash> {
        let pin = match kind {
            Kind::Instructions => self.instructions.as_ref(),
            Kind::Tool => self.tools.get(name),
            Kind::Prompt => self.prompts.get(name),
            Kind::Template => self.templates.get(name),
        };
        pin.map(|pin| pin.hash)
    }

    /// Returns the number of pinned definitions.
    pub fn len(&self) -> usize {
        let instructions = usize::from(self.instructions.is_some());
        self.tools.len() + self.prompts.len() + self.templates.len() + instructions
    }

    /// Returns `true` if nothing is pinned because the server offered nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An entry of the catalog that is pinned.
pub(super) trait PinnedItem {
    fn id(&self) -> &str;
    fn raw(&self) -> &Raw;
    fn hash(&self) -> Hash;
}

macro_rules! item {
    ($type:ty, $id:ident, $definition:ident, $hash:ident) => {
        impl PinnedItem for $type {
            fn id(&self) -> &str {
                self.$id()
            }

            fn raw(&self) -> &Raw {
                self.$definition().raw()
            }

            fn hash(&self) -> Hash {
                // Kept in the entry: this runs before every call.
                Hash::new(*self.mark(|definition| *$hash(definition).as_bytes()))
            }
        }
    };
}

item! { ToolEntry, name, tool, of_tool }
item! { PromptEntry, name, prompt, of_prompt }
item! { TemplateEntry, uri_template, template, of_template }

fn standing(pins: &BTreeMap<String, Pin>, entry: &impl PinnedItem) -> Standing {
    match pins.get(entry.id()) {
        None => Standing::Added,
        Some(pin) if pin.hash == entry.hash() => Standing::Pinned,
        Some(_) => Standing::Changed,
    }
}

fn pins<E: PinnedItem>(
    entries: &[std::sync::Arc<E>],
    room: &mut usize,
    bounds: &PinLimits,
) -> BTreeMap<String, Pin> {
    let entries = entries.iter();
    entries
        .map(|entry| {
            (
                entry.id().to_owned(),
                pin(canonical(entry.raw()), room, bounds),
            )
        })
        .collect()
}

/// Pins a canonical text, and keeps as much of it as there is room for.
pub(super) fn pin(text: String, room: &mut usize, bounds: &PinLimits) -> Pin {
    // Hash before cutting: a change has to be noticed even in text that is not kept.
    let hash = Hash::of(&text);
    let most = bounds.definition_bytes.min(*room);
    let is_cut = text.len() > most;
    let mut text = text;
    if is_cut {
        // On a boundary of characters, so that the text stays valid.
        let end = (0..=most).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or_default());
        text.shrink_to_fit();
    }
    *room -= text.len();
    Pin { hash, text, is_cut }
}

/// Limits on the text that is kept of a server and shown of a drift.
///
/// Hashes always cover the whole definition: a change is noticed even if it cannot be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct PinLimits {
    /// Maximum bytes of one definition that are kept for later diffs.
    pub definition_bytes: usize,
    /// Maximum bytes of all definitions of a server that are kept for later diffs.
    pub server_bytes: usize,
    /// Maximum lines of a diff that are shown.
    pub diff_lines: usize,
    /// Maximum lines of each side that are compared, after equal lines at both ends are removed. Above
    /// it, all lines of one side are shown as removed and all of the other as new.
    pub compared_lines: usize,
    /// Number of unchanged lines that are shown around a change.
    pub context_lines: usize,
    /// Maximum bytes of one line that are shown.
    pub line_bytes: usize,
}

impl Default for PinLimits {
    fn default() -> Self {
        Self {
            definition_bytes: 64 * 1024,
            server_bytes: 4 * 1024 * 1024,
            diff_lines: 120,
            compared_lines: 1000,
            context_lines: 2,
            line_bytes: 400,
        }
    }
}
