//! The fields of an entry, with all their names in other clients.

use super::keys::Key;
use super::keys::ValueType::{
    self, Flag, Headers, ObjectOrOff, Program, Size, SpacedTexts, Text, Texts, TextsOrAll, Url,
    Variables, Words,
};
use super::limits::LONGEST_MS;
use super::read::oauth;

pub(super) use super::keys::{Of, is_called};

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

/// The longest time that a field may say.
const TIME: ValueType = ValueType::Time(0, LONGEST_MS);
/// A number of attempts.
const ATTEMPTS: ValueType = ValueType::Count(0, 4_294_967_295);
/// The sizes that one message may be limited to, as in the section `limits`.
pub(super) const MESSAGE_BYTES: (u64, u64) = (64 << 10, 256 << 20);

/// All fields, in the order of the documentation.
pub(super) const FIELDS: &[Key] = &[
    Key::new(
        "type",
        Words(TRANSPORTS),
        "The transport. `local` means `stdio`; `remote` means `http`",
    )
    .or("from `command` or `url`")
    .also(&["transport"]),
    Key::new(
        "command",
        Program,
        "The program to start: a path, or a name to find in `PATH`; no shell reads it. A \
         list contains the arguments too",
    )
    .of_processes(),
    Key::new("args", Texts, "Arguments of the program")
        .or("`[]`")
        .of_processes(),
    Key::new("env", Variables, "Variables to set for the server")
        .or("`{}`")
        .also(&["environment"])
        .of_processes(),
    Key::new(
        "env_passthrough",
        Texts,
        "Variables of your environment that the server gets, besides the safe ones",
    )
    .or("`[]`")
    .also(&["env_vars"])
    .of_processes(),
    Key::new(
        "env_file",
        Text,
        "A file with `NAME=value` lines; `env` wins over it",
    )
    .of_processes(),
    Key::new("cwd", Text, "The folder to start the server in")
        .or("the current folder")
        .of_processes(),
    Key::new("url", Url, "The URL of the server: `http://` or `https://`").of_remotes(),
    Key::new("headers", Headers, "Headers to send with every request")
        .or("`{}`")
        .also(&["http_headers"])
        .of_remotes(),
    Key::new(
        "streamable",
        Flag,
        "Whether the server may answer with streams",
    )
    .or("`true`")
    .of_remotes(),
    Key::new(
        "strict_session_id",
        Flag,
        "Whether session ids may have only letters, digits, `-` and `_`",
    )
    .or("`false`")
    .of_remotes(),
    Key::new(
        "override_headers",
        Flag,
        "Whether `headers` may replace headers of the protocol (`Accept`, `Content-Type`, \
         `MCP-*`, `Last-Event-ID`); otherwise that is an error",
    )
    .or("`false`")
    .of_remotes(),
    Key::new(
        "follow_redirects",
        Flag,
        "Whether to follow redirects within the same origin; redirects to another origin \
         are never followed",
    )
    .or("`true`")
    .of_remotes(),
    Key::new(
        "oauth",
        ObjectOrOff(oauth::MEMBERS),
        "How to log in to the server",
    )
    .or("discovered")
    .of_remotes(),
    Key::new("enabled", Flag, "Whether the server is used").or("`true`"),
    Key::new(
        "fail_if_no_tools",
        Flag,
        "Whether a server without tools counts as broken",
    )
    .or("`false`"),
    Key::new(
        "timeout",
        TIME,
        "The longest silence while connecting, listing and calling; progress extends it, up \
         to ten minutes in all or to this time if it is longer",
    )
    .or("`30s`"),
    Key::new(
        "connect_timeout",
        TIME,
        "The longest silence during start and handshake",
    )
    .or("`timeout`; `2m` for `npx`, `uvx`, `bunx`, `pnpm dlx`, `pipx run`, `uv tool run`")
    .also(&[
        "connection_timeout",
        "startup_timeout",
        "startup_timeout_sec",
    ]),
    Key::new(
        "discovery_timeout",
        TIME,
        "The longest silence for each page of a list",
    )
    .or("`timeout`"),
    Key::new(
        "execution_timeout",
        TIME,
        "The longest silence during a call",
    )
    .or("`timeout`")
    .also(&["tool_timeout", "tool_timeout_sec"]),
    Key::new(
        "max_retries",
        ATTEMPTS,
        "How often a list, an idempotent call or a request that is safe to send again is \
         repeated after a lost connection; if set, a start that failed without a known \
         cause is repeated as often",
    )
    .or("`3`")
    .also(&["http_max_retries"]),
    Key::new(
        "retry_backoff",
        TIME,
        "The wait before the first of these; it doubles each time, with a random part",
    )
    .or("`1s`")
    .also(&["http_retry_backoff"]),
    Key::new(
        "message_bytes",
        Size(MESSAGE_BYTES.0, MESSAGE_BYTES.1),
        "The largest message that the server may send",
    )
    .or("`10 MiB`")
    .also(&["max_message_bytes"]),
    Key::new(
        "cache_tools_list",
        Flag,
        "Whether to keep lists for a while: see `limits.list_age`",
    )
    .or("`false`"),
    Key::new(
        "reconnect",
        Flag,
        "Whether to connect again on the next use after the connection was lost",
    )
    .or("`true`"),
    Key::new(
        "max_reconnect_attempts",
        ATTEMPTS,
        "Failures in a row after which reconnecting stops",
    )
    .or("`5`"),
    Key::new(
        "allowed_tools",
        Texts,
        "Use only these tools; `[\"*\"]` means all",
    )
    .or("all")
    .also(&["allow", "include_tools", "enabled_tools", "tools"]),
    Key::new(
        "blocked_tools",
        Texts,
        "Never use these tools, even if they are allowed",
    )
    .or("`[]`")
    .also(&["block", "exclude_tools", "disabled_tools"]),
    Key::new(
        "always_allow",
        TextsOrAll,
        "Tools that another client never asked about: a suggestion that grants nothing",
    )
    .or("`[]`")
    .also(&["auto_approve"]),
    Key::new(
        "protocol",
        Words(PROTOCOLS),
        "The protocol to speak; `auto` finds out",
    )
    .or("`auto`"),
    Key::new(
        "name_style",
        Words(STYLES),
        "The form of the tool names that models get",
    )
    .or("of the host"),
    Key::new(
        "clean_arguments",
        Flag,
        "Whether to leave out nulls and empty containers in arguments",
    )
    .or("`false`"),
    Key::new(
        "idempotent_tools",
        Texts,
        "Tools that may run twice without harm",
    )
    .or("`[]`"),
    Key::new("roots", Texts, "Folders to offer to the server as roots").or("`[]`"),
    Key::new(
        "sampling",
        Flag,
        "Whether the server may ask your model: see `providers`",
    )
    .or("`false`"),
];

/// Further keys that are understood, and converted to fields before those are read.
pub(super) const CONVERTED: &[Key] = &[
    Key::new(
        "disabled",
        Flag,
        "The opposite of `enabled`; if both are there, the server is used only if both say so",
    ),
    Key::new("httpUrl", Url, "`url` with the type `http`").of_remotes(),
    Key::new("serverUrl", Url, "`url` with the type `http`").of_remotes(),
    Key::new(
        "bearer_token_env_var",
        Text,
        "The variable with the token for an `Authorization` header",
    )
    .of_remotes(),
    Key::new(
        "env_http_headers",
        Headers,
        "Headers whose values are names of variables",
    )
    .of_remotes(),
    Key::new("trust", Flag, "`always_allow` for all tools"),
    Key::new(
        "startup_timeout_ms",
        ATTEMPTS,
        "`connect_timeout` in milliseconds",
    ),
    Key::new(
        "tool_timeout_ms",
        ATTEMPTS,
        "`execution_timeout` in milliseconds",
    ),
    Key::new("auth", Words(&["oauth"]), "An empty `oauth` block").of_remotes(),
    Key::new("scopes", SpacedTexts, "`oauth.scopes`").of_remotes(),
    Key::new("oauth_resource", Text, "`oauth.resource`").of_remotes(),
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
pub(super) fn find(key: &str) -> Option<&'static Key> {
    FIELDS.iter().find(|field| field.is_called(key))
}

/// Finds the one of [`CONVERTED`] that a key names.
pub(super) fn find_converted(key: &str) -> Option<&'static str> {
    let found = CONVERTED.iter().find(|converted| converted.is_called(key));
    found.map(|converted| converted.name)
}

/// All known names, for suggestions.
pub(super) fn names() -> Vec<&'static str> {
    let fields = FIELDS.iter().map(|field| field.name);
    let aliases = FIELDS
        .iter()
        .flat_map(|field| field.aliases.iter().copied());
    let converted = CONVERTED.iter().map(|converted| converted.name);
    fields.chain(aliases).chain(converted).collect()
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
