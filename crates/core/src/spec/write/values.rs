//! Writes single values: in clear, or as references to variables.

use std::path::Path;

use crate::spec::ServerName;
use serde_json::Value;

use super::names::Names;
use super::{Secrets, WriteError, text};

/// The beginning of a reference.
const OPEN: &str = "${";

/// Schemes of an `Authorization` header, which are not secret.
const SCHEMES: [&str; 3] = ["Bearer ", "Basic ", "Token "];

/// Writes the values of one server.
pub(super) struct ValueWriter<'n> {
    server: &'n ServerName,
    secrets: Secrets,
    names: &'n mut Names,
}

impl<'n> ValueWriter<'n> {
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

    /// Writes a value that is not secret.
    pub(super) fn plain(&mut self, field: &str, value: &str) -> Result<Value, WriteError> {
        if self.are_variables() && value.contains(OPEN) {
            return Ok(self.variable(field, value).into());
        }
        self.clear(field, value).map(Value::from)
    }

    /// Writes a list of values that are not secret.
    pub(super) fn list(&mut self, field: &str, list: &[String]) -> Result<Value, WriteError> {
        list.iter().map(|value| self.plain(field, value)).collect()
    }

    /// Writes a path.
    pub(super) fn path(&mut self, field: &str, path: &Path) -> Result<Value, WriteError> {
        let path = text(path, self.server, field)?;
        self.plain(field, path)
    }

    /// Writes a value that may be secret; its variable is named after `hint`. An empty value hides nothing,
    /// and an empty variable often counts as unset, so it is written in clear.
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

    /// Writes the value of a header, leaving the scheme before a credential in clear.
    pub(super) fn header(&mut self, name: &str, value: &str) -> Result<String, WriteError> {
        let field = format!("headers.{name}");
        // Keep `Bearer` in clear: a reader sees what kind of credential is missing.
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

    /// Returns a reference to the variable for a value.
    pub(super) fn variable(&mut self, hint: &str, value: &str) -> String {
        let name = self.names.take(self.server, hint, value);
        format!("{OPEN}{name}}}")
    }

    /// Returns true if a value can be written as it is.
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
