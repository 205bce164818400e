//! Did you mean.

use std::fmt;
use std::sync::Arc;

use super::definition::ItemDefinition;
use super::entry::Entry;
use super::notice::ItemKind;
use super::snapshot::Catalog;
use crate::spec::ServerName;
use crate::text::{closest, excerpt, sanitise_line};

/// The most bytes of an unknown name that are shown.
const SHOWN: usize = 128;

/// The most names that an unknown one is compared with letter by letter.
const COMPARED: usize = 1000;

/// Says that nothing has that name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct Unknown {
    /// The kind of item that was looked for.
    pub kind: ItemKind,
    /// The name as it was given.
    pub name: String,
    /// The name that was perhaps meant. It is for people and models to decide, never followed.
    pub closest: Option<String>,
    /// The server that the name begins with, where there is one in the catalog.
    pub server: Option<ServerName>,
}

impl Unknown {
    pub(crate) fn tool(catalog: &Catalog, name: &str) -> Self {
        Self::among(catalog, name, catalog.tools())
    }

    pub(super) fn prompt(catalog: &Catalog, name: &str) -> Self {
        Self::among(catalog, name, catalog.prompts())
    }

    fn among<'a, E: Entry + 'a>(
        catalog: &'a Catalog,
        name: &str,
        entries: impl Iterator<Item = &'a Arc<E>> + Clone,
    ) -> Self {
        let (server, closest) = match name.split_once('/') {
            Some((server, own)) => by_path(catalog, server, own, entries),
            None => (None, by_name(name, entries)),
        };
        Self {
            kind: E::Definition::KIND,
            name: name.to_owned(),
            closest,
            server,
        }
    }
}

/// Guesses at `server/tool`: first the server, then what it has.
fn by_path<'a, E: Entry + 'a>(
    catalog: &'a Catalog,
    server: &str,
    name: &str,
    entries: impl Iterator<Item = &'a Arc<E>> + Clone,
) -> (Option<ServerName>, Option<String>) {
    let known = catalog.server(server).map(|part| part.name());
    // A misspelled server is guessed first, and its tools are compared then.
    let near = || closest(server, catalog.servers().map(|part| part.name().as_str()));
    let Some(likely) = known.map(ServerName::as_str).or_else(near) else {
        return (None, None);
    };
    let own = entries
        .filter(|entry| entry.id().server().as_str() == likely)
        .map(|entry| entry.id().name());
    let found = Letters::of(name).closest(name, own);
    (known.cloned(), found.map(|own| format!("{likely}/{own}")))
}

/// Guesses at a name for models. Often only what stands before the tool's own name was left out.
fn by_name<'a, E: Entry + 'a>(
    name: &str,
    entries: impl Iterator<Item = &'a Arc<E>> + Clone,
) -> Option<String> {
    // A tool's own name is the commonest mistake, and needs no guess.
    let bare = entries.clone().filter(|entry| entry.id().name() == name);
    let bare = bare.map(|entry| &**entry.exposed()).min();
    let found =
        bare.or_else(|| Letters::of(name).closest(name, entries.map(|entry| &**entry.exposed())));
    found.map(str::to_owned)
}

/// Counts of each letter in a name: a cheap test before the expensive one.
///
/// Comparing a name with those of ten thousand tools takes long enough to be felt. An edit adds or
/// takes one letter, or both, so names whose letters differ in more than the allowed edits are no match,
/// and those whose letters differ least are looked at first.
struct Letters([i16; 64]);

impl Letters {
    fn of(name: &str) -> Self {
        let mut counts = [0; 64];
        // More than this is compared with nothing.
        for c in name.chars().take(1024) {
            count(&mut counts, c, 1);
        }
        Self(counts)
    }

    fn closest<'c>(&self, name: &str, names: impl Iterator<Item = &'c str>) -> Option<&'c str> {
        let near = names.filter_map(|other| Some((self.distance(other)?, other)));
        let mut near: Vec<(i16, &str)> = near.collect();
        // The nearest by letters first: only so many are compared in full.
        near.sort_unstable();
        closest(
            name,
            near.into_iter().take(COMPARED).map(|(_, other)| other),
        )
    }

    /// The fewest edits that there can be; nothing where they are too many.
    fn distance(&self, other: &str) -> Option<i16> {
        let mut counts = self.0;
        for c in other.chars().take(1024) {
            count(&mut counts, c, -1);
        }
        // A lower bound of the edits: each replaces, adds or removes one letter.
        let surplus: i16 = counts.iter().filter(|count| **count > 0).sum();
        let missing: i16 = counts.iter().filter(|count| **count < 0).sum();
        Some(surplus.max(-missing)).filter(|edits| *edits <= 4)
    }
}

/// Counts a letter, without regard to what `closest` has no regard to.
fn count(counts: &mut [i16; 64], c: char, by: i16) {
    let folded = match c {
        '-' => '_',
        _ => c.to_ascii_lowercase(),
    };
    let place = u32::from(folded) % 64;
    if let Some(count) = usize::try_from(place)
        .ok()
        .and_then(|at| counts.get_mut(at))
    {
        *count += by;
    }
}

/// Made safe for a terminal.
impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = excerpt(&self.name, SHOWN);
        write!(f, "no {} is called \"{}\"", self.kind, sanitise_line(&name))?;
        match &self.closest {
            Some(closest) => write!(f, "; did you mean \"{}\"?", sanitise_line(closest)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Unknown {}
