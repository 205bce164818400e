//! Headers of modern requests that repeat a part of the body.
//!
//! Proxies route by these headers without reading the body, so a request whose headers say something
//! else than its body is refused. What the request means is always taken from the body.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::HeaderMap;
use hyper::header::HeaderName;
use switchboard_wire::{Raw, argument_header, meta};

use crate::client::Params;
use crate::message::ClientRequest;

pub(super) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(super) const NAME: HeaderName = HeaderName::from_static("mcp-name");
pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// The keyword that marks a property of a schema.
const MARK: &str = "x-mcp-header";
/// Most marked properties of one tool.
const MARKS: usize = 128;
/// Deepest property that is looked at.
const DEPTH: usize = 64;
/// The beginning and the end of a value that is encoded.
const ENCODED: (&[u8], &[u8]) = (b"=?base64?", b"?=");

/// An argument of a tool that a header repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    header: HeaderName,
    /// The names of the properties on the way to the argument.
    path: Vec<String>,
}

/// A header that says something else than the body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    pub(super) header: HeaderName,
    pub(super) why: &'static str,
}

/// What a request says about itself, as far as headers repeat it.
#[derive(Debug)]
pub(super) struct Said<'a> {
    pub(super) version: Option<Cow<'a, str>>,
    pub(super) has_capabilities: bool,
    /// The name that the header `Mcp-Name` must repeat.
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) arguments: Option<Raw>,
}

impl<'a> Said<'a> {
    /// Takes it from the parameters of a request that was read.
    pub(super) fn of(method: &str, params: &'a Params) -> Self {
        let name = match ClientRequest::name_key(method) {
            Some("uri") => params.uri.as_ref(),
            Some(_) => params.name.as_ref(),
            None => None,
        };
        Self {
            version: params.meta.version.as_ref().and_then(Raw::as_cow),
            has_capabilities: params.meta.capabilities.is_some(),
            name: name.and_then(Raw::as_cow),
            arguments: params.arguments.clone(),
        }
    }

    /// Looks for it in a request whose parameters cannot be read: what it says comes before that.
    pub(super) fn search(request: &ClientRequest) -> Self {
        let meta = request.meta();
        let member = |key| meta.as_ref().and_then(|meta| meta.member(key));
        let params = request.params.as_ref();
        let version = member(meta::PROTOCOL_VERSION);
        Self {
            version: version
                .and_then(|version| version.as_text())
                .map(Cow::Owned),
            has_capabilities: member(meta::CLIENT_CAPABILITIES).is_some(),
            name: request.name().map(Cow::Owned),
            arguments: params.and_then(|params| params.member("arguments")),
        }
    }
}

/// Checks the headers that every request has.
pub(super) fn check_request(
    headers: &HeaderMap,
    method: &str,
    name: Option<&str>,
    version: &str,
) -> Result<(), Mismatch> {
    must_be(headers, &PROTOCOL_VERSION, version)?;
    must_be(headers, &METHOD, method)?;
    match name {
        Some(name) => must_be(headers, &NAME, name),
        None => Ok(()),
    }
}

/// Checks the headers that repeat arguments of a tool.
pub(super) fn check_arguments(
    headers: &HeaderMap,
    marks: &[Mark],
    arguments: Option<&Raw>,
) -> Result<(), Mismatch> {
    for mark in marks {
        let value = mark.path.iter().try_fold(arguments.cloned(), |at, name| {
            Some(at?.member(name)).filter(Option::is_some)
        });
        let value = value.flatten().filter(|value| !value.is_null());
        match value.as_ref().map(argument_header) {
            Some(Some(text)) => must_be(headers, &mark.header, &text)?,
            // An argument that no header can express, and that the schema does not allow either.
            Some(None) => {}
            None if headers.contains_key(&mark.header) => {
                let why = "is there, but its argument is not";
                return Err(Mismatch {
                    header: mark.header.clone(),
                    why,
                });
            }
            None => {}
        }
    }
    Ok(())
}

/// Finds the marked arguments in the schema of a tool. A mark that breaks a rule marks nothing here: clients
/// do not call such a tool over HTTP, and no header can be demanded of them.
pub(super) fn find_marks(schema: &Raw) -> Vec<Mark> {
    let mut found = Vec::new();
    let text = schema.as_str();
    // Fast path for nearly all schemas: no mark, and no escape that could hide one.
    if text.contains(MARK) || text.contains("\\u") {
        walk(schema, &mut Vec::new(), &mut found);
    }
    found
}

fn walk(schema: &Raw, path: &mut Vec<String>, found: &mut Vec<Mark>) {
    let Some(properties) = schema.member("properties") else {
        return;
    };
    for (name, property) in properties.members() {
        // Bounded: servers choose the depth of a schema and the number of its marks.
        if path.len() >= DEPTH || found.len() >= MARKS {
            return;
        }
        path.push(name);
        let mark = property.member(MARK).and_then(|mark| mark.as_text());
        let header = mark.and_then(|mark| {
            let name = format!("mcp-param-{mark}");
            HeaderName::from_bytes(name.as_bytes()).ok()
        });
        if let Some(header) = header {
            let path = path.clone();
            found.push(Mark { header, path });
        }
        walk(&property, path, found);
        path.pop();
    }
}

/// Compares a header with what the body says.
fn must_be(headers: &HeaderMap, name: &HeaderName, expected: &str) -> Result<(), Mismatch> {
    let mut values = headers.get_all(name).iter();
    let why = match (values.next(), values.next()) {
        (None, _) => "is missing",
        (Some(_), Some(_)) => "is there more than once",
        (Some(value), None) => match is_equal(value.as_bytes(), expected) {
            Some(true) => return Ok(()),
            Some(false) => "says something else than the body",
            None => "has characters that a header cannot carry, or a wrong encoding",
        },
    };
    Err(Mismatch {
        header: name.clone(),
        why,
    })
}

/// Compares without building a text unless the header is encoded; `None` for a header that cannot be read.
fn is_equal(value: &[u8], expected: &str) -> Option<bool> {
    let encoded = value.strip_prefix(ENCODED.0);
    if let Some(encoded) = encoded.and_then(|rest| rest.strip_suffix(ENCODED.1)) {
        let decoded = STANDARD.decode(encoded).ok()?;
        let text = str::from_utf8(&decoded).ok()?;
        return Some(text == expected);
    }
    let is_plain = value.iter().all(|byte| (b' '..=b'~').contains(byte));
    is_plain.then_some(value == expected.as_bytes())
}

#[cfg(test)]
#[path = "agreement_tests.rs"]
mod tests;
