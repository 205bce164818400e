//! The servers of a document, wherever it keeps them.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use switchboard_core::spec::ServerName;
use switchboard_core::text::closest;

use super::EditError;
use super::layout::Container;

/// The keys under which files keep their servers; the first is for new files.
pub(super) const ROOTS: [&str; 2] = ["mcpServers", "servers"];

/// Where servers are kept in a document.
pub(super) struct Home<'d, 't> {
    /// The key.
    pub(super) key: &'static str,
    /// An object or a list.
    pub(super) value: &'d Value<'t>,
    /// The same, as what can be added to.
    pub(super) container: Container,
}

/// A server in a document.
pub(super) struct Found<'d, 't> {
    /// Where it is kept.
    key: &'static str,
    /// Its name.
    name: &'d str,
    /// What it is one of.
    pub(super) container: Container,
    /// Which of these it is.
    pub(super) index: usize,
    /// Its entry.
    pub(super) value: &'d Value<'t>,
    /// Whether it is an element of a list and has its name inside.
    pub(super) is_listed: bool,
}

/// The root of a document, which has to be an object.
pub(super) fn root<'d, 't>(value: &'d Value<'t>) -> Result<&'d Object<'t>, EditError> {
    value
        .as_object()
        .ok_or_else(|| shape(String::new(), "an object"))
}

/// A member, of which there must not be two.
pub(super) fn member<'d, 't>(
    object: &'d Object<'t>,
    key: &str,
) -> Result<Option<(usize, &'d ObjectProp<'t>)>, EditError> {
    let members = object.properties.iter().enumerate();
    let mut named = members.filter(|(_, member)| member.name.as_str() == key);
    let first = named.next();
    match named.next() {
        Some(_) => Err(EditError::Twice {
            what: key.to_owned(),
        }),
        None => Ok(first),
    }
}

/// All places of a document in which servers are kept.
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
    /// Its servers with their names. An element of a list without a name is nobody's.
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

/// The server of a name, if there is one and only one.
pub(super) fn find<'d, 't>(
    homes: &[Home<'d, 't>],
    name: &ServerName,
) -> Result<Option<Found<'d, 't>>, EditError> {
    let mut found = None;
    for home in homes {
        for (other, index, value) in home.servers() {
            if other != name.as_str() {
                continue;
            }
            if found.is_some() {
                return Err(EditError::Twice {
                    what: name.to_string(),
                });
            }
            found = Some(Found {
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

/// The error for a name that is not there.
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

impl<'d, 't> Found<'d, 't> {
    /// Its entry, which has to be an object.
    pub(super) fn object(&self) -> Result<&'d Object<'t>, EditError> {
        // Only a member can be something else: an element without members has no name.
        let name = self.name.replace('~', "~0").replace('/', "~1");
        self.value
            .as_object()
            .ok_or_else(|| shape(format!("/{}/{name}", self.key), "an object"))
    }
}

fn shape(pointer: String, expected: &'static str) -> EditError {
    EditError::Shape { pointer, expected }
}
