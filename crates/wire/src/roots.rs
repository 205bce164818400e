//! Roots (`roots/list`): the folders that a server may work in.

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

/// The result of `roots/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRootsResult {
    /// The roots.
    pub roots: Vec<Root>,
}

ask! {
    /// Asks for our roots, on behalf of a server.
    ListRoots = "roots/list", Empty => ListRootsResult
}
