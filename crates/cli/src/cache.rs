//! Names of tools and prompts from the last time servers were listed, cached for shell completion.
//!
//! Entries are keyed by the server's identity (its description), not by its name: a different server that
//! takes over a name gets none of the old names. Nothing else depends on this file. If it is missing or
//! unreadable the cache is empty, without a warning.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use switchboard::catalog::{Freshness, ServerCatalog};
use switchboard::private_store::{
    Document, Note, ONLY, Records, StoreError, StoreLimits, document, to_seconds,
};
use switchboard::protocol::Raw;
use switchboard::transport::Environment;

use crate::described::DEMO;
use crate::hosting::Hosting;
use crate::state;

const VERSION: u64 = 1;

/// Limits of the cache file.
struct Bounds {
    file_bytes: usize,
    servers: usize,
    /// Maximum number of tools of one server, and of prompts.
    items: usize,
    /// Maximum number of arguments of one tool.
    arguments: usize,
    name_bytes: usize,
    /// Longest wait for another run that writes the file.
    patience: Duration,
}

const BOUNDS: Bounds = Bounds {
    file_bytes: 1024 * 1024,
    servers: 64,
    items: 500,
    arguments: 40,
    name_bytes: 128,
    patience: Duration::from_millis(100),
};

/// The content of the cache file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cache {
    version: u64,
    /// By identity of the server.
    servers: BTreeMap<String, Offer>,
}

/// Tools and prompts of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offer {
    /// Time of the last listing, in seconds since the epoch.
    seen: u64,
    /// The arguments of each tool, by its name.
    pub(crate) tools: BTreeMap<String, Vec<String>>,
    /// The arguments of each prompt, by its name.
    pub(crate) prompts: BTreeMap<String, Vec<String>>,
    /// The URIs of its resources.
    #[serde(default)]
    pub(crate) resources: Vec<String>,
}

/// Caches the names of all servers that this command has listed.
pub(crate) fn remember(hosting: &Hosting<'_>) {
    // A server of `--stdio` or `--url` has no name to complete.
    if hosting.described.is_some() {
        return;
    }
    let catalog = hosting.host.catalog();
    let live = catalog.servers();
    // Only lists of this run: stale ones are in the file already.
    let live = live.filter(|part| part.freshness() == Freshness::Live);
    let offers: Vec<(String, Offer)> = live
        .filter_map(|part| {
            let name = part.name().as_str();
            let is_configured = hosting.files.config.get(name).is_some();
            let key = if is_configured {
                hosting.host.identity(name).ok()?.to_string()
            } else if name == DEMO {
                demo()
            } else {
                return None;
            };
            // A name that contains a known secret is not written to disk.
            let is_clear = |name: &str| hosting.screen.redact(name) == name;
            Some((key, Offer::of(part, is_clear)))
        })
        .collect();
    if offers.is_empty() {
        return;
    }
    store(&Environment::of_process(), offers);
}

/// Returns the key of the bundled server: the same in every folder, different in each version of the program.
pub(crate) fn demo() -> String {
    format!("{DEMO} {}", env!("CARGO_PKG_VERSION"))
}

/// Reads the cache; empty if the file is missing or unreadable.
pub(crate) fn recall(environment: &Environment) -> Cache {
    records(environment)
        .map(|records| read(&records))
        .unwrap_or_default()
}

fn records(environment: &Environment) -> Option<Records<Cache>> {
    let records = Records::at(state::catalog(environment)?, "catalog");
    Some(records.with_limits(StoreLimits {
        records: BOUNDS.servers,
        file_bytes: BOUNDS.file_bytes,
        lock_wait: BOUNDS.patience,
    }))
}

fn read(records: &Records<Cache>) -> Cache {
    records.read(ONLY).ok().flatten().unwrap_or_default()
}

/// Writes offers to the cache file if they are new. Errors are ignored: the command itself has succeeded.
fn store(environment: &Environment, offers: Vec<(String, Offer)>) {
    let Some(records) = records(environment) else {
        return;
    };
    // Compare before locking: mostly there is nothing new.
    if read(&records).has(&offers) {
        return;
    }
    let kept = records.change(ONLY, |cache| {
        let mut cache = cache.unwrap_or_default();
        cache.add(offers, to_seconds(SystemTime::now()));
        Some(cache)
    });
    // A cache that cannot be written is no reason to fail a command.
    drop(kept);
}

impl Document for Cache {
    const IS_CACHE: bool = true;

    fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    fn parse(text: &[u8], _: &str, path: &Path, _: &StoreLimits) -> Result<Self, StoreError> {
        document::parse(text, path, VERSION)
    }

    fn note(&self) -> Note {
        Note::of(self.servers.len(), [])
    }
}

impl Cache {
    /// Returns the names of a server by its key.
    pub(crate) fn offer(&self, key: &str) -> Option<&Offer> {
        self.servers.get(key)
    }

    /// Returns true if all of these offers are cached already.
    fn has(&self, offers: &[(String, Offer)]) -> bool {
        offers.iter().all(|(key, offer)| {
            let known = self.servers.get(key);
            known.is_some_and(|known| {
                let newer = offer.clone().merge_over(known);
                (&known.tools, &known.prompts) == (&newer.tools, &newer.prompts)
            })
        })
    }

    /// Adds offers seen now. While the cache is too large, drops the server that was not seen for longest.
    fn add(&mut self, offers: Vec<(String, Offer)>, now: u64) {
        self.version = VERSION;
        for (key, offer) in offers {
            let known = self.servers.remove(&key).unwrap_or_default();
            let offer = offer.merge_over(&known);
            // Merged with the known names, because a call may have listed only the tools.
            self.servers.insert(key, Offer { seen: now, ..offer });
        }
        // By the size of the file too: few servers with many long names could exceed it.
        let is_too_much = |cache: &Self| {
            let bytes = serde_json::to_vec(cache).map_or(usize::MAX, |text| text.len());
            cache.servers.len() > BOUNDS.servers || bytes > BOUNDS.file_bytes
        };
        while is_too_much(self) {
            let oldest = self.servers.iter().min_by_key(|(_, offer)| offer.seen);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
                return;
            };
            self.servers.remove(&oldest);
        }
    }
}

impl Offer {
    /// Merges a newer offer over a known one. An empty list keeps the known names: it may not have been
    /// requested, as a call does not wait for prompts.
    fn merge_over(mut self, known: &Self) -> Self {
        // An empty list may only mean that it was not read.
        if self.tools.is_empty() {
            self.tools.clone_from(&known.tools);
        }
        if self.prompts.is_empty() {
            self.prompts.clone_from(&known.prompts);
        }
        if self.resources.is_empty() {
            self.resources.clone_from(&known.resources);
        }
        self
    }

    /// Collects the names of a server, without those that contain secrets or are unsafe in a shell.
    fn of(part: &ServerCatalog, is_clear: impl Fn(&str) -> bool) -> Self {
        let is_kept =
            |name: &str| name.len() <= BOUNDS.name_bytes && is_plain(name) && is_clear(name);
        // Every limit is applied here, so that one server cannot fill the file.
        let arguments = |names: Vec<String>| -> Vec<String> {
            let names = names.into_iter().filter(|name| is_kept(name));
            names.take(BOUNDS.arguments).collect()
        };
        let tools = part.tools().iter().filter(|tool| is_kept(tool.name()));
        let tools = tools.map(|tool| {
            let names = properties(tool.tool().input_schema().raw());
            (tool.name().to_owned(), arguments(names))
        });
        let prompts = part.prompts().iter();
        let prompts = prompts.filter(|prompt| is_kept(prompt.name()));
        let prompts = prompts.map(|prompt| {
            let names = prompt.prompt().arguments().iter();
            let names = names.map(|argument| argument.name().to_owned());
            (prompt.name().to_owned(), arguments(names.collect()))
        });
        let resources = part.resources().iter().map(|entry| entry.uri());
        let resources = resources.filter(|uri| is_kept(uri)).map(str::to_owned);
        Self {
            seen: 0,
            tools: tools.take(BOUNDS.items).collect(),
            prompts: prompts.take(BOUNDS.items).collect(),
            resources: resources.take(BOUNDS.items).collect(),
        }
    }
}

fn properties(schema: &Raw) -> Vec<String> {
    let members = schema.member("properties").map(|found| found.members());
    let members = members.unwrap_or_default().into_iter();
    members.map(|(name, _)| name).collect()
}

/// Returns true if a name can be inserted into a command line as it is. Names come from servers and project
/// folders, and a shell would execute some of them.
pub(crate) fn is_plain(name: &str) -> bool {
    // Letters that no shell gives a meaning to.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.:/@=-".contains(c);
    !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(names: &[&str]) -> Offer {
        let tools = names.iter().map(|name| ((*name).to_owned(), Vec::new()));
        Offer {
            tools: tools.collect(),
            ..Offer::default()
        }
    }

    #[test]
    fn what_was_not_seen_for_longest_goes_first() {
        let mut cache = Cache::default();
        for at in 0..BOUNDS.servers + 2 {
            cache.add(vec![(at.to_string(), offer(&["x"]))], at as u64);
        }
        assert_eq!(cache.servers.len(), BOUNDS.servers);
        assert_eq!(cache.offer("0"), None);
        assert_eq!(cache.offer("1"), None);
        assert!(cache.offer("2").is_some());
    }

    #[test]
    fn what_is_too_large_is_not_kept_at_all() {
        let mut cache = Cache::default();
        let names: Vec<String> = (0..200_000).map(|n| format!("tool-{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        cache.add(vec![("small".to_owned(), offer(&["x"]))], 1);
        cache.add(vec![("large".to_owned(), offer(&names))], 2);
        assert_eq!(cache.offer("large"), None);
    }

    #[test]
    fn the_same_names_are_nothing_new() {
        let mut cache = Cache::default();
        let one = vec![("a".to_owned(), offer(&["x"]))];
        assert!(!cache.has(&one));
        cache.add(one.clone(), 7);
        assert!(cache.has(&one));
        assert!(!cache.has(&[("a".to_owned(), offer(&["x", "y"]))]));
        assert!(!cache.has(&[("b".to_owned(), offer(&["x"]))]));
        // An empty list may not have been requested.
        assert!(cache.has(&[("a".to_owned(), offer(&[]))]));
    }

    #[test]
    fn names_that_a_shell_would_obey_are_none() {
        for name in ["a", "get_time", "a/b.c:d@e=f-g", "A1"] {
            assert!(is_plain(name), "{name}");
        }
        for name in [
            "",
            "-x",
            "a b",
            "$(x)",
            "`x`",
            "a;b",
            "a'b",
            "a\nb",
            "a\u{b}b",
            "\u{e9}",
            "a\\b",
            "~x",
            "a*",
            "!x",
            "a|b",
            "<x",
            "#x",
            "{a,b}",
            "\u{1b}[0m",
        ] {
            assert!(!is_plain(name), "{name:?}");
        }
    }
}
