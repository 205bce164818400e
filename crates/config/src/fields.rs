//! The fields of an entry, with all their names in other clients.

use super::sections;

/// A field of an entry.
pub(super) struct Field {
    /// The name that we write.
    pub(super) name: &'static str,
    /// Names in other clients; `camelCase` forms of all names are understood without listing them.
    aliases: &'static [&'static str],
    /// The kind of server that it applies to.
    pub(super) of: Of,
    shown: Visibility,
}

/// The kind of server that a field applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Any,
    Process,
    Remote,
}

/// The values of a field that an excerpt may show.
#[derive(Debug, Clone, Copy)]
pub(super) enum Visibility {
    Never,
    Words(&'static [&'static str]),
    Number,
    Time,
    Size,
}

const TRANSPORTS: &[&str] = &[
    "stdio",
    "http",
    "sse",
    "streamable-http",
    "streamable_http",
    "streamableHttp",
    "local",
    "remote",
];
const PROTOCOLS: &[&str] = &["auto", "legacy", "2026-07-28"];
const STYLES: &[&str] = &["mcp__server__tool", "mcp_server_tool"];

const fn field(
    name: &'static str,
    aliases: &'static [&'static str],
    of: Of,
    shown: Visibility,
) -> Field {
    Field {
        name,
        aliases,
        of,
        shown,
    }
}

/// All fields, in the order of the documentation.
pub(super) const FIELDS: &[Field] = &[
    field(
        "type",
        &["transport"],
        Of::Any,
        Visibility::Words(TRANSPORTS),
    ),
    field("command", &[], Of::Process, Visibility::Never),
    field("args", &[], Of::Process, Visibility::Never),
    field("env", &["environment"], Of::Process, Visibility::Never),
    field(
        "env_passthrough",
        &["env_vars"],
        Of::Process,
        Visibility::Never,
    ),
    field("env_file", &[], Of::Process, Visibility::Never),
    field("cwd", &[], Of::Process, Visibility::Never),
    field("url", &[], Of::Remote, Visibility::Never),
    field("headers", &["http_headers"], Of::Remote, Visibility::Never),
    field("streamable", &[], Of::Remote, Visibility::Never),
    field("strict_session_id", &[], Of::Remote, Visibility::Never),
    field("override_headers", &[], Of::Remote, Visibility::Never),
    field("follow_redirects", &[], Of::Remote, Visibility::Never),
    field("oauth", &[], Of::Remote, Visibility::Never),
    field("enabled", &[], Of::Any, Visibility::Never),
    field("fail_if_no_tools", &[], Of::Any, Visibility::Never),
    field("timeout", &[], Of::Any, Visibility::Time),
    field(
        "connect_timeout",
        &[
            "connection_timeout",
            "startup_timeout",
            "startup_timeout_sec",
        ],
        Of::Any,
        Visibility::Time,
    ),
    field("discovery_timeout", &[], Of::Any, Visibility::Time),
    field(
        "execution_timeout",
        &["tool_timeout", "tool_timeout_sec"],
        Of::Any,
        Visibility::Time,
    ),
    field(
        "max_retries",
        &["http_max_retries"],
        Of::Remote,
        Visibility::Number,
    ),
    field(
        "retry_backoff",
        &["http_retry_backoff"],
        Of::Remote,
        Visibility::Time,
    ),
    field(
        "message_bytes",
        &["max_message_bytes"],
        Of::Any,
        Visibility::Size,
    ),
    field("cache_tools_list", &[], Of::Any, Visibility::Never),
    field("reconnect", &[], Of::Any, Visibility::Never),
    field("max_reconnect_attempts", &[], Of::Any, Visibility::Number),
    field(
        "allowed_tools",
        &["allow", "include_tools", "enabled_tools", "tools"],
        Of::Any,
        Visibility::Never,
    ),
    field(
        "blocked_tools",
        &["block", "exclude_tools", "disabled_tools"],
        Of::Any,
        Visibility::Never,
    ),
    field(
        "always_allow",
        &["auto_approve"],
        Of::Any,
        Visibility::Never,
    ),
    field("protocol", &[], Of::Any, Visibility::Words(PROTOCOLS)),
    field("name_style", &[], Of::Any, Visibility::Words(STYLES)),
    field("clean_arguments", &[], Of::Any, Visibility::Never),
    field("idempotent_tools", &[], Of::Any, Visibility::Never),
    field("roots", &[], Of::Any, Visibility::Never),
    field("sampling", &[], Of::Any, Visibility::Never),
];

/// Further keys that are understood, and converted to fields before those are read.
pub(super) const CONVERTED: &[&str] = &[
    "disabled",
    "httpUrl",
    "serverUrl",
    "bearer_token_env_var",
    "env_http_headers",
    "trust",
    "startup_timeout_ms",
    "tool_timeout_ms",
    "auth",
    "scopes",
    "oauth_resource",
];

/// Keys that do not affect a server, and are ignored without a warning.
pub(super) const REMARKS: &[&str] = &[
    "name",
    "description",
    "$schema",
    "gallery",
    "version",
    "source",
];

/// Finds the field that a key names.
pub(super) fn find(key: &str) -> Option<&'static Field> {
    let is = |name: &str| is_called(key, name);
    FIELDS
        .iter()
        .find(|field| is(field.name) || field.aliases.iter().any(|alias| is(alias)))
}

/// Finds the one of [`CONVERTED`] that a key names.
pub(super) fn find_converted(key: &str) -> Option<&'static str> {
    let mut turned = CONVERTED.iter();
    turned.find(|name| is_called(key, name)).copied()
}

/// All known names, for suggestions.
pub(super) fn names() -> Vec<&'static str> {
    let fields = FIELDS.iter().map(|field| field.name);
    let aliases = FIELDS
        .iter()
        .flat_map(|field| field.aliases.iter().copied());
    fields
        .chain(aliases)
        .chain(CONVERTED.iter().copied())
        .collect()
}

/// The values of a key that an excerpt may show.
pub(super) fn visibility(key: &str) -> Visibility {
    match (find(key), find_converted(key)) {
        (Some(field), _) => field.shown,
        (None, Some("startup_timeout_ms" | "tool_timeout_ms")) => Visibility::Number,
        (None, Some(_)) => Visibility::Never,
        (None, None) => sections::visibility(key),
    }
}

/// Returns true if a word is the name of a key that we read.
pub(super) fn is_known(word: &str) -> bool {
    let is_top = matches!(word, "mcpServers" | "servers" | "defaults" | "inputs");
    is_top || find(word).is_some() || find_converted(word).is_some()
}

/// Returns true if the members of a key's value have names that the author chose.
pub(super) fn is_map(key: &str) -> bool {
    let is_field = find(key).is_some_and(|field| matches!(field.name, "env" | "headers"));
    is_field || find_converted(key) == Some("env_http_headers")
}

/// Returns true if a key equals a name, also in camel case: `envPassthrough` for `env_passthrough`.
pub(super) fn is_called(key: &str, name: &str) -> bool {
    if key == name {
        return true;
    }
    // Compare with the camel case of `name` byte by byte, without building it.
    let mut key = key.bytes();
    let mut is_first = false;
    for byte in name.bytes() {
        if byte == b'_' {
            is_first = true;
            continue;
        }
        let wanted = if is_first {
            byte.to_ascii_uppercase()
        } else {
            byte
        };
        if key.next() != Some(wanted) {
            return false;
        }
        is_first = false;
    }
    key.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(key: &str) -> Option<&'static str> {
        find(key).map(|field| field.name)
    }

    #[test]
    fn a_field_is_found_by_all_its_names_and_by_no_other_case() {
        for key in ["includeTools", "enabled_tools", "allowed_tools", "allow"] {
            assert_eq!(name(key), Some("allowed_tools"), "{key}");
        }
        assert_eq!(name("autoApprove"), Some("always_allow"));
        assert_eq!(name("envPassthrough"), Some("env_passthrough"));
        assert_eq!(name("Command"), None);
        assert_eq!(find_converted("http_url"), None);
        assert_eq!(
            find_converted("bearerTokenEnvVar"),
            Some("bearer_token_env_var")
        );
    }

    #[test]
    fn no_name_means_two_fields() {
        let mut names = names();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
