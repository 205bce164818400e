//! Compares the definitions of a server with the approved ones.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::canon::{canonical, quote};
use super::diff::{DiffLine, Side, diff};
use super::drift::{Drift, Kind, What};
use super::pinned::PinLimits;
use super::pinned::{Pin, Pinned, PinnedItem, pin};
use super::pretty::lines;
use crate::catalog::ServerCatalog;

/// Maximum number of removed, and of added, definitions that are searched for renames.
const RENAMED: usize = 64;

/// Maximum number of lines per definition that are compared to find a rename.
const COMPARED: usize = 400;

pub(super) fn all(pinned: &Pinned, part: &ServerCatalog, bounds: &PinLimits) -> Vec<Drift> {
    // One budget for all texts that are kept of this server.
    let mut room = bounds.server_bytes;
    let mut drifts = Vec::new();
    if !pinned.instructions(part).is_pinned() {
        let now = part.whole_instructions();
        let now = now.map(|text| pin(quote(text), &mut room, bounds));
        let before = pinned.instructions.as_ref();
        drifts.push(one(Kind::Instructions, "", before, now, bounds));
    }
    let mut list = ListComparison {
        room,
        bounds,
        drifts,
    };
    list.compare(Kind::Tool, &pinned.tools, part.tools());
    list.compare(Kind::Prompt, &pinned.prompts, part.prompts());
    list.compare(Kind::Template, &pinned.templates, part.templates());
    list.drifts
}

/// Builds a drift from the approved and the current definition.
pub(super) fn one(
    kind: Kind,
    name: &str,
    before: Option<&Pin>,
    now: Option<Pin>,
    bounds: &PinLimits,
) -> Drift {
    let what = match (before, &now) {
        (None, _) => What::Added,
        (_, None) => What::Removed,
        _ => What::Changed,
    };
    Drift {
        kind,
        name: name.to_owned(),
        what,
        before: before.map(|pin| pin.hash),
        after: now.as_ref().map(|pin| pin.hash),
        perhaps: None,
        diff: diff_lines(before, now.as_ref(), bounds),
        now,
    }
}

/// Returns the diff, with a note if only the beginning of a text was kept.
fn diff_lines(before: Option<&Pin>, now: Option<&Pin>, bounds: &PinLimits) -> Vec<DiffLine> {
    let text = |pin: Option<&Pin>| pin.map(|pin| lines(&pin.text)).unwrap_or_default();
    let mut shown = diff(&text(before), &text(now), bounds);
    let is_cut = [before, now].into_iter().flatten().any(|pin| pin.is_cut);
    if is_cut {
        let note = "… (only the beginning was kept: there may be more that differs)";
        shown.push(DiffLine::new(Side::Note, note));
    }
    shown
}

struct ListComparison<'a> {
    room: usize,
    bounds: &'a PinLimits,
    drifts: Vec<Drift>,
}

impl ListComparison<'_> {
    fn compare<E: PinnedItem>(&mut self, kind: Kind, pins: &BTreeMap<String, Pin>, now: &[Arc<E>]) {
        let mut found = BTreeMap::new();
        let mut here = HashSet::new();
        for entry in now {
            // Also for items that are unchanged: the second loop looks for those that are gone.
            here.insert(entry.id());
            let before = pins.get(entry.id());
            // By hash: the texts may have been cut.
            if before.is_some_and(|pin| pin.hash == entry.hash()) {
                continue;
            }
            let now = pin(canonical(entry.raw()), &mut self.room, self.bounds);
            let drift = one(kind, entry.id(), before, Some(now), self.bounds);
            found.insert(entry.id(), drift);
        }
        for (name, pin) in pins {
            if !here.contains(name.as_str()) {
                found.insert(name, one(kind, name, Some(pin), None, self.bounds));
            }
        }
        // Ordered by name, whatever order the server lists them in.
        let mut found: Vec<Drift> = found.into_values().collect();
        self.guess_names(&mut found, pins);
        self.drifts.append(&mut found);
    }

    /// Finds probable renames, so that the user sees the other changes that came with the new name.
    fn guess_names(&self, found: &mut [Drift], pins: &BTreeMap<String, Pin>) {
        let is = |what: What| move |drift: &&Drift| drift.what == what;
        // Bounded: each added item is compared with each that is gone.
        let gone = found.iter().filter(is(What::Removed)).take(RENAMED);
        let gone: Vec<(&str, &Pin, HashSet<String>)> = gone
            .filter_map(|drift| {
                let (name, pin) = pins.get_key_value(&drift.name)?;
                Some((name.as_str(), pin, sample(&pin.text)))
            })
            .collect();
        let mut names: Vec<(String, String)> = Vec::new();
        let added = found.iter_mut().filter(|drift| drift.what == What::Added);
        for drift in added.take(RENAMED) {
            let Some(now) = &drift.now else { continue };
            let sample = sample(&now.text);
            // One old name for one new one.
            let is_free = |name: &str| names.iter().all(|(taken, _)| taken != name);
            let likely = gone
                .iter()
                .filter(|(name, ..)| is_free(name))
                .map(|old| (likeness(&old.2, &sample), old))
                .filter(|(likeness, _)| *likeness >= 70)
                .max_by_key(|(likeness, _)| *likeness);
            if let Some((_, (name, pin, _))) = likely {
                // Compared with its likely predecessor, which shows what changed beside the name.
                drift.diff = diff_lines(Some(pin), Some(now), self.bounds);
                drift.perhaps = Some((*name).to_owned());
                names.push(((*name).to_owned(), drift.name.clone()));
            }
        }
        for (old, new) in names {
            let gone = found.iter_mut();
            let mut gone = gone.filter(|drift| drift.what == What::Removed);
            if let Some(drift) = gone.find(|drift| drift.name == old) {
                drift.perhaps = Some(new);
            }
        }
    }
}

fn sample(text: &str) -> HashSet<String> {
    lines(text).into_iter().take(COMPARED).collect()
}

/// Returns the share of lines that both have, in percent of the longer one.
fn likeness(one: &HashSet<String>, other: &HashSet<String>) -> usize {
    let most = one.len().max(other.len()).max(1);
    100 * one.intersection(other).count() / most
}
