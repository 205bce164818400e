//! Tests of the parts together; what one file promises by itself is tested there.

mod building;
mod changes;
mod million;
mod snapshots;

use std::sync::Arc;

use switchboard_wire::{FromRaw, Prompt, Raw, Resource, ResourceTemplate, Tool};

use super::{Builder, Catalog, ServerCatalog};
use crate::spec::ServerName;

fn name(text: &str) -> ServerName {
    ServerName::parse(text).unwrap()
}

fn server(text: &str) -> Builder {
    ServerCatalog::builder(name(text))
}

fn read<T: FromRaw>(text: &str) -> T {
    T::from_raw(&Raw::parse(text).unwrap()).unwrap()
}

/// A tool with a description.
fn tool(name: &str, description: &str) -> Tool {
    let name = serde_json::to_string(name).unwrap();
    read(&format!(
        r#"{{"name":{name},"description":"{description}","inputSchema":{{"type":"object"}}}}"#
    ))
}

/// Tools that differ in their names alone.
fn tools(names: &[&str]) -> Vec<Tool> {
    names.iter().map(|name| tool(name, "")).collect()
}

fn prompt(name: &str) -> Prompt {
    read(&format!(r#"{{"name":"{name}"}}"#))
}

fn resource(uri: &str) -> Resource {
    read(&format!(r#"{{"uri":"{uri}","name":"r"}}"#))
}

fn template(template: &str) -> ResourceTemplate {
    read(&format!(r#"{{"uriTemplate":"{template}","name":"t"}}"#))
}

/// A snapshot of servers in that order.
fn catalog(parts: impl IntoIterator<Item = Builder>) -> Catalog {
    let parts = parts.into_iter().map(|part| Arc::new(part.build(None)));
    parts.fold(Catalog::default(), |catalog, part| catalog.with(part))
}

/// The names for models, in order.
fn exposed(catalog: &Catalog) -> Vec<&str> {
    catalog.tools().map(|tool| tool.exposed()).collect()
}
