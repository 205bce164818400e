//! Single values: in clear, or as references to variables.

use std::path::Path;

use serde_json::Value;
use switchboard_core::spec::ServerName;

use super::names::Names;
use super::{Secrets, WriteError, text};

/// What begins a reference.
const OPEN: &str = "${";

/// Schemes of an `Authorization` header that are no secret.
const SCHEMES: [&str; 3] = ["Bearer ", "Basic ", "Token "];

/// Writes the values of one server.
pub(super) struct Values<'n> {
    server: &'n ServerName,
    secrets: Secrets,
    names: &'n mut Names,
}

impl<'n> Values<'n> {
    pub(super) fn new(server: &'n ServerName, secrets: Secrets, names: &'n mut Names) -> Self {
        Self {
            server,
            secrets,
            names,
        }
    }

    pub(super) fn are_variables(&self) -> bool {
        self.secrets == Secrets::AsVariables
    }

    pub(super) fn are_typed(&self) -> bool {
        self.secrets == Secrets::AsTyped
    }

    /// A value that may be seen.
    pub(super) fn plain(&mut self, field: &str, value: &str) -> Result<Value, WriteError> {
        if self.are_variables() && value.contains(OPEN) {
            return Ok(self.variable(field, value).into());
        }
        self.clear(field, value).map(Value::from)
    }

    /// Several of them.
    pub(super) fn list(&mut self, field: &str, list: &[String]) -> Result<Value, WriteError> {
        list.iter().map(|value| self.plain(field, value)).collect()
    }

    /// A path.
    pub(super) fn path(&mut self, field: &str, path: &Path) -> Result<Value, WriteError> {
        let path = text(path, self.server, field)?;
        self.plain(field, path)
    }

    /// A value that may be a secret; `hint` is what its variable is called after. An empty one
    /// hides nothing, and a variable that is empty counts as unset in many places.
    pub(super) fn secret(
        &mut self,
        field: &str,
        hint: &str,
        value: &str,
    ) -> Result<String, WriteError> {
        if self.are_variables() && !value.is_empty() {
            return Ok(self.variable(hint, value));
        }
        self.clear(field, value)
    }

    /// The value of a header, with the scheme before a credential left to be seen.
    pub(super) fn header(&mut self, name: &str, value: &str) -> Result<String, WriteError> {
        let field = format!("headers.{name}");
        let scheme = SCHEMES
            .into_iter()
            .find(|scheme| value.starts_with(scheme) && value.len() > scheme.len());
        let is_credential = name.eq_ignore_ascii_case("authorization");
        match scheme.filter(|_| is_credential && self.are_variables()) {
            Some(scheme) => {
                let rest = value.strip_prefix(scheme).unwrap_or_default();
                Ok(format!("{scheme}{}", self.variable("token", rest)))
            }
            None => {
                let hint = name.strip_prefix("X-").unwrap_or(name);
                self.secret(&field, hint, value)
            }
        }
    }

    /// A reference to the variable for a value.
    pub(super) fn variable(&mut self, hint: &str, value: &str) -> String {
        let name = self.names.take(self.server, hint, value);
        format!("{OPEN}{name}}}")
    }

    /// Whether a value can stand in a file as it is.
    pub(super) fn is_literal(&self, value: &str) -> bool {
        self.are_typed() || !value.contains(OPEN)
    }

    fn clear(&self, field: &str, value: &str) -> Result<String, WriteError> {
        if self.is_literal(value) {
            return Ok(value.to_owned());
        }
        Err(WriteError::Reference {
            server: self.server.clone(),
            field: field.to_owned(),
        })
    }
}
