//! What a gateway declares that it offers.

use serde_json::{Map, Value, json};
use switchboard::host::Status;
use switchboard::protocol::{Raw, ServerCapabilities, TASKS_EXTENSION};

/// What all servers of an offer together declare. A server that was not connected to yet may offer
/// anything. Tasks are not carried, so they are not declared.
pub(super) fn join(statuses: &[Status]) -> Raw {
    let declared: Vec<_> = statuses.iter().map(capabilities).collect();
    let any = |has: fn(&ServerCapabilities) -> bool| {
        let mut declared = declared.iter();
        declared.len() == 0 || declared.any(|one| one.is_none_or(has))
    };
    let mut joined = Map::new();
    // Lists are always offered: servers come and go, and an empty list is no error.
    joined.insert("tools".to_owned(), json!({ "listChanged": true }));
    joined.insert("prompts".to_owned(), json!({ "listChanged": true }));
    let resources = json!({
        "subscribe": any(ServerCapabilities::resources_subscribe),
        "listChanged": true,
    });
    joined.insert("resources".to_owned(), resources);
    if any(ServerCapabilities::has_completions) {
        joined.insert("completions".to_owned(), json!({}));
    }
    if any(ServerCapabilities::has_logging) {
        joined.insert("logging".to_owned(), json!({}));
    }
    let known = declared.into_iter().flatten();
    add_extensions(&mut joined, known);
    Raw::of(&joined).unwrap_or_else(|_| Raw::empty_object())
}

/// What one server declares, as it declares it, or everything while that is not known.
pub(super) fn of_one(status: &Status) -> Raw {
    let Some(declared) = capabilities(status) else {
        return join(std::slice::from_ref(status));
    };
    let mut own = Map::new();
    let list = |changes: bool| json!({ "listChanged": changes });
    if declared.has_tools() {
        own.insert("tools".to_owned(), list(true));
    }
    if declared.has_prompts() {
        own.insert("prompts".to_owned(), list(true));
    }
    if declared.has_resources() {
        let subscribe = declared.resources_subscribe();
        let resources = json!({ "subscribe": subscribe, "listChanged": true });
        own.insert("resources".to_owned(), resources);
    }
    if declared.has_completions() {
        own.insert("completions".to_owned(), json!({}));
    }
    if declared.has_logging() {
        own.insert("logging".to_owned(), json!({}));
    }
    add_extensions(&mut own, std::iter::once(declared));
    if let Some(experimental) = declared.experimental().and_then(|it| it.decode().ok()) {
        own.insert("experimental".to_owned(), experimental);
    }
    Raw::of(&own).unwrap_or_else(|_| Raw::empty_object())
}

/// The capabilities that a server declared on this connection or the last, if it ever was connected to.
pub(super) fn capabilities(status: &Status) -> Option<&ServerCapabilities> {
    let live = status.capabilities.as_ref();
    live.or(status.known_capabilities.as_ref())
}

/// Adds the extensions of servers; of two with one name, those of the first.
fn add_extensions<'a>(
    declared: &mut Map<String, Value>,
    servers: impl Iterator<Item = &'a ServerCapabilities>,
) {
    let mut extensions = Map::new();
    for (name, settings) in servers
        .filter_map(ServerCapabilities::extensions)
        .flat_map(Raw::members)
        .filter(|(name, _)| name != TASKS_EXTENSION)
    {
        if let Ok(settings) = settings.decode() {
            extensions.entry(name).or_insert(settings);
        }
    }
    if !extensions.is_empty() {
        declared.insert("extensions".to_owned(), Value::Object(extensions));
    }
}
