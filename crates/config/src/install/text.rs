//! Reads and edits the text of a client's file, in the syntax of the client.

use serde_json::Value;

use crate::edit::EditError;
use crate::edit::{member, toml};
use crate::source::Syntax;

/// Returns the value at a path, if the text has it.
pub(super) fn value_at(
    syntax: Syntax,
    text: &str,
    path: &[&str],
) -> Result<Option<Value>, EditError> {
    match syntax {
        Syntax::Toml => toml::value_at(text, path),
        _ => member::value_at(text, path),
    }
}

/// Sets the value at a path.
pub(super) fn set(
    syntax: Syntax,
    text: &str,
    path: &[&str],
    value: &Value,
) -> Result<String, EditError> {
    match syntax {
        Syntax::Toml => toml::set(text, path, value),
        _ => member::set(text, path, value),
    }
}

/// Removes what is at a path, with the comments that belong to it.
pub(super) fn unset(syntax: Syntax, text: &str, path: &[&str]) -> Result<String, EditError> {
    match syntax {
        Syntax::Toml => toml::unset(text, path),
        _ => member::unset(text, path),
    }
}
