//! The config format of each client: its key names, and the settings that it has no key for.

use serde_json::{Map, Value};
use switchboard_core::limits::parse_duration;
use switchboard_core::spec::TransportKind;

use super::codex;
use super::references::{Syntax, translate};
use crate::{Client, duration};

/// Unit in which a client writes durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Milliseconds,
    Seconds,
}

/// Key by which a client disables a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DisableKey {
    Enabled,
    Disabled,
    /// It has none.
    None,
}

/// A client's words for the transports; `None` where it writes no type.
#[derive(Debug, Clone, Copy, Default)]
struct Types {
    stdio: Option<&'static str>,
    http: Option<&'static str>,
    sse: Option<&'static str>,
}

/// The config format of a client.
pub(crate) struct Form {
    client: Client,
    /// The key under which servers are.
    pub(super) root: &'static str,
    syntax: Syntax,
    /// True if the client asks for `${input:ID}`.
    pub(super) asks: bool,
    types: Types,
    switch: DisableKey,
    /// Fields beyond those that every client has: our name and theirs.
    fields: &'static [(&'static str, &'static str)],
    unit: Unit,
}

impl Form {
    pub(crate) fn of(client: Client) -> Self {
        let plain = Self {
            client,
            root: "mcpServers",
            syntax: Syntax::None,
            asks: false,
            types: Types::default(),
            switch: DisableKey::None,
            fields: &[],
            unit: Unit::Seconds,
        };
        let only_sse = Types {
            sse: Some("sse"),
            ..Types::default()
        };
        let types = |stdio, http| Types {
            stdio: Some(stdio),
            http: Some(http),
            sse: Some("sse"),
        };
        match client {
            Client::ClaudeDesktop => plain,
            Client::ClaudeCode => Self {
                syntax: Syntax::Dollar,
                types: types("stdio", "http"),
                ..plain
            },
            Client::Cursor => Self {
                syntax: Syntax::Editor,
                types: only_sse,
                ..plain
            },
            Client::VsCode => Self {
                root: "servers",
                syntax: Syntax::Editor,
                asks: true,
                types: types("stdio", "http"),
                fields: &[("cwd", "cwd"), ("env_file", "envFile")],
                ..plain
            },
            Client::Codex => Self {
                root: "mcp_servers",
                switch: DisableKey::Enabled,
                fields: codex::FIELDS,
                ..plain
            },
            Client::Gemini => Self {
                syntax: Syntax::Shell,
                fields: &[
                    ("cwd", "cwd"),
                    ("timeout", "timeout"),
                    ("allowed_tools", "includeTools"),
                    ("blocked_tools", "excludeTools"),
                ],
                unit: Unit::Milliseconds,
                ..plain
            },
            Client::Windsurf => Self {
                types: only_sse,
                ..plain
            },
            Client::Cline => Self {
                types: types("stdio", "streamableHttp"),
                switch: DisableKey::Disabled,
                fields: &[("timeout", "timeout")],
                ..plain
            },
            Client::Roo => Self {
                types: types("stdio", "streamable-http"),
                switch: DisableKey::Disabled,
                fields: &[("timeout", "timeout")],
                ..plain
            },
            Client::OpenCode => Self {
                root: "mcp",
                syntax: Syntax::Braces,
                types: Types {
                    stdio: Some("local"),
                    http: Some("remote"),
                    sse: None,
                },
                switch: DisableKey::Enabled,
                fields: &[("timeout", "timeout")],
                unit: Unit::Milliseconds,
                ..plain
            },
            Client::Zed => Self {
                root: "context_servers",
                ..plain
            },
            // JSON is YAML, too.
            Client::Goose => Self {
                root: "extensions",
                types: types("stdio", "streamable_http"),
                switch: DisableKey::Enabled,
                fields: &[
                    ("env_passthrough", "env_keys"),
                    ("timeout", "timeout"),
                    ("allowed_tools", "available_tools"),
                ],
                ..plain
            },
            Client::Mcporter => Self {
                syntax: Syntax::Dollar,
                ..plain
            },
            Client::Nexus3 => Self {
                syntax: Syntax::Ours,
                types: only_sse,
                switch: DisableKey::Enabled,
                fields: &[
                    ("env_passthrough", "env_passthrough"),
                    ("cwd", "cwd"),
                    ("fail_if_no_tools", "fail_if_no_tools"),
                ],
                ..plain
            },
            // Our own format, and clients that are not known here yet: everything as it is.
            _ => Self {
                syntax: Syntax::Ours,
                types: types("stdio", "http"),
                switch: DisableKey::Enabled,
                ..plain
            },
        }
    }

    /// Converts an entry in our format to the client's.
    ///
    /// # Errors
    /// Returns the reason if the client cannot have such a server.
    pub(crate) fn write(
        &self,
        transport: TransportKind,
        mut ours: Map<String, Value>,
        warnings: &mut Vec<String>,
    ) -> Result<Map<String, Value>, String> {
        if self.client == Client::Switchboard {
            return Ok(ours);
        }
        // Order: the type and the switch first, then what every client has, then the rest field by field.
        ours.remove("type");
        let mut out = Map::new();
        self.kind(transport, &mut out, warnings)?;
        if ours.remove("enabled").is_some() {
            match self.switch {
                DisableKey::Enabled => out.insert("enabled".to_owned(), false.into()),
                DisableKey::Disabled => out.insert("disabled".to_owned(), true.into()),
                DisableKey::None => {
                    return Err(format!(
                        "it is switched off, which {} cannot be told",
                        self.client
                    ));
                }
            };
        }
        if self.client == Client::Codex {
            codex::prepare(&mut ours, &mut out, warnings);
        }
        // Command, URL and headers first; what is left are optional fields.
        self.endpoint(transport, &mut ours, &mut out);
        for (field, value) in ours {
            self.field(&field, value, &mut out, warnings);
        }
        for (key, value) in &mut out {
            // Placeholders last, because they occur in every field.
            translate(key, value, self.syntax, self.client, warnings);
        }
        Ok(out)
    }

    /// Writes the transport type.
    fn kind(
        &self,
        kind: TransportKind,
        out: &mut Map<String, Value>,
        warnings: &mut Vec<String>,
    ) -> Result<(), String> {
        let client = self.client;
        match (client, kind) {
            (
                Client::ClaudeDesktop,
                TransportKind::Http | TransportKind::StreamableHttp | TransportKind::Sse,
            ) => {
                return Err(format!("{client} has no servers with a URL in its file"));
            }
            (Client::Codex, TransportKind::Sse) => {
                return Err(format!("{client} has no servers of the type sse"));
            }
            (Client::OpenCode | Client::Zed | Client::Mcporter, TransportKind::Sse) => {
                warnings.push(format!("{client} cannot be told that the type is sse"));
            }
            _ => {}
        }
        let types = self.types;
        let word = match kind {
            TransportKind::Stdio => types.stdio,
            TransportKind::Sse if client != Client::OpenCode => types.sse,
            _ => types.http,
        };
        if let Some(word) = word {
            out.insert("type".to_owned(), word.into());
        }
        Ok(())
    }

    /// Writes the fields that every client has, under this client's names.
    fn endpoint(
        &self,
        kind: TransportKind,
        ours: &mut Map<String, Value>,
        out: &mut Map<String, Value>,
    ) {
        let url = match (self.client, kind) {
            (Client::Gemini, TransportKind::Http | TransportKind::StreamableHttp) => "httpUrl",
            (Client::Windsurf, _) => "serverUrl",
            (Client::Goose, _) => "uri",
            (Client::Mcporter, _) => "baseUrl",
            _ => "url",
        };
        // OpenCode writes the command and its arguments as one list.
        let is_list = self.client == Client::OpenCode;
        if is_list && let Some(command) = ours.remove("command") {
            let args = ours.remove("args");
            let args = args.and_then(|args| args.as_array().cloned());
            let whole = std::iter::once(command).chain(args.unwrap_or_default());
            out.insert("command".to_owned(), whole.collect());
        }
        let (command, env) = match self.client {
            Client::OpenCode => ("command", "environment"),
            Client::Goose => ("cmd", "envs"),
            _ => ("command", "env"),
        };
        let headers = match self.client {
            Client::Codex => "http_headers",
            _ => "headers",
        };
        for (field, key) in [
            ("command", command),
            ("args", "args"),
            ("env", env),
            ("url", url),
            ("headers", headers),
        ] {
            if let Some(value) = ours.remove(field) {
                out.insert(key.to_owned(), value);
            }
        }
    }

    fn field(
        &self,
        field: &str,
        value: Value,
        out: &mut Map<String, Value>,
        warnings: &mut Vec<String>,
    ) {
        let key = self.fields.iter().find(|(ours, _)| *ours == field);
        let Some((_, key)) = key else {
            warnings.push(format!("{} cannot be told `{field}`", self.client));
            return;
        };
        let value = match field {
            "timeout" | "connect_timeout" | "execution_timeout" => match self.time(&value) {
                Some((time, true)) => time,
                Some((time, false)) => {
                    warnings.push(format!("`{key}` is rounded up to {time}"));
                    time
                }
                None => {
                    warnings.push(format!("`{field}` is no time, and left out"));
                    return;
                }
            },
            _ => value,
        };
        // Other clients may match names exactly.
        let is_pattern =
            |value: &Value| value.as_str().is_some_and(|text| text.contains(['*', '?']));
        if matches!(field, "allowed_tools" | "blocked_tools")
            && value
                .as_array()
                .is_some_and(|names| names.iter().any(is_pattern))
        {
            warnings.push(format!(
                "`{key}` has patterns in it, which {} may take for names",
                self.client
            ));
        }
        out.insert((*key).to_owned(), value);
    }

    /// Converts a duration to the client's unit, rounded up. The bool is false if it was rounded.
    fn time(&self, value: &Value) -> Option<(Value, bool)> {
        let time = match value {
            Value::String(text) => parse_duration(text).ok(),
            Value::Number(seconds) => seconds.as_f64().and_then(duration::of_seconds),
            _ => None,
        };
        let time = time.filter(|time| !time.is_zero())?;
        let (whole, rest) = match self.unit {
            Unit::Milliseconds => (time.as_millis(), time.subsec_nanos() % 1_000_000),
            Unit::Seconds => (u128::from(time.as_secs()), time.subsec_nanos()),
        };
        let whole = u64::try_from(whole).ok()?;
        Some((whole.saturating_add(u64::from(rest > 0)).into(), rest == 0))
    }
}
