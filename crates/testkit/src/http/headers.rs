//! The headers of modern requests, compared with the body.

use hyper::HeaderMap;
use serde_json::{Map, Value};

use super::base64;
use crate::catalog::Catalog;
use crate::service::{Failure, PROTOCOL_VERSION};

const VERSION: &str = "mcp-protocol-version";

/// Returns true if a request is meant for the modern era, rightly or wrongly.
pub(super) fn looks_modern(headers: &HeaderMap, params: Option<&Map<String, Value>>) -> bool {
    let meta = params.and_then(|params| params.get("_meta"));
    let said = headers.get(VERSION).and_then(|value| value.to_str().ok());
    meta.is_some_and(|meta| meta.get(PROTOCOL_VERSION).is_some())
        || headers.contains_key("mcp-method")
        // Later than every version with a handshake; the names sort by time.
        || said.is_some_and(|version| version > "2025-11-25")
}

/// Checks all headers that a modern request must have.
pub(super) fn check(
    headers: &HeaderMap,
    catalog: &Catalog,
    method: &str,
    params: &Map<String, Value>,
) -> Result<(), Failure> {
    let meta = params
        .get("_meta")
        .and_then(|meta| meta.get(PROTOCOL_VERSION));
    if let Some(version) = meta.and_then(Value::as_str) {
        must_be(headers, VERSION, version)?;
    }
    must_be(headers, "mcp-method", method)?;
    let named = match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        _ => None,
    };
    if let Some(name) = named
        .and_then(|key| params.get(key))
        .and_then(Value::as_str)
    {
        must_be(headers, "mcp-name", name)?;
    }
    if method == "tools/call" {
        parameters(headers, catalog, params)?;
    }
    Ok(())
}

/// Checks the headers that repeat arguments.
fn parameters(
    headers: &HeaderMap,
    catalog: &Catalog,
    params: &Map<String, Value>,
) -> Result<(), Failure> {
    let name = params.get("name").and_then(Value::as_str);
    let Some(tool) = name.and_then(|name| catalog.tool(name)) else {
        return Ok(());
    };
    let Some(schema) = tool.definition.get("inputSchema") else {
        return Ok(());
    };
    let mut mirrored = Vec::new();
    find(schema, params.get("arguments"), &mut mirrored);
    for (header, value) in mirrored {
        let header = format!("mcp-param-{}", header.to_ascii_lowercase());
        let text = match value {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Bool(value)) => value.to_string(),
            Some(Value::Number(number)) => match number.as_f64() {
                // `3.0` is an integer too, and is written as one.
                Some(whole) if number.is_f64() && whole.fract() == 0.0 => format!("{whole:.0}"),
                _ => number.to_string(),
            },
            // Null counts as absent; a value that does not fit the schema is refused for that
            // elsewhere.
            _ if headers.contains_key(&header) => {
                let what = format!("{header} is there, but its argument is not");
                return Err(Failure::header_mismatch(what));
            }
            _ => continue,
        };
        must_be(headers, &header, &text)?;
    }
    Ok(())
}

type Mirrored<'a> = Vec<(&'a str, Option<&'a Value>)>;

/// Finds the annotated properties, and the corresponding arguments.
fn find<'a>(schema: &'a Value, arguments: Option<&'a Value>, found: &mut Mirrored<'a>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let value = arguments.and_then(|arguments| arguments.get(name));
        let kind = property.get("type").and_then(Value::as_str);
        match property.get("x-mcp-header").and_then(Value::as_str) {
            // Clients must not call a tool with wrong annotations, so no header is demanded.
            Some(header) if is_token(header) && kind != Some("number") => {
                found.push((header, value));
            }
            _ => find(property, value, found),
        }
    }
}

/// Returns true if a text can be a header name (RFC 9110).
fn is_token(text: &str) -> bool {
    let allowed =
        |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
    !text.is_empty() && text.chars().all(allowed)
}

fn must_be(headers: &HeaderMap, name: &str, expected: &str) -> Result<(), Failure> {
    let mut values = headers.get_all(name).iter();
    let said = match (values.next(), values.next()) {
        (Some(value), None) => decode(value.as_bytes()),
        (None, _) => Err("is missing"),
        (Some(_), Some(_)) => Err("is there more than once"),
    };
    match said {
        Ok(said) if said == expected => Ok(()),
        Ok(_) => Err("says something else than the body"),
        Err(what) => Err(what),
    }
    .map_err(|what| Failure::header_mismatch(format!("{name} {what}")))
}

/// Decodes a header: plain, or in base64 between its marks.
fn decode(value: &[u8]) -> Result<String, &'static str> {
    let text = str::from_utf8(value).unwrap_or_default();
    if text.chars().any(|letter| !(' '..='~').contains(&letter))
        || text.is_empty() != value.is_empty()
    {
        return Err("has characters that a header cannot carry");
    }
    let marked = text
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    match marked {
        Some(marked) => base64::decode(marked)
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .ok_or("is no base64 of a text"),
        None => Ok(text.to_owned()),
    }
}
