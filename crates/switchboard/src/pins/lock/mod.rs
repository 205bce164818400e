//! What the servers of a project are and offer, in a file to be reviewed: `mcp.lock`.
//!
//! The file has each server's entry as it is written, the version of its package where the command names
//! one, and the hashes of all that it offers. It is the same to the byte wherever the project is and
//! whatever order things came in, so that it can be committed, and a change of it means something.
//! [`Lock::verify`] says what is not as the file says.
//!
//! No secret is in it: what looks like one is masked, with a mark of 16 bits that tells most changes
//! and leaves nothing to guess the value from. References such as `${TOKEN}` stay.

mod entry;
mod error;
mod package;
mod runners;
mod text;
mod verify;

use std::collections::BTreeMap;

use serde_json::Value;

use super::Hash;
use super::canon::{of_instructions, of_prompt, of_template, of_tool};
use crate::catalog::ServerCatalog;
use crate::spec::ServerName;

pub use error::LockError;
pub use package::{Package, package, package_of};
pub use runners::Runner;
pub use verify::{LockDrift, Part};

/// The most bytes of a lock file that is read.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// What the servers of a project are and offer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lock {
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

/// The hashes of all that a server offers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Offers {
    instructions: Option<Hash>,
    tools: BTreeMap<String, Hash>,
    prompts: BTreeMap<String, Hash>,
    templates: BTreeMap<String, Hash>,
}

impl Lock {
    /// Makes a lock of servers: their names, their entries as they are written with nothing expanded, and
    /// what they offer, where that is known.
    pub fn write<'a>(
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
    pub fn servers(&self) -> impl Iterator<Item = &ServerName> {
        self.servers.keys()
    }

    /// Writes the file.
    pub fn to_text(&self) -> String {
        text::write(self)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it is none that was written by this version, or was edited to be none.
    pub fn parse(text: &str) -> Result<Self, LockError> {
        text::parse(text)
    }

    /// Says what is not as this lock says, by server; nothing where all is. `now` is a lock that has just been
    /// made. What could not be checked counts as differing.
    pub fn verify(&self, now: &Self) -> Vec<LockDrift> {
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
        let tools = part.tools().iter();
        let prompts = part.prompts().iter();
        let templates = part.templates().iter();
        Self {
            instructions: part.whole_instructions().map(of_instructions),
            tools: tools
                .map(|entry| (entry.name().to_owned(), of_tool(entry.tool())))
                .collect(),
            prompts: prompts
                .map(|entry| (entry.name().to_owned(), of_prompt(entry.prompt())))
                .collect(),
            templates: templates
                .map(|entry| {
                    (
                        entry.uri_template().to_owned(),
                        of_template(entry.template()),
                    )
                })
                .collect(),
        }
    }
}
