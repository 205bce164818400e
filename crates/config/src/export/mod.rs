//! Converts servers to another client's config format.
//!
//! [`entries`] takes servers as config files describe them, [`specs`] takes servers that a program describes.
//! Nothing is expanded, looked up or run: a reference such as `${VAR}` is written in the syntax of the
//! client. A setting that the client has no key for is a warning, and so is a secret in clear.
//!
//! `client` has the format of each client, `references` its syntax of placeholders, `codex` and `toml` the
//! peculiarities of Codex.

mod client;
mod codex;
mod references;
#[cfg(test)]
mod tests;
pub(crate) mod toml;

use std::fmt;
use std::path::Path;

use serde_json::{Map, Value, json};
use switchboard_core::secret::Secret;
use switchboard_core::spec::{Layer, ServerName, ServerSpec};
use switchboard_core::text::write_json_safe;

pub(crate) use self::client::Form;
use crate::canonical::secrets_in_clear;
use crate::edit::{self, Secrets, WriteError};
use crate::import::convert;
use crate::secret_variables::secrets_as_variables;
use crate::{Client, Config, Entry, Input, Reference};

/// Servers in another client's format.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Exported {
    /// The content of the file: TOML for [`Client::Codex`], JSON for all others.
    pub text: String,
    /// The servers in it.
    pub servers: Vec<ExportedServer>,
    /// Servers that the client cannot have.
    pub left_out: Vec<LeftOutServer>,
    /// The variables that replace secrets, with their values.
    pub variables: Vec<(String, Secret<String>)>,
}

/// A server that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportedServer {
    /// Its name.
    pub name: ServerName,
    /// Settings that were lost or that the client may read differently, and secrets in clear. They name no
    /// values.
    pub warnings: Vec<String>,
}

/// A server that the client cannot have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOutServer {
    /// Its name.
    pub name: ServerName,
    /// The reason.
    pub reason: String,
}

/// Converts the servers of config files to a file of another client. Relative paths become absolute.
///
/// With [`Secrets::AsVariables`] a secret is written as a reference such as `${GITHUB_TOKEN}`, and is in
/// [`Exported::variables`].
///
/// ```
/// use std::path::Path;
/// use switchboard_config::edit::Secrets;
/// use switchboard_config::{Client, Config, export};
/// use switchboard_core::spec::Layer;
///
/// let text = r#"{"mcpServers": {"wiki": {
///     "url": "https://example.com/mcp",
///     "headers": {"Authorization": "Bearer ${WIKI_TOKEN}"},
///     "timeout": "30s"
/// }}}"#;
/// let config = Config::read(text, Path::new("/project/mcp.json"), Layer::User);
/// let exported = export::entries(config.entries(), Client::VsCode, Secrets::AsVariables);
/// assert_eq!(
///     exported.text,
///     r#"{
///   "servers": {
///     "wiki": {
///       "type": "http",
///       "url": "https://example.com/mcp",
///       "headers": {
///         "Authorization": "Bearer ${env:WIKI_TOKEN}"
///       }
///     }
///   }
/// }
/// "#
/// );
/// assert_eq!(exported.servers[0].warnings, ["vscode cannot be told `timeout`"]);
/// ```
pub fn entries<'e>(
    entries: impl IntoIterator<Item = &'e Entry>,
    client: Client,
    secrets: Secrets,
) -> Exported {
    let form = Form::of(client);
    let mut servers = Map::new();
    let mut inputs: Vec<Value> = Vec::new();
    let mut out = Exported {
        text: String::new(),
        servers: Vec::new(),
        left_out: Vec::new(),
        variables: Vec::new(),
    };
    for entry in entries {
        let name = entry.name().clone();
        let mut warnings = Vec::new();
        // An entry that the client cannot have does not keep the others from being exported.
        // The file may be anywhere, so relative paths are made absolute.
        let mut ours = convert(entry, None);
        let variables = match secrets {
            Secrets::AsVariables => secrets_as_variables(&name, &mut ours),
            _ => Vec::new(),
        };
        let clear = secrets_in_clear(&ours);
        match form.write(entry.transport(), ours, &mut warnings) {
            Ok(value) => {
                servers.insert(name.to_string(), value.into());
                // Inputs are shared by all servers of the file.
                questions(entry, &form, &mut inputs);
                warnings.extend(
                    clear
                        .into_iter()
                        .map(|what| format!("{what} looks like a secret and is written in clear")),
                );
                warnings.extend(variables.iter().map(|(variable, _)| {
                    format!("a secret is written as `${{{variable}}}`: set {variable} where {client} runs")
                }));
                out.variables.extend(variables);
                out.servers.push(ExportedServer { name, warnings });
            }
            Err(reason) => out.left_out.push(LeftOutServer { name, reason }),
        }
    }
    out.text = match client {
        Client::Codex => toml::document(form.root, &servers),
        _ => {
            let mut document = Map::new();
            document.insert(form.root.to_owned(), servers.into());
            if !inputs.is_empty() {
                document.insert("inputs".to_owned(), inputs.into());
            }
            let text = serde_json::to_string_pretty(&document).unwrap_or_default();
            format!("{}\n", write_json_safe(&text))
        }
    };
    out
}

/// Converts servers that a program describes to a file of another client. Their secrets are written as
/// references to variables, as by [`edit::document`] with [`Secrets::AsVariables`].
///
/// ```
/// use switchboard_config::{Client, export};
/// use switchboard_core::spec::ServerSpec;
///
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let wiki = ServerSpec::http("wiki", "https://example.com/mcp")?.header("Authorization", "Bearer x");
/// let exported = export::specs([&wiki], Client::Codex)?;
/// assert_eq!(
///     exported.text,
///     "[mcp_servers.wiki]\nbearer_token_env_var = \"WIKI_TOKEN\"\nurl = \"https://example.com/mcp\"\n"
/// );
/// assert_eq!(exported.variables, [("WIKI_TOKEN".to_owned(), "x".into())]);
/// # Ok(())
/// # }
/// # example().unwrap();
/// ```
///
/// # Errors
/// Fails if a server cannot be written so that it reads back the same, and if two have the same name.
pub fn specs<'s>(
    specs: impl IntoIterator<Item = &'s ServerSpec>,
    client: Client,
) -> Result<Exported, WriteError> {
    let written = edit::document(specs, Secrets::AsVariables)?;
    // A relative name: relative paths of a program have no folder of a file to begin at.
    let file = Path::new("mcp.json");
    let config = Config::read(&written.value.to_string(), file, Layer::Program);
    let mut exported = entries(config.entries(), client, Secrets::InClear);
    exported.variables = written.variables;
    // A program can describe servers that no file can, such as one with a timeout of a year.
    let refused = config
        .problems()
        .iter()
        .filter(|problem| problem.is_error());
    exported.left_out.extend(refused.filter_map(|problem| {
        let name = ServerName::parse(problem.server()?).ok()?;
        let reason = problem.message().to_owned();
        Some(LeftOutServer { name, reason })
    }));
    Ok(exported)
}

// `Debug` by hand: the text may contain secrets in clear.
impl fmt::Debug for Exported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exported")
            .field("servers", &self.servers)
            .field("left_out", &self.left_out)
            .field("variables", &self.variables)
            .finish_non_exhaustive()
    }
}

/// Adds the inputs that an entry refers to, for a client that asks for them.
fn questions(entry: &Entry, form: &Form, known: &mut Vec<Value>) {
    if !form.asks {
        return;
    }
    for reference in entry.references() {
        let Reference::Input(id) = reference else {
            continue;
        };
        if known.iter().any(|known| known["id"] == **id) {
            continue;
        }
        let described = entry.inputs().iter().find(|input| input.id == *id);
        known.push(question(id, described));
    }
}

fn question(id: &str, input: Option<&Input>) -> Value {
    let Some(input) = input else {
        // Nothing is known of it, so it may be a secret.
        return json!({"type": "promptString", "id": id, "description": id, "password": true});
    };
    let description = input.description.as_deref().unwrap_or(id);
    let mut out = if input.options.is_empty() {
        json!({"type": "promptString", "id": id, "description": description})
    } else {
        json!({"type": "pickString", "id": id, "description": description, "options": input.options})
    };
    if let Some(members) = out.as_object_mut() {
        if input.password {
            members.insert("password".to_owned(), true.into());
        }
        if let Some(default) = &input.default {
            members.insert("default".to_owned(), default.as_str().into());
        }
    }
    out
}
