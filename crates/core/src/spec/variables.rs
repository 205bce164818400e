//! Fills in the variables that a description refers to.

use std::path::{Path, PathBuf};

use super::write::restore_references;
use super::{Endpoint, OAuth, ServerSpec, SpecError};
use crate::secret::{SafeUrl, Secret};

/// A variable that a description refers to and that is not set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the variable `{name}` is not set, and {field} refers to it")]
pub struct MissingVariable {
    /// The variable.
    pub name: String,
    /// The field of the description.
    pub field: String,
}

impl ServerSpec {
    /// Fills in every reference `${NAME}` with the value that `lookup` gives, once: a value is not expanded
    /// again. For a description that was read with serde; entries of config files are expanded when they are
    /// read.
    ///
    /// ```
    /// use switchboard_core::spec::ServerSpec;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let text = r#"{"name": "hub", "command": "hub", "env": {"HUB_TOKEN": "${HUB_TOKEN}"}}"#;
    /// let spec: ServerSpec = serde_json::from_str(text)?;
    /// let error = spec.clone().fill_variables(|_| None).unwrap_err();
    /// assert!(error.to_string().contains("`HUB_TOKEN` is not set"));
    /// let spec = spec.fill_variables(|name| Some(format!("value of {name}")))?;
    /// # drop(spec);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails if a variable is not set, or the URL is not one with its values.
    pub fn fill_variables(
        mut self,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, SpecError> {
        let fill = Fill(&lookup);
        match &mut self.endpoint {
            Endpoint::Process(process) => {
                fill.text("command", &mut process.command)?;
                for arg in &mut process.args {
                    fill.text("args", arg)?;
                }
                for (name, value) in &mut process.env {
                    fill.secret(&format!("env.{name}"), value)?;
                }
                if let Some(cwd) = &mut process.cwd {
                    fill.path("cwd", cwd)?;
                }
            }
            Endpoint::Remote(remote) => {
                let mut url = restore_references(remote.url.expose().as_str());
                fill.text("url", &mut url)?;
                remote.url = SafeUrl::parse(&url).map_err(SpecError::Url)?;
                for (name, value) in &mut remote.headers {
                    fill.secret(&format!("headers.{name}"), value)?;
                }
                if let Some(oauth) = &mut remote.oauth {
                    fill.oauth(oauth)?;
                }
            }
        }
        for root in &mut self.settings.roots {
            fill.path("roots", root)?;
        }
        Ok(self)
    }
}

struct Fill<'l>(&'l dyn Fn(&str) -> Option<String>);

impl Fill<'_> {
    fn text(&self, field: &str, text: &mut String) -> Result<(), MissingVariable> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some((before, from)) = rest.split_once("${") {
            // Without an end it is an ordinary text.
            let Some((name, after)) = from.split_once('}') else {
                break;
            };
            let value = (self.0)(name).ok_or_else(|| MissingVariable {
                name: name.to_owned(),
                field: field.to_owned(),
            })?;
            out = out + before + &value;
            rest = after;
        }
        *text = out + rest;
        Ok(())
    }

    fn secret(&self, field: &str, secret: &mut Secret<String>) -> Result<(), MissingVariable> {
        let mut text = secret.expose().clone();
        self.text(field, &mut text)?;
        *secret = Secret::new(text);
        Ok(())
    }

    fn path(&self, field: &str, path: &mut PathBuf) -> Result<(), MissingVariable> {
        // A path that is not Unicode has no reference in it.
        if let Some(text) = Path::to_str(path) {
            let mut text = text.to_owned();
            self.text(field, &mut text)?;
            *path = text.into();
        }
        Ok(())
    }

    fn oauth(&self, oauth: &mut OAuth) -> Result<(), MissingVariable> {
        for (field, secret) in [
            ("oauth.clientSecret", &mut oauth.client_secret),
            ("oauth.clientKey", &mut oauth.client_key),
        ] {
            if let Some(secret) = secret {
                self.secret(field, secret)?;
            }
        }
        if let Some(id) = &mut oauth.client_id {
            self.text("oauth.clientId", id)?;
        }
        Ok(())
    }
}
