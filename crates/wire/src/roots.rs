//! Which folders are ours to work in.

use serde::{Deserialize, Serialize};

use crate::Empty;

/// One folder or file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// Its address, which begins with `file://`.
    pub uri: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
}

/// What we answer to `roots/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRootsResult {
    /// The roots.
    pub roots: Vec<Root>,
}

ask! {
    /// A server asks for our roots.
    ListRoots = "roots/list", Empty => ListRootsResult
}
