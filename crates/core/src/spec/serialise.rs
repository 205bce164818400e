//! Descriptions as serde reads and writes them: an entry of a config file, with the name beside it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::write::{self, Secrets};
use super::{
    Endpoint, OAuth, OAuthResource, Origin, Process, Remote, ServerName, ServerSpec, Settings,
    TransportKind,
};
use crate::limits::{Deadline, parse_duration};
use crate::secret::{SafeUrl, Secret};

/// A description that is serialised with its secrets in clear: see [`ServerSpec::in_clear`].
#[derive(Debug, Clone, Copy)]
pub struct InClear<'s>(&'s ServerSpec);

impl ServerSpec {
    /// Serialises the description with its secrets in clear, which is a file that nobody else may see.
    ///
    /// ```
    /// use switchboard_core::spec::ServerSpec;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let spec = ServerSpec::stdio("hub", "hub")?.env("HUB_TOKEN", "s3cret");
    /// assert!(serde_json::to_string(&spec)?.contains("${HUB_TOKEN}"));
    /// assert!(serde_json::to_string(&spec.in_clear())?.contains("s3cret"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn in_clear(&self) -> InClear<'_> {
        InClear(self)
    }

    /// The variables that the serialised description refers to, with the values that they stand for. Empty if
    /// the description cannot be written.
    pub fn secret_variables(&self) -> Vec<(String, Secret<String>)> {
        let written = write::entry(self, Secrets::AsVariables);
        written.map(|written| written.variables).unwrap_or_default()
    }

    fn serialise<S: Serializer>(&self, secrets: Secrets, to: S) -> Result<S::Ok, S::Error> {
        let written = write::entry(self, secrets).map_err(S::Error::custom)?;
        let mut members = Map::new();
        members.insert("name".to_owned(), self.name.as_str().into());
        if let Value::Object(entry) = written.value {
            members.extend(entry);
        }
        members.serialize(to)
    }
}

impl Serialize for ServerSpec {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.serialise(Secrets::AsVariables, to)
    }
}

impl Serialize for InClear<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialise(Secrets::InClear, to)
    }
}

impl<'de> Deserialize<'de> for ServerSpec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let document = SpecDocument::deserialize(from)?;
        document.into_spec().map_err(D::Error::custom)
    }
}

/// The members of a serialised description. An unknown one is an error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpecDocument {
    name: String,
    #[serde(rename = "type")]
    transport: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, Secret<String>>,
    #[serde(default)]
    env_passthrough: Vec<String>,
    cwd: Option<PathBuf>,
    url: Option<String>,
    #[serde(default)]
    headers: Map<String, Value>,
    streamable: Option<bool>,
    #[serde(default)]
    strict_session_id: bool,
    #[serde(default)]
    override_headers: bool,
    follow_redirects: Option<bool>,
    oauth: Option<OAuthDocument>,
    #[serde(default)]
    disabled: bool,
    connect_timeout: Option<String>,
    discovery_timeout: Option<String>,
    execution_timeout: Option<String>,
    max_retries: Option<u32>,
    retry_backoff: Option<String>,
    message_bytes: Option<usize>,
    cache_tools_list: Option<bool>,
    reconnect: Option<bool>,
    max_reconnect_attempts: Option<u32>,
    fail_if_no_tools: Option<bool>,
    clean_arguments: Option<bool>,
    sampling: Option<bool>,
    protocol: Option<String>,
    name_style: Option<String>,
    include_tools: Option<Vec<String>>,
    #[serde(default)]
    exclude_tools: Vec<String>,
    #[serde(default)]
    idempotent_tools: Vec<String>,
    #[serde(default)]
    roots: Vec<PathBuf>,
}

/// The `oauth` block.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct OAuthDocument {
    client_id: Option<String>,
    client_secret: Option<Secret<String>>,
    client_key: Option<Secret<String>>,
    client_metadata_url: Option<String>,
    scopes: Option<Vec<String>>,
    callback_port: Option<u16>,
    redirect_uri: Option<String>,
    resource: Option<String>,
    issuer: Option<String>,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    device_authorization_endpoint: Option<String>,
    grant: Option<String>,
    assertion_file: Option<PathBuf>,
}

impl SpecDocument {
    fn into_spec(mut self) -> Result<ServerSpec, String> {
        let name = ServerName::parse(&self.name).map_err(|error| error.to_string())?;
        let settings = self.settings()?;
        let is_enabled = !self.disabled;
        let endpoint = match (self.command.take(), self.url.take()) {
            (Some(command), None) => self.process(command)?,
            (None, Some(url)) => self.remote(&url)?,
            (Some(_), Some(_)) => return Err("both `command` and `url` are there".to_owned()),
            (None, None) => return Err("neither `command` nor `url` is there".to_owned()),
        };
        Ok(ServerSpec {
            is_enabled,
            settings,
            ..ServerSpec::new(name, endpoint, Origin::program())
        })
    }

    fn transport(&self) -> Result<Option<TransportKind>, String> {
        let kind = self.transport.as_deref().map(str::parse).transpose();
        kind.map_err(|error: super::ParseTransportKindError| error.to_string())
    }

    fn process(self, command: String) -> Result<Endpoint, String> {
        match self.transport()? {
            None | Some(TransportKind::Stdio) => {}
            Some(other) => return Err(format!("`type` is {other}, and there is a command")),
        }
        if !self.headers.is_empty() || self.oauth.is_some() {
            return Err("`headers` and `oauth` belong to a server at a URL".to_owned());
        }
        Ok(Endpoint::Process(Process {
            args: self.args,
            env: self.env,
            env_passthrough: self.env_passthrough,
            cwd: self.cwd,
            ..Process::new(command)
        }))
    }

    fn remote(self, url: &str) -> Result<Endpoint, String> {
        let transport = match self.transport()? {
            None => TransportKind::Http,
            Some(TransportKind::Stdio) => {
                return Err("`type` is stdio, and there is a URL".to_owned());
            }
            Some(other) => other,
        };
        if !self.args.is_empty() || !self.env.is_empty() || self.cwd.is_some() {
            return Err("`args`, `env` and `cwd` belong to a server with a command".to_owned());
        }
        // Not quoted: it may contain a secret.
        let url = SafeUrl::parse(url).map_err(|_| "`url` is not a URL".to_owned())?;
        let headers = self.headers.into_iter().map(|(name, value)| match value {
            Value::String(text) => Ok((name, Secret::new(text))),
            _ => Err(format!("the header `{name}` is not a text")),
        });
        let headers = headers.collect::<Result<_, _>>()?;
        let oauth = self.oauth.map(OAuthDocument::into_oauth).transpose()?;
        let usual = Remote::new(url, transport);
        Ok(Endpoint::Remote(Remote {
            headers,
            streamable: self.streamable.unwrap_or(usual.streamable),
            strict_session_id: self.strict_session_id,
            override_headers: self.override_headers,
            follow_redirects: self.follow_redirects.unwrap_or(usual.follow_redirects),
            oauth: oauth.map(Box::new),
            ..usual
        }))
    }

    fn settings(&mut self) -> Result<Settings, String> {
        let mut out = Settings::default();
        for (field, text, limit) in [
            (
                "connect_timeout",
                &self.connect_timeout,
                &mut out.timeouts.connect,
            ),
            (
                "discovery_timeout",
                &self.discovery_timeout,
                &mut out.timeouts.discovery,
            ),
            (
                "execution_timeout",
                &self.execution_timeout,
                &mut out.timeouts.execution,
            ),
        ] {
            if let Some(time) = duration(field, text.as_deref())? {
                // As in a config file: a longer idle time implies at least that much in total.
                let total = limit.total.max(time);
                *limit = Deadline { idle: time, total };
            }
        }
        out.max_retries = self.max_retries;
        out.message_bytes = self.message_bytes;
        out.retry_backoff = duration("retry_backoff", self.retry_backoff.as_deref())?;
        for (value, setting) in [
            (self.cache_tools_list, &mut out.cache_tools_list),
            (self.reconnect, &mut out.reconnect),
            (self.fail_if_no_tools, &mut out.fail_if_no_tools),
            (self.clean_arguments, &mut out.clean_arguments),
            (self.sampling, &mut out.sampling),
        ] {
            *setting = value.unwrap_or(*setting);
        }
        out.max_reconnect_attempts = self
            .max_reconnect_attempts
            .unwrap_or(out.max_reconnect_attempts);
        if let Some(text) = &self.protocol {
            let protocol: Result<_, super::ParseProtocolError> = text.parse();
            out.protocol = protocol.map_err(|error| error.to_string())?;
        }
        if let Some(text) = &self.name_style {
            let style: Result<_, super::ParseNameStyleError> = text.parse();
            out.name_style = Some(style.map_err(|error| error.to_string())?);
        }
        out.tools.allow = self.include_tools.take();
        out.tools.block = std::mem::take(&mut self.exclude_tools);
        out.idempotent_tools = std::mem::take(&mut self.idempotent_tools);
        out.roots = std::mem::take(&mut self.roots);
        Ok(out)
    }
}

impl OAuthDocument {
    fn into_oauth(self) -> Result<OAuth, String> {
        let grant = self.grant.as_deref().map(str::parse).transpose();
        let grant = grant.map_err(|error: super::ParseOAuthGrantError| error.to_string())?;
        Ok(OAuth {
            client_id: self.client_id,
            client_secret: self.client_secret,
            client_key: self.client_key,
            client_metadata_url: self.client_metadata_url,
            scopes: self.scopes,
            callback_port: self.callback_port,
            redirect_uri: self.redirect_uri,
            resource: match self.resource {
                None => OAuthResource::Discovered,
                Some(text) if text == "omit" => OAuthResource::Omit,
                Some(text) => OAuthResource::Value(text),
            },
            issuer: self.issuer,
            authorization_endpoint: self.authorization_endpoint,
            token_endpoint: self.token_endpoint,
            device_authorization_endpoint: self.device_authorization_endpoint,
            grant: grant.unwrap_or_default(),
            assertion_file: self.assertion_file,
        })
    }
}

fn duration(field: &str, text: Option<&str>) -> Result<Option<Duration>, String> {
    let time = text.map(parse_duration).transpose();
    time.map_err(|error| format!("`{field}`: {error}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::spec::{NameStyle, Protocol};

    /// Descriptions with everything that can be written.
    fn all() -> [ServerSpec; 3] {
        let mut process = ServerSpec::stdio("git-hub", "npx")
            .unwrap()
            .args(["-y", "hub", "--token", "s3cret-1"])
            .env("GITHUB_TOKEN", "s3cret-2")
            .env_passthrough(["LANG"])
            .cwd("/srv")
            .timeout(Duration::from_secs(90))
            .block_tools(["delete_*"]);
        process.is_enabled = false;
        process.settings.protocol = Protocol::Legacy;
        process.settings.name_style = Some(NameStyle::Single);
        process.settings.max_retries = Some(7);
        process.settings.message_bytes = Some(65_536);
        process.settings.retry_backoff = Some(Duration::from_millis(1500));
        process.settings.reconnect = false;
        process.settings.tools.allow = Some(vec!["get_*".to_owned()]);
        process.settings.roots = vec!["/srv/a".into()];
        let mut remote =
            ServerSpec::http("wiki", "https://me:s3cret-3@example.com/mcp?key=s3cret-4")
                .unwrap()
                .header("X-Api-Key", "s3cret-5")
                .header("Accept-Language", "de");
        if let Endpoint::Remote(remote) = &mut remote.endpoint {
            remote.strict_session_id = true;
            remote.override_headers = true;
            remote.follow_redirects = false;
            remote.oauth = Some(Box::new(OAuth {
                client_secret: Some("s3cret-6".into()),
                resource: OAuthResource::Omit,
                ..OAuth::default()
            }));
        }
        let old = ServerSpec::sse("old", "https://example.com/sse").unwrap();
        [process, remote, old]
    }

    #[test]
    fn a_description_is_read_back_as_it_was_written() {
        for spec in all() {
            let text = serde_json::to_string(&spec).unwrap();
            assert!(!text.contains("s3cret"), "{text}");
            let variables = spec.secret_variables();
            for (name, _) in &variables {
                assert!(text.contains(&format!("${{{name}}}")), "{name}: {text}");
            }
            let read: ServerSpec = serde_json::from_str(&text).unwrap();
            let filled = read.fill_variables(|name| {
                let found = variables.iter().find(|(other, _)| other == name);
                found.map(|(_, value)| value.expose().clone())
            });
            assert_eq!(filled.unwrap(), spec);
            let clear = serde_json::to_string(&spec.in_clear()).unwrap();
            assert_eq!(serde_json::from_str::<ServerSpec>(&clear).unwrap(), spec);
        }
        // Lists of them too, and with the secrets only on request.
        let text = serde_json::to_string(&all()).unwrap();
        let read: Vec<ServerSpec> = serde_json::from_str(&text).unwrap();
        assert_eq!(read.len(), 3);
        let clear = serde_json::to_string(&all()[0].in_clear()).unwrap();
        assert!(
            clear.contains("s3cret-1") && clear.contains("s3cret-2"),
            "{clear}"
        );
    }

    #[test]
    fn a_description_that_is_none_is_refused_and_shows_no_value() {
        for (value, part) in [
            (json!({"name": "a"}), "neither `command` nor `url`"),
            (
                json!({"name": "a", "command": "x", "url": "http://y"}),
                "both",
            ),
            (json!({"name": "a b", "command": "x"}), "a b"),
            (json!({"name": "a", "command": "x", "comand": 1}), "comand"),
            (
                json!({"name": "a", "command": "x", "type": "http"}),
                "there is a command",
            ),
            (json!({"name": "a", "url": "s3cret"}), "not a URL"),
            (
                json!({"name": "a", "url": "http://y", "args": ["s3cret"]}),
                "a command",
            ),
            (
                json!({"name": "a", "command": "x", "connect_timeout": "5"}),
                "connect_timeout",
            ),
        ] {
            let error = serde_json::from_value::<ServerSpec>(value).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }
}
