//! Writes servers as entries of config files.
//!
//! All entries have one shape: `type`, `command` with `args`, `url` with `headers`, and those settings
//! that differ from the default. A filter is written as its lists. Suggestions of another client
//! ([`Settings::suggested_tools`](crate::spec::Settings::suggested_tools)) are not written.

mod args;
mod names;
mod oauth;
mod settings;
#[cfg(test)]
mod tests;
mod url;
mod values;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use crate::secret::Secret;
use crate::spec::{Endpoint, Process, Remote, ServerName, ServerSpec};
use serde_json::{Map, Value, json};

use self::names::Names;
pub(super) use self::url::restore_references;
use self::values::ValueWriter;

/// The way to write values that may be secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Secrets {
    /// As references to variables, `${GITHUB_TOKEN}`, listed in [`Written::variables`]: for files that others
    /// may see. That applies to every value of `env` and `headers`, to the parts that a
    /// [`SafeUrl`](crate::secret::SafeUrl) masks, and to arguments that
    /// [`mask_args`](crate::secret::mask_args) masks. It also applies to every other value that
    /// contains `${`, because the value of a variable is not expanded again.
    #[default]
    AsVariables,
    /// In clear. A value that contains `${` is refused: it would be read back as a reference.
    InClear,
    /// As typed by the user: `${VAR}` is meant as a reference and stays one.
    AsTyped,
}

/// A server, or a whole file, as JSON.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Written {
    /// The content of the file. With [`Secrets::InClear`] it may contain secrets.
    pub value: Value,
    /// The variables that it refers to, with their required values, in order of use.
    pub variables: Vec<(String, Secret<String>)>,
}

/// A server that cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A value would be read back as something else.
    #[error(
        "{field} of server {:?} has \"${{\" in it, which would be read as a variable: \
         write it as a variable that holds it", .server.as_str()
    )]
    Reference {
        /// The server.
        server: ServerName,
        /// The field.
        field: String,
    },
    /// A path is not Unicode, which JSON requires.
    #[error("{field} of server {:?} is not UTF-8", .server.as_str())]
    NotText {
        /// The server.
        server: ServerName,
        /// The field.
        field: String,
    },
    /// Two servers or headers have the same name.
    #[error("{name:?} is there twice")]
    Twice {
        /// The name.
        name: String,
    },
}

/// Writes one server as an entry.
///
/// ```
/// use serde_json::json;
/// use switchboard_core::spec::write::{Secrets, entry};
/// use switchboard_core::spec::ServerSpec;
///
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let wiki = ServerSpec::http("wiki", "https://example.com/mcp")?.header("Authorization", "Bearer x");
/// let written = entry(&wiki, Secrets::AsVariables)?;
/// assert_eq!(
///     written.value,
///     json!({
///         "type": "http",
///         "url": "https://example.com/mcp",
///         "headers": {"Authorization": "Bearer ${WIKI_TOKEN}"}
///     })
/// );
/// assert_eq!(written.variables, [("WIKI_TOKEN".to_owned(), "x".into())]);
/// # Ok(())
/// # }
/// # example().unwrap();
/// ```
///
/// # Errors
/// Fails if a value cannot be written so that it reads back the same.
pub fn entry(spec: &ServerSpec, secrets: Secrets) -> Result<Written, WriteError> {
    let mut names = Names::default();
    let value = one(spec, secrets, &mut names)?;
    Ok(Written {
        value,
        variables: names.into_variables(),
    })
}

/// Writes a whole file. Servers that need the same value under the same name share a variable.
///
/// # Errors
/// Fails like [`entry`], and if two servers have the same name.
pub fn document<'s>(
    specs: impl IntoIterator<Item = &'s ServerSpec>,
    secrets: Secrets,
) -> Result<Written, WriteError> {
    let mut names = Names::default();
    let mut servers = Map::new();
    for spec in specs {
        let value = one(spec, secrets, &mut names)?;
        if servers.insert(spec.name.to_string(), value).is_some() {
            return Err(WriteError::Twice {
                name: spec.name.to_string(),
            });
        }
    }
    let key = "mcpServers";
    Ok(Written {
        value: json!({ key: servers }),
        variables: names.into_variables(),
    })
}

fn one(spec: &ServerSpec, secrets: Secrets, names: &mut Names) -> Result<Value, WriteError> {
    let mut values = ValueWriter::new(&spec.name, secrets, names);
    let mut out = Map::new();
    out.insert("type".into(), spec.transport().to_string().into());
    match &spec.endpoint {
        Endpoint::Process(process) => write_process(process, &mut values, &mut out)?,
        Endpoint::Remote(remote) => write_remote(remote, &mut values, &mut out)?,
    }
    if !spec.is_enabled {
        out.insert("disabled".into(), true.into());
    }
    settings::write(&spec.settings, &mut values, &mut out)?;
    Ok(out.into())
}

fn write_process(
    process: &Process,
    values: &mut ValueWriter<'_>,
    out: &mut Map<String, Value>,
) -> Result<(), WriteError> {
    let command = values.plain("command", &process.command)?;
    out.insert("command".into(), command);
    if !process.args.is_empty() {
        let args = args::write(&process.args, values)?;
        out.insert("args".into(), args);
    }
    if !process.env.is_empty() {
        let mut env = Map::new();
        for (name, value) in &process.env {
            let value = values.secret(&format!("env.{name}"), name, value.expose())?;
            env.insert(name.clone(), value.into());
        }
        out.insert("env".into(), env.into());
    }
    if !process.env_passthrough.is_empty() {
        let names = values.list("env_passthrough", &process.env_passthrough)?;
        out.insert("env_passthrough".into(), names);
    }
    if let Some(cwd) = &process.cwd {
        let cwd = values.path("cwd", cwd)?;
        out.insert("cwd".into(), cwd);
    }
    Ok(())
}

fn write_remote(
    remote: &Remote,
    values: &mut ValueWriter<'_>,
    out: &mut Map<String, Value>,
) -> Result<(), WriteError> {
    out.insert("url".into(), url::write(&remote.url, values)?.into());
    let mut headers = Map::new();
    let mut seen = BTreeSet::new();
    for (name, value) in &remote.headers {
        // Header names ignore case, but keys of an object do not.
        if !seen.insert(name.to_ascii_lowercase()) {
            return Err(WriteError::Twice { name: name.clone() });
        }
        headers.insert(name.clone(), values.header(name, value.expose())?.into());
    }
    if !headers.is_empty() {
        out.insert("headers".into(), headers.into());
    }
    if !remote.streamable {
        out.insert("streamable".into(), false.into());
    }
    if remote.strict_session_id {
        out.insert("strict_session_id".into(), true.into());
    }
    if remote.override_headers {
        out.insert("override_headers".into(), true.into());
    }
    if !remote.follow_redirects {
        out.insert("follow_redirects".into(), false.into());
    }
    if let Some(oauth) = &remote.oauth {
        out.insert("oauth".into(), oauth::write(oauth, values)?);
    }
    Ok(())
}

// `Debug` by hand: the value may contain secrets in clear.
impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Written")
            .field("variables", &self.variables)
            .finish_non_exhaustive()
    }
}

/// Converts a path to text.
fn text<'p>(path: &'p Path, server: &ServerName, field: &str) -> Result<&'p str, WriteError> {
    path.to_str().ok_or_else(|| WriteError::NotText {
        server: server.clone(),
        field: field.to_owned(),
    })
}
