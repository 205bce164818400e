//! Arguments of tools that are repeated in headers (`Mcp-Param-*`).
//!
//! A modern server may mark properties of a tool's schema with `x-mcp-header`, so that proxies can
//! route a call without reading its body. The rules are strict: one misplaced mark makes the whole
//! tool unusable over HTTP.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustc_hash::FxHashMap;
use switchboard_wire::{Raw, Tool, argument_header};

use super::headers::is_token;

/// The keyword that marks a property.
const MARK: &str = "x-mcp-header";
/// The prefix of these headers.
const PREFIX: &str = "Mcp-Param-";
/// Maximum number of marked properties of one tool.
const MIRRORS: usize = 128;
/// Maximum depth of a schema.
const DEPTH: usize = 128;
/// Keywords with data as their value, where the mark has no meaning.
const DATA: &[&str] = &["const", "default", "enum", "example", "examples"];
/// Keywords with a map from names to schemas as their value.
const MAPS: &[&str] = &[
    "$defs",
    "definitions",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// One argument that is repeated in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mirror {
    /// The full header name, in the server's spelling.
    pub(crate) header_name: String,
    /// The path of properties to the value.
    pub(crate) path: Vec<String>,
    /// The type of the value in the schema.
    pub(crate) kind: MirrorKind,
}

/// The types that such an argument may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MirrorKind {
    /// A string.
    String,
    /// An integer.
    Integer,
    /// `true` or `false`.
    Boolean,
}

/// The reason that a tool cannot be used over HTTP.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MirrorError {
    /// A mark is not a string that can be part of a header's name.
    #[error("x-mcp-header of {property} is not a header name")]
    BadName {
        /// The property.
        property: String,
    },
    /// Two properties have the same header.
    #[error("x-mcp-header {name} is there twice")]
    Repeated {
        /// The header, as the second one writes it.
        name: String,
    },
    /// A marked property may be more than a string, an integer or a boolean.
    #[error("{property} has an x-mcp-header, but its type is not string, integer or boolean")]
    BadType {
        /// The property.
        property: String,
    },
    /// A mark is not reachable by a chain of `properties`.
    #[error("x-mcp-header in {keyword}, where it cannot be mirrored")]
    Misplaced {
        /// The keyword above it.
        keyword: String,
    },
    /// There are too many marks.
    #[error("more than {max} properties with x-mcp-header")]
    TooMany {
        /// The maximum.
        max: usize,
    },
    /// The schema is too deep to be looked through.
    #[error("the schema is deeper than {max} levels")]
    TooDeep {
        /// The maximum.
        max: usize,
    },
}

/// Finds the marked arguments of a tool in its input schema.
///
/// # Errors
/// Fails when a mark breaks a rule: the tool must not be used over HTTP.
pub(crate) fn find_mirrors(schema: &Raw) -> Result<Vec<Mirror>, MirrorError> {
    let mut found = Vec::new();
    let text = schema.as_str().as_bytes();
    let may_be_marked = |pattern: &str| memchr::memmem::find(text, pattern.as_bytes()).is_some();
    // Fast path for nearly all schemas: no mark, and no escape that could hide one.
    if may_be_marked(MARK) || may_be_marked("\\u") {
        if schema.member(MARK).is_some() {
            let keyword = "the schema itself".to_owned();
            return Err(MirrorError::Misplaced { keyword });
        }
        properties_of(schema, &mut Vec::new(), &mut found)?;
    }
    Ok(found)
}

/// Searches a schema that is reached by a chain of `properties`.
fn properties_of(
    schema: &Raw,
    path: &mut Vec<String>,
    found: &mut Vec<Mirror>,
) -> Result<(), MirrorError> {
    // One level of properties is two levels of objects.
    if path.len() >= DEPTH / 2 {
        return Err(MirrorError::TooDeep { max: DEPTH });
    }
    // Marks below other keywords than `properties` cannot be mirrored, and spoil the tool.
    for (keyword, value) in schema.members() {
        let by_name = keyword == "properties" && value.is_object();
        if by_name || keyword == MARK {
            continue;
        }
        if is_marked_below(&keyword, &value, DEPTH)? {
            return Err(MirrorError::Misplaced { keyword });
        }
    }
    let Some(properties) = schema.member("properties") else {
        return Ok(());
    };
    for (name, property) in properties.members() {
        path.push(name);
        if let Some(mark) = property.member(MARK) {
            let mirror = mirror(&mark, &property, path)?;
            let is_same = |other: &Mirror| {
                let name = &other.header_name;
                // Names of headers do not differ in case.
                name.eq_ignore_ascii_case(&mirror.header_name)
            };
            if found.iter().any(is_same) {
                let name = mark.as_text().unwrap_or_default();
                return Err(MirrorError::Repeated { name });
            }
            if found.len() >= MIRRORS {
                return Err(MirrorError::TooMany { max: MIRRORS });
            }
            found.push(mirror);
        }
        properties_of(&property, path, found)?;
        path.pop();
    }
    Ok(())
}

fn mirror(mark: &Raw, property: &Raw, path: &[String]) -> Result<Mirror, MirrorError> {
    let Some(name) = mark.as_text().filter(|name| is_token(name)) else {
        let property = path.join(".");
        return Err(MirrorError::BadName { property });
    };
    let kind = property.member("type").and_then(|kind| kind.as_text());
    let kind = match kind.as_deref() {
        Some("string") => MirrorKind::String,
        Some("integer") => MirrorKind::Integer,
        Some("boolean") => MirrorKind::Boolean,
        _ => {
            let property = path.join(".");
            return Err(MirrorError::BadType { property });
        }
    };
    Ok(Mirror {
        header_name: format!("{PREFIX}{name}"),
        path: path.to_vec(),
        kind,
    })
}

/// Returns true if a schema, or an array of them, contains a mark anywhere.
fn is_marked(schema: &Raw, depth: usize) -> Result<bool, MirrorError> {
    let depth = depth
        .checked_sub(1)
        .ok_or(MirrorError::TooDeep { max: DEPTH })?;
    for item in schema.items() {
        if is_marked(&item, depth)? {
            return Ok(true);
        }
    }
    for (keyword, value) in schema.members() {
        if keyword == MARK || is_marked_below(&keyword, &value, depth)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_marked_below(keyword: &str, value: &Raw, depth: usize) -> Result<bool, MirrorError> {
    // Examples and constants are data: a mark in them marks nothing.
    if DATA.contains(&keyword) {
        return Ok(false);
    }
    // The keys of these maps are names of the tool's own, not keywords.
    if !MAPS.contains(&keyword) || !value.is_object() {
        return is_marked(value, depth);
    }
    for (_, schema) in value.members() {
        if is_marked(&schema, depth)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Builds the headers for these arguments: full names and encoded values.
///
/// Arguments that are absent or null have none, nor have those that a header cannot express:
/// objects, arrays, numbers with a fraction or beyond 2^53 - 1.
pub(crate) fn values(mirrors: &[Mirror], arguments: &Raw) -> Vec<(String, String)> {
    let value = |mirror: &Mirror| {
        let mut at = arguments.clone();
        for name in &mirror.path {
            at = at.member(name)?;
        }
        let value = argument_header(&at)?;
        Some((
            mirror.header_name.clone(),
            encode_value(&value).into_owned(),
        ))
    };
    mirrors.iter().filter_map(value).collect()
}

/// Encodes a header value: verbatim, or in base64 if it would not survive.
pub(crate) fn encode_value(value: &str) -> Cow<'_, str> {
    // A plain value that looks like an encoded one is encoded too, so that it can be read back.
    let is_plain = value.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && !value.starts_with(' ')
        && !value.ends_with(' ')
        && !looks_encoded(value);
    if is_plain {
        return Cow::Borrowed(value);
    }
    Cow::Owned(format!("=?base64?{}?=", STANDARD.encode(value)))
}

fn looks_encoded(value: &str) -> bool {
    let start = value.get(..9).unwrap_or_default();
    start.eq_ignore_ascii_case("=?base64?") && value.ends_with("?=")
}

/// Returns true if requests of that method carry `Mcp-Name`.
pub(crate) fn has_name(method: &str) -> bool {
    key_of(method).is_some()
}

fn key_of(method: &str) -> Option<&'static str> {
    Some(match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    })
}

/// The value of `Mcp-Name` for a request, before [`encode_value`].
pub(crate) fn name_of(method: &str, params: &Raw) -> Option<String> {
    let key = key_of(method)?;
    params.member(key)?.as_text()
}

/// The marked arguments by tool; tools without any, which are most, are not in here.
#[derive(Default)]
pub(crate) struct Tools {
    mirrors: Mutex<FxHashMap<String, Vec<Mirror>>>,
    /// The whole list was read: a tool that is not in here has no marked arguments.
    seen_all: AtomicBool,
}

impl Tools {
    fn mirrors(&self) -> MutexGuard<'_, FxHashMap<String, Vec<Mirror>>> {
        self.mirrors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn learn(&self, tool: &Tool) -> Result<(), String> {
        let mirrors = find_mirrors(tool.input_schema().raw());
        let mirrors = mirrors.map_err(|bad| bad.to_string())?;
        if mirrors.is_empty() {
            // The tool may have had mirrors before.
            self.mirrors().remove(tool.name());
        } else {
            self.mirrors().insert(tool.name().to_owned(), mirrors);
        }
        Ok(())
    }

    pub(crate) fn mark_complete(&self) {
        self.seen_all.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_incomplete(&self) -> bool {
        !self.seen_all.load(Ordering::Relaxed)
    }

    /// The `Mcp-Param-*` headers of a tool call. The parameters are parsed only if the tool has any.
    pub(crate) fn headers(
        &self,
        tool: &str,
        params: impl FnOnce() -> Option<Raw>,
    ) -> Vec<(String, String)> {
        let mirrors = self.mirrors();
        let Some(mirrors) = mirrors.get(tool) else {
            return Vec::new();
        };
        // Read only for tools with mirrors: few have any.
        let arguments = params().and_then(|params| params.member("arguments"));
        arguments
            .map(|arguments| values(mirrors, &arguments))
            .unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "mirror_tests.rs"]
mod tests;
