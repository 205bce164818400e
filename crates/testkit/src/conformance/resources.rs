//! The resources of the fixture, and its one template.

use serde_json::{Value, json};

use super::content::PNG;
use crate::resources::{Resource, contents};

pub(super) const TEMPLATE: &str = "test://template/{id}/data";

pub(super) fn all() -> Vec<Resource> {
    let text = |uri: &str, name: &str, description: &str, text: &str| {
        Resource::new(uri, name, "text/plain", description, text)
    };
    vec![
        text(
            "test://static-text",
            "Static text",
            "A text that never changes",
            "This is the content of the static text resource.",
        ),
        Resource::binary(
            "test://static-binary",
            "Static picture",
            "image/png",
            "A picture that never changes",
            PNG,
        ),
        text(
            "test://watched-resource",
            "Watched text",
            "A text to subscribe to",
            "This is the content of the watched resource.",
        ),
    ]
}

pub(super) fn templates() -> Vec<Value> {
    vec![json!({
        "uriTemplate": TEMPLATE,
        "name": "Data by id",
        "description": "The data of an id",
        "mimeType": "application/json",
    })]
}

/// The contents of a URI that matches the template; `None` for any other URI.
pub(crate) fn from_template(uri: &str) -> Option<Value> {
    let (before, after) = TEMPLATE.split_once("{id}")?;
    let id = uri.strip_prefix(before)?.strip_suffix(after)?;
    // `{id}` expands to one segment with everything reserved escaped.
    if id.is_empty() || id.contains(['/', '?', '#']) {
        return None;
    }
    let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
    Some(contents(uri, "application/json", &data.to_string()))
}
