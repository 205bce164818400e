//! Finds the servers in a document.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use switchboard_core::spec::ServerName;
use switchboard_core::text::closest;

use super::EditError;
use super::layout::Container;

/// The keys under which files keep their servers; new files use the first.
pub(super) const ROOTS: [&str; 2] = ["mcpServers", "servers"];

/// A map or list of servers in a document.
pub(super) struct Home<'d, 't> {
    /// Its key.
    pub(super) key: &'static str,
    /// An object or a list.
    pub(super) value: &'d Value<'t>,
    /// The same value with its layout, for adding to it.
    pub(super) container: Container,
}

/// A server in a document.
pub(super) struct FoundServer<'d, 't> {
    /// The key of the map or list.
    key: &'static str,
    /// Its name.
    name: &'d str,
    /// The map or list that contains it.
    pub(super) container: Container,
    /// Its index there.
    pub(super) index: usize,
    /// Its entry.
    pub(super) value: &'d Value<'t>,
    /// True if it is an element of a list and contains its name.
    pub(super) is_listed: bool,
}

/// The root of a document, which must be an object.
pub(super) fn root<'d, 't>(value: &'d Value<'t>) -> Result<&'d Object<'t>, EditError> {
    value
        .as_object()
        .ok_or_else(|| shape(String::new(), "an object"))
}

/// A member of an object, which must not occur twice.
pub(super) fn member<'d, 't>(
    object: &'d Object<'t>,
    key: &str,
) -> Result<Option<(usize, &'d ObjectProp<'t>)>, EditError> {
    let members = object.properties.iter().enumerate();
    // Twice the same key: parsers disagree about which counts, so neither is edited.
    let mut named = members.filter(|(_, member)| member.name.as_str() == key);
    let first = named.next();
    match named.next() {
        Some(_) => Err(EditError::Twice {
            what: key.to_owned(),
        }),
        None => Ok(first),
    }
}

/// Finds all maps and lists of servers in a document.
pub(super) fn homes<'d, 't>(root: &'d Object<'t>) -> Result<Vec<Home<'d, 't>>, EditError> {
    let mut found = Vec::new();
    for key in ROOTS {
        let Some((_, member)) = member(root, key)? else {
            continue;
        };
        let container = match &member.value {
            Value::Object(object) => Container::of_object(object),
            Value::Array(list) => Container::of_list(list),
            _ => return Err(shape(format!("/{key}"), "an object or a list")),
        };
        found.push(Home {
            key,
            value: &member.value,
            container,
        });
    }
    Ok(found)
}

impl<'d, 't> Home<'d, 't> {
    /// Its servers with their names. Elements of a list without a name are skipped.
    pub(super) fn servers(&self) -> Vec<(&'d str, usize, &'d Value<'t>)> {
        match self.value {
            Value::Object(object) => {
                let members = object.properties.iter().enumerate();
                members
                    .map(|(at, member)| (member.name.as_str(), at, &member.value))
                    .collect()
            }
            Value::Array(list) => {
                let elements = list.elements.iter().enumerate();
                elements
                    .filter_map(|(at, element)| {
                        let name = element.as_object()?.get("name")?;
                        let name = name.value.as_string_lit()?.value.as_ref();
                        Some((name, at, element))
                    })
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.value, Value::Array(_))
    }
}

/// Finds a server by its name, which must be unique.
pub(super) fn find<'d, 't>(
    homes: &[Home<'d, 't>],
    name: &ServerName,
) -> Result<Option<FoundServer<'d, 't>>, EditError> {
    let mut found = None;
    for home in homes {
        for (other, index, value) in home.servers() {
            if other != name.as_str() {
                continue;
            }
            // The same name under `mcpServers` and `servers`: either could be meant.
            if found.is_some() {
                return Err(EditError::Twice {
                    what: name.to_string(),
                });
            }
            found = Some(FoundServer {
                key: home.key,
                name: other,
                container: home.container.clone(),
                index,
                value,
                is_listed: home.is_list(),
            });
        }
    }
    Ok(found)
}

/// The error for a server that does not exist.
pub(super) fn no_such(homes: &[Home<'_, '_>], name: &ServerName) -> EditError {
    let names: Vec<&str> = homes
        .iter()
        .flat_map(|home| home.servers())
        .map(|(name, ..)| name)
        .collect();
    EditError::NoSuchServer {
        name: name.clone(),
        closest: closest(name.as_str(), names).map(str::to_owned),
    }
}

impl<'d, 't> FoundServer<'d, 't> {
    /// Its entry, which must be an object.
    pub(super) fn object(&self) -> Result<&'d Object<'t>, EditError> {
        // Only a member can be something else: list elements without members have no name.
        let name = self.name.replace('~', "~0").replace('/', "~1");
        self.value
            .as_object()
            .ok_or_else(|| shape(format!("/{}/{name}", self.key), "an object"))
    }
}

pub(super) fn shape(pointer: String, expected: &'static str) -> EditError {
    EditError::Shape { pointer, expected }
}
