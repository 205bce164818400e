//! `mcp.lock`: a reviewable file with the entries and definitions of a project's servers.
//!
//! The file has each server's entry as it is written, the version of its package if the command names one,
//! and all its definitions: the hash of each, and the text beside it, so that a reviewer sees what is locked
//! and a diff shows what has changed. Its bytes do not depend on the project's folder or on the order of
//! lists, so it can be committed, and every change of it is meaningful. [`Lock::verify`] compares the current
//! servers with it.
//!
//! It contains no secret: values that look like one are masked, with a mark of 16 bits that reveals most
//! changes but does not help to guess the value, and references such as `${TOKEN}` stay. Of a definition that
//! repeats a secret only the hash is written: see [`Lock::without`].

mod entry;
mod item;
#[cfg(test)]
mod tests;
mod text;
mod verify;
mod written;

use std::collections::BTreeMap;

use serde_json::Value;
use switchboard::catalog::ServerCatalog;
use switchboard::pins::seams::{canonical, quoted};
use switchboard::secret::Redactor;
use switchboard::spec::ServerName;
use switchboard::spec::packages::{Package, package_of};
use switchboard_wire::Raw;

use item::Item;

pub(crate) use verify::{LockDrift, Part};

/// The most bytes of a lock file that is read.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The most bytes of one definition that are written. Of a longer one there is the hash alone.
const DEFINITION_BYTES: usize = 256 * 1024;

/// The most bytes of all definitions that are written: with all else it must not be too much to read.
const WRITTEN_BYTES: usize = 12 * 1024 * 1024;

/// What the servers of a project are and offer.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Lock {
    servers: BTreeMap<ServerName, Locked>,
}

/// One server in a lock.
#[derive(Debug, Clone, PartialEq)]
struct Locked {
    /// The entry, masked and in order.
    entry: Value,
    package: Option<Named>,
    /// Nothing where it was not known what the server offers.
    offers: Option<Offers>,
}

/// A package as the lock names it; without a version where it can be another one tomorrow.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    runner: String,
    name: String,
    version: Option<String>,
}

/// All that a server offers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Offers {
    instructions: Option<Item>,
    tools: BTreeMap<String, Item>,
    prompts: BTreeMap<String, Item>,
    templates: BTreeMap<String, Item>,
}

impl Lock {
    /// Makes a lock of servers: their names, their entries as they are written with nothing expanded, and
    /// what they offer, where that is known.
    pub(crate) fn write<'a>(
        servers: impl IntoIterator<Item = (&'a ServerName, &'a Value, Option<&'a ServerCatalog>)>,
    ) -> Self {
        let servers = servers.into_iter();
        let servers = servers.map(|(name, entry, part)| {
            let locked = Locked {
                entry: entry::masked(name, entry),
                package: package_of(entry).map(|package| named(&package)),
                offers: part.map(Offers::of),
            };
            (name.clone(), locked)
        });
        Self {
            servers: servers.collect(),
        }
    }

    /// The servers in it.
    pub(crate) fn servers(&self) -> impl Iterator<Item = &ServerName> {
        self.servers.keys()
    }

    /// The same with the hash alone of every definition that has one of these secrets in it.
    #[must_use]
    pub(crate) fn without(mut self, secrets: &Redactor) -> Self {
        let servers = self.servers.values_mut();
        for offers in servers.filter_map(|locked| locked.offers.as_mut()) {
            let lists = [
                &mut offers.tools,
                &mut offers.prompts,
                &mut offers.templates,
            ];
            let items = lists.into_iter().flat_map(BTreeMap::values_mut);
            for item in items.chain(&mut offers.instructions) {
                item.without(secrets);
            }
        }
        self
    }

    /// Writes the file.
    pub(crate) fn to_text(&self) -> String {
        text::write(self)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it is none that was written by this version or an older one, or was edited to be none.
    pub(crate) fn parse(text: &str) -> Result<Self, LockError> {
        text::parse(text)
    }

    /// Says what is not as this lock says, by server; nothing where all is. `now` is a lock that has just been
    /// made. What could not be checked counts as differing.
    pub(crate) fn verify(&self, now: &Self) -> Vec<LockDrift> {
        verify::verify(self, now)
    }
}

fn named(package: &Package) -> Named {
    Named {
        runner: package.runner.to_string(),
        name: package.name.clone(),
        version: package.version.clone(),
    }
}

impl Offers {
    fn of(part: &ServerCatalog) -> Self {
        let instructions = part.whole_instructions();
        let tools = part.tools().iter();
        let prompts = part.prompts().iter();
        let templates = part.templates().iter();
        Self {
            instructions: instructions.map(|text| Item::of(quoted(text))),
            tools: tools
                .map(|entry| (entry.name(), entry.tool().raw()))
                .map(locked)
                .collect(),
            prompts: prompts
                .map(|entry| (entry.name(), entry.prompt().raw()))
                .map(locked)
                .collect(),
            templates: templates
                .map(|entry| (entry.uri_template(), entry.template().raw()))
                .map(locked)
                .collect(),
        }
    }
}

fn locked((name, definition): (&str, &Raw)) -> (String, Item) {
    (name.to_owned(), Item::of(canonical(definition)))
}

/// Why a text is no lock.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LockError {
    /// It was written by a newer version.
    #[error("it has format {version}, which this version does not know; update it, or lock again")]
    Newer {
        /// The format that it has.
        version: u64,
    },
    /// It is no lock, or was edited to be none.
    #[error("line {line}, column {column}: {why}")]
    Broken {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong there.
        why: String,
    },
    /// It is larger than any lock.
    #[error("it is larger than {most_bytes} bytes")]
    TooLarge {
        /// How large it may be.
        most_bytes: usize,
    },
}
