//! The lock file's format: deterministic to the byte, and parsed strictly.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use switchboard::spec::ServerName;
use switchboard::text::{sanitise_line, write_json_safe};

use super::entry::sort_keys;
use super::item::LockedItem;
use super::written::WrittenItem;
use super::{Lock, LockError, Locked, MOST_BYTES, Named, Offers, WRITTEN_BYTES};

/// Version of the written format. Version 1, which is read too, had only hashes.
const VERSION: u64 = 2;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LockFile {
    version: u64,
    servers: Members<Name, LockFileServer>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LockFileServer {
    entry: Value,
    package: Option<Pack>,
    /// Left out where there is none: files of earlier versions stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    issuer: Option<String>,
    offers: Option<Offered>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pack {
    runner: String,
    name: String,
    version: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Offered {
    instructions: Option<WrittenItem>,
    tools: Members<String, WrittenItem>,
    prompts: Members<String, WrittenItem>,
    templates: Members<String, WrittenItem>,
}

/// The part that every version of the format has.
#[derive(Deserialize)]
struct Head {
    version: u64,
}

pub(super) fn write(lock: &Lock) -> String {
    // Definitions are written in the order of servers until the budget is used up.
    let mut room = WRITTEN_BYTES;
    let servers = lock.servers.iter().map(|(name, locked)| {
        let server = LockFileServer {
            entry: locked.entry.clone(),
            package: locked.package.clone().map(|named| Pack {
                runner: named.runner,
                name: named.name,
                version: named.version,
            }),
            issuer: locked.issuer.clone(),
            offers: locked
                .offers
                .as_ref()
                .map(|offers| write_offers(offers, &mut room)),
        };
        (Name(name.clone()), server)
    });
    let document = LockFile {
        version: VERSION,
        servers: Members(servers.collect()),
    };
    let mut text = serde_json::to_string_pretty(&document)
        .expect("strings, numbers and maps of strings can always be written");
    text.push('\n');
    // Escapes make every character visible to a reviewer, whatever servers call their tools.
    write_json_safe(&text).into_owned()
}

fn write_offers(offers: &Offers, room: &mut usize) -> Offered {
    let mut all = |items: &BTreeMap<String, LockedItem>| {
        let items = items.iter();
        Members(
            items
                .map(|(name, item)| (name.clone(), WrittenItem::of(item, room)))
                .collect(),
        )
    };
    // The order is part of the format: it decides which texts have room.
    let (tools, prompts) = (all(&offers.tools), all(&offers.prompts));
    Offered {
        templates: all(&offers.templates),
        instructions: offers
            .instructions
            .as_ref()
            .map(|item| WrittenItem::of(item, room)),
        tools,
        prompts,
    }
}

pub(super) fn parse(text: &str) -> Result<Lock, LockError> {
    // Before parsing: the bound protects memory.
    if text.len() > MOST_BYTES {
        return Err(LockError::TooLarge {
            most_bytes: MOST_BYTES,
        });
    }
    // The version first: a newer format may differ in everything else.
    let head: Head = serde_json::from_str(text).map_err(|error| parse_error(&error))?;
    if !(1..=VERSION).contains(&head.version) {
        return Err(LockError::Newer {
            version: head.version,
        });
    }
    let document: LockFile = serde_json::from_str(text).map_err(|error| parse_error(&error))?;
    let servers = document.servers.0.into_iter().map(|(name, server)| {
        let locked = Locked {
            // Sorted again: the file may have been edited by hand.
            entry: sort_keys(server.entry),
            package: server.package.map(|pack| Named {
                runner: pack.runner,
                name: pack.name,
                version: pack.version,
            }),
            issuer: server.issuer,
            offers: server.offers.map(|offers| Offers {
                instructions: offers.instructions.map(|read| read.item),
                tools: items(offers.tools),
                prompts: items(offers.prompts),
                templates: items(offers.templates),
            }),
        };
        (name.0, locked)
    });
    Ok(Lock {
        servers: servers.collect(),
    })
}

fn items(read: Members<String, WrittenItem>) -> BTreeMap<String, LockedItem> {
    let read = read.0.into_iter();
    read.map(|(name, read)| (name, read.item)).collect()
}

fn parse_error(error: &serde_json::Error) -> LockError {
    let text = error.to_string();
    // The position is given in fields of its own.
    let why = text.rsplit_once(" at line ").map_or(&*text, |(why, _)| why);
    LockError::Broken {
        line: error.line().max(1),
        column: error.column().max(1),
        why: sanitise_line(why).into_owned(),
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Name(ServerName);

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        ServerName::parse(&text).map(Self).map_err(D::Error::custom)
    }
}

/// Members of an object without duplicates: a reviewer may have seen only one of two.
struct Members<K, V>(BTreeMap<K, V>);

impl<K: Serialize, V: Serialize> Serialize for Members<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(&self.0)
    }
}

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Deserialize<'de> for Members<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor(PhantomData))
    }
}

struct MembersVisitor<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Visitor<'de> for MembersVisitor<K, V> {
    type Value = Members<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((key, value)) = map.next_entry()? {
            if members.insert(key, value).is_some() {
                return Err(A::Error::custom("the same name again"));
            }
        }
        Ok(Members(members))
    }
}
