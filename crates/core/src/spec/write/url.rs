//! Writes URLs, parts of which may be secret.

use crate::secret::{MASK, SafeUrl};
use url::Url;

use super::WriteError;
use super::values::ValueWriter;

/// Writes a URL, with a variable for each part that is masked.
///
/// A variable holds the part in its percent-encoded form, so that expanding it results in the same URL.
pub(super) fn write(safe: &SafeUrl, values: &mut ValueWriter<'_>) -> Result<String, WriteError> {
    let url = safe.expose();
    // As typed: the references stand in the URL already.
    if values.are_typed() {
        return Ok(restore_references(url.as_str()));
    }
    if !values.are_variables() {
        return values.secret("url", "url", url.as_str());
    }
    let shown = safe.to_string();
    if url.cannot_be_a_base() {
        return Ok(values.variable("url", url.as_str()));
    }
    // Nothing is masked: the URL can be written as it is.
    if shown == url.as_str() && values.is_literal(&shown) {
        return Ok(shown);
    }
    parts(url, &shown, values)
}

fn parts(url: &Url, shown: &str, values: &mut ValueWriter<'_>) -> Result<String, WriteError> {
    let mut out = format!("{}://", url.scheme());
    if !url.username().is_empty() {
        out += &values.variable("user", url.username());
    }
    if let Some(password) = url.password() {
        out.push(':');
        out += &values.variable("password", password);
    }
    if !url.username().is_empty() || url.password().is_some() {
        out.push('@');
    }
    out += url.host_str().unwrap_or_default();
    if let Some(port) = url.port() {
        out += &format!(":{port}");
    }
    // A mask contains no slash, so the segments of both paths correspond.
    let end = shown.find(['?', '#']).unwrap_or(shown.len());
    let shown_path = shown.get(..end).unwrap_or_default();
    let count = url.path().matches('/').count();
    let masks = shown_path.rsplit('/').take(count).collect::<Vec<_>>();
    for (segment, mask) in url.path().split('/').skip(1).zip(masks.iter().rev()) {
        out.push('/');
        out += &if *mask == MASK || !values.is_literal(segment) {
            values.secret("url", "path", segment)?
        } else {
            segment.to_owned()
        };
    }
    if let Some(query) = url.query() {
        let shown = shown.split(['?', '#']).nth(1).unwrap_or_default();
        for (at, (pair, mask)) in query.split('&').zip(shown.split('&')).enumerate() {
            out.push(if at == 0 { '?' } else { '&' });
            out += &match pair.split_once('=') {
                Some((name, value)) if *mask != *MASK && values.is_literal(name) => {
                    format!("{name}={}", values.secret("url", name, value)?)
                }
                _ => values.secret("url", "query", pair)?,
            };
        }
    }
    if let Some(fragment) = url.fragment() {
        out.push('#');
        out += &values.secret("url", "fragment", fragment)?;
    }
    Ok(out)
}

/// Restores references that a user typed: parsing has percent-encoded their braces.
pub(in crate::spec) fn restore_references(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    let mut rest = url;
    while let Some((before, behind)) = rest.split_once("$%7B") {
        let Some((name, after)) = behind.split_once("%7D") else {
            break;
        };
        out = out + before + "${" + name + "}";
        rest = after;
    }
    out + rest
}
