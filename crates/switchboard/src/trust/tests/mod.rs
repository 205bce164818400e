//! Tests of the module as a whole.

mod asking;
mod binding;
mod bound;
mod hostile;
mod showing;

use serde_json::Value;

use super::Claim;
use crate::spec::{Layer, ServerName};

/// A claim of a project's file.
pub(super) fn claim(entry: Value) -> Claim {
    let server = ServerName::parse("github").unwrap();
    Claim::new(server, "/src/app/.mcp.json", Layer::Project, entry)
}
