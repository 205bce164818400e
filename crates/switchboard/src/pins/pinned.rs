//! What one server offered when it was approved.

use std::collections::BTreeMap;

use switchboard_wire::Raw;

use super::Hash;
use super::canon::{canonical, of_prompt, of_template, of_tool, quoted};
use super::compare;
use super::drift::{Drift, Kind};
use crate::catalog::{PromptEntry, ServerCatalog, TemplateEntry, ToolEntry};

/// What one server offered when it was approved.
#[derive(Debug, Clone, PartialEq, Default)]
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
    /// Whether the text is only its beginning.
    pub(super) is_cut: bool,
}

/// How a definition stands to what was approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// It is the one that was approved.
    Pinned,
    /// It is another than the one that was approved.
    Changed,
    /// Nothing of its name was approved.
    Added,
}

impl Standing {
    /// Whether it is what was approved.
    pub fn is_pinned(self) -> bool {
        self == Self::Pinned
    }
}

impl Pinned {
    /// Pins all that a server offers.
    pub fn of(part: &ServerCatalog) -> Self {
        Self::within(part, &PinLimits::default())
    }

    /// Pins all that a server offers, and keeps as much of it as the bounds say.
    pub fn within(part: &ServerCatalog, bounds: &PinLimits) -> Self {
        let mut room = bounds.server_bytes;
        let instructions = part.whole_instructions();
        Self {
            instructions: instructions.map(|text| pin(quoted(text), &mut room, bounds)),
            tools: pins(part.tools(), &mut room, bounds),
            prompts: pins(part.prompts(), &mut room, bounds),
            templates: pins(part.templates(), &mut room, bounds),
        }
    }

    /// How a tool stands. Its hash is made when it is first asked for and stays with the entry, so
    /// that this is cheap enough for every call.
    pub fn tool(&self, entry: &ToolEntry) -> Standing {
        standing(&self.tools, entry)
    }

    /// How a prompt stands.
    pub fn prompt(&self, entry: &PromptEntry) -> Standing {
        standing(&self.prompts, entry)
    }

    /// How a family of resources stands.
    pub fn template(&self, entry: &TemplateEntry) -> Standing {
        standing(&self.templates, entry)
    }

    /// How the instructions stand; those that are gone are changed.
    pub fn instructions(&self, part: &ServerCatalog) -> Standing {
        match (&self.instructions, part.whole_instructions()) {
            (None, None) => Standing::Pinned,
            (None, Some(_)) => Standing::Added,
            (Some(_), None) => Standing::Changed,
            (Some(pin), Some(text)) => match pin.hash == Hash::of(&quoted(text)) {
                true => Standing::Pinned,
                false => Standing::Changed,
            },
        }
    }

    /// Says all that is not as it was approved: the instructions first, then tools, prompts and
    /// templates, each by name.
    pub fn compare(&self, part: &ServerCatalog) -> Vec<Drift> {
        self.compare_within(part, &PinLimits::default())
    }

    /// Compares like [`Pinned::compare`], and shows as much as the bounds say.
    pub fn compare_within(&self, part: &ServerCatalog, bounds: &PinLimits) -> Vec<Drift> {
        compare::all(self, part, bounds)
    }

    /// Says how a tool is not as it was approved; nothing where it is.
    pub fn drift(&self, entry: &ToolEntry) -> Option<Drift> {
        if self.tool(entry).is_pinned() {
            return None;
        }
        let bounds = PinLimits::default();
        let before = self.tools.get(entry.name());
        let after = pin(canonical(entry.raw()), &mut usize::MAX.clone(), &bounds);
        Some(compare::one(
            Kind::Tool,
            entry.name(),
            (before, Some(after)),
            &bounds,
        ))
    }

    /// The same with what is there now in place of what was approved, for each of these drifts.
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

    /// The hash of what was approved; instructions have the empty name.
    pub fn hash(&self, kind: Kind, name: &str) -> Option<Hash> {
        let pin = match kind {
            Kind::Instructions => self.instructions.as_ref(),
            Kind::Tool => self.tools.get(name),
            Kind::Prompt => self.prompts.get(name),
            Kind::Template => self.templates.get(name),
        };
        pin.map(|pin| pin.hash)
    }

    /// How many things are pinned.
    pub fn len(&self) -> usize {
        let instructions = usize::from(self.instructions.is_some());
        self.tools.len() + self.prompts.len() + self.templates.len() + instructions
    }

    /// Whether nothing is pinned: the server offered nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An entry of the catalog that is pinned.
pub(super) trait Item {
    fn id(&self) -> &str;
    fn raw(&self) -> &Raw;
    fn hash(&self) -> Hash;
}

macro_rules! item {
    ($type:ty, $id:ident, $definition:ident, $hash:ident) => {
        impl Item for $type {
            fn id(&self) -> &str {
                self.$id()
            }

            fn raw(&self) -> &Raw {
                self.$definition().raw()
            }

            fn hash(&self) -> Hash {
                Hash::new(*self.mark(|definition| *$hash(definition).as_bytes()))
            }
        }
    };
}

item! { ToolEntry, name, tool, of_tool }
item! { PromptEntry, name, prompt, of_prompt }
item! { TemplateEntry, uri_template, template, of_template }

fn standing(pins: &BTreeMap<String, Pin>, entry: &impl Item) -> Standing {
    match pins.get(entry.id()) {
        None => Standing::Added,
        Some(pin) if pin.hash == entry.hash() => Standing::Pinned,
        Some(_) => Standing::Changed,
    }
}

fn pins<E: Item>(
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

/// Pins a canonical text, and keeps of it what there is room for.
pub(super) fn pin(text: String, room: &mut usize, bounds: &PinLimits) -> Pin {
    let hash = Hash::of(&text);
    let most = bounds.definition_bytes.min(*room);
    let is_cut = text.len() > most;
    let mut text = text;
    if is_cut {
        let end = (0..=most).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or_default());
        text.shrink_to_fit();
    }
    *room -= text.len();
    Pin { hash, text, is_cut }
}

/// The bounds of what is kept of a server and of what is shown of a drift.
///
/// Hashes are over the whole whatever these are: a change is seen even where it cannot be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PinLimits {
    /// The most bytes of one definition that are kept to be shown later.
    pub definition_bytes: usize,
    /// The most bytes of all definitions of a server that are kept to be shown later.
    pub server_bytes: usize,
    /// The most lines of a diff that are shown.
    pub diff_lines: usize,
    /// The most lines of each side, between what is alike before and behind, that are held against each
    /// other; with more, all of one side are shown as gone and all of the other as new.
    pub compared_lines: usize,
    /// The lines around a change that are shown with it.
    pub context_lines: usize,
    /// The most bytes of one line that are shown.
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
