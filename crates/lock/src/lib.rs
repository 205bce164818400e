//! `mcp.lock`: a reviewable file with the entries and definitions of a project's servers.
//!
//! The file has each server's entry as it is written, the version of its package if the command names one,
//! the issuer of its login if it has one, and all its definitions: the hash of each, and the text beside it,
//! so that a reviewer sees what is locked and a diff shows what has changed. Its bytes do not depend on the
//! project's folder or on the order of lists, so it can be committed, and every change of it is meaningful.
//! [`Lock::verify`] compares the current servers with it.
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
use switchboard::pins::seams::{canonical, quote};
use switchboard::secret::Redactor;
use switchboard::spec::ServerName;
use switchboard::spec::packages::{Package, package_of};
use switchboard_wire::Raw;

use item::LockedItem;

pub use verify::{LockDrift, Part};

/// Maximum size of a lock file in bytes.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Maximum size of one written definition in bytes; of a longer one only the hash is written.
const DEFINITION_BYTES: usize = 256 * 1024;

/// Maximum size of all written definitions in bytes: the whole file must stay below [`MOST_BYTES`].
const WRITTEN_BYTES: usize = 12 * 1024 * 1024;

/// The entries, packages and definitions of a project's servers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lock {
    servers: BTreeMap<ServerName, Locked>,
}

/// One server in a lock.
#[derive(Debug, Clone, PartialEq)]
struct Locked {
    /// The entry, masked and with sorted keys.
    entry: Value,
    package: Option<Named>,
    /// The issuer of the login that is used with it, if there is one.
    issuer: Option<String>,
    /// `None` if the server could not be listed.
    offers: Option<Offers>,
}

/// A package as the lock names it; without a version if the command does not fix one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    runner: String,
    name: String,
    version: Option<String>,
}

/// The definitions of a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Offers {
    instructions: Option<LockedItem>,
    tools: BTreeMap<String, LockedItem>,
    prompts: BTreeMap<String, LockedItem>,
    templates: BTreeMap<String, LockedItem>,
}

impl Lock {
    /// Creates a lock from servers: their names, their unexpanded entries, and their catalogs if they are known.
    pub fn write<'a>(
        servers: impl IntoIterator<Item = (&'a ServerName, &'a Value, Option<&'a ServerCatalog>)>,
    ) -> Self {
        let servers = servers.into_iter();
        let servers = servers.map(|(name, entry, part)| {
            let locked = Locked {
                entry: entry::mask_entry(name, entry),
                package: package_of(entry).map(|package| locked_package(&package)),
                issuer: None,
                offers: part.map(Offers::of),
            };
            (name.clone(), locked)
        });
        Self {
            servers: servers.collect(),
        }
    }

    /// Sets the issuer of a server's login.
    pub fn set_issuer(&mut self, server: &ServerName, issuer: &str) {
        if let Some(locked) = self.servers.get_mut(server) {
            locked.issuer = Some(issuer.to_owned());
        }
    }

    /// Returns the names of the locked servers.
    pub fn servers(&self) -> impl Iterator<Item = &ServerName> {
        self.servers.keys()
    }

    /// Drops the text of every definition that contains one of these secrets; the hash stays.
    #[must_use]
    pub fn without(mut self, secrets: &Redactor) -> Self {
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

    /// Formats the file.
    pub fn to_text(&self) -> String {
        text::write(self)
    }

    /// Parses a file.
    ///
    /// # Errors
    /// Fails if it is not a valid lock of this version or an older one.
    pub fn parse(text: &str) -> Result<Self, LockError> {
        text::parse(text)
    }

    /// Compares a lock that was just made with this one, and returns the differences by server. A part that could
    /// not be checked counts as different.
    pub fn verify(&self, now: &Self) -> Vec<LockDrift> {
        verify::verify(self, now)
    }
}

fn locked_package(package: &Package) -> Named {
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
            instructions: instructions.map(|text| LockedItem::of(quote(text))),
            tools: tools
                .map(|entry| lock_item(entry.name(), entry.tool().raw()))
                .collect(),
            prompts: prompts
                .map(|entry| lock_item(entry.name(), entry.prompt().raw()))
                .collect(),
            templates: templates
                .map(|entry| lock_item(entry.uri_template(), entry.template().raw()))
                .collect(),
        }
    }
}

fn lock_item(name: &str, definition: &Raw) -> (String, LockedItem) {
    (name.to_owned(), LockedItem::of(canonical(definition)))
}

/// The reason that a text is not a lock.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// It was written by a newer version.
    #[error("it has format {version}, which this version does not know; update it, or lock again")]
    Newer {
        /// The format that it has.
        version: u64,
    },
    /// It is not a lock, or was edited and is no longer valid.
    #[error("line {line}, column {column}: {why}")]
    Broken {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The problem there.
        why: String,
    },
    /// It exceeds the maximum size.
    #[error("it is larger than {most_bytes} bytes")]
    TooLarge {
        /// The maximum size.
        most_bytes: usize,
    },
}
